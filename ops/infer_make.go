package ops

import "mobiusc/ir"

func registerMakers() {
	register(inferConstant, "Constant")
	register(inferConstantOfShape, "ConstantOfShape")
	register(inferShapeOp, "Shape")
	register(func(c *inference) { c.ranked(0, ir.Int64, ir.Shape{}) }, "Size")
	register(inferRange, "Range")
	register(func(c *inference) { c.likeWithType(c.elem(0)) }, "EyeLike", "RandomNormalLike", "RandomUniformLike", "Bernoulli")
	register(inferRandom, "RandomNormal", "RandomUniform")
	register(inferMultinomial, "Multinomial")
	register(inferWindow, "HannWindow", "HammingWindow", "BlackmanWindow")
	register(inferMelWeights, "MelWeightMatrix")
}

func inferConstant(c *inference) {
	t, err := constantTensor(c.call)
	if err != nil {
		return // sparse values and mistakes are not for inference to judge
	}
	c.set(0, constantType(t))
}

func inferConstantOfShape(c *inference) {
	elem := ir.Float32
	if a := c.attr("value"); a != nil && a.Tensor != nil {
		elem = a.Tensor.Type
	}
	if sizes := c.sizes(0); sizes != nil {
		c.noNegative(sizes)
		c.ranked(0, elem, sizes)
		return
	}
	if s, ok := c.shape(0); ok && len(s) == 1 {
		if n, ok := s[0].Int(); ok && n >= 0 && n <= maxSizes {
			c.unknownDims(0, elem, int(n))
			return
		}
	}
	c.unranked(0, elem)
}

func inferShapeOp(c *inference) {
	n := ir.Dim{}
	if s, ok := c.shape(0); ok {
		start, end := shapeRange(c.call, len(s))
		n = ir.Int(int64(end - start))
	}
	c.ranked(0, ir.Int64, ir.Shape{n})
}

func inferRange(c *inference) {
	elem := c.sameElem(0, 1, 2)
	var at [3]ir.Dim
	for i := range at {
		if s := c.sizes(i); len(s) == 1 {
			at[i] = s[0]
		}
	}
	if t, ok := c.constantRange(); ok {
		c.ranked(0, elem, ir.Shape{ir.Int(t)})
		return
	}
	n := ir.Dim{}
	if ir.Int(1).AtMost(at[2]) {
		n = ir.Int(0).Max(at[1].Sub(at[0]).CeilDiv(at[2]))
	}
	c.ranked(0, elem, ir.Shape{n})
}

// constantRange returns the length of a Range of constants of any type.
func (c *inference) constantRange() (n int64, ok bool) {
	var xs [3]*content
	for i := range xs {
		t := c.env.Constant(c.node.Input(i))
		if t == nil {
			return 0, false
		}
		x, err := decode(t)
		if err != nil {
			return 0, false
		}
		xs[i] = x
	}
	n, err := rangeLength(xs[0], xs[1], xs[2])
	return n, err == nil
}

// likeWithType gives output 0 the shape of input 0 and the type of attribute
// dtype.
func (c *inference) likeWithType(absent ir.DataType) {
	c.like(0, ir.DataType(c.int("dtype", int64(absent))), 0)
}

func inferRandom(c *inference) {
	shape, _ := c.ints("shape")
	c.ranked(0, ir.DataType(c.int("dtype", int64(ir.Float32))), dimsOf(shape))
}

func inferMultinomial(c *inference) {
	out := ir.Shape{{}, ir.Int(c.int("sample_size", 1))}
	if s, ok := c.shapeOfRank(0, 2); ok {
		out[0] = s[0]
	}
	c.ranked(0, ir.DataType(c.int("dtype", int64(ir.Int32))), out)
}

func inferWindow(c *inference) {
	n := ir.Dim{}
	if s := c.sizes(0); len(s) == 1 {
		n = s[0]
	}
	c.ranked(0, ir.DataType(c.int("output_datatype", int64(ir.Float32))), ir.Shape{n})
}

// inferMelWeights: [floor(dft_length/2) + 1, num_mel_bins].
func inferMelWeights(c *inference) {
	out := make(ir.Shape, 2)
	if s := c.sizes(1); len(s) == 1 {
		out[0] = s[0].FloorDiv(ir.Int(2)).Add(ir.Int(1))
	}
	if s := c.sizes(0); len(s) == 1 {
		out[1] = s[0]
	}
	c.ranked(0, ir.DataType(c.int("output_datatype", int64(ir.Float32))), out)
}
