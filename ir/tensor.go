package ir

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Tensor is a constant: its content in memory, or where the content lies.
type Tensor struct {
	Name string
	Type DataType
	Dims []int64
	// Raw holds the elements little-endian in ONNX's raw_data layout (types
	// below 8 bits packed, low bits first); nil for strings and external data.
	Raw []byte
	// Strings holds the elements of a string tensor.
	Strings [][]byte
	// External says where the content lies when it is not in Raw.
	External *External
	// Sparse is set for a sparse tensor: Raw then holds the values, Dims the
	// dense shape.
	Sparse *Tensor
	Doc    string
	Meta   Properties
}

// External is a reference to content outside the model file.
type External struct {
	Location string // path relative to the model's directory, slash separated
	Offset   int64  // bytes
	Length   int64  // bytes; 0 when the file does not say
	Checksum string // SHA-1 in hex, or ""
}

// Len returns the number of elements, or -1 when a dim is negative or the
// product overflows.
func (t *Tensor) Len() int64 { return product(t.Dims) }

func product(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		if d < 0 {
			return -1
		}
		if d != 0 && n > math.MaxInt64/d {
			return -1
		}
		n *= d
	}
	return n
}

// ByteLen returns the number of bytes the elements take in raw layout, or -1
// when that is not defined (strings, overflow).
func (t *Tensor) ByteLen() int64 {
	n, bits := t.Len(), int64(t.Type.Bits())
	if bits == 0 || n < 0 || n > (math.MaxInt64-7)/bits {
		return -1
	}
	return (n*bits + 7) / 8
}

// Ints64 returns an int64 tensor of rank 1.
func Ints64(values ...int64) *Tensor {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return &Tensor{Type: Int64, Dims: []int64{int64(len(values))}, Raw: raw}
}

// Int64Scalar returns an int64 tensor of rank 0.
func Int64Scalar(v int64) *Tensor {
	t := Ints64(v)
	t.Dims = []int64{}
	return t
}

// Floats32 returns a float tensor of rank 1.
func Floats32(values ...float32) *Tensor {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return &Tensor{Type: Float32, Dims: []int64{int64(len(values))}, Raw: raw}
}

// Floats64 returns a double tensor of rank 1.
func Floats64(values ...float64) *Tensor {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return &Tensor{Type: Float64, Dims: []int64{int64(len(values))}, Raw: raw}
}

// Float32Scalar returns a float tensor of rank 0.
func Float32Scalar(v float32) *Tensor {
	t := Floats32(v)
	t.Dims = []int64{}
	return t
}

// AsInts returns the elements of an integer or bool tensor held in memory.
func (t *Tensor) AsInts() ([]int64, error) {
	if t.External != nil {
		return nil, fmt.Errorf("tensor %q holds external data", t.Name)
	}
	if n := t.ByteLen(); n < 0 || int64(len(t.Raw)) != n {
		return nil, fmt.Errorf("tensor %q: %d bytes for %s%v", t.Name, len(t.Raw), t.Type, t.Dims)
	}
	out := make([]int64, t.Len())
	for i := range out {
		switch t.Type {
		case Int64, Uint64:
			out[i] = int64(binary.LittleEndian.Uint64(t.Raw[8*i:]))
		case Int32:
			out[i] = int64(int32(binary.LittleEndian.Uint32(t.Raw[4*i:])))
		case Uint32:
			out[i] = int64(binary.LittleEndian.Uint32(t.Raw[4*i:]))
		case Int16:
			out[i] = int64(int16(binary.LittleEndian.Uint16(t.Raw[2*i:])))
		case Uint16:
			out[i] = int64(binary.LittleEndian.Uint16(t.Raw[2*i:]))
		case Int8:
			out[i] = int64(int8(t.Raw[i]))
		case Uint8, Bool:
			out[i] = int64(t.Raw[i])
		default:
			return nil, fmt.Errorf("tensor %q: %s is not an integer type", t.Name, t.Type)
		}
	}
	return out, nil
}
