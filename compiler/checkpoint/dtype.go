package checkpoint

import (
	"math"

	"mobiusc/ir"
)

// DType is an element type of the safetensors format. Its values are the names
// the format writes: F32, BF16, F8_E4M3, …
type DType string

// The element types of safetensors 0.8.
const (
	Bool      DType = "BOOL"
	F4        DType = "F4" // e2m1, two a byte
	F6E2M3    DType = "F6_E2M3"
	F6E3M2    DType = "F6_E3M2"
	U8        DType = "U8"
	I8        DType = "I8"
	F8E5M2    DType = "F8_E5M2"
	F8E4M3    DType = "F8_E4M3" // finite only, as float8_e4m3fn
	F8E8M0    DType = "F8_E8M0"
	F8E4M3FNU DType = "F8_E4M3FNUZ"
	F8E5M2FNU DType = "F8_E5M2FNUZ"
	I16       DType = "I16"
	U16       DType = "U16"
	F16       DType = "F16"
	BF16      DType = "BF16"
	I32       DType = "I32"
	U32       DType = "U32"
	F32       DType = "F32"
	C64       DType = "C64" // complex, two float32
	F64       DType = "F64"
	I64       DType = "I64"
	U64       DType = "U64"
)

// dtypes gives each type's width in bits and its ONNX counterpart, which is
// Undefined for the 6-bit types: ONNX has none.
var dtypes = map[DType]struct {
	bits int64
	onnx ir.DataType
}{
	Bool: {8, ir.Bool}, F4: {4, ir.Float4E2M1}, F6E2M3: {6, ir.Undefined}, F6E3M2: {6, ir.Undefined},
	U8: {8, ir.Uint8}, I8: {8, ir.Int8}, F8E5M2: {8, ir.Float8E5M2}, F8E4M3: {8, ir.Float8E4M3FN},
	F8E8M0: {8, ir.Float8E8M0}, F8E4M3FNU: {8, ir.Float8E4M3FNUZ}, F8E5M2FNU: {8, ir.Float8E5M2FNUZ},
	I16: {16, ir.Int16}, U16: {16, ir.Uint16}, F16: {16, ir.Float16}, BF16: {16, ir.BFloat16},
	I32: {32, ir.Int32}, U32: {32, ir.Uint32}, F32: {32, ir.Float32}, C64: {64, ir.Complex64},
	F64: {64, ir.Float64}, I64: {64, ir.Int64}, U64: {64, ir.Uint64},
}

// Valid reports whether the format defines t.
func (t DType) Valid() bool { _, ok := dtypes[t]; return ok }

// Bits returns the width of one element in bits; 0 for an unknown type.
func (t DType) Bits() int64 { return dtypes[t].bits }

// ONNX returns the ONNX element type with the same encoding, or ir.Undefined.
func (t DType) ONNX() ir.DataType { return dtypes[t].onnx }

// byteLen returns the bytes that a tensor of the given dims takes. The second
// result says why there is no such number, or is "".
func (t DType) byteLen(dims []int64) (n int64, problem string) {
	n = t.Bits()
	for _, d := range dims {
		if d != 0 && n > math.MaxInt64/d {
			return 0, "its size overflows 64 bits"
		}
		n *= d
	}
	if n%8 != 0 {
		return 0, "it does not end at a byte boundary"
	}
	return n / 8, ""
}
