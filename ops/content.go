package ops

import (
	"encoding/binary"
	"fmt"
	"math"

	"mobiusc/internal/float16"
	"mobiusc/ir"
)

// Scalar returns a tensor of rank 0 with the value rounded to the element type,
// which must be a float, an integer or bool.
func Scalar(t ir.DataType, v float64) *ir.Tensor {
	x := &content{elem: t, dims: []int64{}}
	if t.IsFloat() {
		x.floats = []float64{v}
	} else {
		x.ints = []int64{int64(v)}
	}
	return x.tensor()
}

// content is a tensor as Go numbers. One of the slices holds the elements,
// which one follows from the element type: floats for floating-point types,
// text for strings, ints for the rest.
type content struct {
	elem   ir.DataType
	dims   []int64
	ints   []int64
	floats []float64
	text   [][]byte
}

// newContent returns a tensor of zeros or empty strings.
func newContent(elem ir.DataType, dims []int64) *content {
	x := &content{elem: elem, dims: dims}
	n := elementCount(dims)
	switch {
	case elem.IsFloat():
		x.floats = make([]float64, n)
	case elem == ir.String:
		x.text = make([][]byte, n)
	default:
		x.ints = make([]int64, n)
	}
	return x
}

// elementCount returns the product of dims that are at least 0.
func elementCount(dims []int64) int {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return int(n)
}

func (x *content) len() int { return elementCount(x.dims) }

// decode reads a tensor held in memory.
func decode(t *ir.Tensor) (*content, error) {
	if err := inMemory(t); err != nil {
		return nil, err
	}
	x := &content{elem: t.Type, dims: t.Dims}
	switch {
	case t.Type == ir.String:
		x.text = append([][]byte{}, t.Strings...)
		return x, nil
	case !t.Type.IsFloat():
		ints, err := t.AsInts()
		x.ints = ints
		return x, err
	}
	x.floats = make([]float64, t.Len())
	for i := range x.floats {
		x.floats[i] = floatAt(t, i)
	}
	return x, nil
}

// inMemory checks that a tensor's content is there and of the size it says.
func inMemory(t *ir.Tensor) error {
	switch {
	case t.External != nil:
		return fmt.Errorf("tensor %q holds external data", t.Name)
	case t.Sparse != nil:
		return fmt.Errorf("tensor %q is sparse", t.Name)
	case t.Type == ir.String && int64(len(t.Strings)) != t.Len():
		return fmt.Errorf("tensor %q: %d strings for dims %v", t.Name, len(t.Strings), t.Dims)
	case t.Type != ir.String && (t.ByteLen() < 0 || int64(len(t.Raw)) != t.ByteLen()):
		return fmt.Errorf("tensor %q: %d bytes for %s%v", t.Name, len(t.Raw), t.Type, t.Dims)
	}
	return nil
}

// floatAt returns element i of a tensor of a floating-point type.
func floatAt(t *ir.Tensor, i int) float64 {
	switch t.Type {
	case ir.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(t.Raw[4*i:])))
	case ir.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(t.Raw[8*i:]))
	case ir.Float16:
		return float64(float16.F16Value(binary.LittleEndian.Uint16(t.Raw[2*i:])))
	default:
		return float64(float16.BF16Value(binary.LittleEndian.Uint16(t.Raw[2*i:])))
	}
}

// tensor returns the content as a tensor. Floats are rounded to the element
// type, integers wrap around to its width.
func (x *content) tensor() *ir.Tensor {
	t := &ir.Tensor{Type: x.elem, Dims: append([]int64{}, x.dims...)}
	if x.elem == ir.String {
		t.Strings = x.text
		return t
	}
	t.Raw = make([]byte, 0, max(1, x.elem.Bits()/8)*x.len())
	for _, f := range x.floats {
		t.Raw = appendFloat(t.Raw, x.elem, f)
	}
	for _, n := range x.ints {
		t.Raw = appendInt(t.Raw, x.elem, n)
	}
	return t
}

func appendFloat(raw []byte, t ir.DataType, f float64) []byte {
	switch t {
	case ir.Float32:
		return binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(f)))
	case ir.Float64:
		return binary.LittleEndian.AppendUint64(raw, math.Float64bits(f))
	case ir.Float16:
		return binary.LittleEndian.AppendUint16(raw, float16.F16FromValue(float32(f)))
	default:
		return binary.LittleEndian.AppendUint16(raw, float16.BF16FromValue(float32(f)))
	}
}

func appendInt(raw []byte, t ir.DataType, n int64) []byte {
	switch t.Bits() {
	case 64:
		return binary.LittleEndian.AppendUint64(raw, uint64(n))
	case 32:
		return binary.LittleEndian.AppendUint32(raw, uint32(n))
	case 16:
		return binary.LittleEndian.AppendUint16(raw, uint16(n))
	default:
		return append(raw, byte(n))
	}
}

// round returns f as the element type holds it.
func round(t ir.DataType, f float64) float64 {
	switch t {
	case ir.Float32:
		return float64(float32(f))
	case ir.Float16:
		return float64(float16.F16Value(float16.F16FromValue(float32(f))))
	case ir.BFloat16:
		return float64(float16.BF16Value(float16.BF16FromValue(float32(f))))
	}
	return f
}
