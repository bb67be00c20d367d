package verify

import (
	"encoding/binary"
	"math"

	"mobiusc/internal/float16"
	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// comparable reports whether the elements of a type can be told apart as
// numbers by this package.
func comparable(t ir.DataType) bool {
	switch t {
	case ir.Float32, ir.Float64, ir.Float16, ir.BFloat16, ir.Int64, ir.Int32, ir.Int8, ir.Uint8, ir.Bool:
		return true
	}
	return false
}

// floats returns the elements of a tensor of a comparable type as float64.
func floats(t ort.Tensor) []float64 {
	size := t.Type.Bits() / 8
	out := make([]float64, len(t.Raw)/size)
	for i := range out {
		out[i] = element(t.Type, t.Raw[i*size:])
	}
	return out
}

func element(t ir.DataType, raw []byte) float64 {
	le := binary.LittleEndian
	switch t {
	case ir.Float32:
		return float64(math.Float32frombits(le.Uint32(raw)))
	case ir.Float64:
		return math.Float64frombits(le.Uint64(raw))
	case ir.Float16:
		return float64(float16.F16Value(le.Uint16(raw)))
	case ir.BFloat16:
		return float64(float16.BF16Value(le.Uint16(raw)))
	case ir.Int64:
		return float64(int64(le.Uint64(raw)))
	case ir.Int32:
		return float64(int32(le.Uint32(raw)))
	case ir.Int8:
		return float64(int8(raw[0]))
	}
	return float64(raw[0]) // uint8, bool
}

// cast rounds a tensor of floats to another float type.
func cast(t ort.Tensor, to ir.DataType) ort.Tensor {
	if t.Type == to || !t.Type.IsFloat() || !to.IsFloat() {
		return t
	}
	out := ort.Tensor{Type: to, Dims: t.Dims}
	le := binary.LittleEndian
	for _, v := range floats(t) {
		switch to {
		case ir.Float32:
			out.Raw = le.AppendUint32(out.Raw, math.Float32bits(float32(v)))
		case ir.Float64:
			out.Raw = le.AppendUint64(out.Raw, math.Float64bits(v))
		case ir.Float16:
			out.Raw = le.AppendUint16(out.Raw, float16.F16FromValue(float32(v)))
		case ir.BFloat16:
			out.Raw = le.AppendUint16(out.Raw, float16.BF16FromValue(float32(v)))
		}
	}
	return out
}
