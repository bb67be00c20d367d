package ir

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mobiusc/internal/golden"
)

// TestBeyondONNX reads and prints what only this package can say.
func TestBeyondONNX(t *testing.T) {
	file := filepath.Join("testdata", "extended.txt")
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseModel(file, src)
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, file, fullText(t, m))
	sparse := m.Graph.Initializers[0].Init
	if got, err := sparse.Sparse.AsInts(); err != nil || !reflect.DeepEqual(got, []int64{0, 4}) || !reflect.DeepEqual(sparse.Dims, []int64{9}) {
		t.Errorf("sparse tensor: indices %v %v, dims %v", got, err, sparse.Dims)
	}
}

const namesText = `
g (float[N] x, bool c) => (y, outside)
< float[1] k = {1}, float[N] later >
{
  y = If (c) <then_branch = t () => (p) {
      p = Add (x, later)
      k = Neg (k)
      q = Neg (unknown)
    }, else_branch = e () => (later) { r = Neg (unknown) }>
  later = Add (k, unknown)
  later = Neg (x)
  again = Sub (later, "", unknown)
}`

func mustGraph(t *testing.T, src string) *Graph {
	t.Helper()
	g, err := ParseGraph("g.txt", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestNameResolution(t *testing.T) {
	g := mustGraph(t, namesText)
	nodes := map[string]*Node{}
	for n := range g.AllNodes() {
		nodes[n.OpType+" "+n.Output(0).Name] = n
	}
	outer := map[string]*Value{"x": g.Inputs[0], "k": g.Initializers[0], "later": nodes["Add later"].Output(0)}
	inner := nodes["Neg k"].Output(0)
	unknown := nodes["Add later"].Input(1)
	checks := []struct {
		what      string
		got, want *Value
	}{
		{"an input of the graph around", nodes["Add p"].Input(0), outer["x"]},
		{"a later node of the graph around", nodes["Add p"].Input(1), outer["later"]},
		{"the innermost definition", nodes["Neg k"].Input(0), inner},
		{"an initializer", nodes["Add later"].Input(0), outer["k"]},
		{"the first of two definitions", nodes["Sub again"].Input(0), outer["later"]},
		{"an absent input", nodes["Sub again"].Input(1), nil},
		{"an undefined name, again", nodes["Sub again"].Input(2), unknown},
		{"an output of the graph around", g.First().Attr("else_branch").Graph.Outputs[0], outer["later"]},
	}
	for _, c := range checks {
		if c.got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.what, c.got, c.want)
		}
	}
	if second := nodes["Neg later"].Output(0); second == outer["later"] || second.Producer() != nodes["Neg later"] {
		t.Error("the second definition of a name is not a value of its own")
	}
	if a, b := nodes["Neg q"].Input(0), nodes["Neg r"].Input(0); a == b || a == unknown || a.Producer() != nil {
		t.Error("undefined values of different graphs are shared")
	}
	if got := outer["later"].Type.String(); got != "float[N]" {
		t.Errorf("later has the type %q", got)
	}
	if v := g.Outputs[1]; v.Producer() != nil || v.Name != "outside" {
		t.Errorf("undefined output: %+v", v)
	}
	checkUses(t, g)
}

// checkUses checks that values and nodes agree on who reads what.
func checkUses(t *testing.T, g *Graph) {
	t.Helper()
	reads := 0
	values := map[*Value]bool{}
	for n := range g.AllNodes() {
		for i, v := range n.Inputs() {
			if v == nil {
				continue
			}
			reads++
			values[v] = true
			found := false
			for _, u := range v.Uses() {
				found = found || u.Node == n && u.Index == i
			}
			if !found {
				t.Errorf("%s does not know that %s reads it", v.Name, n)
			}
		}
		for i, v := range n.Outputs() {
			if v == nil {
				continue
			}
			if def, at := v.Def(); def != n || at != i {
				t.Errorf("%s does not know that %s defines it", v.Name, n)
			}
		}
	}
	for v := range values {
		reads -= len(v.Uses())
	}
	if reads != 0 {
		t.Errorf("values count %d uses too many", -reads)
	}
}

func TestDefaultsOfInputs(t *testing.T) {
	g := mustGraph(t, `g (float[2] a = {1, 2}, float[N] b, c) => () <float[1] b = {3}, float[1] b = {4}, int64 c> {}`)
	if len(g.Inputs) != 3 || len(g.Initializers) != 3 {
		t.Fatalf("%d inputs, %d initializers", len(g.Inputs), len(g.Initializers))
	}
	if g.Inputs[0] != g.Initializers[0] || g.Inputs[1] != g.Initializers[1] || g.Inputs[1] == g.Initializers[2] {
		t.Error("an input and its default are not one value")
	}
	if got := g.Inputs[1].Type.String() + " " + g.Inputs[2].Type.String(); got != "float[N] int64" {
		t.Errorf("types %s", got)
	}
}

func TestEmptyNames(t *testing.T) {
	for src, want := range map[string][2]int{
		`= Op ()`: {0, 0}, `, = Op (,)`: {1, 1}, `x, = Op (y,)`: {1, 1}, `,x = Op (,y)`: {2, 2},
		`"" = Op ("")`: {1, 1}, `"", x = Op ("", y)`: {2, 2}, `x = Op (y, "")`: {1, 2},
	} {
		n := mustGraph(t, "g () => () {"+src+"}").First()
		if got := [2]int{len(n.Outputs()), len(n.Inputs())}; got != want {
			t.Errorf("%s: %d outputs and inputs, want %d", src, got, want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	node := func(s string) string { return "g () => () {\n" + s + "\n}" }
	tensor := func(s string) string { return "g () => () <\n" + s + "\n> {}" }
	deepType := strings.Repeat("seq(", 1000) + "float" + strings.Repeat(")", 1000)
	deepGraph := strings.Repeat("g () => () { = If () <b = ", 1000)
	for _, c := range []struct{ src, want string }{
		{"", "1:1: found the end of the text, expected the name of a graph"},
		{"g (x => (y) {}", "1:6: found '=>', expected ',' or ')' in the inputs"},
		{"g (x) = > (y) {}", "1:7: found '=', expected '=>' after the inputs"},
		{"g (x) => (y)", "1:13: found the end of the text, expected '{' to begin the nodes"},
		{"g (x) => (y) {}\n}", "2:1: found '}', expected the name of a function"},
		{"g (float[-] x) => () {}", "1:10: found '-' without a number"},
		{"g (float[1.5] x) => () {}", "1:10: found the number 1.5, expected a dim: a number, a name or ?"},
		{"g (vec[2] x) => () {}", "1:7: found '[', expected ',' or ')' in the inputs"},
		{"g (seq(vec) x) => () {}", "1:8: found vec, expected a type: float, int64, bool, …, seq, optional, map or sparse_tensor"},
		{"g (sparse_tensor(seq(float)) x) => () {}", "1:4: found sparse_tensor without a tensor type, expected one, as in sparse_tensor(float[2, 3])"},
		{"g (float[N] x) => (float[M] x) {}", "1:29: found the type float[M] for x, which is declared as float[N] elsewhere in the graph"},
		{"g (" + deepType + " x) => () {}", "1:256: found more than 64 levels of nesting"},
		{deepGraph, "1:1667: found more than 64 levels of nesting"},
		{"g (é) => () {}", "1:4: found the character 'é'; a name with other characters than letters, digits and _ is quoted"},
		{"g (\"é\", ?) => () {}", "1:9: found '?', expected the name of an input"},
		{node("y = "), "3:1: found '}', expected the name of an operator"},
		{node("y = a.b. (x)"), "2:10: found '(', expected a name after the '.'"},
		{node("y = Op [x]"), "2:8: found '[', expected '(' to begin the inputs of Op"},
		{node("y = Op (x"), "3:1: found '}', expected ')' after the inputs of Op"},
		{node("[n y = Op (x)"), "2:4: found y, expected ']' after the name of a node"},
		{node("y = Op <a 1> (x)"), "2:11: found the number 1, expected '=' after attribute a"},
		{node("y = Op <a = > (x)"), "2:13: found '>', expected the value of an attribute"},
		{node("y = Op <a = 1> (x) <b = 2>"), "2:20: found '<', expected '=' after the outputs of a node"},
		{node("y = Op <a : bool = 1> (x)"), "2:13: found bool, expected the type of attribute a: int, ints, float, floats, string, strings, tensor, graph, …"},
		{node("y = Op <a : int = 1.5> (x)"), "2:19: found a value of type float for attribute a, which is declared as int"},
		{node("y = Op <a : int = [1]> (x)"), "2:19: found a list for attribute a, which is declared as int"},
		{node("y = Op <a : ints = 1> (x)"), "2:20: found a value of type int for attribute a, which is declared as ints"},
		{node("y = Op <a = []> (x)"), "2:13: found an empty list without a type, expected a type, as in a: ints = []"},
		{node("y = Op <a = [1, 2.5]> (x)"), "2:17: found a value of type float in a list of type ints; declare the list, as in a: floats = [1, 2.5]"},
		{node("y = Op <a = [@b]> (x)"), "2:14: found a reference to @b in a list, expected a value"},
		{node("y = Op <a = 9223372036854775808> (x)"), "2:13: found 9223372036854775808, expected a number that fits 64 bits"},
		{node("y = Op <a = 1e99> (x)"), "2:13: found 1e99, which does not fit a float of 32 bits"},
		{node("y = Op <a = 1e> (x)"), "2:13: found the number 1e without digits in its exponent"},
		{node("y = Op <a = 12ab> (x)"), "2:13: found 12ab, which is neither a number nor a name"},
		{node("y = Op <a = \"b> (x)"), "2:13: found a string without a closing quote"},
		{node("y = Op <a = \"b\\"), "2:13: found a string without a closing quote"},
		{node("y = Op <a = inf1> (x)"), "2:17: found '>', expected '(' to begin the inputs"},
		{node("y = Op <a = float[N] {1}> (x)"), "2:13: found the type float[N] for a constant, expected numbers as dims"},
		{tensor("x = {1}"), "2:1: found a constant without a tensor type with numbers as dims, expected one, as in float[2, 3]"},
		{tensor("float[] x = {1}"), "2:9: found a constant without a tensor type with numbers as dims, expected one, as in float[2, 3]"},
		{tensor("float[2] x = {1}"), "2:10: found 1 elements, expected 2 for float[2]"},
		{tensor("float[4611686018427387904,4] x = {}"), "2:30: found the dims [4611686018427387904 4] of a constant, expected none below 0 and a product that fits 64 bits"},
		{tensor("float[1] x = 1"), "2:14: found the number 1, expected '{' to begin the elements, or '[' for external data"},
		{tensor("float[1] x = {\"1\"}"), `2:15: found the string "1", expected a number`},
		{tensor("float[100] x = {0, 0, 0, 0, ... 100 elements}"), "2:29: found a tensor whose elements were left out when it was printed; print it in full"},
		{tensor("int8[1] x = {128}"), "2:14: found 128, which is out of the range of int8"},
		{tensor("bool[1] x = {2}"), "2:14: found 2, which is out of the range of bool"},
		{tensor("uint8[1] x = {-1}"), "2:15: found -1, which is out of the range of uint8"},
		{tensor("int64[1] x = {1.0}"), "2:15: found the number 1.0, expected an integer"},
		{tensor("float16[1] x = {1.0}"), "2:17: found the number 1.0, expected an integer, the bits of a float16"},
		{tensor("string[1] x = {a}"), "2:16: found a, expected an element in quotes"},
		{tensor("undefined[1] x = {1}"), "2:19: found the number 1, expected no elements in a tensor of type undefined"},
		{tensor("sparse_tensor(float[3]) x = {1, 2} int64[1] {0}"), "2:25: found 2 elements, expected 1 for sparse_tensor(float[3])"},
		{tensor("sparse_tensor(float[3]) x = {1}"), "3:1: found no indices after the elements of a sparse tensor, expected them, as in int64[2] {0, 3}"},
		{tensor("float[1] x = [\"path\": \"a\"]"), `2:15: found the key "path" of external data, expected location, offset, length or checksum`},
		{tensor("float[1] x = [\"offset\": \"a\"]"), `2:25: found the offset "a" of external data, expected a number of bytes`},
		{"<ir_versions: 1> g () => () {}", "1:2: found the key ir_versions, which the header of a model does not have"},
		{"<ir_version: 1, ir_version: 2> g () => () {}", "1:17: found the key ir_version a second time"},
		{"<opset_import: [\"\" : \"1\"]> g () => () {}", `1:22: found the string "1", expected an opset version`},
		{"<domain: a> g () => () {}", "1:10: found a, expected a domain in quotes"},
		{"g () => () {} <domain: \"a\"> f <a: int = @b> () => () {}", "1:33: found a reference to @b, expected a value as the default of a"},
	} {
		_, err := ParseModel("t", []byte(c.src))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.60q: got %v, want a SyntaxError", c.src, err)
		} else if got := err.Error(); got != "t:"+c.want {
			t.Errorf("%.60q: got\n  %s\nwant\n  t:%s", c.src, got, c.want)
		}
	}
}
