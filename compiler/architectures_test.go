package compiler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/spec"
	"mobiusc/compiler/verify"
	"mobiusc/internal/checkpointtest"
	"mobiusc/internal/diag"
)

// architecture lists the evidence for one spec; the tests run what stands here,
// and docs/architectures.md is made of it.
type architecture struct {
	spec string
	// configs are published configurations, testdata/configs/NAME.json.
	configs []string
	// checkpoints are published tensor lists, testdata/checkpoints/NAME.layout,
	// of the configuration of the same name.
	checkpoints []string
	// references are reduced models, testdata/reference/NAME.
	references []string
	// partial says that the configurations describe parts of the model that the
	// spec leaves out, so that compiling one gives a warning.
	partial bool
}

var architectures = []architecture{
	{
		spec:        "llama",
		configs:     []string{"llama-2-7b", "llama-3.1-8B", "llama-3.2-1B", "smollm2-135M-instruct", "tinyllama-1.1b-chat-v1.0"},
		checkpoints: []string{"llama-2-7b", "llama-3.2-1B"},
		references:  []string{"llama", "llama_bias", "llama_linear", "llama_dynamic", "llama_llama3", "llama_yarn", "llama_yarn_full"},
	},
	{spec: "mistral", configs: []string{"mistral-7b-v0.3"}, checkpoints: []string{"mistral-7b-v0.3"}, references: []string{"mistral"}},
	{spec: "phi3", configs: []string{"phi-3-mini-4k", "phi-3-mini-128k"}, checkpoints: []string{"phi-3-mini-4k"}, references: []string{"phi3"}},
	{spec: "qwen2", configs: []string{"qwen2.5-0.5B"}, checkpoints: []string{"qwen2.5-0.5B"}, references: []string{"qwen2", "qwen2_window"}},
	{spec: "qwen3", configs: []string{"qwen3-0.6B", "qwen3-8B"}, checkpoints: []string{"qwen3-0.6B"}, references: []string{"qwen3"}},
	{spec: "qwen3_moe", configs: []string{"qwen3-30B-A3B"}, checkpoints: []string{"qwen3-30B-A3B"}, references: []string{"qwen3_moe", "qwen3_moe_sparse"}},
	{spec: "qwen2_moe", configs: []string{"qwen1.5-moe-A2.7B"}, checkpoints: []string{"qwen1.5-moe-A2.7B"}, references: []string{"qwen2_moe"}},
	{spec: "qwen3_5_moe", configs: []string{"qwen3.5-35B-A3B"}, references: []string{"qwen3_5_moe_text"}},
	{spec: "qwen3_next", configs: []string{"qwen3-next-80B-A3B"}, references: []string{"qwen3_next", "qwen3_next_options"}},
	{spec: "olmoe", configs: []string{"olmoe-1B-7B-0125-instruct"}, checkpoints: []string{"olmoe-1B-7B-0125-instruct"}, references: []string{"olmoe", "olmoe_clip"}},
	{spec: "mixtral", configs: []string{"mixtral-8x7B-v0.1"}, references: []string{"mixtral"}},
	{spec: "gemma", configs: []string{"gemma-7b-it"}, references: []string{"gemma", "gemma_options"}},
	{spec: "gemma2", configs: []string{"gemma-2-2b"}, checkpoints: []string{"gemma-2-2b"}, references: []string{"gemma2"}},
	{spec: "gemma3", references: []string{"gemma3", "gemma3_options"}},
	{spec: "gemma3_vl", configs: []string{"gemma-3-4b"}, references: []string{"gemma3_vl", "gemma3_vl_options"}},
	{spec: "gemma4", configs: []string{"gemma-4-31B-it"}, references: []string{"gemma4", "gemma4_values"}, partial: true},
	{spec: "olmo", configs: []string{"olmo-1B"}, references: []string{"olmo"}},
	{spec: "olmo2", references: []string{"olmo2"}},
	{spec: "smollm3", references: []string{"smollm3", "smollm3_window"}},
	{spec: "granite", references: []string{"granite"}},
	{spec: "stablelm", configs: []string{"stablelm-2-zephyr-1.6b"}, references: []string{"stablelm", "stablelm_parallel"}},
	{spec: "cohere", configs: []string{"command-r-v01", "command-r-plus"}, references: []string{"cohere", "cohere_norms"}},
	{spec: "cohere2", configs: []string{"command-r7b-12-2024"}, references: []string{"cohere2"}},
	{spec: "phi", configs: []string{"phi-2"}, references: []string{"phi", "phi_norms"}},
	{spec: "starcoder2", configs: []string{"starcoder2-3b"}, references: []string{"starcoder2", "starcoder2_options"}},
	{spec: "gpt2", configs: []string{"gpt2", "distilgpt2"}, checkpoints: []string{"gpt2", "distilgpt2"}, references: []string{"gpt2", "gpt2_options"}},
	{spec: "gpt_bigcode", configs: []string{"starcoderbase-1b"}, references: []string{"gpt_bigcode", "gpt_bigcode_heads"}},
	{spec: "opt", configs: []string{"opt-125m", "opt-350m"}, references: []string{"opt", "opt_post_norm", "opt_options"}},
	{spec: "gpt_neox", configs: []string{"pythia-160m"}, references: []string{"gpt_neox", "gpt_neox_sequential"}},
	{
		spec: "falcon", configs: []string{"falcon-7b-instruct"}, checkpoints: []string{"falcon-7b-instruct"},
		references: []string{"falcon", "falcon_new", "falcon_sequential"},
	},
	{
		spec:    "bert",
		configs: []string{"bert-base-uncased", "all-MiniLM-L6-v2"}, checkpoints: []string{"bert-base-uncased", "all-MiniLM-L6-v2"},
		references: []string{"bert"},
	},
	{spec: "roberta", configs: []string{"roberta-base", "xlm-roberta-base"}, references: []string{"roberta", "xlm_roberta"}},
	{spec: "distilbert", configs: []string{"distilbert-base-uncased"}, references: []string{"distilbert"}},
	{spec: "t5", configs: []string{"t5-small", "flan-t5-base"}, checkpoints: []string{"t5-small", "flan-t5-base"}, references: []string{"t5", "t5_gated", "t5_depth"}},
	{spec: "bart", configs: []string{"bart-large-cnn"}, references: []string{"bart", "bart_options"}},
	{spec: "mbart", configs: []string{"mbart-large-50-many-to-many-mmt"}, references: []string{"mbart"}},
	{spec: "pegasus", configs: []string{"pegasus-xsum"}, references: []string{"pegasus"}},
	{spec: "marian", configs: []string{"opus-mt-en-de"}, references: []string{"marian"}},
	{
		spec: "whisper", configs: []string{"whisper-tiny"}, checkpoints: []string{"whisper-tiny"},
		references: []string{"whisper", "whisper_untied"},
	},
	{spec: "mamba", configs: []string{"mamba-130m-novocab"}, checkpoints: []string{"mamba-130m-novocab"}, references: []string{"mamba", "mamba_options"}},
	{spec: "falcon_mamba", configs: []string{"falcon-mamba-7b"}, references: []string{"falcon_mamba"}},
}

// TestParityArchitectures runs every case of every reduced model in float32 and
// float16.
func TestParityArchitectures(t *testing.T) {
	for _, a := range architectures {
		for _, model := range a.references {
			t.Run(model, func(t *testing.T) { parity(t, model, a.spec) })
		}
	}
}

// TestFullSize compiles every published configuration at full size, without
// weights, in every dtype: no key of any is unread, and every graph is valid.
func TestFullSize(t *testing.T) {
	for _, a := range architectures {
		for _, config := range a.configs {
			for _, dtype := range compiler.DTypes {
				t.Run(config+"/"+dtype, func(t *testing.T) {
					o := published(a.spec, config)
					o.DType, o.Out = dtype, filepath.Join(t.TempDir(), "package")
					found, err := compiler.Compile(context.Background(), o)
					if err != nil {
						t.Fatal(err)
					}
					if a.partial {
						found = withoutPartWarning(t, found)
					}
					checkClean(t, found)
				})
			}
		}
	}
}

// withoutPartWarning takes away the warning of parts that are left out, which
// must be there.
func withoutPartWarning(t *testing.T, found diag.List) diag.List {
	t.Helper()
	rest := slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool { return d.Name == "part-left-out" })
	if len(rest) == len(found) {
		t.Error("nothing says that the package is a part of the model")
	}
	return rest
}

// TestSavedConfigs compiles published configurations as today's Transformers
// saves them, with other keys and the defaults written out: the graphs are those
// of the published files.
func TestSavedConfigs(t *testing.T) {
	compared := 0
	for _, a := range architectures {
		for _, config := range a.configs {
			saved := filepath.Join("saved", config)
			if _, err := os.Stat(published(a.spec, saved).Config); err != nil {
				continue
			}
			compared++
			t.Run(config, func(t *testing.T) {
				was, now := graphs(t, published(a.spec, config)), graphs(t, published(a.spec, saved))
				for name := range was {
					if was[name] != now[name] {
						t.Errorf("%s differs", name)
					}
				}
			})
		}
	}
	if compared == 0 {
		t.Error("testdata/configs/saved holds nothing of these architectures")
	}
}

// graphs compiles without weights and returns the model files by their paths.
func graphs(t *testing.T, o compiler.Options) map[string]string {
	t.Helper()
	o.Out = filepath.Join(t.TempDir(), "package")
	found, err := compiler.Compile(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	checkClean(t, found)
	files := map[string]string{}
	for _, pattern := range []string{"*.onnx", "*/*.onnx"} {
		paths, err := filepath.Glob(filepath.Join(o.Out, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			files[strings.TrimPrefix(p, o.Out)] = string(data)
		}
	}
	if len(files) == 0 {
		t.Fatal("the package has no graphs")
	}
	return files
}

// published returns the options that compile a published configuration.
func published(spec, config string) compiler.Options {
	return compiler.Options{
		Spec: filepath.Join("..", "specs", spec+".yaml"), Config: filepath.Join("..", "testdata", "configs", config+".json"), Strict: true,
	}
}

// checkClean allows notes alone.
func checkClean(t *testing.T, found diag.List) {
	t.Helper()
	for _, d := range found {
		if d.Severity != diag.Note {
			t.Error(d)
		}
	}
}

// TestPublishedCheckpoints binds checkpoints that have the tensors of published
// ones, names, dtypes and shapes: every parameter is found, and every tensor is
// read or ignored by a rule that says why.
func TestPublishedCheckpoints(t *testing.T) {
	for _, a := range architectures {
		for _, name := range a.checkpoints {
			t.Run(name, func(t *testing.T) {
				tensors := publishedTensors(t, name)
				o := published(a.spec, name)
				o.Weights = compiler.Weights{Mode: compiler.Copy, Dir: filepath.Join(t.TempDir(), "checkpoint")}
				if err := checkpointtest.WriteDir(o.Weights.Dir, tensors, 2); err != nil {
					t.Fatal(err)
				}
				binding, found := compiler.BindWeights(o)
				checkClean(t, found)
				if binding == nil {
					t.FailNow()
				}
				seen := map[string]bool{}
				for _, b := range binding.Bound {
					for _, tensor := range b.Tensors {
						seen[tensor] = true
					}
				}
				for _, i := range binding.Ignored {
					seen[i.Tensor.Name] = true
				}
				for _, c := range binding.Copies {
					seen[c.Tensor.Name] = true
				}
				if len(seen) != len(tensors) {
					t.Errorf("%d of %d tensors are bound, copies of a bound one, or ignored", len(seen), len(tensors))
				}
			})
		}
	}
}

// TestTextOfVisionLanguage runs a text model from checkpoints of a vision-language
// model, whose configuration nests it and whose tensors have had two prefixes.
func TestTextOfVisionLanguage(t *testing.T) {
	for _, c := range []struct{ model, spec, variant, prefix string }{
		{"gemma3", "gemma3_vl", "text_only", "language_model.model."}, {"gemma3", "gemma3_vl", "text_only", "model.language_model."},
		{"gemma4", "gemma4", "", "model.language_model."},
	} {
		t.Run(c.model+"/"+c.prefix, func(t *testing.T) {
			dir := rewriteReference(t, c.model, 1, func(x *checkpointtest.Tensor) { x.Name = c.prefix + strings.TrimPrefix(x.Name, "model.") })
			path := filepath.Join(dir, "config.json")
			text, err := os.ReadFile(path)
			if err == nil {
				nested := fmt.Sprintf(`{"model_type": %q, "image_token_index": 5, "text_config": %s, "vision_config": {"hidden_size": 24, "image_size": 256}}`, c.model, text)
				err = os.WriteFile(path, []byte(nested), 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			p := compileCheckpoint(t, dir, c.spec, compiler.Options{DType: "float32", Strict: true, Variant: c.variant})
			i := slices.IndexFunc(readIndex(t).Models, func(m referenceModel) bool { return m.Name == c.model })
			for _, played := range readIndex(t).Models[i].Cases {
				t.Run(played.Name, func(t *testing.T) { checkFloat32(t, compareCase(t, p, played, float32Tolerance)) })
			}
		})
	}
}

// TestSavedWithoutHead runs a model from a checkpoint that was saved without its
// head: names lack a prefix and there is no bias of the logits. All but those agree.
func TestSavedWithoutHead(t *testing.T) {
	dir := rewriteReference(t, "bart", 1, func(x *checkpointtest.Tensor) {
		name, rest := strings.CutPrefix(x.Name, "model.")
		if x.Name = name; !rest {
			x.Name = "" // the bias
		}
	})
	p := compileCheckpoint(t, dir, "bart", compiler.Options{DType: "float32", Strict: true, Variant: "no_logits_bias"})
	i := slices.IndexFunc(readIndex(t).Models, func(m referenceModel) bool { return m.Name == "bart" })
	var states []verify.Result
	for _, r := range compareCase(t, p, readIndex(t).Models[i].Cases[0], float32Tolerance) {
		switch {
		case r.Value != "logits":
			states = append(states, r)
		case r.MaxAbs < 0.1:
			t.Errorf("step %d: the logits are off by %g, as if the bias were there", r.Step, r.MaxAbs)
		}
	}
	checkFloat32(t, states)
}

func publishedTensors(t *testing.T, name string) []checkpointtest.Tensor {
	t.Helper()
	tensors, err := checkpointtest.ReadLayout(filepath.Join("..", "testdata", "checkpoints", name+".layout"))
	if err != nil {
		t.Fatal(err)
	}
	return tensors
}

// elsewhere lists the specs whose evidence is in other tests: the hybrid
// vision-language family (parity_test.go), and what pins one of its models.
var elsewhere = []string{"qwen3_vl", "qwen3_5", "qwen3_8"}

// TestArchitecturesAreComplete checks that every spec has an entry above or
// elsewhere, and that the entry lists all there is of its model types.
func TestArchitecturesAreComplete(t *testing.T) {
	type entry struct {
		spec *spec.Spec
		*architecture
	}
	var entries []entry
	for _, path := range glob(t, "..", "specs", "*.yaml") {
		s, found := spec.Load(path, nil)
		if found.HasErrors() {
			t.Fatal(found)
		}
		if s.Abstract || slices.Contains(elsewhere, s.Name) {
			continue
		}
		i := slices.IndexFunc(architectures, func(a architecture) bool { return a.spec == s.Name })
		if i < 0 {
			t.Errorf("no test knows the spec %s: list what there is of it in architectures", s.Name)
			continue
		}
		entries = append(entries, entry{s, &architectures[i]})
	}
	check := func(path string, listed func(a *architecture) []string, name string) {
		config, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var keys struct {
			ModelType string `json:"model_type"`
		}
		if err := json.Unmarshal(config, &keys); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, e := range entries {
			if e.spec.Accepts(keys.ModelType) && !slices.Contains(listed(e.architecture), name) {
				t.Errorf("%s is of model type %s, and the entry of %s does not list it", path, keys.ModelType, e.spec.Name)
			}
		}
	}
	for _, path := range glob(t, "..", "testdata", "configs", "*.json") {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		check(path, func(a *architecture) []string { return a.configs }, name)
		if _, err := os.Stat(filepath.Join("..", "testdata", "checkpoints", name+".layout")); err == nil {
			check(path, func(a *architecture) []string { return a.checkpoints }, name)
		}
	}
	for _, path := range glob(t, referenceDir, "*", "config.json") {
		check(path, func(a *architecture) []string { return a.references }, filepath.Base(filepath.Dir(path)))
	}
}

func glob(t *testing.T, parts ...string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(parts...))
	if err != nil || len(paths) == 0 {
		t.Fatalf("nothing is at %s: %v", filepath.Join(parts...), err)
	}
	return paths
}
