package ops

import (
	"fmt"
	"math"

	"mobiusc/ir"
)

func registerShapes() {
	register(inferReshape, "Reshape")
	register(inferFlatten, "Flatten")
	register(inferSqueeze, "Squeeze")
	register(inferUnsqueeze, "Unsqueeze")
	register(inferTranspose, "Transpose")
	register(inferExpand, "Expand")
	register(inferTile, "Tile")
	register(inferConcat, "Concat")
	register(inferSlice, "Slice")
	register(inferSplit, "Split")
	register(inferPad, "Pad")
	register(inferDepthToSpace, "DepthToSpace", "SpaceToDepth")
	register(inferCenterCropPad, "CenterCropPad")
	register(inferResize, "Resize", "Upsample")
}

func inferReshape(c *inference) {
	target, _ := c.optionalSizes(1, "shape")
	in, ranked := c.shape(0)
	if target == nil {
		if s, ok := c.shape(1); ok && len(s) == 1 {
			if n, ok := s[0].Int(); ok && n >= 0 && n <= maxSizes {
				c.unknownDims(0, c.elem(0), int(n))
				return
			}
		}
		c.unranked(0, c.elem(0))
		return
	}
	if !ranked {
		c.ranked(0, c.elem(0), reshapeUnranked(target))
		return
	}
	out, err := reshapeDims(in, target, c.int("allowzero", 0) != 0)
	if err != nil {
		c.fail("%v", err)
	}
	c.ranked(0, c.elem(0), out)
}

// reshapeUnranked keeps of a target shape what does not depend on the input.
func reshapeUnranked(target []ir.Dim) ir.Shape {
	out := make(ir.Shape, len(target))
	for i, d := range target {
		if n, ok := d.Int(); !ok || n > 0 {
			out[i] = d
		}
	}
	return out
}

// reshapeDims returns the shape that a tensor gets by Reshape: 0 in the target
// copies a dim unless allowZero, -1 stands for what is left, and so does a
// single unknown dim, since the number of elements stays.
func reshapeDims(in ir.Shape, target []ir.Dim, allowZero bool) (ir.Shape, error) {
	mismatch := func() error {
		return fmt.Errorf("shape %s cannot be reshaped to %s: the numbers of elements differ", shapeText(in), shapeText(target))
	}
	out := append(ir.Shape{}, target...)
	open, opens, zero := -1, 0, false
	for i, d := range target {
		n, ok := d.Int()
		switch {
		case ok && n < -1:
			return nil, fmt.Errorf("target shape %s: %d is no size", shapeText(target), n)
		case ok && n == -1:
			out[i] = ir.Dim{}
		case ok && n == 0 && !allowZero:
			if i >= len(in) {
				return nil, fmt.Errorf("target shape %s: 0 at axis %d copies a dim that %s does not have", shapeText(target), i, shapeText(in))
			}
			out[i] = in[i]
			continue
		}
		zero = zero || ok && n == 0
		if !out[i].Known() {
			open = i
			opens++
		}
	}
	num, den, known := cancelCommon(in, out, target, allowZero)
	switch {
	case !known || opens > 1 || zero:
		return out, nil
	case opens == 0:
		if num.Differs(den) {
			return nil, mismatch()
		}
		return out, nil
	}
	n, ok1 := num.Int()
	d, ok2 := den.Int()
	if ok2 && d == 0 {
		return out, nil
	}
	if ok1 && ok2 && n%d != 0 {
		return nil, mismatch()
	}
	out[open] = num.Div(den)
	return out, nil
}

// cancelCommon returns the products of the input dims and of the output dims
// that do not stand on both sides; known is false when an input dim or a
// copied one that is left is unknown. Open output dims are left out.
func cancelCommon(in, out ir.Shape, target []ir.Dim, allowZero bool) (num, den ir.Dim, known bool) {
	gone := make([]bool, len(in))
	den = ir.Int(1)
	for i, d := range out {
		if n, ok := target[i].Int(); ok && n == 0 && !allowZero {
			gone[i] = true // copied
		} else if d.Known() && !cancel(in, gone, d) {
			den = den.Mul(d)
		}
	}
	num = ir.Int(1)
	for i, d := range in {
		if !gone[i] {
			num = num.Mul(d)
		}
	}
	return num, den, num.Known() && den.Known()
}

// cancel marks the first dim of in that equals d and is not gone yet.
func cancel(in ir.Shape, gone []bool, d ir.Dim) bool {
	for i, e := range in {
		if !gone[i] && e.Equal(d) {
			gone[i] = true
			return true
		}
	}
	return false
}

func inferFlatten(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		c.unknownDims(0, c.elem(0), 2)
		return
	}
	axis := int(c.int("axis", 1))
	if axis < 0 {
		axis += len(s)
	}
	if axis < 0 || axis > len(s) {
		c.fail("axis %d is out of range for rank %d", axis, len(s))
		return
	}
	c.ranked(0, c.elem(0), ir.Shape{product(s[:axis]), product(s[axis:])})
}

func inferSqueeze(c *inference) {
	s, ok := c.shape(0)
	axes, given, known := c.optionalNumbers(1, "axes")
	if !ok || !known {
		c.unranked(0, c.elem(0))
		return
	}
	set, err := axesOf(axes, len(s))
	if err != nil {
		c.fail("%v", err)
		return
	}
	out := ir.Shape{}
	for i, d := range s {
		n, number := d.Int()
		switch {
		case set[i] && d.Differs(ir.Int(1)):
			c.fail("axis %d of %s is not 1", i, shapeText(s))
		case !given && !number:
			c.unranked(0, c.elem(0)) // goes or stays
			return
		case !set[i] && (given || n != 1):
			out = append(out, d)
		}
	}
	c.ranked(0, c.elem(0), out)
}

func inferUnsqueeze(c *inference) {
	s, ok := c.shape(0)
	axes, _, known := c.optionalNumbers(1, "axes")
	if !ok || !known {
		c.unranked(0, c.elem(0))
		return
	}
	set, err := axesOf(axes, len(s)+len(axes))
	if err != nil {
		c.fail("%v", err)
		return
	}
	out := make(ir.Shape, len(set))
	for i := range out {
		if set[i] {
			out[i] = ir.Int(1)
		} else {
			out[i], s = s[0], s[1:]
		}
	}
	c.ranked(0, c.elem(0), out)
}

func inferTranspose(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		if perm, given := c.ints("perm"); given {
			c.unknownDims(0, c.elem(0), len(perm))
		} else {
			c.unranked(0, c.elem(0))
		}
		return
	}
	perm, err := permutation(c.call, len(s))
	if err != nil {
		c.fail("%v, the shape is %s", err, shapeText(s))
		return
	}
	out := make(ir.Shape, len(s))
	for i, p := range perm {
		out[i] = s[p]
	}
	c.ranked(0, c.elem(0), out)
}

func inferExpand(c *inference) {
	s, ok := c.shape(0)
	target := c.sizes(1)
	if !ok || target == nil {
		c.unranked(0, c.elem(0))
		return
	}
	out, err := broadcastDims(s, target)
	if err != nil {
		c.fail("%v", err)
		return
	}
	c.ranked(0, c.elem(0), out)
}

func inferTile(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		c.unranked(0, c.elem(0))
		return
	}
	repeats := c.sizes(1)
	if repeats != nil && len(repeats) != len(s) {
		c.fail("%d repeats for shape %s", len(repeats), shapeText(s))
		return
	}
	out := make(ir.Shape, len(s))
	for i := range repeats {
		out[i] = s[i].Mul(repeats[i])
	}
	c.ranked(0, c.elem(0), out)
}

func inferConcat(c *inference) {
	n := len(c.node.Inputs())
	elem, first := ir.Undefined, ir.Shape(nil)
	for i := range n {
		if elem = c.elem(i); elem != ir.Undefined {
			break
		}
	}
	axis := -1
	for i := range n {
		c.sameElem(0, i)
		s, ok := c.shape(i)
		switch {
		case !ok:
			c.unranked(0, elem)
			return
		case first == nil:
			if axis, ok = c.axis(0, len(s)); !ok {
				return
			}
			first = append(ir.Shape{}, s...)
			continue
		case len(s) != len(first):
			c.fail("input %d has shape %s, input 0 rank %d", i, shapeText(s), len(first))
			return
		}
		for j, d := range s {
			if j == axis {
				first[j] = first[j].Add(d)
			} else {
				first[j] = c.match("dims", first[j], d, 0, i)
			}
		}
	}
	c.ranked(0, elem, first)
}

func inferSplit(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		for i := range c.out {
			c.unranked(i, c.elem(0))
		}
		return
	}
	axis, ok := c.axis(0, len(s))
	if !ok {
		return
	}
	sizes, given := c.optionalSizes(1, "split")
	if !given {
		sizes = evenSplitDims(s[axis], len(c.out))
	}
	if sizes != nil && len(sizes) != len(c.out) {
		c.fail("%d sizes for %d outputs", len(sizes), len(c.out))
		return
	}
	total := ir.Int(0)
	for i := range c.out {
		out := append(ir.Shape{}, s...)
		out[axis] = ir.Dim{}
		if sizes != nil {
			out[axis] = sizes[i]
		}
		total = total.Add(out[axis])
		c.ranked(i, c.elem(0), out)
	}
	if total.Differs(s[axis]) {
		c.fail("sizes %s do not add up to axis %d of %s", shapeText(sizes), axis, shapeText(s))
	}
}

// evenSplitDims returns the sizes of parts as equal as possible, the last
// smaller; an expression is promised to divide.
func evenSplitDims(d ir.Dim, parts int) []ir.Dim {
	if n, ok := d.Int(); ok {
		sizes, err := evenSplit(n, int64(parts))
		if err != nil {
			return nil
		}
		return dimsOf(sizes)
	}
	sizes := make([]ir.Dim, parts)
	for i := range sizes {
		sizes[i] = d.Div(ir.Int(int64(parts)))
	}
	return sizes
}

func inferPad(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		c.unranked(0, c.elem(0))
		return
	}
	pads, _ := c.optionalSizes(1, "pads")
	axes, given, known := c.optionalNumbers(3, "axes")
	if !given {
		axes = firstAxes(len(s))
	}
	if !known || pads == nil {
		c.unknownDims(0, c.elem(0), len(s))
		return
	}
	if _, err := axesOf(axes, len(s)); err != nil || len(pads) != 2*len(axes) {
		c.fail("%d pads for axes %v of %s", len(pads), axes, shapeText(s))
		return
	}
	out := append(ir.Shape{}, s...)
	for i, a := range axes {
		axis, _ := axisOf(a, len(s))
		out[axis] = s[axis].Add(pads[i]).Add(pads[len(axes)+i])
	}
	c.ranked(0, c.elem(0), out)
}

func inferDepthToSpace(c *inference) {
	s, ok := c.shapeOfRank(0, 4)
	size := c.int("blocksize", 0)
	if !ok || size <= 0 {
		c.unknownDims(0, c.elem(0), 4)
		return
	}
	b, square := ir.Int(size), ir.Int(size).Mul(ir.Int(size))
	if c.node.OpType == "DepthToSpace" {
		c.ranked(0, c.elem(0), ir.Shape{s[0], s[1].Div(square), s[2].Mul(b), s[3].Mul(b)})
	} else {
		c.ranked(0, c.elem(0), ir.Shape{s[0], s[1].Mul(square), s[2].Div(b), s[3].Div(b)})
	}
}

func inferCenterCropPad(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		c.unranked(0, c.elem(0))
		return
	}
	axes, given := c.ints("axes")
	if !given {
		axes = firstAxes(len(s))
	}
	sizes := c.sizes(1)
	if _, err := axesOf(axes, len(s)); err != nil || sizes != nil && len(sizes) != len(axes) {
		c.fail("%d sizes for axes %v of %s", len(sizes), axes, shapeText(s))
		return
	}
	out := append(ir.Shape{}, s...)
	for i, a := range axes {
		axis, _ := axisOf(a, len(s))
		out[axis] = ir.Dim{}
		if sizes != nil {
			out[axis] = sizes[i]
		}
	}
	c.ranked(0, c.elem(0), out)
}

func inferResize(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		c.unranked(0, c.elem(0))
		return
	}
	scalesAt, sizesAt := 2, 3 // opset 11: X, roi, scales, sizes
	if len(c.node.Inputs()) == 2 {
		scalesAt = 1 // opset 10 and Upsample: X, scales
	}
	axes, given := c.ints("axes")
	if !given {
		axes = firstAxes(len(s))
	}
	out := append(ir.Shape{}, s...)
	sizes, scales := c.sizes(sizesAt), c.floats(scalesAt)
	stretched := c.text("keep_aspect_ratio_policy", "stretch") == "stretch"
	for i, a := range axes {
		axis, ok := axisOf(a, len(s))
		if !ok {
			c.fail("axis %d is out of range for rank %d", a, len(s))
			return
		}
		switch {
		case i < len(sizes) && stretched:
			out[axis] = sizes[i]
		case i < len(scales) && !c.has(sizesAt):
			out[axis] = scaled(s[axis], scales[i])
		default:
			out[axis] = ir.Dim{}
		}
	}
	c.ranked(0, c.elem(0), out)
}

// floats returns the elements of a small constant of floats, or nil.
func (c *inference) floats(i int) []float64 {
	if t := c.env.Constant(c.node.Input(i)); t != nil && t.Type.IsFloat() {
		if x, err := decode(t); err == nil {
			return x.floats
		}
	}
	return nil
}

// scaled returns floor(d * scale), unknown for an expression unless the scale
// or its reciprocal is a whole number.
func scaled(d ir.Dim, scale float64) ir.Dim {
	if n, ok := d.Int(); ok {
		return ir.Int(floatToInt(math.Floor(float64(n) * scale)))
	}
	switch {
	case scale == math.Trunc(scale):
		return d.Mul(ir.Int(floatToInt(scale)))
	case 1/scale == math.Trunc(1/scale):
		return d.FloorDiv(ir.Int(floatToInt(1 / scale)))
	}
	return ir.Dim{}
}
