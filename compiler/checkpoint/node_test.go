package checkpoint

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// array is a tensor in memory, with the operations written in the plainest way.
type array struct {
	shape []int64
	data  []uint16
}

func (a array) at(index []int64) uint16 {
	n := int64(0)
	for i, x := range index {
		n = n*a.shape[i] + x
	}
	return a.data[n]
}

// build makes an array of a shape from a function of the index.
func build(shape []int64, f func(index []int64) uint16) array {
	a := array{shape: shape}
	index := make([]int64, len(shape))
	for range elements(shape) {
		a.data = append(a.data, f(index))
		for i := len(index) - 1; i >= 0; i-- {
			if index[i]++; index[i] < shape[i] {
				break
			}
			index[i] = 0
		}
	}
	return a
}

func (a array) transpose(perm []int) array {
	shape := make([]int64, len(perm))
	for i, p := range perm {
		shape[i] = a.shape[p]
	}
	return build(shape, func(index []int64) uint16 {
		from := make([]int64, len(index))
		for i, p := range perm {
			from[p] = index[i]
		}
		return a.at(from)
	})
}

func (a array) slice(axis int, from, size int64) array {
	shape := slices.Clone(a.shape)
	shape[axis] = size
	return build(shape, func(index []int64) uint16 {
		index = slices.Clone(index)
		index[axis] += from
		return a.at(index)
	})
}

func (a array) twice(axis int) array {
	shape := slices.Clone(a.shape)
	shape[axis] *= 2
	return build(shape, func(index []int64) uint16 {
		index = slices.Clone(index)
		index[axis] %= a.shape[axis]
		return a.at(index)
	})
}

func (a array) bytes() []byte {
	var b []byte
	for _, x := range a.data {
		b = le.AppendUint16(b, x)
	}
	return b
}

// onDisk returns a node that reads the array from a file.
func (a array) onDisk(t *testing.T) node {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, append([]byte("head"), a.bytes()...), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &stored{file: f, info: TensorInfo{Name: "x", DType: U16, Shape: a.shape, Offset: 4, Length: 2 * elements(a.shape)}}
}

// TestNodes applies random chains of operations to a file and to an array, and
// compares random parts of the results.
func TestNodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	base := build([]int64{4, 6, 2, 3}, func(i []int64) uint16 { return uint16(((i[0]*6+i[1])*2+i[2])*3 + i[3]) })
	file := base.onDisk(t)
	for range 300 {
		want, n, chain := base, file, ""
		for range 1 + rng.IntN(4) {
			var op string
			want, n, op = randomOp(rng, want, n)
			chain += op + "; "
		}
		if !slices.Equal(n.dims(), want.shape) {
			t.Fatalf("%s has shape %v, want %v", chain, n.dims(), want.shape)
		}
		checkParts(t, rng, chain, &Source{n}, want.bytes())
		if t.Failed() {
			return
		}
	}
}

func randomOp(rng *rand.Rand, a array, n node) (array, node, string) {
	axis := rng.IntN(len(a.shape))
	d := a.shape[axis]
	switch rng.IntN(4) {
	case 0:
		perm := rng.Perm(len(a.shape))
		return a.transpose(perm), transposeOf(n, perm), fmt.Sprint("transpose ", perm)
	case 1:
		size := rng.Int64N(d) + 1
		from := rng.Int64N(d - size + 1)
		return a.slice(axis, from, size), sliceOf(n, axis, from, size), fmt.Sprint("slice ", axis, from, size)
	case 2:
		shape := []int64{elements(a.shape)} // to one axis, or the first two joined
		if len(a.shape) > 2 && rng.IntN(3) > 0 {
			shape = append([]int64{a.shape[0] * a.shape[1]}, a.shape[2:]...)
		}
		return array{shape, a.data}, reshapeOf(n, shape), fmt.Sprint("reshape ", shape)
	}
	if elements(a.shape) > 1000 {
		return a, n, "nothing"
	}
	return a.twice(axis), concatOf([]node{n, n}, axis), fmt.Sprint("twice ", axis)
}

// checkParts reads the whole and random parts, on and off element boundaries.
func checkParts(t *testing.T, rng *rand.Rand, name string, s *Source, want []byte) {
	t.Helper()
	if s.Size() != int64(len(want)) {
		t.Errorf("%s: size %d, want %d", name, s.Size(), len(want))
	}
	from, to := 0, len(want)
	for range 6 {
		got := make([]byte, to-from)
		if _, err := s.ReadAt(got, int64(from)); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if !bytes.Equal(got, want[from:to]) {
			t.Errorf("%s: bytes %d to %d differ", name, from, to)
			return
		}
		from = rng.IntN(len(want))
		to = from + rng.IntN(len(want)-from+1)
	}
}

func TestRegions(t *testing.T) {
	n := build([]int64{4, 6}, func(i []int64) uint16 { return uint16(i[0]*6 + i[1]) }).onDisk(t)
	tests := []struct {
		name           string
		node           node
		offset, length int64
		ok             bool
	}{
		{"whole", n, 4, 48, true},
		{"reshaped", reshapeOf(n, []int64{2, 12}), 4, 48, true},
		{"rows", sliceOf(n, 0, 1, 2), 16, 24, true},
		{"part of a row", sliceOf(sliceOf(n, 0, 1, 1), 1, 2, 3), 20, 6, true},
		{"axes of 1 moved", transposeOf(reshapeOf(n, []int64{4, 1, 6}), []int{1, 0, 2}), 4, 48, true},
		{"columns", sliceOf(n, 1, 0, 2), 0, 0, false},
		{"transposed", transposeOf(n, []int{1, 0}), 0, 0, false},
		{"joined", concatOf([]node{n, n}, 0), 0, 0, false},
		{"joined alone", concatOf([]node{n}, 0), 4, 48, true},
	}
	for _, tt := range tests {
		r, ok := regionOf(tt.node)
		if ok != tt.ok || r.Offset != tt.offset || r.Length != tt.length {
			t.Errorf("%s: %d+%d %v, want %d+%d %v", tt.name, r.Offset, r.Length, ok, tt.offset, tt.length, tt.ok)
		}
	}
}

func TestSourceEnds(t *testing.T) {
	a := build([]int64{4, 6}, func(i []int64) uint16 { return uint16(i[0]*6 + i[1]) })
	for _, n := range []node{a.onDisk(t), transposeOf(transposeOf(a.onDisk(t), []int{1, 0}), []int{1, 0}), concatOf([]node{sliceOf(a.onDisk(t), 0, 0, 2), sliceOf(a.onDisk(t), 0, 2, 2)}, 0)} {
		s := &Source{n}
		got := make([]byte, 10)
		if k, err := s.ReadAt(got, 44); k != 4 || err == nil || !bytes.Equal(got[:4], a.bytes()[44:]) {
			t.Errorf("reading over the end: %d, %v, %v", k, err, got)
		}
		if _, err := s.ReadAt(got, 49); err == nil {
			t.Error("reading beyond the end: no error")
		}
		if _, err := s.ReadAt(got, -1); err == nil {
			t.Error("reading before the start: no error")
		}
	}
}
