package ops

import "mobiusc/ir"

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
	c.noNegative(target)
	out, err := broadcastDims(s, target)
	if err != nil {
		c.fail("%v", err)
		return
	}
	c.ranked(0, c.elem(0), out)
}

// noNegative checks the elements of a shape.
func (c *inference) noNegative(shape []ir.Dim) {
	for _, d := range shape {
		if n, ok := d.Int(); ok && n < 0 {
			c.fail("shape %s has a negative dim", shapeText(shape))
		}
	}
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
