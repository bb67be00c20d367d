package emit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"mobiusc/compiler/emit/onnxpb"
	"mobiusc/ir"
)

// chain returns a graph of n nodes that looks like a decoder's: long module
// paths as names, source positions, symbolic shapes, external weights.
func chain(n int) *ir.Graph {
	g := ir.NewGraph("decoder")
	symbols := ir.TensorOf(ir.Float16, ir.Sym("batch"), ir.Sym("past").Add(ir.Sym("sequence")), ir.Int(5120))
	v := ir.NewValue("hidden_states", symbols)
	g.Inputs = append(g.Inputs, v)
	for i := range n {
		path := fmt.Sprintf("model.language_model.layers.%d.self_attn.projection", i)
		w := g.AddInitializer(path+".weight", &ir.Tensor{
			Name: path + ".weight", Type: ir.Float16, Dims: []int64{5120, 5120},
			External: &ir.External{Location: "model.onnx.data", Offset: int64(i) * 5120 * 5120 * 2, Length: 5120 * 5120 * 2},
		})
		out := ir.NewValue(path+"/output_0", symbols)
		node := ir.NewNode("", "Gemm", []*ir.Value{v, w, nil}, []*ir.Value{out}, ir.IntAttr("transB", 1), ir.FloatAttr("alpha", 1))
		node.Name = path
		node.Meta.Set("source", "specs/family.yaml:123:7")
		g.Append(node)
		v = out
	}
	g.Outputs = append(g.Outputs, v)
	return g
}

func BenchmarkMarshal(b *testing.B) {
	models := make([]*ir.Model, 3)
	for i := range models {
		models[i] = &ir.Model{IRVersion: 10, Opsets: []ir.Opset{{Version: 24}}, Graph: chain(5000)}
	}
	b.ReportAllocs()
	for b.Loop() {
		size := 0
		for _, m := range models {
			data, err := Marshal(m)
			if err != nil {
				b.Fatal(err)
			}
			size += len(data)
		}
		b.SetBytes(int64(size))
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	data, err := Marshal(&ir.Model{Graph: chain(5000)})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Unmarshal(data, "x"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMarshalIsDeterministic(t *testing.T) {
	first, err := Marshal(&ir.Model{Graph: chain(50)})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Marshal(&ir.Model{Graph: chain(50)})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("equal models gave different bytes")
	}
}

// TestMarshalCanonical compares the hand-written wire format with that of the
// protobuf library: same length, so no over-long lengths or tags.
func TestMarshalCanonical(t *testing.T) {
	data, err := Marshal(&ir.Model{IRVersion: 10, Graph: chain(50)})
	if err != nil {
		t.Fatal(err)
	}
	if want := proto.Size(decode(t, data)); len(data) != want {
		t.Errorf("%d bytes, the protobuf library takes %d", len(data), want)
	}
}

func TestValueInfo(t *testing.T) {
	f32 := ir.TensorOf(ir.Float32, ir.Sym("n"))
	g := ir.NewGraph("main")
	x := ir.NewValue("x", f32)
	typed, untyped, elem := ir.NewValue("typed", f32), ir.NewValue("untyped", nil), ir.NewValue("elem", &ir.Type{Ranked: true})
	seq := ir.NewValue("seq", &ir.Type{Kind: ir.SequenceKind, Inner: f32})
	y := ir.NewValue("y", f32)
	sub := ir.NewGraph("then")
	inner, innerOut := ir.NewValue("inner", f32), ir.NewValue("inner_out", f32)
	sub.Append(ir.NewNode("", "Neg", []*ir.Value{x}, []*ir.Value{inner}))
	sub.Append(ir.NewNode("", "Neg", []*ir.Value{inner}, []*ir.Value{innerOut}))
	sub.Outputs = append(sub.Outputs, innerOut)
	g.Inputs, g.Outputs = append(g.Inputs, x), append(g.Outputs, y)
	g.Append(ir.NewNode("", "Op", []*ir.Value{x}, []*ir.Value{typed, untyped, nil, elem, seq}))
	g.Append(ir.NewNode("", "If", []*ir.Value{typed}, []*ir.Value{y}, ir.GraphAttr("then_branch", sub)))
	data, err := Marshal(&ir.Model{Graph: g})
	if err != nil {
		t.Fatal(err)
	}
	p := decode(t, data).Graph
	names := func(list []*onnxpb.ValueInfoProto) string {
		var out []string
		for _, v := range list {
			out = append(out, v.GetName())
		}
		return strings.Join(out, " ")
	}
	if got := names(p.ValueInfo); got != "typed seq" {
		t.Errorf("value_info of the graph: %s; want typed seq", got)
	}
	if got := names(p.Node[1].Attribute[0].G.ValueInfo); got != "inner" {
		t.Errorf("value_info of the subgraph: %s; want inner", got)
	}
}

func TestMarshalErrors(t *testing.T) {
	empty := ir.NewGraph("g")
	empty.Initializers = append(empty.Initializers, ir.NewValue("w", nil))
	odd := ir.NewGraph("g")
	odd.Append(ir.NewNode("", "Op", nil, nil, &ir.Attr{Name: "a", Type: 77}))
	big := ir.NewGraph("g")
	part := make([]byte, 1<<26)
	for range 32 {
		big.AddInitializer("w", &ir.Tensor{Type: ir.Uint8, Dims: []int64{1 << 26}, Raw: part})
	}
	body := ir.NewGraph("f")
	body.AddInitializer("w", ir.Ints64(1))
	for _, c := range []struct {
		name string
		m    *ir.Model
		want string
	}{
		{"function", &ir.Model{Graph: ir.NewGraph("g"), Functions: []*ir.Function{{Name: "f", Body: body}}}, `function "f" has initializers`},
		{"no graph", &ir.Model{}, "the model has no graph"},
		{"empty initializer", &ir.Model{Graph: empty}, `initializer "w" has no content`},
		{"attribute type", &ir.Model{Graph: odd}, `attribute "a" has the type unknown`},
		{"2 GiB", &ir.Model{Graph: big}, "store its large tensors as external data"},
	} {
		if _, err := Marshal(c.m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
}
