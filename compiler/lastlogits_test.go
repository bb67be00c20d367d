package compiler_test

import (
	"math"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/verify"
	"mobiusc/internal/ort"
)

// TestLastLogits checks that every decoder can leave the logits of all tokens but
// the last of each row uncomputed, and that those are then what they were. Its
// states are those of all tokens.
func TestLastLogits(t *testing.T) {
	models := map[string]string{"qwen3_5_text": "qwen3_5", "qwen3_5_vl": "qwen3_5", "qwen3_vl": "qwen3_vl", "gemma3_vl": "gemma3_vl"}
	for _, a := range architectures {
		models[a.references[0]] = a.spec
	}
	decoders := 0
	for _, m := range readIndex(t).Models {
		spec, ok := models[m.Name]
		if !ok {
			continue
		}
		ref := readReference(t, m.Cases[0])
		if !hasLogits(ref) {
			continue
		}
		decoders++
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			run := func(which string) []map[string]map[string]ort.Tensor {
				steps, err := compileReference(t, m.Name, spec, compiler.Options{DType: "float32", Logits: which}).Run(ref)
				if err != nil {
					t.Fatal(err)
				}
				return steps
			}
			all, last := run("all"), run("last")
			for i, step := range all {
				for component, outputs := range step {
					for name, want := range outputs {
						if name == "logits" {
							want = lastRows(want)
						}
						got := last[i][component][name]
						if e := largestDifference(got, want); !(e <= float32Tolerance) {
							t.Errorf("step %d, %s %s %v: differs by %.3g", i, component, name, got.Dims, e)
						}
					}
				}
			}
		})
	}
	if decoders < 20 {
		t.Errorf("only %d decoders were looked at", decoders)
	}
}

func hasLogits(r *verify.Reference) bool {
	for _, call := range r.Steps[0].Components {
		if _, ok := call.Outputs["logits"]; ok {
			return true
		}
	}
	return false
}

// lastRows takes the last row of each batch of a float32 tensor [batch, rows, width].
func lastRows(t ort.Tensor) ort.Tensor {
	batch, rows, width := t.Dims[0], t.Dims[1], 4*t.Dims[2]
	out := ort.Tensor{Type: t.Type, Dims: []int64{batch, 1, t.Dims[2]}}
	for b := range batch {
		end := (b + 1) * rows * width
		out.Raw = append(out.Raw, t.Raw[end-width:end]...)
	}
	return out
}

// largestDifference returns the largest difference of two float32 tensors,
// relative where values are large: +Inf if their sizes differ.
func largestDifference(a, b ort.Tensor) float64 {
	if a.Type != b.Type || len(a.Raw) != len(b.Raw) {
		return math.Inf(1)
	}
	worst, want := 0.0, float32s(b)
	for i, x := range float32s(a) {
		worst = max(worst, math.Abs(x-want[i])/(1+math.Abs(want[i])))
	}
	return worst
}
