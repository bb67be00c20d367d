package ops

import (
	"fmt"
	"slices"
)

// wrapped returns an index counted from the front.
func wrapped(i, n int64) (int64, error) {
	if i < -n || i >= n {
		return 0, fmt.Errorf("index %d is out of range for an axis of %d", i, n)
	}
	if i < 0 {
		i += n
	}
	return i, nil
}

func moveGather(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	indices, err := m.needInts(1)
	if err != nil {
		return nil, err
	}
	axis, err := m.axis(0, len(dims))
	if err != nil {
		return nil, err
	}
	out := slices.Concat(dims[:axis], m.dims[1], dims[axis+1:])
	if _, err := checkedDims(out); err != nil {
		return nil, err
	}
	lists := allAxes(dims)
	lists[axis] = make([]int64, len(indices))
	for i, x := range indices {
		if lists[axis][i], err = wrapped(x, dims[axis]); err != nil {
			return nil, err
		}
	}
	return indexed(0, out, cross(dims, lists)), nil
}

// elementIndices reads the inputs that GatherElements and ScatterElements share
// and returns, for each element of the indices, the element of the data it
// points at.
func (m *mover) elementIndices() ([]int, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	indices, err := m.needInts(1)
	if err != nil {
		return nil, err
	}
	axis, err := m.axis(0, len(dims))
	if err != nil {
		return nil, err
	}
	if len(m.dims[1]) != len(dims) {
		return nil, fmt.Errorf("indices of rank %d for data of rank %d", len(m.dims[1]), len(dims))
	}
	for i, d := range m.dims[1] {
		if i != axis && d > dims[i] {
			return nil, fmt.Errorf("indices %v exceed the data %v", m.dims[1], dims)
		}
	}
	strides, index := stridesOf(dims), make([]int, 0, len(indices))
	eachCoordinate(m.dims[1], func(at []int64) {
		x := 0
		for i, c := range at {
			if i == axis {
				var wrongIndex error
				if c, wrongIndex = wrapped(indices[len(index)], dims[axis]); wrongIndex != nil {
					err = wrongIndex
				}
			}
			x += int(c) * strides[i]
		}
		index = append(index, x)
	})
	return index, err
}

func moveGatherElements(m *mover) ([]pick, error) {
	index, err := m.elementIndices()
	if err != nil {
		return nil, err
	}
	return indexed(0, m.dims[1], index), nil
}

func moveScatterElements(m *mover) ([]pick, error) {
	index, err := m.elementIndices()
	if err != nil {
		return nil, err
	}
	return m.scatter(index, 1)
}

// scatter returns the data with the updates of input 2 written over it, each
// index taking a run of elements.
func (m *mover) scatter(index []int, run int) ([]pick, error) {
	updates, err := m.need(2)
	if err != nil {
		return nil, err
	}
	if r := m.text("reduction", "none"); r != "none" {
		return nil, fmt.Errorf("%w: reduction %q", ErrNotEvaluable, r)
	}
	if elementCount(updates) != len(index)*run {
		return nil, fmt.Errorf("updates %v for %d indices", updates, len(index))
	}
	picks, err := m.inOrder(m.dims[0])
	if err != nil {
		return nil, err
	}
	for i, x := range index {
		for j := range run {
			picks[0].from[x+j] = source{2, i*run + j}
		}
	}
	return picks, nil
}

// sliceOffsets reads the indices of GatherND and ScatterND, whose last dim
// holds coordinates of the data's axes after batch: the start of each slice and
// the dims of one slice.
func (m *mover) sliceOffsets(batch int) (offsets []int, slice []int64, err error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, nil, err
	}
	indices, err := m.needInts(1)
	if err != nil {
		return nil, nil, err
	}
	rank := len(m.dims[1])
	if rank == 0 {
		return nil, nil, fmt.Errorf("indices are a scalar")
	}
	depth := int(m.dims[1][rank-1])
	if batch < 0 || batch >= rank || batch+depth > len(dims) || !slices.Equal(dims[:batch], m.dims[1][:batch]) {
		return nil, nil, fmt.Errorf("indices %v do not fit data %v with %d batch dims", m.dims[1], dims, batch)
	}
	strides := stridesOf(dims)
	per := elementCount(m.dims[1][batch : rank-1])
	for i := range elementCount(m.dims[1][:rank-1]) {
		x := i / max(per, 1) * elementCount(dims[batch:])
		for j := range depth {
			c, err := wrapped(indices[i*depth+j], dims[batch+j])
			if err != nil {
				return nil, nil, err
			}
			x += int(c) * strides[batch+j]
		}
		offsets = append(offsets, x)
	}
	return offsets, dims[batch+depth:], nil
}

func moveGatherND(m *mover) ([]pick, error) {
	offsets, slice, err := m.sliceOffsets(int(m.int("batch_dims", 0)))
	if err != nil {
		return nil, err
	}
	run := elementCount(slice)
	out := slices.Concat(m.dims[1][:len(m.dims[1])-1], slice)
	if _, err := checkedDims(out); err != nil {
		return nil, err
	}
	var index []int
	for _, x := range offsets {
		for j := range run {
			index = append(index, x+j)
		}
	}
	return indexed(0, out, index), nil
}

func moveScatterND(m *mover) ([]pick, error) {
	offsets, slice, err := m.sliceOffsets(0)
	if err != nil {
		return nil, err
	}
	return m.scatter(offsets, elementCount(slice))
}

func movePad(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	if mode := m.text("mode", "constant"); mode != "constant" {
		return nil, fmt.Errorf("%w: mode %q", ErrNotEvaluable, mode)
	}
	if m.attr("value") != nil {
		return nil, fmt.Errorf("%w: a value as attribute", ErrNotEvaluable)
	}
	before, after, err := m.pads(len(dims))
	if err != nil {
		return nil, err
	}
	out := slices.Clone(dims)
	for i := range out {
		out[i] += before[i] + after[i]
	}
	if _, err := checkedDims(out); err != nil {
		return nil, err
	}
	fill := source{input: -1}
	if len(m.dims) > 2 && m.dims[2] != nil && elementCount(m.dims[2]) == 1 {
		fill = source{2, 0}
	}
	p := pick{dims: out}
	strides := stridesOf(dims)
	eachCoordinate(out, func(at []int64) {
		s := source{}
		for i, c := range at {
			c -= before[i]
			if c < 0 || c >= dims[i] {
				s = fill
				break
			}
			s.index += int(c) * strides[i]
		}
		p.from = append(p.from, s)
	})
	return []pick{p}, nil
}

// pads returns how much a Pad adds before and after each axis.
func (m *mover) pads(rank int) (before, after []int64, err error) {
	pads, err := m.requiredInts(1, "pads")
	if err != nil {
		return nil, nil, err
	}
	axes, ok, err := m.optionalInts(3, "axes")
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		axes = firstAxes(rank)
	}
	if _, err := axesOf(axes, rank); err != nil {
		return nil, nil, err
	}
	if len(pads) != 2*len(axes) {
		return nil, nil, fmt.Errorf("%d pads for %d axes", len(pads), len(axes))
	}
	before, after = make([]int64, rank), make([]int64, rank)
	for i, a := range axes {
		axis, _ := axisOf(a, rank)
		before[axis], after[axis] = pads[i], pads[len(axes)+i]
	}
	return before, after, nil
}

func moveCompress(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	condition, err := m.needInts(1)
	if err != nil {
		return nil, err
	}
	if m.attr("axis") == nil {
		dims = []int64{int64(elementCount(dims))}
	}
	axis, err := m.axis(0, len(dims))
	if err != nil {
		return nil, err
	}
	lists := allAxes(dims)
	lists[axis] = nil
	for i, c := range condition[:min(int64(len(condition)), dims[axis])] {
		if c != 0 {
			lists[axis] = append(lists[axis], int64(i))
		}
	}
	out := slices.Clone(dims)
	out[axis] = int64(len(lists[axis]))
	return indexed(0, out, cross(dims, lists)), nil
}
