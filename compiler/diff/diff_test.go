package diff

import (
	"strings"
	"testing"

	"mobiusc/ir"
)

// parse reads a model in ONNX's textual syntax; the header is supplied.
func parse(t *testing.T, text string) *ir.Model {
	t.Helper()
	if !strings.HasPrefix(text, "<ir_version") {
		text = `<ir_version: 10, opset_import: ["": 24]>` + "\n" + text
	}
	m, err := ir.ParseModel("test.onnxtxt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestCompare compares the report of two models with what is expected of it.
// Lines about sizes are left out.
func TestCompare(t *testing.T) {
	for _, c := range compareCases {
		t.Run(c.name, func(t *testing.T) {
			r := Compare(
				Side{Name: "a", Models: []Model{{Name: "m", Model: parse(t, c.a)}}},
				Side{Name: "b", Models: []Model{{Name: "m", Model: parse(t, c.b)}}})
			var text strings.Builder
			if err := r.WriteText(&text, 0); err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, line := range strings.Split(strings.TrimSpace(text.String()), "\n")[3:] {
				if !strings.HasPrefix(line, "  nodes  ") && !strings.HasPrefix(line, "  nodes in") && !strings.HasPrefix(line, "  parameters  ") && !strings.HasPrefix(line, "  bytes of") {
					lines = append(lines, strings.TrimSpace(line))
				}
			}
			if got, want := strings.Join(lines, "\n"), strings.TrimSpace(c.want); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if r.Severity != c.severity {
				t.Errorf("severity %s, want %s", r.Severity, c.severity)
			}
		})
	}
}

var compareCases = []struct {
	name, a, b string
	severity   Severity
	want       string
}{
	{
		name: "names and order do not count",
		a: `g (float[n] x) => (float[n] y)
{ [one] a = Relu (x) [two] b = Sigmoid (x) [three] y = Add (a, b) }`,
		b: `h (float[n] x) => (float[n] y)
{ q = Sigmoid (x) p = Relu (x) y = Add (p, q) }`,
		severity: Equal,
	},
	{
		name: "equal constants are one, however they are stored",
		a: `g (float[n] x) => (float[1,m] y) <int64[2] shape = {1, -1}>
{ y = Reshape (x, shape) }`,
		b: `g (float[n] x) => (float[1,m] y)
{ c = Constant <value_ints: ints = [1, -1]> () y = Reshape (x, c) }`,
		severity: Equal,
	},
	{
		name: "attribute",
		a: `g (float[n] x) => (float[n] y)
{ ["m.act/Gelu"] h = Gelu <approximate = "none"> (x) y = Relu (h) }`,
		b: `g (float[n] x) => (float[n] y)
{ ["m.act/Gelu"] h = Gelu <approximate = "tanh"> (x) y = Relu (h) }`,
		severity: Graph,
		want: `nodes
~ m.act  Gelu; approximate: "none" → "tanh"`,
	},
	{
		name: "constant",
		a: `g (float[n] x) => (float[1,m] y) <int64[2] shape = {1, -1}>
{ y = Reshape (x, shape) }`,
		b: `g (float[n] x) => (float[1,m] y) <int64[2] shape = {1, 8}>
{ y = Reshape (x, shape) }`,
		severity: Graph,
		want: `nodes
~ Reshape; input 1: int64[2] {1, -1} → int64[2] {1, 8}`,
	},
	{
		name: "a node between two",
		a: `g (float[n] x) => (float[n] y)
{ a = Relu (x) y = Sigmoid (a) }`,
		b: `g (float[n] x) => (float[n] y)
{ a = Relu (x) b = Neg (a) y = Sigmoid (b) }`,
		severity: Graph,
		want: `nodes
+ Neg (Relu)
~ Sigmoid; input 0: Relu → Neg`,
	},
	{
		name: "one operator for another",
		a: `g (float[n] x) => (float[n] y)
{ a = Relu (x) y = Sigmoid (a) }`,
		b: `g (float[n] x) => (float[n] y)
{ a = Elu <alpha = 0.5> (x) y = Sigmoid (a) }`,
		severity: Graph,
		want: `nodes
- Relu (x)
+ Elu <alpha = 0.5> (x)`,
	},
	{
		name: "swapped inputs",
		a: `g (float[n] x, float[n] z) => (float[n] y)
{ y = Sub (x, z) }`,
		b: `g (float[n] x, float[n] z) => (float[n] y)
{ y = Sub (z, x) }`,
		severity: Graph,
		want: `nodes
~ Sub; input 0: x → z; input 1: z → x`,
	},
	{
		name: "optional input and output",
		a: `g (float[2,n] x) => (float[2,n] y)
{ y = Clip (x) }`,
		b: `g (float[2,n] x) => (float[2,n] y) <float low = {0.0}>
{ y = Clip (x, low) }`,
		severity: Graph,
		want: `nodes
~ Clip; input 1: none → float {0.0}`,
	},
	{
		name: "equal layers are one line",
		a: `g (float[n] x) => (float[n] y)
{ ["l.0.a/Relu"] a = Relu (x) ["l.0.b/Neg"] b = Neg (a) ["l.1.a/Relu"] c = Relu (b) ["l.1.b/Neg"] d = Neg (c) ["l.2.a/Relu"] e = Relu (d) ["l.2.b/Neg"] y = Neg (e) }`,
		b: `g (float[n] x) => (float[n] y)
{ ["l.0.a/Relu"] a = Relu (x) ["l.0.c/Abs"] b = Abs (a) ["l.1.a/Relu"] c = Relu (b) ["l.1.c/Abs"] d = Abs (c) ["l.2.a/Relu"] e = Relu (d) ["l.2.c/Abs"] y = Abs (e) }`,
		severity: Graph,
		want: `nodes
- l.{i}.b  Neg (Relu of l.{i}.a)   i = 0–2 (3)
+ l.{i}.c  Abs (Relu of l.{i}.a)   i = 0–2 (3)`,
	},
	{
		name: "a layer less",
		a: `g (float[n] x) => (float[n] y)
{ ["l.0/Relu"] a = Relu (x) ["l.0/Neg"] b = Neg (a) ["l.1/Relu"] c = Relu (b) ["l.1/Neg"] y = Neg (c) }`,
		b: `g (float[n] x) => (float[n] y)
{ ["l.0/Relu"] a = Relu (x) ["l.0/Neg"] y = Neg (a) }`,
		severity: Graph,
		want: `nodes
- l.{i}  Relu (Neg of l.{i-1})   i = 1
- l.{i}  Neg (Relu of l.{i})   i = 1
~ output y; value: Neg of l.1 → Neg of l.0`,
	},
	{
		name: "subgraph",
		a: `g (bool c, float[n] x) => (float[n] y)
{ a = Relu (x) ["m/If"] y = If (c) <then_branch = t () => (float[n] p) { ["m.in/Neg"] p = Neg (a) }, else_branch = e () => (float[n] q) { q = Abs (a) }> }`,
		b: `g (bool c, float[n] x) => (float[n] y)
{ a = Relu (x) ["m/If"] y = If (c) <then_branch = t () => (float[n] p) { ["m.in/Exp"] p = Exp (a) }, else_branch = e () => (float[n] q) { q = Abs (x) }> }`,
		severity: Graph,
		want: `nodes
~ m If.else_branch  Abs; input 0: Relu → x
- m If.then_branch ▸ m.in  Neg (Relu)
+ m If.then_branch ▸ m.in  Exp (Relu)`,
	},
	{
		name: "interface",
		a: `g (float[n] x, int64[n] ids, float[n] old) => (float[n] y, float[n] z)
{ a = Relu (x) c = Cast <to = 1> (ids) y = Add (a, c) z = Add (y, old) }`,
		b: `g (float16[n] x, int64[n] tokens, float[n] extra) => (float[m] y)
{ a = Relu (x) c = Cast <to = 1> (tokens) y = Add (a, c) }`,
		severity: Interface,
		want: `interface
~ x  input; type: float[n] → float16[n]
~ tokens  input; name: ids → tokens
~ extra  input; name: old → extra
~ y  output; type: float[n] → float[m]
- z  output float[n]
nodes
- Add (Add, old)`,
	},
	{
		name: "order of inputs",
		a: `g (float[n] x, float[n] z) => (float[n] y)
{ y = Sub (x, z) }`,
		b: `g (float[n] z, float[n] x) => (float[n] y)
{ y = Sub (x, z) }`,
		severity: Interface,
		want: `interface
~ z  input; order: x, z → z, x`,
	},
	{
		name: "parameters",
		a: `g (float[2,3] x) => (float[2,3] y) <float[3] gone = {1.0, 2.0, 3.0}, float[3] "h.0.norm.weight" = {1.0, 2.0, 3.0}, float[3] kept = {1.0, 2.0, 3.0}>
{ a = Add (x, gone) b = Mul (a, "h.0.norm.weight") y = Mul (b, kept) }`,
		b: `g (float[2,3] x) => (float[2,3] y) <float16[3] fresh = {1, 2, 3}, float[3] "model.h.0.norm.weight" = {1.0, 2.0, 3.0}, float[3] kept = {1.0, 2.0, 4.0}>
{ a = Add (x, fresh) b = Mul (a, "model.h.0.norm.weight") y = Mul (b, kept) }`,
		severity: Graph,
		want: `nodes
~ Add; input 1: gone → fresh
parameters
- gone  float[3]
~ model.h.{i}.norm.weight  parameter; name: h.{i}.norm.weight → model.h.{i}.norm.weight   i = 0
~ kept  parameter; content: float[3] {1.0, 2.0, 3.0} → float[3] {1.0, 2.0, 4.0}
+ fresh  float16[3]`,
	},
	{
		name: "functions",
		a: `<ir_version: 10, opset_import: ["": 24, "f": 1]>
g (float[n] x) => (float[n] y) { h = f.A (x) y = f.B (h) }
<domain: "f", opset_import: ["": 24]> A (p) => (q) { q = Relu (p) }
<domain: "f", opset_import: ["": 24]> B (p) => (q) { q = Relu (p) }`,
		b: `<ir_version: 11, opset_import: ["": 24, "f": 1]>
g (float[n] x) => (float[n] y) { h = f.A (x) y = f.C (h) }
<domain: "f", opset_import: ["": 24]> A <k: int = 3> (p) => (q) { r = Neg (p) q = Relu (r) }
<domain: "f", opset_import: ["": 24]> C (p) => (q) { q = Relu (p) }`,
		severity: Graph,
		want: `model
~ IR version: 10 → 11
nodes
- f.B (f.A)
+ f.C (f.A)
functions
~ f.A  function; attribute k: none → 3
+ f.A  Neg (p)
~ f.A  Relu; input 0: p → Neg
- f.B  function
+ f.C  function`,
	},
}

// TestComponents pairs components by name.
func TestComponents(t *testing.T) {
	m := func(name string) Model {
		return Model{Name: name, Model: parse(t, "g (float[n] x) => (float[n] y)\n{ y = Relu (x) }")}
	}
	r := Compare(Side{Models: []Model{m("a"), m("b")}}, Side{Models: []Model{m("c"), m("b")}})
	got := map[string]Status{}
	for _, c := range r.Components {
		got[c.Name] = c.Status
	}
	if got["a"] != Removed || got["b"] != Same || got["c"] != Added || r.Severity != Interface {
		t.Errorf("got %v, %s", got, r.Severity)
	}
	if r := Compare(Side{Models: []Model{m("a")}}, Side{Models: []Model{m("b")}}); r.Severity != Equal {
		t.Errorf("two single components are no pair: %+v", r)
	}
}
