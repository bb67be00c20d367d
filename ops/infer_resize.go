package ops

import (
	"math"

	"mobiusc/ir"
)

func registerResizing() {
	register(inferPad, "Pad")
	register(inferDepthToSpace, "DepthToSpace", "SpaceToDepth")
	register(inferCenterCropPad, "CenterCropPad")
	register(inferResize, "Resize", "Upsample")
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
