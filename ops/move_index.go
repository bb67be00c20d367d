package ops

import (
	"fmt"
	"slices"
)

func moveTranspose(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	perm, err := permutation(m.call, len(dims))
	if err != nil {
		return nil, err
	}
	in := stridesOf(dims)
	out, strides := make([]int64, len(dims)), make([]int, len(dims))
	for i, p := range perm {
		out[i], strides[i] = dims[p], in[p]
	}
	return indexed(0, out, strided(out, strides, 0)), nil
}

// permutation returns a Transpose's perm attribute, by default the reverse.
func permutation(c call, rank int) ([]int, error) {
	perm, ok := c.ints("perm")
	out := make([]int, rank)
	if !ok {
		for i := range out {
			out[i] = rank - 1 - i
		}
		return out, nil
	}
	seen, err := axesOf(perm, rank)
	// Unlike other axes, those of perm are not counted from the end.
	if err != nil || len(perm) != rank || slices.Contains(seen, false) || rank > 0 && slices.Min(perm) < 0 {
		return nil, fmt.Errorf("perm %v is no permutation of %d axes", perm, rank)
	}
	for i, p := range perm {
		out[i], _ = axisOf(p, rank)
	}
	return out, nil
}

func moveExpand(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	shape, err := m.needInts(1)
	if err != nil {
		return nil, err
	}
	out, err := broadcastStatic(dims, shape)
	if err != nil {
		return nil, err
	}
	return indexed(0, out, broadcastIndex(out, dims)), nil
}

func moveTile(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	repeats, err := m.needInts(1)
	if err != nil {
		return nil, err
	}
	if len(repeats) != len(dims) {
		return nil, fmt.Errorf("%d repeats for rank %d", len(repeats), len(dims))
	}
	axes := make([][]int64, len(dims))
	out := make([]int64, len(dims))
	for i, d := range dims {
		if repeats[i] < 0 || repeats[i] > MaxEvalElements {
			return nil, fmt.Errorf("%w: repeats %v", ErrNotEvaluable, repeats)
		}
		out[i] = d * repeats[i]
	}
	if _, err := checkedDims(out); err != nil {
		return nil, err
	}
	for i, d := range dims {
		for j := range out[i] {
			axes[i] = append(axes[i], j%d)
		}
	}
	return indexed(0, out, cross(dims, axes)), nil
}

// cross returns the index, in a tensor of the given dims, of every element whose
// coordinates are taken from a list for each axis.
func cross(dims []int64, axes [][]int64) []int {
	strides, out := stridesOf(dims), make([]int64, len(dims))
	for i, list := range axes {
		out[i] = int64(len(list))
	}
	index := make([]int, 0, elementCount(out))
	eachCoordinate(out, func(at []int64) {
		x := 0
		for axis, c := range at {
			x += int(axes[axis][c]) * strides[axis]
		}
		index = append(index, x)
	})
	return index
}

// allAxes returns the lists for cross that take every coordinate.
func allAxes(dims []int64) [][]int64 {
	axes := make([][]int64, len(dims))
	for i, d := range dims {
		for j := range d {
			axes[i] = append(axes[i], j)
		}
	}
	return axes
}

func moveConcat(m *mover) ([]pick, error) {
	first, err := m.need(0)
	if err != nil {
		return nil, err
	}
	axis, err := m.axis(0, len(first))
	if err != nil {
		return nil, err
	}
	out := slices.Clone(first)
	for i := 1; i < len(m.dims); i++ {
		dims, err := m.need(i)
		if err != nil {
			return nil, err
		}
		if len(dims) != len(first) {
			return nil, fmt.Errorf("inputs of rank %d and %d", len(first), len(dims))
		}
		for j, d := range dims {
			if j != axis && d != first[j] {
				return nil, fmt.Errorf("axis %d: %d against %d", j, d, first[j])
			}
		}
		out[axis] += dims[axis]
	}
	if _, err := checkedDims(out); err != nil {
		return nil, err
	}
	p := pick{dims: out}
	for outer := range elementCount(out[:axis]) {
		for i, dims := range m.dims {
			block := elementCount(dims[axis:])
			for j := range block {
				p.from = append(p.from, source{i, outer*block + j})
			}
		}
	}
	return []pick{p}, nil
}

func moveSlice(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	s, err := m.sliceArgs(len(dims))
	if err != nil {
		return nil, err
	}
	lists := allAxes(dims)
	for i, a := range s.axes {
		axis, _ := axisOf(a, len(dims))
		if lists[axis], err = sliceIndices(dims[axis], s.starts[i], s.ends[i], s.steps[i]); err != nil {
			return nil, err
		}
	}
	out := make([]int64, len(dims))
	for i, list := range lists {
		out[i] = int64(len(list))
	}
	return indexed(0, out, cross(dims, lists)), nil
}

// sliceArgs are the arguments of a Slice, one entry an axis.
type sliceArgs struct{ starts, ends, axes, steps []int64 }

func (m *mover) sliceArgs(rank int) (s sliceArgs, err error) {
	if s.starts, err = m.requiredInts(1, "starts"); err != nil {
		return s, err
	}
	if s.ends, err = m.requiredInts(2, "ends"); err != nil {
		return s, err
	}
	n, ok := len(s.starts), false
	if s.axes, ok, err = m.optionalInts(3, "axes"); err != nil {
		return s, err
	} else if !ok {
		s.axes = firstAxes(n)
	}
	if s.steps, ok, err = m.optionalInts(4, "steps"); err != nil {
		return s, err
	} else if !ok {
		s.steps = slices.Repeat([]int64{1}, n)
	}
	if len(s.ends) != n || len(s.axes) != n || len(s.steps) != n {
		return s, fmt.Errorf("%d starts, %d ends, %d axes, %d steps", n, len(s.ends), len(s.axes), len(s.steps))
	}
	_, err = axesOf(s.axes, rank)
	return s, err
}

// firstAxes returns 0, 1, …, n-1.
func firstAxes(n int) []int64 {
	axes := make([]int64, n)
	for i := range axes {
		axes[i] = int64(i)
	}
	return axes
}

// sliceIndices returns the indices that a slice of an axis of length n takes.
func sliceIndices(n, start, end, step int64) (indices []int64, err error) {
	if step == 0 {
		return nil, fmt.Errorf("step 0")
	}
	if start < 0 {
		start += n
	}
	if end < 0 {
		end += n
	}
	if step > 0 {
		start, end = min(max(start, 0), n), min(max(end, 0), n)
		for i := start; i < end; i += step {
			indices = append(indices, i)
			if i > end-step {
				break
			}
		}
		return indices, nil
	}
	start, end = min(max(start, 0), n-1), min(max(end, -1), n-1)
	for i := start; i > end; i += step {
		indices = append(indices, i)
		if i < end-step {
			break
		}
	}
	return indices, nil
}

func moveSplit(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	axis, err := m.axis(0, len(dims))
	if err != nil {
		return nil, err
	}
	sizes, ok, err := m.optionalInts(1, "split")
	if err != nil {
		return nil, err
	}
	if !ok {
		if sizes, err = evenSplit(dims[axis], int64(len(m.node.Outputs()))); err != nil {
			return nil, err
		}
	}
	lists := allAxes(dims)
	var picks []pick
	rest := lists[axis]
	for _, size := range sizes {
		if size < 0 || size > int64(len(rest)) {
			return nil, fmt.Errorf("sizes %v do not split an axis of %d", sizes, dims[axis])
		}
		lists[axis], rest = rest[:size], rest[size:]
		out := slices.Clone(dims)
		out[axis] = size
		picks = append(picks, indexed(0, out, cross(dims, lists))...)
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("sizes %v do not split an axis of %d", sizes, dims[axis])
	}
	return picks, nil
}

// evenSplit returns the sizes of parts as equal as possible, the last smaller.
func evenSplit(n, parts int64) ([]int64, error) {
	if parts <= 0 {
		return nil, fmt.Errorf("no outputs")
	}
	size := (n + parts - 1) / parts
	sizes := slices.Repeat([]int64{size}, int(parts))
	sizes[parts-1] = n - size*(parts-1)
	return sizes, nil
}

func moveWhere(m *mover) ([]pick, error) {
	condition, err := m.needInts(0)
	if err != nil {
		return nil, err
	}
	for i := 1; i < 3; i++ {
		if _, err := m.need(i); err != nil {
			return nil, err
		}
	}
	out, err := broadcastStatic(m.dims[:3]...)
	if err != nil {
		return nil, err
	}
	var index [3][]int
	for i := range index {
		index[i] = broadcastIndex(out, m.dims[i])
	}
	p := pick{dims: out, from: make([]source, len(index[0])), data: 1}
	for i := range p.from {
		from := 2
		if condition[index[0][i]] != 0 {
			from = 1
		}
		p.from[i] = source{from, index[from][i]}
	}
	return []pick{p}, nil
}

func moveTrilu(m *mover) ([]pick, error) {
	dims, err := m.need(0)
	if err != nil {
		return nil, err
	}
	if len(dims) < 2 {
		return nil, fmt.Errorf("rank %d, expected 2 or more", len(dims))
	}
	k := int64(0)
	if len(m.dims) > 1 && m.dims[1] != nil {
		values, err := m.needInts(1)
		if err != nil {
			return nil, err
		}
		if len(values) != 1 {
			return nil, fmt.Errorf("k has %d elements, expected 1", len(values))
		}
		k = values[0]
	}
	upper := m.int("upper", 1) != 0
	p := pick{dims: dims}
	eachCoordinate(dims, func(at []int64) {
		row, column := at[len(at)-2], at[len(at)-1]
		s := source{0, len(p.from)}
		if upper && column-row < k || !upper && column-row > k {
			s.input = -1
		}
		p.from = append(p.from, s)
	})
	return []pick{p}, nil
}
