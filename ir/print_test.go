package ir

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
)

func TestElision(t *testing.T) {
	raw := make([]byte, 4*65)
	g := NewGraph("g")
	g.AddInitializer("small", &Tensor{Type: Float32, Dims: []int64{64}, Raw: raw[:256]})
	g.AddInitializer("large", &Tensor{Type: Float32, Dims: []int64{5, 13}, Raw: raw})
	g.AddInitializer("unbound", &Tensor{Type: BFloat16, Dims: []int64{4096, 4096}})
	g.AddInitializer("huge", &Tensor{Type: Undefined, Dims: []int64{1 << 40}})
	g.AddInitializer("odd", &Tensor{Type: Float32, Dims: []int64{1}, Raw: raw[:6]})
	g.AddInitializer("texts", &Tensor{Type: String, Dims: []int64{2}, Strings: [][]byte{nil}})
	g.AddInitializer("overflow", &Tensor{Type: Float32, Dims: []int64{1 << 40, 1 << 40}})
	got := g.String()
	for _, want := range []string{
		"float[64] small = {0.0, 0.0, 0.0, ",
		"float[5,13] large = {0.0, 0.0, 0.0, 0.0, ... 65 elements},",
		"bfloat16[4096,4096] unbound = {... 0 bytes or strings, which the dims do not fit},",
		"undefined[1099511627776] huge = {... 0 bytes or strings, which the dims do not fit},",
		"float[1] odd = {... 6 bytes or strings, which the dims do not fit},",
		"string[2] texts = {... 1 bytes or strings, which the dims do not fit},",
		"float[1099511627776,1099511627776] overflow = {... 0 bytes or strings, which the dims do not fit}",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if _, err := ParseGraph("g", []byte(got)); err == nil || !strings.Contains(err.Error(), "print it in full") {
		t.Errorf("reading what was left out: %v", err)
	}
	var full bytes.Buffer
	if err := (Printer{}).Graph(&full, g); err != nil || strings.Contains(full.String(), "65 elements") {
		t.Errorf("%v, printed in full:\n%s", err, &full)
	}
}

func TestComments(t *testing.T) {
	n := NewNode("", "Neg", []*Value{NewValue("x", nil)}, []*Value{NewValue("y", nil)})
	n.Name, n.Doc = "blk.0/neg", "two\nlines"
	n.Meta.Set("source", "spec.yaml:3:5")
	n.Meta.Set("function", "f")
	var b bytes.Buffer
	if err := (Printer{Comments: true}).Node(&b, n); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), `["blk.0/neg"] y = Neg (x) # source=spec.yaml:3:5 function=f two lines`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := n.String(), `["blk.0/neg"] y = Neg (x)`; got != want {
		t.Errorf("without comments: got %s", got)
	}
}

func TestFormatFloat(t *testing.T) {
	for want, f := range map[string]float32{
		"0.0": 0, "-0.0": float32(math.Copysign(0, -1)), "1.0": 1, "0.1": 0.1, "1e-45": math.SmallestNonzeroFloat32,
		"3.4028235e+38": math.MaxFloat32, "inf": float32(math.Inf(1)), "-inf": float32(math.Inf(-1)), "nan": float32(math.NaN()),
	} {
		a := &Attr{Name: "a", Type: AttrFloat, Float: f}
		n := NewNode("", "Op", nil, nil, a)
		g := NewGraph("g")
		g.Append(n)
		if got := n.String(); got != "= Op <a: float = "+want+"> ()" {
			t.Errorf("%v is printed as %s", f, got)
		}
		back := mustGraph(t, g.String()).First().Attr("a").Float
		if math.Float32bits(back) != math.Float32bits(f) && f == f {
			t.Errorf("%v is read back as %v", f, back)
		}
	}
}

type failingWriter struct{}

var errFull = errors.New("disk full")

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	if err := PrintModel(failingWriter{}, &Model{Graph: NewGraph("g")}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

func TestClone(t *testing.T) {
	for _, file := range append(texts(t, "onnx/*.txt"), texts(t, "extended.txt")...) {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		x, err := parseAny(file, src)
		if err != nil {
			t.Fatal(err)
		}
		want := fullText(t, x)
		var got string
		switch x := x.(type) {
		case *Model:
			c := x.Clone()
			got = fullText(t, c)
			checkUses(t, x.Graph)
			checkUses(t, c.Graph)
			for n := range c.Graph.AllNodes() {
				n.Name = "changed"
			}
		case []*Function:
			var copies []*Function
			for _, f := range x {
				c := f.Clone()
				checkUses(t, f.Body)
				checkUses(t, c.Body)
				copies = append(copies, c)
			}
			got = fullText(t, copies)
		}
		if got != want {
			t.Errorf("%s: the copy is\n%s\nwant\n%s", file, got, want)
		}
		if again := fullText(t, x); again != want {
			t.Errorf("%s: changing the copy changed the original", file)
		}
	}
}

func TestCloneCaptures(t *testing.T) {
	g := mustGraph(t, `g (x, c) => (y) { y = If (c) <then_branch = t () => (p) { p = Neg (x) }, else_branch = e () => (x) {}> }`)
	then := g.First().Attr("then_branch").Graph
	with := NewValue("with", nil)
	c := &Cloner{Values: map[*Value]*Value{g.Inputs[0]: with}, ValueName: func(v *Value) string { return "a/" + v.Name }}
	n := c.Node(g.First())
	if got, want := n.String(), `"a/y" = If (c) <then_branch: graph = t () => ("a/p") {
   "a/p" = Neg (with)
}, else_branch: graph = e () => (with) {
}>`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n.Input(0) != g.Inputs[1] || then.First().Input(0) != g.Inputs[0] {
		t.Error("the original changed, or a captured value was copied")
	}
}

func TestPrintFunctions(t *testing.T) {
	const body = `<domain: "f", opset_import: ["": 18]>
# a comment, "quoted"
A (x) => (y) { y = If (x) <then_branch = t () => (p) { p = Neg (x) }, # another
  else_branch = e () => (x) {}> }   # the last`
	functions, err := ParseFunctions("f.txt", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	f := functions[0]
	const want = `<
   domain: "f",
   opset_import: ["": 18]
>
A (x) => (y) {
   y = If (x) <then_branch: graph = t () => (p) {
      p = Neg (x)
   }, else_branch: graph = e () => (x) {
   }>
}
`
	var function, graph, node bytes.Buffer
	if err := errors.Join(PrintFunction(&function, f), PrintGraph(&graph, f.Body.First().Attr("then_branch").Graph),
		PrintNode(&node, f.Body.First().Attr("then_branch").Graph.First())); err != nil {
		t.Fatal(err)
	}
	if got := function.String(); got != want || f.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := graph.String(); got != "t () => (p) {\n   p = Neg (x)\n}\n" {
		t.Errorf("got the graph\n%s", got)
	}
	if got := node.String(); got != "p = Neg (x)" {
		t.Errorf("got the node %s", got)
	}
}

func TestPrintAttributesWithoutValues(t *testing.T) {
	for _, a := range []*Attr{{Name: "a", Type: AttrTensor}, {Name: "a", Type: AttrSparseTensor}, {Name: "a", Type: AttrGraph}} {
		var text bytes.Buffer
		if err := PrintNode(&text, NewNode("", "Op", nil, nil, a)); err != nil || text.String() != "= Op <a: "+a.Type.String()+" = ?> ()" {
			t.Errorf("got %q, %v", text.String(), err)
		}
	}
}
