package ir

import (
	"fmt"
	"strings"
)

// DataType is the element type of a tensor. Its values are those of ONNX's
// TensorProto.DataType, so that no table stands between a file and the IR.
type DataType int32

// The element types ONNX defines.
const (
	Undefined      DataType = 0
	Float32        DataType = 1
	Uint8          DataType = 2
	Int8           DataType = 3
	Uint16         DataType = 4
	Int16          DataType = 5
	Int32          DataType = 6
	Int64          DataType = 7
	String         DataType = 8
	Bool           DataType = 9
	Float16        DataType = 10
	Float64        DataType = 11
	Uint32         DataType = 12
	Uint64         DataType = 13
	Complex64      DataType = 14
	Complex128     DataType = 15
	BFloat16       DataType = 16
	Float8E4M3FN   DataType = 17
	Float8E4M3FNUZ DataType = 18
	Float8E5M2     DataType = 19
	Float8E5M2FNUZ DataType = 20
	Uint4          DataType = 21
	Int4           DataType = 22
	Float4E2M1     DataType = 23
	Float8E8M0     DataType = 24
	Uint2          DataType = 25
	Int2           DataType = 26
)

// dataTypes gives each type's name in ONNX's textual syntax and its width in bits.
var dataTypes = [...]struct {
	name string
	bits int
}{
	Undefined: {"undefined", 0}, Float32: {"float", 32}, Uint8: {"uint8", 8}, Int8: {"int8", 8},
	Uint16: {"uint16", 16}, Int16: {"int16", 16}, Int32: {"int32", 32}, Int64: {"int64", 64},
	String: {"string", 0}, Bool: {"bool", 8}, Float16: {"float16", 16}, Float64: {"double", 64},
	Uint32: {"uint32", 32}, Uint64: {"uint64", 64}, Complex64: {"complex64", 64}, Complex128: {"complex128", 128},
	BFloat16: {"bfloat16", 16}, Float8E4M3FN: {"float8e4m3fn", 8}, Float8E4M3FNUZ: {"float8e4m3fnuz", 8},
	Float8E5M2: {"float8e5m2", 8}, Float8E5M2FNUZ: {"float8e5m2fnuz", 8}, Uint4: {"uint4", 4}, Int4: {"int4", 4},
	Float4E2M1: {"float4e2m1", 4}, Float8E8M0: {"float8e8m0", 8}, Uint2: {"uint2", 2}, Int2: {"int2", 2},
}

// Valid reports whether t is a type that ONNX defines, other than Undefined.
func (t DataType) Valid() bool { return t > Undefined && int(t) < len(dataTypes) }

// String returns the name ONNX's textual syntax gives the type: float, float16, int64, …
func (t DataType) String() string {
	if t >= 0 && int(t) < len(dataTypes) {
		return dataTypes[t].name
	}
	return fmt.Sprintf("datatype(%d)", int32(t))
}

// Bits returns the width of one element in bits; 0 for strings and unknown types.
func (t DataType) Bits() int {
	if t.Valid() {
		return dataTypes[t].bits
	}
	return 0
}

// IsFloat reports whether t is a floating-point type of 16 bits or more.
func (t DataType) IsFloat() bool {
	return t == Float32 || t == Float16 || t == BFloat16 || t == Float64
}

// DataTypeOf returns the type with the given textual name; ok is false when there is none.
func DataTypeOf(name string) (t DataType, ok bool) {
	for i := range dataTypes {
		if i != 0 && dataTypes[i].name == name {
			return DataType(i), true
		}
	}
	return Undefined, false
}

// Kind says what a Type is a type of.
type Kind uint8

// The kinds of ONNX types.
const (
	TensorKind Kind = iota
	SparseTensorKind
	SequenceKind
	OptionalKind
	MapKind
)

// Type is the type of a value. A nil *Type is unknown.
type Type struct {
	Kind  Kind
	Elem  DataType // tensors: the element type; maps: the key type
	Shape Shape    // tensors: the dims; meaningful only if Ranked
	// Ranked is false for a tensor whose rank is unknown. A ranked tensor with
	// an empty Shape is a scalar.
	Ranked bool
	Inner  *Type // sequence, optional: the element; map: the value
}

// TensorOf returns the type of a tensor with the given element type and dims.
func TensorOf(elem DataType, dims ...Dim) *Type {
	return &Type{Elem: elem, Shape: dims, Ranked: true}
}

// Unranked returns the type of a tensor of unknown rank.
func Unranked(elem DataType) *Type { return &Type{Elem: elem} }

// Shape is the list of dims of a tensor, outermost first.
type Shape []Dim

// Static returns the dims as numbers; ok is false when any is not a known number.
func (s Shape) Static() (dims []int64, ok bool) {
	dims = make([]int64, len(s))
	for i, d := range s {
		if dims[i], ok = d.Int(); !ok {
			return nil, false
		}
	}
	return dims, true
}

// String writes a shape as [batch, 8].
func (s Shape) String() string {
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = d.String()
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Equal reports whether both shapes have the same, known dims.
func (s Shape) Equal(o Shape) bool {
	if len(s) != len(o) {
		return false
	}
	for i := range s {
		if !s[i].Equal(o[i]) {
			return false
		}
	}
	return true
}
