package compiler_test

import (
	"fmt"
	"testing"

	"mobiusc/compiler"
)

// TestParityDenseOpsets checks the targets whose attention and rotary embedding
// are inlined against those that have the operators.
func TestParityDenseOpsets(t *testing.T) {
	specs := map[string]string{"gemma2": "gemma2", "phi3": "phi3", "llama_dynamic": "llama", "bert": "bert"}
	for _, m := range readIndex(t).Models {
		spec, ok := specs[m.Name]
		if !ok {
			continue
		}
		delete(specs, m.Name)
		for _, opset := range []int64{compiler.MinOpset, 22, 23, 25} {
			t.Run(fmt.Sprintf("%s/%d", m.Name, opset), func(t *testing.T) {
				p := compileReference(t, m.Name, spec, compiler.Options{DType: "float32", Opset: opset})
				for _, c := range m.Cases {
					t.Run(c.Name, func(t *testing.T) { checkFloat32(t, compareCase(t, p, c, float32Tolerance)) })
				}
			})
		}
	}
	if len(specs) > 0 {
		t.Errorf("testdata/reference has no cases of %v", specs)
	}
}
