package ops

import (
	"fmt"
	"testing"

	"mobiusc/ir"
)

// decoderLike appends about 20 nodes a layer, of the kinds decoders consist of.
func decoderLike(g *ir.Graph, layers int) []*ir.Node {
	batch, sequence, past := ir.Sym("batch"), ir.Sym("sequence"), ir.Sym("past")
	f := func(name string, dims ...ir.Dim) *ir.Value {
		return ir.NewValue(name, ir.TensorOf(ir.Float32, dims...))
	}
	ids := ir.NewValue("ids", ir.TensorOf(ir.Int64, batch, sequence))
	hidden := ir.Int(1024)
	norm, w, w2 := f("norm", hidden), f("w", hidden, hidden), f("w2", ir.Int(4096), hidden)
	down := f("down", hidden, ir.Int(4096))
	embed := f("embed", ir.Int(50000), hidden)
	flat := g.AddInitializer("flat", ir.Ints64(-1, 1024))
	count := 0
	op := func(op string, in []*ir.Value, outs int, attrs ...*ir.Attr) []*ir.Value {
		count++
		out := make([]*ir.Value, outs)
		for i := range out {
			out[i] = ir.NewValue(fmt.Sprintf("v%d.%d", count, i), nil)
		}
		g.Append(ir.NewNode("", op, in, out, attrs...))
		return out
	}
	x := op("Gather", []*ir.Value{embed, ids}, 1)[0]
	shape := op("Shape", []*ir.Value{x}, 1)[0]
	for i := range layers {
		key := f(fmt.Sprintf("past.%d", i), batch, ir.Int(8), past, ir.Int(128))
		n := op("RMSNormalization", []*ir.Value{x, norm}, 1)[0]
		m := op("Reshape", []*ir.Value{n, flat}, 1)[0]
		var qkv []*ir.Value
		for range 3 {
			p := op("Gemm", []*ir.Value{m, w, nil}, 1, ir.IntAttr("transB", 1))[0]
			qkv = append(qkv, op("Reshape", []*ir.Value{p, shape}, 1)[0])
		}
		a := op("Attention", []*ir.Value{qkv[0], qkv[1], qkv[2], nil, key, key}, 3, ir.IntAttr("q_num_heads", 8), ir.IntAttr("kv_num_heads", 8))
		x = op("Add", []*ir.Value{x, a[0]}, 1)[0]
		n = op("RMSNormalization", []*ir.Value{x, norm}, 1)[0]
		m = op("Reshape", []*ir.Value{n, flat}, 1)[0]
		gate := op("Sigmoid", op("Gemm", []*ir.Value{m, w2}, 1, ir.IntAttr("transB", 1)), 1)[0]
		up := op("Gemm", []*ir.Value{m, w2}, 1, ir.IntAttr("transB", 1))[0]
		u := op("Mul", []*ir.Value{gate, up}, 1)[0]
		d := op("Gemm", []*ir.Value{u, down}, 1, ir.IntAttr("transB", 1))[0]
		r := op("Reshape", []*ir.Value{d, shape}, 1)[0]
		t := op("Transpose", []*ir.Value{r}, 1, ir.IntsAttr("perm", 0, 2, 1))[0]
		t = op("Transpose", []*ir.Value{t}, 1, ir.IntsAttr("perm", 0, 2, 1))[0]
		x = op("Add", []*ir.Value{x, t}, 1)[0]
	}
	var nodes []*ir.Node
	for n := range g.Nodes() {
		nodes = append(nodes, n)
	}
	return nodes
}

func BenchmarkInfer15000Nodes(b *testing.B) {
	g := ir.NewGraph("g")
	nodes := decoderLike(g, 750)
	b.ReportMetric(float64(len(nodes)), "nodes")
	for b.Loop() {
		env := NewEnv(24)
		env.Declare(g.Initializers[0])
		for _, n := range nodes {
			for _, v := range n.Outputs() {
				v.Type = nil
			}
			if err := env.Infer(n); err != nil {
				b.Fatal(err)
			}
		}
	}
	if got := nodes[len(nodes)-1].Output(0).Type.String(); got != "float[batch,sequence,1024]" {
		b.Fatalf("the stream is %s", got)
	}
}

// FuzzInfer reads models and infers them: errors are allowed, panics are not.
func FuzzInfer(f *testing.F) {
	head := "<ir_version: 10, opset_import: [\"\" : 24]>\n"
	for _, s := range []string{
		"g (float[b,s,12] x) => (y) { i = Constant <value_ints: ints = [0,0,3,-1]> ()\ny = Reshape (x, i) }",
		"g (float[b,s] x) => (y) { a = Constant <value_ints: ints = [1]> ()\nb = Shape (x)\ny = Slice (x, a, b) }",
		"g (int64 m, float[b,s] x) => (y) { y, o = Loop (m, , x) <body = l (int64 i, bool c, v) => (c, g, q) { g = Concat <axis = 0> (v, v)\nq = Identity (i) }> }",
		"g (float[b,h] s, float[t,b,h] x) => (y) { y, o = Scan (s, x) <num_scan_inputs = 1, body = l (u, v) => (w, q) { w = Add (u, v)\nq = Relu (w) }> }",
		"g (float[2,3] x) => (y) { y = Einsum <equation = \"ij,jk->ik\"> (x, x) }",
		"g (float[2,3,4,5] x) => (y) { y = Conv <strides = [2,2], pads = [1,1,1,1]> (x, x) }",
		"g (float[2,3,4,5] x) => (y) { y, k, v = Attention (x, x, x) }",
	} {
		f.Add(head + s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := ir.ParseModel("fuzz", []byte(text)); err == nil {
			_, _ = InferModel(m)
		}
	})
}
