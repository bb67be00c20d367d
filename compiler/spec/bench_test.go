package spec

import (
	"bytes"
	"testing"

	"mobiusc/schemas"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// The three parts of what the front end adds to every command: compiling the
// schema, reading the longest chain of specs, and evaluating the largest model.

func BenchmarkSchema(b *testing.B) {
	for b.Loop() {
		c := jsonschema.NewCompiler()
		if err := c.AddResource("urn:spec", bytes.NewReader(schemas.Spec)); err != nil {
			b.Fatal(err)
		}
		c.MustCompile("urn:spec")
	}
}

func BenchmarkLoad(b *testing.B) {
	published()
	for b.Loop() {
		if _, found := Load("../../specs/qwen3_8.yaml", nil); len(found) > 0 {
			b.Fatal(found)
		}
	}
}

func BenchmarkBind(b *testing.B) {
	s, _ := Load("../../specs/qwen3_8.yaml", nil)
	c, found := s.PinnedConfig()
	if len(found) > 0 {
		b.Fatal(found)
	}
	for b.Loop() {
		if r, _ := s.Bind(c, Options{}); r == nil {
			b.Fatal("no result")
		}
	}
}
