package ops

import (
	"fmt"

	"mobiusc/ir"
)

// mover is a call of an operator whose outputs are made of elements of its
// inputs. Its rule says which element goes where, whatever the elements are:
// Eval moves those of tensors, inference moves symbolic sizes.
type mover struct {
	call
	dims [][]int64 // of each input; nil: absent
	// ints returns the content of an integer or bool input, if it is there and
	// known.
	ints func(i int) ([]int64, bool)
}

// pick says where the elements of an output come from, in row-major order.
type pick struct {
	dims []int64
	from []source
	data int // an input that has the output's element type
}

// source is an element of an input; input -1 is the zero of the element type.
type source struct{ input, index int }

// moveRule returns the pick of each output.
type moveRule func(m *mover) ([]pick, error)

var moves = map[string]moveRule{
	"Identity":        moveIdentity,
	"Reshape":         moveReshape,
	"Flatten":         moveFlatten,
	"Squeeze":         moveSqueeze,
	"Unsqueeze":       moveUnsqueeze,
	"Transpose":       moveTranspose,
	"Expand":          moveExpand,
	"Tile":            moveTile,
	"Concat":          moveConcat,
	"Slice":           moveSlice,
	"Split":           moveSplit,
	"Gather":          moveGather,
	"GatherElements":  moveGatherElements,
	"GatherND":        moveGatherND,
	"ScatterElements": moveScatterElements,
	"ScatterND":       moveScatterND,
	"Where":           moveWhere,
	"Trilu":           moveTrilu,
	"Pad":             movePad,
	"Compress":        moveCompress,
}

// evalMove applies a rule to tensors.
func evalMove(c call, rule moveRule, inputs []*ir.Tensor) ([]*ir.Tensor, error) {
	m := &mover{call: c, dims: make([][]int64, len(inputs))}
	for i, t := range inputs {
		if t == nil {
			continue
		}
		if err := inMemory(t); err != nil {
			return nil, err
		}
		m.dims[i] = append([]int64{}, t.Dims...)
	}
	m.ints = func(i int) ([]int64, bool) {
		if t := tensorAt(inputs, i); t != nil {
			values, err := t.AsInts()
			return values, err == nil
		}
		return nil, false
	}
	picks, err := rule(m)
	if err != nil {
		return nil, err
	}
	out := make([]*ir.Tensor, len(picks))
	for i, p := range picks {
		if out[i], err = p.tensor(inputs); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tensor collects the elements of an output.
func (p pick) tensor(inputs []*ir.Tensor) (*ir.Tensor, error) {
	elem := inputs[p.data].Type
	t := &ir.Tensor{Type: elem, Dims: append([]int64{}, p.dims...)}
	if elem == ir.String {
		t.Strings = make([][]byte, len(p.from))
		for i, s := range p.from {
			if s.input >= 0 {
				t.Strings[i] = inputs[s.input].Strings[s.index]
			}
		}
		return t, nil
	}
	width := elem.Bits() / 8
	if width == 0 {
		return nil, fmt.Errorf("%w: elements of type %s", ErrNotEvaluable, elem)
	}
	t.Raw = make([]byte, len(p.from)*width)
	for i, s := range p.from {
		if s.input < 0 {
			continue
		}
		if inputs[s.input].Type != elem {
			return nil, fmt.Errorf("element types %s and %s differ", inputs[s.input].Type, elem)
		}
		copy(t.Raw[i*width:], inputs[s.input].Raw[s.index*width:(s.index+1)*width])
	}
	return t, nil
}

// need returns the dims of an input that must be there.
func (m *mover) need(i int) ([]int64, error) {
	if i >= len(m.dims) || m.dims[i] == nil {
		return nil, fmt.Errorf("input %d is missing", i)
	}
	return m.dims[i], nil
}

// needInts returns the content of an input that must be there and known.
func (m *mover) needInts(i int) ([]int64, error) {
	if _, err := m.need(i); err != nil {
		return nil, err
	}
	values, ok := m.ints(i)
	if !ok {
		return nil, fmt.Errorf("%w: the content of input %d is no known list of integers", ErrNotEvaluable, i)
	}
	return values, nil
}

// optionalInts returns what old versions of an operator take as an attribute
// and later ones as input i; ok is false where there is neither.
func (m *mover) optionalInts(i int, attr string) (values []int64, ok bool, err error) {
	if values, ok := m.call.ints(attr); ok {
		return values, true, nil
	}
	if i >= len(m.dims) || m.dims[i] == nil {
		return nil, false, nil
	}
	values, err = m.needInts(i)
	return values, true, err
}

// requiredInts is optionalInts for what must be there.
func (m *mover) requiredInts(i int, attr string) ([]int64, error) {
	values, ok, err := m.optionalInts(i, attr)
	if err == nil && !ok {
		err = fmt.Errorf("input %d (%s) is missing", i, attr)
	}
	return values, err
}

// axis returns the axis attribute counted from the front.
func (m *mover) axis(absent int64, rank int) (int, error) {
	a := m.int("axis", absent)
	i, ok := axisOf(a, rank)
	if !ok {
		return 0, fmt.Errorf("axis %d is out of range for rank %d", a, rank)
	}
	return i, nil
}

// indexed returns the pick of the given elements of one input.
func indexed(input int, dims []int64, index []int) []pick {
	from := make([]source, len(index))
	for i, x := range index {
		from[i] = source{input, x}
	}
	return []pick{{dims: dims, from: from, data: input}}
}

// inOrder returns the pick of all elements of input 0 under new dims.
func (m *mover) inOrder(dims []int64) ([]pick, error) {
	n := elementCount(m.dims[0])
	if n != elementCount(dims) {
		return nil, fmt.Errorf("dims %v do not hold the %d elements of %v", dims, n, m.dims[0])
	}
	index := make([]int, n)
	for i := range index {
		index[i] = i
	}
	return indexed(0, dims, index), nil
}

func moveIdentity(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	return m.inOrder(dims)
}

func moveReshape(m *mover) ([]pick, error) {
	if _, err := m.need(0); err != nil {
		return nil, err
	}
	target, ok := m.call.ints("shape") // opset 1
	if !ok {
		var err error
		if target, err = m.needInts(1); err != nil {
			return nil, err
		}
	}
	shape, err := reshapeDims(dimsOf(m.dims[0]), dimsOf(target), m.int("allowzero", 0) != 0)
	if err != nil {
		return nil, err
	}
	dims, ok := shape.Static()
	if !ok {
		return nil, fmt.Errorf("no dims follow from %v for %v", target, m.dims[0])
	}
	return m.inOrder(dims)
}

func moveFlatten(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	axis := m.int("axis", 1)
	if axis < 0 {
		axis += int64(len(dims))
	}
	if axis < 0 || axis > int64(len(dims)) {
		return nil, fmt.Errorf("axis %d is out of range for rank %d", m.int("axis", 1), len(dims))
	}
	return m.inOrder([]int64{int64(elementCount(dims[:axis])), int64(elementCount(dims[axis:]))})
}

func moveSqueeze(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	axes, given, err := m.optionalInts(1, "axes")
	if err != nil {
		return nil, err
	}
	set, err := axesOf(axes, len(dims))
	if err != nil {
		return nil, err
	}
	kept := []int64{}
	for i, d := range dims {
		switch {
		case set[i] && d != 1:
			return nil, fmt.Errorf("axis %d of %v is not 1", i, dims)
		case !set[i] && (given || d != 1):
			kept = append(kept, d)
		}
	}
	return m.inOrder(kept)
}

func moveUnsqueeze(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	axes, _, err := m.optionalInts(1, "axes")
	if err != nil {
		return nil, err
	}
	set, err := axesOf(axes, len(dims)+len(axes))
	if err != nil {
		return nil, err
	}
	out, rest := make([]int64, len(set)), dims
	for i := range out {
		if set[i] {
			out[i] = 1
		} else {
			out[i], rest = rest[0], rest[1:]
		}
	}
	return m.inOrder(out)
}

func dimsOf(numbers []int64) ir.Shape {
	dims := make(ir.Shape, len(numbers))
	for i, n := range numbers {
		dims[i] = ir.Int(n)
	}
	return dims
}
