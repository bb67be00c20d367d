package ops

import "fmt"

// broadcastStatic returns the dims that static shapes broadcast to.
func broadcastStatic(shapes ...[]int64) ([]int64, error) {
	var out []int64
	for _, s := range shapes {
		if len(s) > len(out) {
			wider := make([]int64, len(s))
			pad := len(s) - len(out)
			for i := range wider {
				wider[i] = 1
				if i >= pad {
					wider[i] = out[i-pad]
				}
			}
			out = wider
		}
		pad := len(out) - len(s)
		for i, d := range s {
			switch o := &out[pad+i]; {
			case *o == 1:
				*o = d
			case d != 1 && d != *o:
				return nil, fmt.Errorf("shapes %v do not broadcast: %d against %d", shapes, *o, d)
			}
		}
	}
	return checkedDims(out)
}

// broadcastIndex returns, for each element of a tensor of dims out, the index
// of the element of a tensor of dims in that it is broadcast from.
func broadcastIndex(out, in []int64) []int {
	strides := make([]int, len(out))
	step := 1
	for i := len(in) - 1; i >= 0; i-- {
		if in[i] != 1 {
			strides[len(out)-len(in)+i] = step
		}
		step *= int(in[i])
	}
	return strided(out, strides, 0)
}

// strided returns the index offset + Σ coordinate·stride of every element of a
// tensor of the given dims, in row-major order.
func strided(dims []int64, strides []int, offset int) []int {
	index := make([]int, 0, elementCount(dims))
	eachCoordinate(dims, func(at []int64) {
		i := offset
		for axis, c := range at {
			i += int(c) * strides[axis]
		}
		index = append(index, i)
	})
	return index
}

// eachCoordinate visits every coordinate of dims in row-major order. The slice
// is reused.
func eachCoordinate(dims []int64, visit func(at []int64)) {
	at := make([]int64, len(dims))
	for range elementCount(dims) {
		visit(at)
		for axis := len(dims) - 1; axis >= 0; axis-- {
			if at[axis]++; at[axis] < dims[axis] {
				break
			}
			at[axis] = 0
		}
	}
}

// stridesOf returns the row-major strides of dims.
func stridesOf(dims []int64) []int {
	strides := make([]int, len(dims))
	step := 1
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = step
		step *= int(dims[i])
	}
	return strides
}
