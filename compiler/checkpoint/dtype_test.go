package checkpoint

import (
	"fmt"
	"testing"

	"mobiusc/ir"
)

// TestDTypes reads a tensor of every type that the format defines, with the
// number of bits that its documentation gives and the ONNX type that has the same
// encoding.
func TestDTypes(t *testing.T) {
	want := map[DType]struct {
		bits int64
		onnx ir.DataType
	}{
		"BOOL": {8, ir.Bool}, "F4": {4, ir.Float4E2M1}, "F6_E2M3": {6, ir.Undefined}, "F6_E3M2": {6, ir.Undefined},
		"U8": {8, ir.Uint8}, "I8": {8, ir.Int8}, "F8_E5M2": {8, ir.Float8E5M2}, "F8_E4M3": {8, ir.Float8E4M3FN}, "F8_E8M0": {8, ir.Float8E8M0},
		"F8_E4M3FNUZ": {8, ir.Float8E4M3FNUZ}, "F8_E5M2FNUZ": {8, ir.Float8E5M2FNUZ}, "I16": {16, ir.Int16}, "U16": {16, ir.Uint16},
		"F16": {16, ir.Float16}, "BF16": {16, ir.BFloat16}, "I32": {32, ir.Int32}, "U32": {32, ir.Uint32}, "F32": {32, ir.Float32},
		"C64": {64, ir.Complex64}, "F64": {64, ir.Float64}, "I64": {64, ir.Int64}, "U64": {64, ir.Uint64},
	}
	if len(dtypes) != 22 || len(want) != 22 {
		t.Errorf("%d types, want 22", len(dtypes))
	}
	for d, w := range want {
		size := w.bits // bytes of 8 elements
		h := read(t, file(fmt.Sprintf(`{"a":{"dtype":%q,"shape":[2,4],"data_offsets":[0,%d]}}`, d, size), int(size)))
		if len(h.faults) > 0 || len(h.tensors) != 1 || h.tensors[0].DType.Bits() != w.bits || h.tensors[0].DType.ONNX() != w.onnx {
			t.Errorf("%s: %+v %q", d, h.tensors, h.faults)
		}
		if h := read(t, file(fmt.Sprintf(`{"a":{"dtype":%q,"shape":[2,4],"data_offsets":[0,%d]}}`, d, size+1), int(size+1))); len(h.faults) != 1 {
			t.Errorf("%s of a byte more: %q", d, h.faults)
		}
	}
}
