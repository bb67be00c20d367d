package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/internal/diag"
	"mobiusc/internal/golden"
	"mobiusc/ir"
	"mobiusc/lowering"
)

const configsDir = "../../testdata/configs"

func readConfigFile(t *testing.T, path string) *Config {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parseConfigText(t, path, string(text))
}

func parseConfigText(t *testing.T, path, text string) *Config {
	t.Helper()
	c, found := ParseConfig(path, []byte(text))
	if len(found) > 0 {
		t.Fatal(found)
	}
	return c
}

// bindClean binds without a finding other than notes.
func bindClean(t *testing.T, s *Spec, c *Config, o Options) *Result {
	t.Helper()
	r, found := s.Bind(c, o)
	for _, d := range found {
		if d.Severity != diag.Note {
			t.Error(d)
		}
	}
	if r == nil {
		t.FailNow()
	}
	return r
}

// published lists the configurations of the carried specs, as they are
// published, and the number of layers of each.
var publishedConfigs = map[string]map[string]int{
	"llama": {"llama-2-7b": 32, "llama-3.1-8B": 32, "llama-3.2-1B": 16, "smollm2-135M-instruct": 30, "tinyllama-1.1b-chat-v1.0": 22},
	"qwen2": {"qwen2.5-0.5B": 24}, "qwen3": {"qwen3-0.6B": 28, "qwen3-8B": 36},
	"qwen3_5": {"qwen3.5-27B": 64, "qwen3.5-4B": 32, "qwen3_8/config": 64},
	"mistral": {"mistral-7b-v0.3": 32}, "phi3": {"phi-3-mini-4k": 32, "phi-3-mini-128k": 32}, "gemma2": {"gemma-2-2b": 26},
	"gpt2": {"gpt2": 12, "distilgpt2": 6}, "bert": {"bert-base-uncased": 12, "all-MiniLM-L6-v2": 6}, "qwen3_moe": {"qwen3-30B-A3B": 48},
	"t5": {"t5-small": 6, "flan-t5-base": 12}, "whisper": {"whisper-tiny": 4}, "mamba": {"mamba-130m-novocab": 24},
}

// TestPublishedConfigs binds every published configuration strictly: no key of
// any is unread.
func TestPublishedConfigs(t *testing.T) {
	for name, configs := range publishedConfigs {
		s := loadClean(t, filepath.Join(specsDir, name+".yaml"), nil)
		for config, layers := range configs {
			t.Run(name+"/"+config, func(t *testing.T) {
				r := bindClean(t, s, readConfigFile(t, filepath.Join(configsDir, config+".json")), Options{Strict: true})
				if got := countLayers(r.Model.Components[0].Body); got != layers {
					t.Errorf("%d layers, want %d", got, layers)
				}
				if len(r.Ignored) == 0 || len(r.Config) == 0 {
					t.Error("the result does not say what was read and what was not")
				}
			})
		}
	}
}

func countLayers(body lowering.Body) int {
	n := 0
	for _, b := range body {
		if b.Decl.Name == "scope" && b.Layer >= 0 {
			n++
		}
	}
	return n
}

// countBlocks counts the blocks of a type, in bodies within bodies too.
func countBlocks(body lowering.Body, name string) int {
	n := 0
	for _, b := range body {
		if b.Decl.Name == name {
			n++
		}
		for _, o := range b.Opts {
			if inner, ok := o.Value.(lowering.Body); ok {
				n += countBlocks(inner, name)
			}
		}
	}
	return n
}

func componentOf(t *testing.T, m *lowering.Model, name string) *lowering.Component {
	t.Helper()
	for _, c := range m.Components {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no component %s", name)
	return nil
}

// TestPinnedModel checks the facts of the model that qwen3_8 pins.
func TestPinnedModel(t *testing.T) {
	s := loadClean(t, filepath.Join(specsDir, "qwen3_8.yaml"), nil)
	c, found := s.PinnedConfig()
	if c == nil || len(found) > 0 {
		t.Fatal(found)
	}
	r := bindClean(t, s, c, Options{Strict: true})
	if r.Model.Compute != ir.BFloat16 || len(r.Model.Components) != 3 {
		t.Fatalf("computes in %v with %d components", r.Model.Compute, len(r.Model.Components))
	}
	decoder, vision := componentOf(t, r.Model, "decoder"), componentOf(t, r.Model, "vision_encoder")
	for _, c := range []struct {
		body  lowering.Body
		block string
		want  int
	}{
		{decoder.Body, "gated_delta_net", 48}, {decoder.Body, "attention", 16}, {decoder.Body, "gated_mlp", 64},
		{vision.Body, "attention", 27}, {vision.Body, "mlp", 28}, {componentOf(t, r.Model, "embedding").Body, "embedding", 1},
	} {
		if got := countBlocks(c.body, c.block); got != c.want {
			t.Errorf("%d blocks %s, want %d", got, c.block, c.want)
		}
	}
	for i, b := range decoder.Body[1:65] {
		full := countBlocks(b.Opts.Body("body"), "attention") == 1
		if full != (i%4 == 3) {
			t.Errorf("layer %d has full attention: %v", i, full)
		}
	}
	if r.Pins == nil || r.Pins.Tensors != 1199 || r.Pins.Bytes != 55562855904 || len(r.Pins.HostFiles) != 3 {
		t.Errorf("pins %+v", r.Pins)
	}
	for _, f := range r.Pins.HostFiles {
		if _, err := os.Stat(f); err != nil {
			t.Error(err)
		}
	}
	text := bindClean(t, variant(t, s, "text_only"), c, Options{})
	if len(text.Model.Components) != 1 || countLayers(text.Model.Components[0].Body) != 64 || text.Variant != "text_only" {
		t.Errorf("text_only: %d components, variant %q", len(text.Model.Components), text.Variant)
	}
}

func variant(t *testing.T, s *Spec, name string) *Spec {
	t.Helper()
	v, found := s.Variant(name)
	if len(found) > 0 {
		t.Fatal(found)
	}
	return v
}

// smallVL is a small model of the pinned family, with two feature taps.
const smallVL = `{
  "model_type": "qwen3_5",
  "image_token_id": 150,
  "video_token_id": 151,
  "text_config": {
    "model_type": "qwen3_5_text", "dtype": "float16", "vocab_size": 160, "hidden_size": 48, "intermediate_size": 64,
    "num_hidden_layers": 4, "num_attention_heads": 6, "num_key_value_heads": 1, "head_dim": 64,
    "linear_num_key_heads": 2, "linear_num_value_heads": 6, "linear_key_head_dim": 8, "linear_value_head_dim": 16,
    "rope_parameters": {"rope_theta": 10000000, "partial_rotary_factor": 0.25, "mrope_section": [3, 3, 2], "mrope_interleaved": true}
  },
  "vision_config": {
    "depth": 3, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "num_position_embeddings": 64, "patch_size": 4,
    "out_hidden_size": 48, "deepstack_visual_indexes": [0, 2]
  }
}
`

// TestFeatureTaps compares the whole model of a config with taps with a text:
// they appear in all three components.
func TestFeatureTaps(t *testing.T) {
	s := loadClean(t, filepath.Join(specsDir, "qwen3_5.yaml"), nil)
	r := bindClean(t, s, parseConfigText(t, "config.json", smallVL), Options{Strict: true})
	golden.File(t, "testdata/taps.txt", dumpModel(r.Model))
}

// TestReferenceConfigs binds the small configs that reference tensors exist for.
func TestReferenceConfigs(t *testing.T) {
	for _, name := range []string{"llama", "llama_bias", "llama_yarn", "llama_llama3", "llama_linear", "llama_dynamic", "qwen2", "qwen3",
		"qwen3_5_text", "qwen3_5_depth", "qwen3_5_vl", "qwen3_vl"} {
		t.Run(name, func(t *testing.T) {
			c := readConfigFile(t, filepath.Join("../../testdata/reference", name, "config.json"))
			family := strings.TrimSuffix(c.ModelType(), "_text")
			s := loadClean(t, filepath.Join(specsDir, family+".yaml"), nil)
			r := bindClean(t, s, c, Options{})
			if wantsText := strings.HasSuffix(c.ModelType(), "_text"); wantsText != (r.Variant == "text_only") {
				t.Errorf("model type %s gives variant %q", c.ModelType(), r.Variant)
			}
		})
	}
}

// TestBindIsDeterministic binds twice and compares everything.
func TestBindIsDeterministic(t *testing.T) {
	s := loadClean(t, filepath.Join(specsDir, "qwen3_5.yaml"), nil)
	c := parseConfigText(t, "config.json", smallVL)
	a, b := bindClean(t, s, c, Options{}), bindClean(t, s, c, Options{})
	if dumpModel(a.Model) != dumpModel(b.Model) {
		t.Error("two bindings differ")
	}
}

func TestComputeDType(t *testing.T) {
	s := loadClean(t, filepath.Join(specsDir, "qwen3_5.yaml"), nil)
	for _, c := range []struct {
		name, option, mamba string
		compute, state      ir.DataType
	}{
		{"config's dtype, state as the model", "", "", ir.Float16, ir.Float16},
		{"auto is the model's", "bfloat16", `"mamba_ssm_dtype": "auto",`, ir.BFloat16, ir.BFloat16},
		{"a state dtype of its own", "float16", `"mamba_ssm_dtype": "float32",`, ir.Float16, ir.Float32},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := strings.Replace(smallVL, `"vocab_size"`, c.mamba+`"vocab_size"`, 1)
			r := bindClean(t, s, parseConfigText(t, "config.json", config), Options{DType: c.option})
			mixer := r.Model.Components[0].Body[1].Opts.Body("body")[0].Opts.Body("body")[1]
			if got := mixer.Opts.DType("state_dtype"); r.Model.Compute != c.compute || got != c.state {
				t.Errorf("computes in %v with a state in %v", r.Model.Compute, got)
			}
			if in := componentOf(t, r.Model, "vision_encoder").Inputs[0]; in.Type.Elem != ir.Float32 {
				t.Errorf("input %s keeps float32, not %v", in.Name, in.Type.Elem)
			}
		})
	}
}

// TestConfigSources checks where values are said to come from.
func TestConfigSources(t *testing.T) {
	s := loadClean(t, filepath.Join(specsDir, "qwen3_8.yaml"), nil)
	c, _ := s.PinnedConfig()
	r := bindClean(t, s, c, Options{})
	want := map[string]ConfigValue{
		"hidden_size":             {Value: int64(5120), Source: "text_config.hidden_size"},
		"dtype":                   {Value: "bfloat16", Source: "text_config.dtype"},
		"image_token_id":          {Value: int64(248056), Source: "image_token_id"},
		"vision.hidden_act":       {Value: "gelu_tanh", Source: "vision_config.hidden_act"},
		"max_position_embeddings": {Value: int64(262144), Source: "text_config.max_position_embeddings"},
		"mlp_bias":                {Value: false},
		"pad_token_id":            {},
	}
	for _, v := range r.Config {
		if w, ok := want[v.Path]; ok {
			if v.Value != w.Value || v.Source != w.Source {
				t.Errorf("%s is %v from %q, want %v from %q", v.Path, v.Value, v.Source, w.Value, w.Source)
			}
			delete(want, v.Path)
		}
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
	ignored := map[string]string{}
	for _, k := range r.Ignored {
		ignored[k.Path] = k.Reason
	}
	if why := ignored["text_config.output_gate_type"]; !strings.HasPrefix(why, "not read by the reference") {
		t.Errorf("output_gate_type is ignored because: %s", why)
	}
}

func TestPins(t *testing.T) {
	pinned := base + "pins: {repository: a/b, revision: c, config: {file: conf.json, sha256: %s}}\n"
	const text = baseConfig
	sum := sha256.Sum256([]byte(text))
	for _, c := range []struct{ name, file, want string }{
		{"right", text, ""},
		{"another file", text + " ", "pin-mismatch"},
		{"no file", "", "unreadable-file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"dir/x.yaml": strings.Replace(pinned, "%s", hex.EncodeToString(sum[:]), 1)}
			if c.file != "" {
				files["dir/conf.json"] = c.file
			}
			s := loadClean(t, "dir/x.yaml", inMemory(files))
			config, found := s.PinnedConfig()
			switch {
			case c.want == "" && (config == nil || len(found) > 0), c.want != "" && (len(found) != 1 || found[0].Name != c.want):
				t.Errorf("found %v", found)
			case c.want == "":
				bindClean(t, s, config, Options{})
			}
		})
	}
	if _, found := loadClean(t, "x.yaml", inMemory(map[string]string{"x.yaml": base})).Bind(nil, Options{}); len(found) != 1 || found[0].Name != "no-config" {
		t.Errorf("without a config: %v", found)
	}
}
