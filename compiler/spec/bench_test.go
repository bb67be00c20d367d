package spec

import (
	"bytes"
	"testing"

	"mobiusc/schemas"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

func BenchmarkSchemaFull(b *testing.B) {
	for b.Loop() {
		c := jsonschema.NewCompiler()
		c.AddResource("urn:x", bytes.NewReader(schemas.Spec))
		c.MustCompile("urn:x")
	}
}
func BenchmarkLoad(b *testing.B) {
	published()
	for b.Loop() {
		Load("../../specs/qwen3_8.yaml", nil)
	}
}
