package spec

import (
	"testing"
	"time"

	"mobiusc/internal/golden"
)

const schemaFile = "../../schemas/spec.schema.json"

// TestSchemaIsCurrent compares the published schema with the one generated from
// the block declarations. UPDATE=1 writes it.
func TestSchemaIsCurrent(t *testing.T) {
	golden.File(t, schemaFile, string(Schema()))
}

// TestSchemaIsCheap bounds what validation adds to the start of every command.
func TestSchemaIsCheap(t *testing.T) {
	begin := time.Now()
	published()
	if d := time.Since(begin); d > 200*time.Millisecond {
		t.Errorf("compiling the schema took %v", d)
	}
	t.Log(time.Since(begin))
}

// TestReferenceIsCurrent compares the reference page of the blocks with their
// declarations.
func TestReferenceIsCurrent(t *testing.T) {
	golden.File(t, "../../docs/blocks.md", Reference())
}
