package ops

import (
	"fmt"
	"math"
	"slices"

	"mobiusc/ir"
)

// reducer says how a reduction starts and goes on.
type reducer struct {
	float      float64 // of no elements
	int        int64
	floats     func(x, y float64) float64
	ints       func(x, y int64) int64
	emptyUndef bool // undefined for no elements
}

var reducers = map[string]reducer{
	"ReduceSum":  {0, 0, func(x, y float64) float64 { return x + y }, func(x, y int64) int64 { return x + y }, false},
	"ReduceMean": {0, 0, func(x, y float64) float64 { return x + y }, func(x, y int64) int64 { return x + y }, true},
	"ReduceProd": {1, 1, func(x, y float64) float64 { return x * y }, func(x, y int64) int64 { return x * y }, false},
	"ReduceMax":  {math.Inf(-1), math.MinInt64, math.Max, func(x, y int64) int64 { return max(x, y) }, true},
	"ReduceMin":  {math.Inf(1), math.MaxInt64, math.Min, func(x, y int64) int64 { return min(x, y) }, true},
}

// evalReduce accumulates floats in float64 and rounds the result once.
func evalReduce(e *evaluation) ([]*ir.Tensor, error) {
	x, err := e.content(0)
	if err != nil {
		return nil, err
	}
	if x.text != nil || x.elem == ir.Uint64 {
		return nil, fmt.Errorf("%w with elements of type %s", ErrNotEvaluable, x.elem)
	}
	axes, given := e.ints("axes")
	if !given {
		if axes, _, err = e.intsAt(1); err != nil {
			return nil, err
		}
	}
	set, err := axesOf(axes, len(x.dims))
	if err != nil {
		return nil, err
	}
	if len(axes) == 0 {
		if e.int("noop_with_empty_axes", 0) != 0 {
			return one(x)
		}
		for i := range set {
			set[i] = true
		}
	}
	y, err := reducers[e.node.OpType].reduce(x, set, e.int("keepdims", 1) != 0, e.node.OpType == "ReduceMean")
	if err != nil {
		return nil, err
	}
	return one(y)
}

func (r reducer) reduce(x *content, axes []bool, keep, mean bool) (*content, error) {
	kept, out := slices.Clone(x.dims), []int64{}
	count := int64(1)
	for i, d := range x.dims {
		if axes[i] {
			kept[i] = 1
			count *= d
		}
		if keep || !axes[i] {
			out = append(out, kept[i])
		}
	}
	if count == 0 && r.emptyUndef {
		return nil, fmt.Errorf("%w over no elements", ErrNotEvaluable)
	}
	y := newContent(x.elem, out)
	for i := range y.floats {
		y.floats[i] = r.float
	}
	for i := range y.ints {
		y.ints[i] = r.int
	}
	to := broadcastIndex(x.dims, kept)
	for i, f := range x.floats {
		y.floats[to[i]] = r.floats(y.floats[to[i]], f)
	}
	for i, n := range x.ints {
		y.ints[to[i]] = r.ints(y.ints[to[i]], n)
	}
	if mean {
		for i := range y.floats {
			y.floats[i] /= float64(count)
		}
		for i := range y.ints {
			y.ints[i] /= count
		}
	}
	return y, nil
}

func evalCumSum(e *evaluation) ([]*ir.Tensor, error) {
	x, err := e.content(0)
	if err != nil {
		return nil, err
	}
	axes, err := e.needInts(1)
	if err != nil {
		return nil, err
	}
	if len(axes) != 1 {
		return nil, fmt.Errorf("axis has %d elements, expected 1", len(axes))
	}
	axis, ok := axisOf(axes[0], len(x.dims))
	if !ok {
		return nil, fmt.Errorf("axis %d is out of range for rank %d", axes[0], len(x.dims))
	}
	if x.text != nil || x.elem == ir.Bool || x.elem == ir.Uint64 {
		return nil, fmt.Errorf("%w with elements of type %s", ErrNotEvaluable, x.elem)
	}
	out := newContent(x.elem, x.dims)
	stride := stridesOf(x.dims)[axis]
	n := int(x.dims[axis])
	exclusive, reverse := e.int("exclusive", 0) != 0, e.int("reverse", 0) != 0
	for start := range x.len() {
		if start/stride%n != 0 {
			continue
		}
		from, step := start, stride
		if reverse {
			from, step = start+(n-1)*stride, -stride
		}
		out.accumulate(x, from, step, n, exclusive)
	}
	return one(out)
}

// accumulate sums n elements of x along one line, rounding at every step.
func (out *content) accumulate(x *content, at, step, n int, exclusive bool) {
	var f float64
	var i int64
	for range n {
		if exclusive {
			out.put(at, f, i)
		}
		if x.floats != nil {
			f = round(x.elem, f+x.floats[at])
		} else {
			i += x.ints[at]
		}
		if !exclusive {
			out.put(at, f, i)
		}
		at += step
	}
}

// put stores the one of f and i that the element type takes.
func (out *content) put(at int, f float64, i int64) {
	if out.floats != nil {
		out.floats[at] = f
	} else {
		out.ints[at] = i
	}
}
