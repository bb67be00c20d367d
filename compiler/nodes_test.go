package compiler_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/emit"
	"mobiusc/internal/golden"
	"mobiusc/internal/number"
	"mobiusc/ir"
)

// TestNodeCounts compares the nodes of the largest package, by operator, with a
// golden: a change to a block or a pass shows what it costs. UPDATE=1 rewrites it.
// It also limits the bytes of the three graphs, and states both in docs/compile-time.md.
func TestNodeCounts(t *testing.T) {
	const (
		recorded   = "testdata/nodes.txt"
		nodeLimit  = 5559 // of the decoder: the peer's
		bytesLimit = 4_000_000
	)
	o := compiler.Options{Spec: filepath.Join("..", "specs", "qwen3_8.yaml"), Out: filepath.Join(t.TempDir(), "package")}
	found, err := compiler.Compile(context.Background(), o)
	if err != nil || found.HasErrors() {
		t.Fatal(err, found)
	}
	var b bytes.Buffer
	var size int64
	var outside, within int // nodes of the decoder
	for _, component := range []string{"decoder", "vision_encoder", "embedding"} {
		file := filepath.Join(o.Out, component, "model.onnx")
		m, err := emit.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
		top, inside := countNodes(m.Graph)
		fmt.Fprintf(&b, "%s: %d nodes, %d more in subgraphs\n", component, m.Graph.Len(), sumOf(inside))
		if component == "decoder" {
			if m.Graph.Len() > nodeLimit {
				t.Errorf("the decoder has %d nodes, more than %d", m.Graph.Len(), nodeLimit)
			}
			outside, within = m.Graph.Len(), sumOf(inside)
		}
		all := maps.Clone(top)
		for op := range inside {
			all[op] += inside[op]
		}
		ops := slices.SortedFunc(maps.Keys(all), func(x, y string) int {
			return cmp.Or(cmp.Compare(all[y], all[x]), cmp.Compare(x, y))
		})
		for _, op := range ops {
			fmt.Fprintf(&b, "%8d %6d %s\n", top[op], inside[op], op)
		}
	}
	if size > bytesLimit {
		t.Errorf("the graphs take %d bytes, more than %d", size, bytesLimit)
	}
	golden.File(t, recorded, b.String())
	golden.Page(t, filepath.Join("..", "docs", "compile-time.md"), map[string]string{"sizes": fmt.Sprintf(`| | limit | now |
|---|---|---|
| the three graphs | %.1f MB | %.1f MB |
| nodes of the decoder at the top level | %s | %s, and %s in subgraphs |
`, bytesLimit/1e6, float64(size)/1e6, number.Thousands(nodeLimit), number.Thousands(int64(outside)), number.Thousands(int64(within)))})
}

// countNodes counts the nodes of a graph, and those of its subgraphs, by operator.
func countNodes(g *ir.Graph) (top, inside map[string]int) {
	top, inside = map[string]int{}, map[string]int{}
	for n := range g.AllNodes() {
		if n.Graph() == g {
			top[n.OpType]++
		} else {
			inside[n.OpType]++
		}
	}
	return top, inside
}

func sumOf(counts map[string]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}
