package diff_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mobiusc/compiler"
	"mobiusc/compiler/diff"
	"mobiusc/ir"
)

// build compiles the pinned model at full size.
func build(t testing.TB, o compiler.Options) diff.Side {
	t.Helper()
	o.Spec = "../../specs/qwen3_8.yaml"
	built, found, err := compiler.Build(o)
	if err != nil || found.HasErrors() {
		t.Fatal(found, err)
	}
	side := diff.Side{Name: "side"}
	for i, m := range built.Models {
		side.Models = append(side.Models, diff.Model{Name: built.Names[i], Model: m})
	}
	return side
}

// TestNamesAndOrder checks that the full-size package whose nodes and values are
// renamed, and whose nodes stand in another order, is the same package.
func TestNamesAndOrder(t *testing.T) {
	a, b := build(t, compiler.Options{}), build(t, compiler.Options{})
	for _, m := range b.Models {
		rename(m.Model.Graph)
		shuffle(m.Model.Graph, rand.New(rand.NewPCG(1, 2)))
	}
	if r := diff.Compare(a, b); r.Severity != diff.Equal {
		t.Errorf("%s: %+v", r.Severity, r.Components[0].Nodes[:min(5, len(r.Components[0].Nodes))])
	}
}

// rename renames all nodes and the values that they make, but for the outputs of
// the graph.
func rename(g *ir.Graph) {
	count := 0
	for n := range g.AllNodes() {
		n.Name = fmt.Sprint("n", count)
		for i, v := range n.Outputs() {
			if v != nil && !g.IsOutput(v) {
				v.Name = fmt.Sprintf("v%d_%d", count, i)
			}
		}
		count++
	}
}

// shuffle puts the nodes of a graph into a random order in which each stands
// after those that it reads.
func shuffle(g *ir.Graph, r *rand.Rand) {
	waits, readers := map[*ir.Node]int{}, map[*ir.Node][]*ir.Node{}
	var ready []*ir.Node
	for n := range g.Nodes() {
		reads := append([]*ir.Value(nil), n.Inputs()...)
		for s := range n.Subgraphs() {
			for m := range s.AllNodes() {
				reads = append(reads, m.Inputs()...)
			}
			reads = append(reads, s.Outputs...)
		}
		for _, v := range reads {
			if v != nil && v.Producer() != nil && v.Producer().Graph() == g {
				waits[n]++
				readers[v.Producer()] = append(readers[v.Producer()], n)
			}
		}
		if waits[n] == 0 {
			ready = append(ready, n)
		}
	}
	for len(ready) > 0 {
		i := r.IntN(len(ready))
		n := ready[i]
		ready = append(ready[:i], ready[i+1:]...)
		g.Detach(n)
		g.Append(n)
		for _, m := range readers[n] {
			if waits[m]--; waits[m] == 0 {
				ready = append(ready, m)
			}
		}
	}
}

// TestForms compares the two forms of linear attention at full size: what differs
// is in these layers, and comes together.
func TestForms(t *testing.T) {
	a, b := build(t, compiler.Options{}), build(t, compiler.Options{LinearAttention: "recurrent"})
	start := time.Now()
	r := diff.Compare(a, b)
	t.Logf("compared in %v", time.Since(start))
	if r.Severity != diff.Graph {
		t.Fatalf("severity %s", r.Severity)
	}
	decoder := r.Components[0]
	if n := len(decoder.Nodes); n == 0 || n > 100 {
		t.Errorf("%d lines", n)
	}
	const path = "model.layers.{i}.linear_attn/LinearAttention"
	for _, g := range decoder.Nodes {
		// What reads the result may say that another operator yields it.
		reads := g.Status == diff.Changed && !slices.ContainsFunc(g.Changes, func(c diff.Change) bool {
			return !strings.HasSuffix(c.A, " of "+path) || !strings.HasSuffix(c.B, " of "+path)
		})
		if !strings.HasPrefix(g.Path, path) && !reads {
			t.Errorf("a change outside of linear attention: %+v", g)
		}
	}
}

func BenchmarkEqual(b *testing.B) {
	x, y := build(b, compiler.Options{}), build(b, compiler.Options{})
	for b.Loop() {
		diff.Compare(x, y)
	}
}

func BenchmarkForms(b *testing.B) {
	x, y := build(b, compiler.Options{}), build(b, compiler.Options{LinearAttention: "recurrent"})
	for b.Loop() {
		diff.Compare(x, y)
	}
}
