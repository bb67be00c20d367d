package spec

import (
	"bytes"
	"os"
	"testing"
	"time"
)

const schemaFile = "../../schemas/spec.schema.json"

// TestSchemaIsCurrent compares the published schema with the one generated from
// the block declarations. UPDATE=1 writes it.
func TestSchemaIsCurrent(t *testing.T) {
	got := Schema()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from the block declarations: run UPDATE=1 go test ./compiler/spec", schemaFile)
	}
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
	golden(t, "../../docs/blocks.md", Reference())
}
