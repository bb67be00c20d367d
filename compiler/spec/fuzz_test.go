package spec

import (
	"io/fs"
	"strings"
	"testing"

	"mobiusc/specs"
)

// FuzzSpec loads and binds anything without a panic: a spec mutated, with a
// config that fits the original.
func FuzzSpec(f *testing.F) {
	for _, name := range Names() {
		text, err := specs.FS.ReadFile(name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(strings.Replace(string(text), "name: "+name, "name: x", 1))
	}
	for _, c := range faultCases {
		text, _, _ := unmark("x.yaml", c.spec)
		f.Add(text)
	}
	f.Add(base + `weights:
  rename: {"h.*.{q,k}": "l.*.{1}"}
  ignore: {"*.inv_freq": a reason}
  transform:
    - {match: "*.{q,k}.w", permute_heads: {heads: heads, from: adjacent}}
    - {match: "a.{q,k}", concat: {into: a, axis: 1}}
    - {match: "*.qkv", split: {into: ["*.q", "*.k"], sizes: [width, 2], axis: 0}}
    - {match: a, reshape: [-1, width]}
    - {match: a, transpose: [1, 0]}
    - {match: a, cast: float16}
    - {match: a, scale: 1 / heads}
    - {match: a, stack: experts}
`)
	configs := map[string]string{"llama": llamaConfig, "qwen3_5": smallVL, "x": baseConfig}
	f.Fuzz(func(t *testing.T, text string) {
		s, found := Load("x.yaml", func(path string) ([]byte, error) {
			if path == "x.yaml" {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		})
		if s == nil && !found.HasErrors() {
			t.Error("neither a spec nor an error")
		}
		if s == nil {
			return
		}
		var b strings.Builder
		if err := s.Expand(&b); err != nil {
			t.Error(err)
		}
		for _, config := range configs {
			if c, _ := ParseConfig("config.json", []byte(config)); c != nil && !found.HasErrors() {
				bindAny(t, s, c)
			}
		}
	})
}

// FuzzConfig binds anything to a family of three components without a panic.
func FuzzConfig(f *testing.F) {
	s, found := Load("qwen3_5", nil)
	if len(found) > 0 {
		f.Fatal(found)
	}
	f.Add(smallVL)
	f.Add(llamaConfig)
	f.Add(strings.Replace(smallVL, `"qwen3_5"`, `"qwen3_5_text"`, 1))
	f.Fuzz(func(t *testing.T, text string) {
		if c, _ := ParseConfig("config.json", []byte(text)); c != nil {
			bindAny(t, s, c)
		}
	})
}

func bindAny(t *testing.T, s *Spec, c *Config) {
	r, found := s.Bind(c, Options{})
	if r == nil && !found.HasErrors() {
		t.Error("neither a result nor an error")
	}
	for _, d := range found {
		if d.Range.File == "" {
			t.Errorf("a finding without a file: %v", d)
		}
	}
}
