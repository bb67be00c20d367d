package compiler_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/checkpoint"
	"mobiusc/compiler/emit"
	"mobiusc/compiler/verify"
	"mobiusc/internal/checkpointtest"
	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// TestLimits runs a table of 10 rows, whose rows are found in every way, with as
// many tokens as the manifest allows and with one more, which no runtime can do.
func TestLimits(t *testing.T) {
	for options, want := range map[string]emit.Limit{
		"of: positions":                          {Input: "positions", Max: 9},
		"of: positions, offset: 2":               {Input: "positions", Max: 7},
		"offset: 0":                              {Dim: "sequence", Max: 10},
		"offset: 2":                              {Dim: "sequence", Max: 8},
		"count: {tokens: positions, padding: 3}": {Dim: "sequence", Max: 6},
	} {
		t.Run(options, func(t *testing.T) {
			spec := writeSpec(t, "x", fmt.Sprintf(`spec: v1
name: x
summary: A table of positions.
dtype: float32
components:
  model:
    inputs: {x: "float32[batch, sequence, 4]", positions: "int64[batch, sequence]"}
    body: [{use: x}, {position_embedding: {name: p, size: 10, %s}}]
    outputs: {y: result}
`, options))
			dir := packageOf(t, spec, []checkpointtest.Tensor{{Name: "p.weight", DType: checkpoint.F32, Shape: []int64{10, 4}, Data: bytesOf(fractions(40, 7))}})
			m, err := emit.ReadManifest(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Components[0].Limits; !slices.Equal(got, []emit.Limit{want}) {
				t.Fatalf("limits %v, want %v", got, want)
			}
			p, tokens := openPackage(t, dir), want.Max
			if want.Input != "" {
				tokens++ // positions begin with 0
			}
			first := int64(0)
			if strings.HasPrefix(options, "count") {
				first = 4 // after the id of padding
			}
			if err := runPositions(p, first, tokens); err != nil {
				t.Errorf("%d tokens: %v", tokens, err)
			}
			if err := runPositions(p, first, tokens+1); err == nil {
				t.Errorf("%d tokens run", tokens+1)
			}
		})
	}
}

// TestLeastLimit checks that a dim and an input that several tables limit have one
// limit, that of the shortest table.
func TestLeastLimit(t *testing.T) {
	spec := writeSpec(t, "x", `spec: v1
name: x
summary: Tables of positions.
dtype: float32
components:
  model:
    inputs: {x: "float32[batch, sequence, 4]", positions: "int64[batch, sequence]"}
    body:
      - use: x
      - position_embedding: {name: a, size: 10, of: positions}
      - position_embedding: {name: b, size: 6, of: positions}
      - position_embedding: {name: c, size: 8, of: positions}
      - position_embedding: {name: d, size: 20, offset: 3}
      - position_embedding: {name: e, size: 30}
    outputs: {y: result}
`)
	config, out := filepath.Join(t.TempDir(), "config.json"), filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(config, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := compiler.Compile(context.Background(), compiler.Options{Spec: spec, Config: config, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	checkClean(t, found)
	m, err := emit.ReadManifest(out)
	if err != nil {
		t.Fatal(err)
	}
	want := []emit.Limit{{Input: "positions", Max: 5}, {Dim: "sequence", Max: 17}}
	if got := m.Components[0].Limits; !slices.Equal(got, want) {
		t.Errorf("limits %v, want %v", got, want)
	}
}

// runPositions runs one row of tokens at positions, or with ids, that count from
// the first.
func runPositions(p *verify.Package, first, tokens int64) error {
	var ids []byte
	for i := range tokens {
		ids = binary.LittleEndian.AppendUint64(ids, uint64(first+i))
	}
	call := &verify.Call{Inputs: map[string]ort.Tensor{
		"x":         {Type: ir.Float32, Dims: []int64{1, tokens, 4}, Raw: bytesOf(fractions(int(4*tokens), 3))},
		"positions": {Type: ir.Int64, Dims: []int64{1, tokens}, Raw: ids},
	}}
	_, err := p.Run(&verify.Reference{Name: "positions", Steps: []verify.Step{{Components: map[string]*verify.Call{"model": call}}}})
	return err
}
