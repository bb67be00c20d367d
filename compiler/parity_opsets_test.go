package compiler_test

import (
	"fmt"
	"slices"
	"testing"

	"mobiusc/compiler"
)

// TestParityOpsetsArchitectures checks the targets in which operators are
// inlined against those that have them: attention and rotary embedding before
// 23, the norms too, states and experts everywhere.
func TestParityOpsetsArchitectures(t *testing.T) {
	chosen := map[string]bool{"gemma2": true, "phi3": true, "llama_dynamic": true, "qwen3_moe": true, "bert": true, "t5_gated": true, "gemma3_vl": true, "whisper_untied": true, "mamba": true}
	for _, a := range architectures {
		for _, m := range readIndex(t).Models {
			if !chosen[m.Name] || !slices.Contains(a.references, m.Name) {
				continue
			}
			delete(chosen, m.Name)
			for _, opset := range []int64{compiler.MinOpset, 22, 23, 25} {
				t.Run(fmt.Sprintf("%s/%d", m.Name, opset), func(t *testing.T) {
					p := compileReference(t, m.Name, a.spec, compiler.Options{DType: "float32", Opset: opset})
					for _, c := range m.Cases {
						t.Run(c.Name, func(t *testing.T) { checkFloat32(t, compareCase(t, p, c, float32Tolerance)) })
					}
				})
			}
		}
	}
	if len(chosen) > 0 {
		t.Errorf("testdata/reference has no cases of %v", chosen)
	}
}
