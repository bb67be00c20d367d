package validate

import (
	"fmt"
	"testing"

	"mobiusc/ir"
)

// layered returns a model of n nodes in the manner of a decoder: products,
// residual sums, norms and activations, each value with its type.
func layered(n int) *ir.Model {
	g := ir.NewGraph("main")
	dims := func(d ...ir.Dim) *ir.Type { return ir.TensorOf(ir.Float32, d...) }
	hidden := dims(ir.Sym("batch"), ir.Sym("sequence"), ir.Int(64))
	x := ir.NewValue("x", hidden)
	g.Inputs = []*ir.Value{x}
	scale := g.AddInitializer("scale", &ir.Tensor{Name: "scale", Type: ir.Float32, Dims: []int64{64}, Raw: make([]byte, 256)})
	w := g.AddInitializer("w", &ir.Tensor{Name: "w", Type: ir.Float32, Dims: []int64{64, 64}, External: &ir.External{Location: "w.bin"}})
	residual := x
	for i := 0; i < n; i++ {
		y := ir.NewValue(fmt.Sprintf("layers.%d.out", i), hidden)
		node := ir.NewNode("", "Sigmoid", []*ir.Value{x}, []*ir.Value{y})
		switch i % 4 {
		case 0:
			residual = x
			node = ir.NewNode("", "RMSNormalization", []*ir.Value{x, scale}, []*ir.Value{y}, ir.FloatAttr("epsilon", 1e-6), ir.IntAttr("axis", -1))
		case 1:
			node = ir.NewNode("", "MatMul", []*ir.Value{x, w}, []*ir.Value{y})
		case 3:
			node = ir.NewNode("", "Add", []*ir.Value{x, residual}, []*ir.Value{y})
		}
		node.Name = fmt.Sprintf("layers.%d", i)
		g.Append(node)
		x = y
	}
	g.Outputs = []*ir.Value{x}
	return &ir.Model{IRVersion: 10, Opsets: []ir.Opset{{Version: 24}}, Graph: g}
}

// BenchmarkThreeGraphs validates three graphs of 5,000 nodes each: what a
// package of a large model has. The goal is below 200 ms in all.
func BenchmarkThreeGraphs(b *testing.B) {
	models := []*ir.Model{layered(5000), layered(5000), layered(5000)}
	if f := Model(models[0], Options{}); len(f) != 0 {
		b.Fatal(f[0])
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, m := range models {
			Model(m, Options{})
		}
	}
}

// TestLongChainOfNodes: no recursion over the nodes of a graph, whose stack a
// long chain would exhaust.
func TestLongChainOfNodes(t *testing.T) {
	m := layered(50_000)
	first := m.Graph.First()
	first.SetInput(0, m.Graph.Outputs[0])
	found := Model(m, Options{})
	if len(found) != 2 || found[0].Code != notTopological.Code || found[1].Code != cycle.Code {
		t.Errorf("got %d findings", len(found))
	}
}
