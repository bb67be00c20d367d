package ops

import (
	"fmt"
	"slices"

	"mobiusc/ir"
)

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
	out, copied, err := readTarget(in, target, allowZero)
	if err != nil {
		return nil, err
	}
	open := -1
	for i, d := range out {
		if !d.Known() && !copied[i] {
			open = i
		}
	}
	num, den := cancelCommon(in, out, copied)
	if !num.Known() || !den.Known() || slices.ContainsFunc(out, func(d ir.Dim) bool { return d.Equal(ir.Int(0)) }) {
		return out, nil
	}
	n, isNumber := num.Int()
	d, byNumber := den.Int()
	if open < 0 && num.Differs(den) || open >= 0 && isNumber && byNumber && n%d != 0 {
		return nil, fmt.Errorf("shape %s cannot be reshaped to %s: the numbers of elements differ", shapeText(in), shapeText(target))
	}
	if open >= 0 {
		out[open] = num.Div(den)
	}
	return out, nil
}

// readTarget returns the target with copied dims in their places and -1 as
// unknown, and which dims were copied.
func readTarget(in ir.Shape, target []ir.Dim, allowZero bool) (out ir.Shape, copied []bool, err error) {
	out, copied = append(ir.Shape{}, target...), make([]bool, len(target))
	for i, d := range target {
		n, ok := d.Int()
		switch {
		case ok && n < -1:
			return nil, nil, fmt.Errorf("target shape %s: %d is no size", shapeText(target), n)
		case ok && n == -1:
			out[i] = ir.Dim{}
		case ok && n == 0 && !allowZero:
			if i >= len(in) {
				return nil, nil, fmt.Errorf("target shape %s: 0 at axis %d copies a dim that %s does not have", shapeText(target), i, shapeText(in))
			}
			out[i], copied[i] = in[i], true
		}
	}
	return out, copied, nil
}

// cancelCommon returns the products of the input dims and of the output dims
// that do not stand on both sides, an open output dim left out. They are unknown
// if more than one output dim is open, or an input dim that is not copied.
func cancelCommon(in, out ir.Shape, copied []bool) (num, den ir.Dim) {
	gone := make([]bool, len(in))
	num, den = ir.Int(1), ir.Int(1)
	open := 0
	for i, d := range out {
		switch {
		case copied[i]:
			gone[i] = true
		case !d.Known():
			open++
		case !cancel(in, gone, d):
			den = den.Mul(d)
		}
	}
	for i, d := range in {
		if !gone[i] {
			num = num.Mul(d)
		}
	}
	if open > 1 {
		return ir.Dim{}, den
	}
	return num, den
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
