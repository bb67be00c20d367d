package passes

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestRefusals checks every reason for which a call cannot be replaced, and
// that the error names the node, its source, the chain of calls and the target.
func TestRefusals(t *testing.T) {
	const header = `<ir_version: 10, opset_import: ["": 21, "f": 1]> g (float[4] x, float[4] w) => (y) `
	f := func(text string) string { return `<domain: "f", opset_import: ["": 18, "f": 1]> ` + text + "\n" }
	for _, c := range []struct{ name, nodes, functions, want string }{
		{"no function", `{ [n] y = f.Missing (x) }`, "",
			`spec:n: node "n" (f.Missing), for opset 21: the target does not execute it, and it has no function`},
		{"no function in a body", `{ [n] y = f.A (x) }`,
			f(`A (x) => (y) { t = Neg (x) y = f.B (t) }`) + f(`B (x) => (y) { y = f.Missing:v2 (x) }`),
			`spec:n: node "n/y/y" (f.Missing:v2) in f.A → f.B, for opset 21: the target does not execute it, and it has no function`},
		{"recursion", `{ [n] y = f.A (x) }`,
			f(`A (x) => (y) { y = f.B (x) }`) + f(`B (x) => (y) { c = Neg (x) y = f.A (c) }`),
			`spec:n: node "n/y/y" (f.A) in f.A → f.B, for opset 21: a function calls itself: f.A → f.B → f.A`},
		{"recursion in a subgraph", `{ [n] y = f.A (x, x) }`,
			f(`A (x, c) => (y) { b = Cast <to = 9> (c) y = If (b) <then_branch = t () => (p) { p = f.A (x, c) }, else_branch = e () => (q) { q = Neg (x) }> }`),
			`spec:n: node "n/p" (f.A) in f.A, for opset 21: a function calls itself: f.A → f.A`},
		{"too many inputs", `{ [n] y = f.A (x, w, x) }`, f(`A (a, b) => (y) { y = Add (a, b) }`),
			`spec:n: node "n" (f.A), for opset 21: found 3 inputs, expected at most 2: a, b`},
		{"too many outputs", `{ [n] y, z = f.A (x) }`, f(`A (a) => (b) { b = Neg (a) }`),
			`spec:n: node "n" (f.A), for opset 21: found 2 outputs, expected at most 1: b`},
		{"missing input", `{ [n] y = f.A (x) }`, f(`A (a, b) => (y) { y = Add (a, b) }`),
			`spec:n: node "n/y" (Add) in f.A, for opset 21: it needs the input b, which the call of f.A leaves out`},
		{"missing input, handed on", `{ [n] y = f.A (x) }`, f(`A (a, b) => (y) { y = f.B (a, b) }`) + f(`B (c, d) => (y) { y = Add (c, d) }`),
			`spec:n: node "n/y/y" (Add) in f.A → f.B, for opset 21: it needs the input d, which the call of f.B leaves out`},
		{"missing input of a standard operator", `{ [n] y = LinearAttention <q_num_heads = 1, kv_num_heads = 1> (x, "", x) }`, "",
			`spec:n: node "n" (LinearAttention), for opset 21: it lacks its input key`},
		{"missing input among many", `{ [n] y = f.A (x) }`, f(`A (a, b) => (y) { y = Concat <axis = 0> (a, b) }`),
			`spec:n: node "n/y" (Concat) in f.A, for opset 21: it needs the input b, which the call of f.A leaves out`},
		{"missing input as output", `{ [n] y = f.A (x) }`, f(`A (a, b) => (b) {}`),
			`spec:n: node "n" (f.A), for opset 21: it returns the input b of f.A, which the call leaves out`},
		{"missing input returned by a subgraph", `{ [n] y = f.A (x) }`,
			f(`A (a, b) => (y) { c = Cast <to = 9> (a) y = If (c) <then_branch = t () => (b) {}, else_branch = e () => (a) {}> }`),
			`spec:n: node "n/y" (If) in f.A, for opset 21: its subgraph t returns the input b, which the call of f.A leaves out`},
		{"body for a later opset", `{ [n] y = f.A (x) }`, `<domain: "f", opset_import: ["": 22]> A (a) => (b) { b = Neg (a) }`,
			`spec:n: node "n" (f.A), for opset 21: the body of f.A imports opset 22`},
		{"other version of a domain", `{ [n] y = f.A (x) }`, `<domain: "f", opset_import: ["": 18, "f": 2]> A (a) => (b) { b = Neg (a) }`,
			`spec:n: node "n" (f.A), for opset 21: the body of f.A imports version 2 of domain f, expected 1, which is imported already`},
		{"bodies with versions of a domain", `{ [m] t = f.A (x) [n] y = f.B (t) }`,
			`<domain: "f", opset_import: ["": 18, "o": 1]> A (a) => (b) { b = Neg (a) } <domain: "f", opset_import: ["": 18, "o": 2]> B (a) => (b) { b = Neg (a) }`,
			`spec:n: node "n" (f.B), for opset 21: the body of f.B imports version 2 of domain o, expected 1, which is imported already`},
		{"changed meaning", `{ [n] y = f.A (x) }`, `<domain: "f", opset_import: ["": 12]> A (a) => (b) { b = Softmax (a) }`,
			`spec:n: node "n/b" (Softmax) in f.A, for opset 21: it is written for opset 12, and Softmax-11 and Softmax-13 differ: attribute axis has another default`},
		{"attribute without value", `{ [n] y = f.A (x) }`, f(`A <to> (a) => (b) { [c] b = Cast <to: int = @to> (a) }`),
			`spec:n: node "n" (f.A), for opset 21: found no attribute to, which node c (Cast) in the body of f.A needs`},
		{"constant without value", `{ [n] y = f.A (x) }`, f(`A <k> (a) => (b) { c = Constant <value_float: float = @k> () b = Add (a, c) }`),
			`spec:n: node "n" (f.A), for opset 21: found no attribute k, which node c (Constant) in the body of f.A needs`},
		{"attribute without value, handed on", `{ [n] y = f.A (x) }`,
			f(`A <to> (a) => (b) { b = f.B <to: int = @to> (a) }`) + f(`B <to> (a) => (b) { b = Cast <to: int = @to> (a) }`),
			`spec:n: node "n/b" (f.B) in f.A, for opset 21: found no attribute to, which node b (Cast) in the body of f.B needs`},
		{"reference to no attribute", `{ [n] y = f.A (x) }`, f(`A (a) => (b) { b = LeakyRelu <alpha: float = @alpha> (a) }`),
			`spec:n: node "n" (f.A), for opset 21: node b (LeakyRelu) in the body of f.A refers to @alpha, which is no attribute of the function`},
		{"attribute of another type", `{ [n] y = f.A <k = 2> (x) }`, f(`A <k> (a) => (b) { b = LeakyRelu <alpha: float = @k> (a) }`),
			`spec:n: node "n" (f.A), for opset 21: found the attribute k of type int, expected float`},
		{"unknown attribute", `{ [n] y = f.A <kk = 2> (x) }`, f(`A <k> (a) => (b) { b = Neg (a) }`),
			`spec:n: node "n" (f.A), for opset 21: found the attribute kk, which f.A does not have`},
		{"undefined output", `{ [n] y = f.A (x) }`, f(`A (a) => (b) { c = Neg (a) }`),
			`spec:n: node "n" (f.A), for opset 21: the body of f.A does not define its output b`},
		{"types that cannot go together", `{ [n] y = f.A (x) }`, f(`A (a) => (b) { k = Constant <value_floats = [1.0, 2.0, 3.0]> () b = Add (a, k) }`),
			`spec:n: node "n/b" (Add) in f.A, for opset 21: Add "b": shapes [4] and [3] do not broadcast: 4 against 3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, "t", header+c.nodes+"\n"+c.functions)
			_, err := Legalise(m, Target{Opset: 21})
			var call *NodeError
			if !errors.As(err, &call) {
				t.Fatalf("got %v, want a NodeError", err)
			}
			if err.Error() != c.want {
				t.Errorf("got\n  %s\nwant\n  %s", err, c.want)
			}
		})
	}
}

// TestOldTargets checks that a function for later opsets only is refused with
// the opset it needs.
func TestOldTargets(t *testing.T) {
	m := parse(t, "t", `<ir_version: 8, opset_import: ["": 17]> g (float[1,2,3] x, float[3,1,4] w) => (y) { [n] y = mobiusc.CausalConvWithState (x, w) }`)
	_, err := Legalise(m, Target{Opset: 17})
	want := `spec:n: node "n" (mobiusc.CausalConvWithState), for opset 17: the target does not execute it, and its function needs opset 21`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// TestMultiplyingFunctions checks that calls which multiply end in an error and
// not in all of the memory.
func TestMultiplyingFunctions(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<ir_version: 10, opset_import: ["": 21, "f": 1]> g (float[1] x) => (y) { [n] y = f.F0 (x) }`)
	for i := range 40 {
		fmt.Fprintf(&b, "\n<domain: \"f\", opset_import: [\"\": 18, \"f\": 1]> F%d (x) => (y) { a = f.F%d (x) y = f.F%d (a) }", i, i+1, i+1)
	}
	m := parse(t, "t", b.String()+` <domain: "f", opset_import: ["": 18]> F40 (x) => (y) { y = Neg (x) }`)
	l := newLegaliser(m, Target{Opset: 21})
	l.limit = 1000
	if err := l.graph(m.Graph); err == nil || !strings.Contains(err.Error(), "its functions have more than 1000 nodes together") {
		t.Errorf("got %v", err)
	}
}
