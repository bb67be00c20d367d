package compiler_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"mobiusc/compiler"
)

// The cases of the scaled rotary embeddings go beyond the length that the model
// was trained for, those of the sliding windows beyond the window.

func TestParityPlainDecoder(t *testing.T)     { parity(t, "llama", "llama") }
func TestParityBiases(t *testing.T)           { parity(t, "llama_bias", "llama") }
func TestParityRopeLinear(t *testing.T)       { parity(t, "llama_linear", "llama") }
func TestParityRopeDynamic(t *testing.T)      { parity(t, "llama_dynamic", "llama") }
func TestParityRopeByWavelength(t *testing.T) { parity(t, "llama_llama3", "llama") }
func TestParityRopeYarn(t *testing.T)         { parity(t, "llama_yarn", "llama") }
func TestParityFusedProjections(t *testing.T) { parity(t, "phi3", "phi3") } // and rope type longrope
func TestParitySlidingWindow(t *testing.T)    { parity(t, "mistral", "mistral") }
func TestParitySoftcaps(t *testing.T)         { parity(t, "gemma2", "gemma2") } // and windows in turn
func TestParityQueryBiases(t *testing.T)      { parity(t, "qwen2", "qwen2") }
func TestParityHeadNorms(t *testing.T)        { parity(t, "qwen3", "qwen3") }
func TestParityLearnedPositions(t *testing.T) { parity(t, "gpt2", "gpt2") }
func TestParityEncoder(t *testing.T)          { parity(t, "bert", "bert") }

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

// fullSize lists published configurations of the dense decoders and encoders by
// the spec that answers to them.
var fullSize = map[string][]string{
	"llama": {"llama-2-7b", "llama-3.1-8B", "llama-3.2-1B", "smollm2-135M-instruct", "tinyllama-1.1b-chat-v1.0"},
	"qwen2": {"qwen2.5-0.5B"}, "qwen3": {"qwen3-0.6B", "qwen3-8B"}, "mistral": {"mistral-7b-v0.3"},
	"phi3": {"phi-3-mini-4k", "phi-3-mini-128k"}, "gemma2": {"gemma-2-2b"},
	"gpt2": {"gpt2", "distilgpt2"}, "bert": {"bert-base-uncased", "all-MiniLM-L6-v2"},
}

// TestFullSizeDense compiles every published configuration at full size, without
// weights, in every dtype: no key of any is unread, and every graph is valid.
func TestFullSizeDense(t *testing.T) {
	for spec, configs := range fullSize {
		for _, config := range configs {
			for _, dtype := range compiler.DTypes {
				t.Run(config+"/"+dtype, func(t *testing.T) {
					found, err := compiler.Compile(context.Background(), compiler.Options{
						Spec:   filepath.Join("..", "specs", spec+".yaml"),
						Config: filepath.Join("..", "testdata", "configs", config+".json"),
						DType:  dtype, Strict: true, Out: filepath.Join(t.TempDir(), "package"),
					})
					if err != nil {
						t.Fatal(err)
					}
					if found.HasErrors() {
						t.Error(found)
					}
				})
			}
		}
	}
}
