package ops

import (
	"math"

	"mobiusc/ir"
)

func inferSlice(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		c.unranked(0, c.elem(0))
		return
	}
	starts, _ := c.optionalSizes(1, "starts")
	ends, _ := c.optionalSizes(2, "ends")
	axes, axesGiven, axesKnown := c.optionalNumbers(3, "axes")
	steps, stepsGiven, stepsKnown := c.optionalNumbers(4, "steps")
	if !axesGiven {
		axes = firstAxes(max(len(starts), len(ends)))
	}
	if !axesKnown || starts == nil && ends == nil && !axesGiven {
		c.unknownDims(0, c.elem(0), len(s))
		return
	}
	if _, err := axesOf(axes, len(s)); err != nil {
		c.fail("%v, the shape is %s", err, shapeText(s))
		return
	}
	out := append(ir.Shape{}, s...)
	for i, a := range axes {
		axis, _ := axisOf(a, len(s))
		step := int64(1)
		if stepsGiven && i < len(steps) {
			step = steps[i]
		}
		out[axis] = ir.Dim{}
		if stepsKnown && i < len(starts) && i < len(ends) {
			out[axis] = sliceDim(s[axis], starts[i], ends[i], step)
		}
	}
	c.ranked(0, c.elem(0), out)
}

// far is a bound of a slice that stands for the end of any axis.
const far = math.MaxInt32

// sliceDim returns how many elements of an axis of size d a slice takes;
// unknown when that is no expression.
func sliceDim(d, start, end ir.Dim, step int64) ir.Dim {
	n, ok1 := d.Int()
	s, ok2 := start.Int()
	e, ok3 := end.Int()
	if ok1 && ok2 && ok3 && step != 0 {
		return ir.Int(sliceCount(n, s, e, step))
	}
	switch {
	case step == math.MinInt64 || step == 0:
		return ir.Dim{}
	case step < 0:
		if ok2 && (s == -1 || s >= far) && ok3 && e <= -far {
			return d.CeilDiv(ir.Int(-step)) // backwards over the whole axis
		}
		return ir.Dim{}
	}
	return sliceLength(d, start, end).CeilDiv(ir.Int(step))
}

// sliceLength returns end - start after both are clamped to 0 … d. The special
// cases give the simplest of equal expressions.
func sliceLength(d, start, end ir.Dim) ir.Dim {
	from, fromBack := bound(d, start)
	to, _ := bound(d, end)
	zero := ir.Int(0)
	switch {
	case !from.Known() || !to.Known():
		return ir.Dim{}
	case to.Equal(d) && fromBack: // [-k:]
		return ir.Int(0).Sub(start).Min(d)
	case to.Equal(d): // [k:]
		return zero.Max(d.Sub(from))
	case from.Equal(zero): // [:k] and [:-k]
		return zero.Max(to.Min(d))
	}
	from, to = zero.Max(from.Min(d)), to.Min(d)
	return zero.Max(to.Sub(from))
}

// bound returns a bound of a slice counted from the front, not clamped, and
// whether it was given from the back; unknown when its sign is.
func bound(d, x ir.Dim) (b ir.Dim, back bool) {
	n, ok := x.Int()
	switch {
	case ok && n >= far:
		return d, false
	case ok && n <= -far:
		return ir.Int(0), false
	case ok && n < 0, !ok && x.AtMost(ir.Int(0)):
		return d.Add(x), true
	case !ok && !ir.Int(0).AtMost(x):
		return ir.Dim{}, false
	case d.AtMost(x):
		return d, false
	}
	return x, false
}

// sliceCount is the number of elements that sliceIndices returns.
func sliceCount(n, start, end, step int64) int64 {
	if start < 0 {
		start += n
	}
	if end < 0 {
		end += n
	}
	if step > 0 {
		step = min(step, max(n, 1)) // longer steps take one element as well
		start, end = min(max(start, 0), n), min(max(end, 0), n)
		return (max(0, end-start) + step - 1) / step
	}
	step = -max(step, -max(n, 1))
	start, end = min(max(start, 0), n-1), min(max(end, -1), n-1)
	return (max(0, start-end) + step - 1) / step
}
