package spec

import (
	"os"
	"strings"
	"testing"

	"mobiusc/compiler/spec/tree"
)

func readTestConfig(t *testing.T, name string, changes ...string) *Config {
	t.Helper()
	text, err := os.ReadFile("../../testdata/configs/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	c, found := ParseConfig(name+".json", []byte(strings.NewReplacer(changes...).Replace(string(text))))
	if c == nil {
		t.Fatal(found)
	}
	return c
}

// TestNearest asks for the nearest spec of models that are known and, under a
// model type that no spec answers to, unknown.
func TestNearest(t *testing.T) {
	for _, c := range []struct {
		config  string
		changes []string
		want    []string // any of them
	}{
		{"llama-2-7b", nil, []string{"llama"}},
		{"qwen3-8B", nil, []string{"qwen3"}},
		{"bert-base-uncased", nil, []string{"bert"}},
		{"llama-2-7b", []string{`"model_type": "llama"`, `"model_type": "vicuna"`}, []string{"llama", "mistral"}},
		{"gpt2", []string{`"model_type": "gpt2"`, `"model_type": "cerebras"`}, []string{"gpt2"}},
		{"qwen3-30B-A3B", []string{`"model_type": "qwen3_moe"`, `"model_type": "experts"`}, []string{"qwen3_moe"}},
		{"bert-base-uncased", []string{`"model_type": "bert"`, `"model_type": "encoder"`}, []string{"bert"}},
		{"t5-small", []string{`"model_type": "t5"`, `"model_type": "mt9"`}, []string{"t5"}},
		{"gemma-2-2b", []string{`"model_type": "gemma2"`, `"model_type": "gem"`}, []string{"gemma2"}},
		{"qwen3.5-4B", []string{`"model_type": "qwen3_5"`, `"model_type": "hybrid"`}, []string{"qwen3_5"}},
	} {
		fits := Nearest(readTestConfig(t, c.config, c.changes...))
		got := fits[0].Spec.Name
		ok := false
		for _, w := range c.want {
			ok = ok || got == w
		}
		if !ok {
			t.Errorf("the nearest spec to %s %v is %s, want one of %v", c.config, c.changes, got, c.want)
			for _, f := range fits[:4] {
				t.Logf("%s: %d read, missing %v, unread %v, refused %v", f.Spec.Name, f.Read, f.Missing(), f.Unread(), f.Refused)
			}
		}
		if len(c.changes) == 0 != fits[0].Accepted {
			t.Errorf("%s: accepted is %v", c.config, fits[0].Accepted)
		}
	}
}

// TestDraft checks that a draft is a spec without findings, formatted, that reads
// the config as far as it says.
func TestDraft(t *testing.T) {
	for _, config := range []string{"falcon-7b-instruct", "stablelm-2-zephyr-1.6b", "whisper-tiny", "qwen1-7B", "gemma-3-4b", "llama-2-7b", "falcon-mamba-7b"} {
		c := readTestConfig(t, config)
		fit := Nearest(c)[0]
		text := fit.Draft("draft", c.ModelType(), "spec.schema.json")
		s, found := Load("draft.yaml", inMemory(map[string]string{"draft.yaml": text}))
		if len(found) > 0 {
			t.Errorf("%s: the draft has findings: %v\n%s", config, found, text)
			continue
		}
		if formatted, found := tree.Format("draft.yaml", []byte(text)); string(formatted) != text {
			t.Errorf("%s: the draft is not formatted %v:\n%s", config, found, text)
		}
		again := FitOf(s, c)
		if !again.Accepted || len(again.missing) > len(fit.missing) || len(again.unread) > len(fit.unread) {
			t.Errorf("%s: the draft misses %v and does not read %v\n%s", config, again.Missing(), again.Unread(), text)
		}
		for _, path := range append(again.Unread(), again.Missing()...) {
			if !strings.Contains(text, "#   "+path) {
				t.Errorf("%s: the draft does not speak of %s\n%s", config, path, text)
			}
		}
	}
}
