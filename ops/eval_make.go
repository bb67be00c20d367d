package ops

import (
	"fmt"
	"math"
	"slices"

	"mobiusc/ir"
)

// ConstantTensor returns the tensor that a Constant node stands for, whichever
// of the value attributes it has.
func ConstantTensor(n *ir.Node) (*ir.Tensor, error) { return constantTensor(call{node: n}) }

func constantTensor(c call) (*ir.Tensor, error) {
	if len(c.node.Attrs) != 1 {
		return nil, fmt.Errorf("%d attributes, expected one that holds the value", len(c.node.Attrs))
	}
	name := c.node.Attrs[0].Name
	a := c.attr(name)
	switch {
	case a == nil:
		return nil, fmt.Errorf("attribute %s refers to one that has no value", name)
	case name == "value" && a.Type == ir.AttrTensor && a.Tensor != nil:
		return a.Tensor, nil
	case name == "value_int" && a.Type == ir.AttrInt:
		return ir.Int64Scalar(a.Int), nil
	case name == "value_ints" && a.Type == ir.AttrInts:
		return ir.Ints64(a.Ints...), nil
	case name == "value_float" && a.Type == ir.AttrFloat:
		return ir.Float32Scalar(a.Float), nil
	case name == "value_floats" && a.Type == ir.AttrFloats:
		return ir.Floats32(a.Floats...), nil
	case name == "value_string" && a.Type == ir.AttrString:
		return &ir.Tensor{Type: ir.String, Dims: []int64{}, Strings: [][]byte{a.Bytes}}, nil
	case name == "value_strings" && a.Type == ir.AttrStrings:
		return &ir.Tensor{Type: ir.String, Dims: []int64{int64(len(a.Strings))}, Strings: a.Strings}, nil
	}
	return nil, fmt.Errorf("%w: attribute %s of type %s", ErrNotEvaluable, name, a.Type)
}

func evalConstant(e *evaluation) ([]*ir.Tensor, error) {
	t, err := constantTensor(e.call)
	return []*ir.Tensor{t}, err
}

func evalConstantOfShape(e *evaluation) ([]*ir.Tensor, error) {
	shape, err := e.needInts(0)
	if err != nil {
		return nil, err
	}
	dims, err := checkedDims(shape)
	if err != nil {
		return nil, err
	}
	fill := newContent(ir.Float32, []int64{1})
	if a := e.attr("value"); a != nil && a.Tensor != nil {
		if fill, err = decode(a.Tensor); err != nil {
			return nil, err
		}
	}
	if fill.len() != 1 {
		return nil, fmt.Errorf("value has %d elements, expected 1", fill.len())
	}
	n := elementCount(dims)
	return one(&content{
		elem: fill.elem, dims: dims,
		ints: slices.Repeat(fill.ints, n), floats: slices.Repeat(fill.floats, n), text: slices.Repeat(fill.text, n),
	})
}

func evalEyeLike(e *evaluation) ([]*ir.Tensor, error) {
	x := tensorAt(e.in, 0)
	if x == nil || len(x.Dims) != 2 {
		return nil, fmt.Errorf("expected an input of rank 2")
	}
	dims, err := checkedDims(x.Dims)
	if err != nil {
		return nil, err
	}
	elem := ir.DataType(e.int("dtype", int64(x.Type)))
	if elem.Bits() < 8 {
		return nil, fmt.Errorf("%w with elements of type %s", ErrNotEvaluable, elem)
	}
	k := e.int("k", 0)
	out := newContent(elem, dims)
	for row := range dims[0] {
		if column := row + k; column >= 0 && column < dims[1] {
			out.set(int(row*dims[1]+column), 1)
		}
	}
	return one(out)
}

// set makes element i a number.
func (x *content) set(i int, n int64) {
	if x.floats != nil {
		x.floats[i] = float64(n)
	} else {
		x.ints[i] = n
	}
}

func evalRange(e *evaluation) ([]*ir.Tensor, error) {
	xs, err := e.contents(3)
	if err != nil {
		return nil, err
	}
	start, limit, delta := xs[0], xs[1], xs[2]
	n, err := rangeLength(start, limit, delta)
	if err != nil {
		return nil, err
	}
	dims, err := checkedDims([]int64{n})
	if err != nil {
		return nil, err
	}
	out := newContent(start.elem, dims)
	for i := range out.floats {
		out.floats[i] = start.floats[0] + float64(i)*delta.floats[0]
	}
	for i := range out.ints {
		out.ints[i] = start.ints[0] + int64(i)*delta.ints[0]
	}
	return one(out)
}

// rangeLength returns max(0, ceil((limit - start)/delta)).
func rangeLength(start, limit, delta *content) (int64, error) {
	for _, x := range []*content{start, limit, delta} {
		if x.len() != 1 || x.elem != start.elem || x.text != nil {
			return 0, fmt.Errorf("expected three scalars of one type")
		}
	}
	switch {
	case start.floats != nil && delta.floats[0] != 0:
		n := math.Max(0, math.Ceil((limit.floats[0]-start.floats[0])/delta.floats[0]))
		if !(n <= math.MaxInt32) {
			return 0, fmt.Errorf("%w: %g elements", ErrNotEvaluable, n)
		}
		return int64(n), nil
	case start.ints != nil && delta.ints[0] != 0:
		return max(0, -floorDiv(start.ints[0]-limit.ints[0], delta.ints[0])), nil
	}
	return 0, fmt.Errorf("delta is 0")
}

// floorDiv returns a/b rounded towards minus infinity.
func floorDiv(a, b int64) int64 { return (a - floorMod(a, b)) / b }

func evalShape(e *evaluation) ([]*ir.Tensor, error) {
	x := tensorAt(e.in, 0)
	if x == nil {
		return nil, fmt.Errorf("input 0 is missing")
	}
	start, end := shapeRange(e.call, len(x.Dims))
	return []*ir.Tensor{ir.Ints64(x.Dims[start:end]...)}, nil
}

// shapeRange returns the axes that a Shape node reads, as start ≤ end.
func shapeRange(c call, rank int) (start, end int) {
	clamp := func(i int64) int {
		if i < 0 {
			i += int64(rank)
		}
		return int(min(max(i, 0), int64(rank)))
	}
	start, end = clamp(c.int("start", 0)), clamp(c.int("end", int64(rank)))
	return start, max(start, end)
}

func evalSize(e *evaluation) ([]*ir.Tensor, error) {
	x := tensorAt(e.in, 0)
	if x == nil || x.Len() < 0 {
		return nil, fmt.Errorf("expected an input of known size")
	}
	return []*ir.Tensor{ir.Int64Scalar(x.Len())}, nil
}

// evalOptionalHasElement answers for an input that is absent, or a tensor.
func evalOptionalHasElement(e *evaluation) ([]*ir.Tensor, error) {
	out := newContent(ir.Bool, []int64{})
	out.ints[0] = boolInt(tensorAt(e.in, 0) != nil)
	return one(out)
}
