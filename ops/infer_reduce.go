package ops

import "mobiusc/ir"

func registerReductions() {
	register(inferReduce, "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
		"ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare")
	register(inferArg, "ArgMax", "ArgMin")
}

func inferReduce(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		c.unranked(0, c.elem(0))
		return
	}
	keep := c.int("keepdims", 1) != 0
	axes, _, known := c.optionalNumbers(1, "axes")
	if !known {
		if keep {
			c.unknownDims(0, c.elem(0), len(s))
		} else {
			c.unranked(0, c.elem(0))
		}
		return
	}
	if len(axes) == 0 && c.int("noop_with_empty_axes", 0) != 0 {
		c.same(0, 0)
		return
	}
	if len(axes) == 0 {
		axes = firstAxes(len(s))
	}
	set, err := axesOf(axes, len(s))
	if err != nil {
		c.fail("%v, the shape is %s", err, shapeText(s))
		return
	}
	c.ranked(0, c.elem(0), reducedShape(s, set, keep))
}

func reducedShape(s ir.Shape, axes []bool, keep bool) ir.Shape {
	out := ir.Shape{}
	for i, d := range s {
		switch {
		case !axes[i]:
			out = append(out, d)
		case keep:
			out = append(out, ir.Int(1))
		}
	}
	return out
}

func inferArg(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		c.unranked(0, ir.Int64)
		return
	}
	if axis, ok := c.axis(0, len(s)); ok {
		set := make([]bool, len(s))
		set[axis] = true
		c.ranked(0, ir.Int64, reducedShape(s, set, c.int("keepdims", 1) != 0))
	}
}
