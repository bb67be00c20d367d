package compiler

import (
	"io/fs"
	"strings"
	"testing"

	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
)

// twoLinears is a spec whose residual adds tensors of widths a and b.
const twoLinears = `spec: v1
name: x
summary: A test.
dtype: float32
config:
  a: int
  b: int
components:
  model:
    inputs: {x: "float32[batch, a]"}
    body: [{use: x}, {residual: {linear: {name: out, out: b}}}]
    outputs: {y: result}
`

func TestLint(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		o     Options
		want  string
	}{
		{"without a config", map[string]string{"x.yaml": twoLinears}, Options{}, ""},
		{"with one that fits", map[string]string{"x.yaml": twoLinears, "c.json": `{"a": 3, "b": 3}`}, Options{Config: "c.json"}, ""},
		{"with one that does not", map[string]string{"x.yaml": twoLinears, "c.json": `{"a": 3, "b": 5}`}, Options{Config: "c.json"},
			"x.yaml:11:23: error: residual: "},
		{"with one that lacks a key", map[string]string{"x.yaml": twoLinears, "c.json": `{"a": 3}`}, Options{Config: "c.json"},
			"c.json:1:2: error: the config has no `b`"},
		{"a config that is not there", map[string]string{"x.yaml": twoLinears}, Options{Config: "c.json"},
			"c.json: error: c.json cannot be read"},
		{"a fault of the spec", map[string]string{"x.yaml": strings.Replace(twoLinears, "out: b", "out: c", 1)}, Options{Config: "c.json"},
			"x.yaml:11:59: error: `c` is neither a config key nor a named expression"},
		{"a variant that is not there", map[string]string{"x.yaml": twoLinears}, Options{Variant: "v"}, "x.yaml: error: the spec has no variant `v`"},
		{"a body that begins with no stream", map[string]string{"c.json": `{"a": 3, "b": 3}`, "x.yaml": strings.Replace(twoLinears, "{use: x}, ", "", 1)},
			Options{Config: "c.json"}, "x.yaml:11:13: error: residual: no stream reaches this block: begin the body with `use`, `embedding` or `zeros`"},
		{"a spec that is only extended", map[string]string{"x.yaml": "spec: v1\nname: x\nsummary: s\nabstract: true\n"}, Options{Config: "c.json"}, ""},
		{"an output with the name of a state", map[string]string{"c.json": "{}", "x.yaml": `spec: v1
name: x
summary: A test.
dtype: float32
components:
  model:
    inputs: {x: "float32[batch, sequence, 8]"}
    body: [{use: x}, {layers: {name: l, count: 1, each: {attention: {name: a, heads: 1, head_dim: 8, mask: causal, padding: none}}}}]
    outputs: {present.0.key: result}
`}, Options{Config: "c.json"}, `x.yaml:8:58: error: attention: the name "present.0.key" is used twice in the interface of component model`},
		{"no spec", nil, Options{}, "x.yaml: error: x.yaml cannot be read"},
	} {
		c.o.Spec = "x.yaml"
		c.o.Read = func(path string) ([]byte, error) {
			if text, ok := c.files[path]; ok {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
		found := Lint(c.o)
		var errors diag.List // a spec whose shapes can fit is no error
		for _, d := range found {
			if d.Severity == diag.Error {
				errors = append(errors, d)
			}
		}
		if len(errors) == 0 && c.want == "" {
			continue
		}
		if len(errors) != 1 || c.want == "" || !strings.HasPrefix(errors[0].String(), c.want) {
			t.Errorf("%s: found %v, want %q", c.name, errors, c.want)
		}
	}
}

// TestTryShapes looks for shapes that fit by chance only.
func TestTryShapes(t *testing.T) {
	two := twoLinears
	for _, c := range []struct{ name, spec, want string }{
		{"two widths", two, "x.yaml:11:23: warning: the shapes fit for no config that was tried: residual: Add"},
		{"one width", strings.Replace(two, "out: b", "out: a * b // b", 1), ""},
		{"widths that a check makes equal", two + "checks: {the sum needs it: a == b}\n", ""},
		{"silenced", strings.Replace(two, "out: b}}}]", "out: b}}}]  # mobiusc:ignore unlikely-shapes: they are the same number", 1), ""},
		{"a comment that may be idle", strings.Replace(two, "out: b}}}]", "out: a * b // b}}}]  # mobiusc:ignore unlikely-shapes", 1), ""},
		{"layers in layers", strings.Replace(two, "{use: x}", "{layers: {count: 1000, each: [{layers: {count: 1000, each: [{use: x}]}}]}}", 1),
			"x.yaml:11:5: error: component model has more than 200000 blocks"},
		{"a check that no made-up config passes", two + "checks: {never: a == 7 and b == 9}\n", ""},
	} {
		found := Lint(Options{Spec: "x.yaml", Read: func(path string) ([]byte, error) {
			if path == "x.yaml" {
				return []byte(c.spec), nil
			}
			return nil, fs.ErrNotExist
		}})
		if len(found) == 0 && c.want == "" {
			continue
		}
		if len(found) != 1 || c.want == "" || !strings.HasPrefix(found[0].String(), c.want) {
			t.Errorf("%s: found %v, want %q", c.name, found, c.want)
		}
	}
}

// TestTryCarried reports nothing about the carried specs.
func TestTryCarried(t *testing.T) {
	for _, name := range spec.Names() {
		if found := Lint(Options{Spec: name}); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// BenchmarkLint lints all carried specs, one after the other.
func BenchmarkLint(b *testing.B) {
	for b.Loop() {
		for _, name := range spec.Names() {
			if found := Lint(Options{Spec: name}); found.HasErrors() {
				b.Fatal(found)
			}
		}
	}
}
