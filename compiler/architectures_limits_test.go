package compiler_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/verify"
	"mobiusc/internal/checkpointtest"
	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// TestUnchosenExperts gives an expert weights whose products are infinite, and
// tokens of which the first row of the batch never chooses it and the second
// always does. The first row is that of the model whose expert is harmless: what
// the expert makes is never multiplied by 0, which would be NaN. Rounding may
// differ: other experts run on other numbers of tokens once the second row is NaN.
func TestUnchosenExperts(t *testing.T) {
	const huge, rounding = 3e38, 1e-5
	harmless, infinite := runWithExpert(t, 1), runWithExpert(t, huge)
	for step := range harmless {
		for name, tensor := range harmless[step]["model"] {
			want, got := float32s(tensor), float32s(infinite[step]["model"][name])
			for i := range want[:len(want)/2] {
				if d := math.Abs(want[i] - got[i]); !(d < rounding) {
					t.Fatalf("step %d: %s is off by %g because of an expert that no token of the row chose", step, name, d)
				}
			}
			if name == "logits" && (!finite(want) || finite(got)) {
				t.Errorf("step %d: the weights do not overflow where the expert is chosen: the test shows nothing", step)
			}
		}
	}
}

// runWithExpert plays a case, with even tokens in its first row and odd ones in
// its second, through a model whose fourth expert only odd tokens choose and has
// one number for all weights.
func runWithExpert(t *testing.T, weight float32) []map[string]map[string]ort.Tensor {
	t.Helper()
	const expert = 3
	dir := changedCheckpoint(t, "qwen3_moe", func(name string, shape []int64, values []float32) {
		switch {
		case name == "model.embed_tokens.weight": // the first feature tells even from odd, through every layer
			for token := range shape[0] {
				values[token*shape[1]] = 20 - 40*float32(token%2)
			}
		case strings.HasSuffix(name, "mlp.gate.weight"): // and alone decides about the expert
			row := values[expert*shape[1] : (expert+1)*shape[1]]
			clear(row)
			row[0] = -50
		case strings.Contains(name, "experts.3."):
			for i := range values {
				values[i] = weight
			}
		}
	})
	p := compileCheckpoint(t, dir, "qwen3_moe", compiler.Options{DType: "float32"})
	ref, err := verify.ReadReference(filepath.Join(referenceDir, "qwen3_moe", "short.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range ref.Steps {
		ids := s.Components["model"].Inputs["input_ids"].Raw
		for i := 0; i < len(ids); i += 8 {
			ids[i] &^= 1
			if i >= len(ids)/2 {
				ids[i] |= 1
			}
		}
	}
	results, err := p.Run(ref)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// changedCheckpoint returns a copy of a reference model's directory in which
// change has edited the values of every tensor.
func changedCheckpoint(t *testing.T, model string, change func(name string, shape []int64, values []float32)) string {
	t.Helper()
	return rewriteReference(t, model, 1, func(x *checkpointtest.Tensor) {
		values := make([]float32, len(x.Data)/2)
		for i := range values {
			values[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(x.Data[2*i:])) << 16) // bfloat16
		}
		change(x.Name, x.Shape, values)
		x.Data = nil
		for _, v := range values {
			x.Data = binary.LittleEndian.AppendUint16(x.Data, uint16(math.Float32bits(v)>>16))
		}
	})
}

func float32s(x ort.Tensor) []float64 {
	values := make([]float64, len(x.Raw)/4)
	for i := range values {
		values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(x.Raw[4*i:])))
	}
	return values
}

func finite(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) })
}

// TestBeyondTheTable checks that a token beyond a learned table of positions is
// refused by the runtime, not read from somewhere else.
func TestBeyondTheTable(t *testing.T) {
	ids := func(n int, value func(i int) int64) ort.Tensor {
		x := ort.Tensor{Type: ir.Int64, Dims: []int64{1, int64(n)}}
		for i := range n {
			x.Raw = binary.LittleEndian.AppendUint64(x.Raw, uint64(value(i)))
		}
		return x
	}
	constant := func(v int64) func(int) int64 { return func(int) int64 { return v } }
	index := func(i int) int64 { return int64(i) }
	frames := func(n int) ort.Tensor { // two a row of the table
		return ort.Tensor{Type: ir.Float32, Dims: []int64{1, 10, 2 * int64(n)}, Raw: make([]byte, 4*10*2*n)}
	}
	for _, model := range []struct {
		name, component string
		size            int // rows of the table
		inputs          func(n int) map[string]ort.Tensor
	}{
		{"gpt2", "model", 64, func(n int) map[string]ort.Tensor {
			return map[string]ort.Tensor{"input_ids": ids(n, constant(5)), "attention_mask": ids(n, constant(1)), "position_ids": ids(n, index)}
		}},
		{"bert", "model", 64, func(n int) map[string]ort.Tensor {
			return map[string]ort.Tensor{"input_ids": ids(n, constant(5)), "attention_mask": ids(n, constant(1)), "token_type_ids": ids(n, constant(0))}
		}},
		{"whisper", "encoder", 20, func(n int) map[string]ort.Tensor { return map[string]ort.Tensor{"input_features": frames(n)} }},
	} {
		t.Run(model.name, func(t *testing.T) {
			p := compileReference(t, model.name, model.name, compiler.Options{DType: "float32"})
			run := func(n int) error {
				call := &verify.Call{Inputs: model.inputs(n)}
				_, err := p.Run(&verify.Reference{Name: model.name, Steps: []verify.Step{{Components: map[string]*verify.Call{model.component: call}}}})
				return err
			}
			if err := run(model.size); err != nil {
				t.Errorf("as many tokens as the table has rows: %v", err)
			}
			err := run(model.size + 1)
			if err == nil {
				t.Fatal("a token beyond the table is computed")
			}
			if !strings.Contains(err.Error(), fmt.Sprint(model.size)) {
				t.Errorf("the error does not name the limit: %v", err)
			}
			t.Log(err)
		})
	}
}
