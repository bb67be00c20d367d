package spec

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// functionSpec is a spec whose component calls one function.
func functionSpec(text, call string) string {
	return edit("{linear: {name: out, out: width * heads}}", "{linear: {name: out, out: width * heads}}, {call: "+call+"}") +
		"functions:\n  double: |\n" + text
}

const (
	doubleText = "    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = Add (x, x) }\n"
	cycleText  = "    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = «other» (x) }\n" +
		"  other: |\n    <opset_import: [\"\": 21]>\n    other (x) => (y) { y = double (x) }\n"
)

// The faults of section functions and of block call.
func init() {
	faultCases = append(faultCases, []faultCase{
		{
			name: "unknown function of the spec", spec: functionSpec(doubleText, "{function: «doubel»}"),
			want: "MB0504 unknown-reference: the spec has no function `doubel`; did you mean `double`?",
		},
		{
			name: "function that nothing calls", spec: edit("inputs:", "inputs:") + "functions:\n  «double»: |\n" + doubleText,
			want: "MB0213 unused-block: the function `double` is used by nothing",
		},
		{
			name: "malformed function", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y «=»> Add (x, x) }\n", "double"),
			want: "MB0310 bad-function: found '=>', expected '=' after the outputs of a node",
		},
		{
			name: "function without an opset", spec: functionSpec("    «d»ouble (x) => (y) { y = Add (x, x) }\n", "double"),
			want: "MB0310 bad-function: the function imports no opset: begin with the lowest that it is for, such as <opset_import: [\"\": 21]>",
		},
		{
			name: "function under another name", spec: functionSpec("    <opset_import: [\"\": 21]>\n    «twice» (x) => (y) { y = Add (x, x) }\n", "double"),
			want: "MB0310 bad-function: the function is called twice here and double in its key",
		},
		{
			name: "unknown operator in a function", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = «Addd» (x, x) }\n", "double"),
			want: "MB0310 bad-function: `Addd` is neither an operator of ONNX nor a function of the spec; did you mean `Add`?",
		},
		{
			name: "too many inputs of an operator in a function", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = «Add» (x, x, x) }\n", "double"),
			want: "MB0310 bad-function: Add-14 takes 2 inputs, found 3",
		},
		{
			name: "misspelt attribute in a function", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = Softmax <«axes» = 1> (x) }\n", "double"),
			want: "MB0310 bad-function: Softmax-13 has no attribute axes; did you mean axis?",
		},
		{
			name: "operator that is newer than the function's opset", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = «TensorScatter» (x, x) }\n", "double"),
			want: "MB0310 bad-function: TensorScatter came with ai.onnx version 24, version 21 is imported; import ai.onnx version 24",
		},
		{
			name: "undefined name in a function", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = Add (x, «z») }\n", "double"),
			want: "MB0310 bad-function: input 1, \"z\", is not defined",
		},
		{
			name: "two functions in one text", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = Add (x, x) }\n    <opset_import: [\"\": 21]>\n    «double» (x) => (y) { y = Mul (x, x) }\n", "double"),
			want: "MB0310 bad-function: the text holds a second function, double, and a key of section functions holds one; write it under a key of its own",
		},
		{
			name: "text without a function", spec: base + "functions: {double: «\"# later\"»}\n",
			want: "MB0310 bad-function: the text holds no function",
		},
		{
			name: "function with a domain", spec: functionSpec("    <«domain»: \"mine\", opset_import: [\"\": 21]>\n    double (x) => (y) { y = Add (x, x) }\n", "double"),
			want: "MB0310 bad-function: a function of a spec has no domain: it is called by its name alone",
		},
		{
			name: "function with an overload", spec: functionSpec("    <«overload»: \"a\", opset_import: [\"\": 21]>\n    double (x) => (y) { y = Add (x, x) }\n", "double"),
			want: "MB0310 bad-function: a function of a spec has no overload: it is called by its name alone",
		},
		{
			name: "opset that is newer than any", spec: functionSpec("    <opset_import: [«\"\"»: 99]>\n    double (x) => (y) { y = Add (x, x) }\n", "double"),
			want: "MB0310 bad-function: ai.onnx version 99 is imported, but ONNX defines 1 to 27",
		},
		{
			name: "opset before the first", spec: functionSpec("    <opset_import: [«\"\"»: 0]>\n    double (x) => (y) { y = Add (x, x) }\n", "double"),
			want: "MB0310 bad-function: ai.onnx version 0 is imported, but ONNX defines 1 to 27",
		},
		{
			name: "newer version of another domain", spec: functionSpec("    <opset_import: [\"\": 21, «\"ai.onnx.ml\"»: 99]>\n    double (x) => (y) { y = Add (x, x) }\n", "double"),
			want: "MB0310 bad-function: ai.onnx.ml version 99 is imported, but ONNX defines 1 to 5",
		},
		{
			name: "domain that nobody knows", spec: functionSpec("    <opset_import: [\"\": 21, «\"mine\"»: 1]>\n    double (x) => (y) { y = mine.Twice (x) }\n", "double"),
			want: `MB0310 bad-function: ONNX has no domain "mine"; a function consists of operators of ONNX, and calls others of the spec without an import`,
		},
		{
			name: "operator of a domain that is not imported", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = mine.«Twice» (x) }\n", "double"),
			want: "MB0310 bad-function: `mine.Twice` is neither an operator of ONNX nor a function of the spec",
		},
		{
			name: "two versions of one domain", spec: functionSpec("    <opset_import: [\"\": 21, «\"ai.onnx\"»: 22]>\n    double (x) => (y) { y = Add (x, x) }\n", "double"),
			want: "MB0310 bad-function: ai.onnx is imported as version 21 and as version 22",
		},
		{
			name: "misspelt name in a function of many lines", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (stream) => (y) {\n      # not steam\n      centred = Add (stream, stream)\n      y = Mul (centred, «steam»)\n    }\n", "double"),
			want: `MB0310 bad-function: input 1, "steam", is not defined; did you mean stream?`,
		},
		{
			name: "misspelt name read twice by one node", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (stream) => (y) { y = Mul (steam, «steam») }\n", "double"),
			want: `MB0310 bad-function: input 0, "steam", is not defined; did you mean stream?`,
		},
		{
			name: "misspelt name in a branch", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (stream) => (y) { c = Constant <value_int = 1> ()  d = Cast <to = 9> (c)\n      y = If (d) <then_branch = a () => (z) { z = Neg (stream) }, else_branch = b () => (z) { z = Neg («steam») }> }\n", "double"),
			want: `MB0310 bad-function: input 0, "steam", is not defined; did you mean stream?`,
		},
		{
			name: "name that a later node defines", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = Add (x, «late»)  late = Neg (x) }\n", "double"),
			want: `MB0310 bad-function: input 1, "late", is defined only by a later node`,
		},
		{
			name: "result that no node defines", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => («result») { resul = Neg (x) }\n", "double"),
			want: `MB0310 bad-function: the output "result" is not defined; did you mean resul?`,
		},
		{
			name: "name that is defined twice", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = Neg (x)  «y» = Add (y, x) }\n", "double"),
			want: `MB0310 bad-function: "y" is defined here and by an earlier output`,
		},
		{
			name: "input that is given twice", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x, «x») => (y) { y = Neg (x) }\n", "double"),
			want: `MB0310 bad-function: "x" is defined as an input twice`,
		},
		{
			name: "attribute that is listed twice", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double <a, «a»> (x) => (y) { y = LeakyRelu <alpha: float = @a> (x) }\n", "double"),
			want: `MB0310 bad-function: the attribute parameter "a" is listed twice`,
		},
		{
			name: "misspelt attribute of the function", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double <slope: float = 0.1> (x) => (y) { y = LeakyRelu <«alpha»: float = @slop> (x) }\n", "double"),
			want: `MB0310 bad-function: the attribute alpha refers to the parameter "slop", which the function does not have`,
		},
		{
			name: "functions that call each other", spec: functionSpec(cycleText, "double"),
			want: "MB0310 bad-function: a function calls itself: double → other → double",
		},
		{
			name: "function of two results", spec: functionSpec("    <opset_import: [\"\": 21]>\n    «double» (x) => (y, z) { y = Add (x, x)  z = Neg (x) }\n", "double"),
			want: "MB0310 bad-function: the function has 1 input and 2 outputs: it takes the stream and whatever else, and gives the new stream",
		},
		{
			name: "unknown option in a weight", spec: functionSpec(doubleText, "{function: double, weights: {w: {name: w, shape: [width], «dtype»: model}}}"),
			want: "MB0201 unknown-key: option weights of call has no key `dtype`; it is one of name, shape",
		},
		{
			name: "weight without a shape", spec: functionSpec(doubleText, "{function: double, weights: {w: «{name: w}»}}"),
			want: "MB0205 missing-key: option weights of call needs `shape`: its dims; write it here or under defaults",
		},
	}...)
}

// TestFunctionFindings finds all that is wrong with functions at once: no mistake
// hides another.
func TestFunctionFindings(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"beside unknown operators", `    <opset_import: ["": 21]>
    double (x) => (y) { a = Addd (x, x)  b = Mul (a, bb)  c = other.Neg (b)  y = Softmax <axes = 1> (c, c) }
`, []string{
			"18:29 `Addd` is neither an operator of ONNX nor a function of the spec",
			`18:54 input 1, "bb", is not defined`,
			"18:69 `other.Neg` is neither an operator of ONNX nor a function of the spec",
			"18:82 Softmax-13 takes 1 input, found 2",
			"18:91 Softmax-13 has no attribute axes",
		}},
		{"beside an opset that does not exist", `    <opset_import: ["": 0, "mine": 1]>
    double (x) => (y) { a = mine.Neg (x)  y = Mul (a, b) }
`, []string{
			"17:21 ai.onnx version 0 is imported, but ONNX defines 1 to 27",
			`17:28 ONNX has no domain "mine"`,
			`18:55 input 1, "b", is not defined`,
		}},
		{"beside a cycle", `    <opset_import: ["": 21]>
    double (x) => (y) { a = double (x)  y = Mul (a, b) }
`, []string{
			"18:29 a function calls itself: double → double",
			`18:53 input 1, "b", is not defined`,
		}},
		{"in the head", `    <domain: "d", overload: "o", opset_import: ["": 21]>
    twice (x) => (y, z) { y = Neg (x)  z = Neg (a) }
`, []string{
			"17:6 a function of a spec has no domain: it is called by its name alone",
			"17:19 a function of a spec has no overload: it is called by its name alone",
			"18:5 the function has 1 input and 2 outputs: it takes the stream and whatever else, and gives the new stream",
			"18:5 the function is called twice here and double in its key",
			`18:49 input 0, "a", is not defined`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": functionSpec(c.text, "double")}))
			var got []string
			for _, d := range found {
				got = append(got, strings.TrimPrefix(d.Range.String(), "x.yaml:")+" "+d.Message)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestCycles finds every cycle of functions, where one is met first.
func TestCycles(t *testing.T) {
	text := func(name, body string) string {
		return "  " + name + ": |\n    <opset_import: [\"\": 21]>\n    " + name + " (x) => (y) { y = " + body + " (x) }\n"
	}
	spec := base + "functions:\n" + text("a", "b") + text("b", "a") + text("c", "c") + text("d", "a")
	_, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": spec}))
	var got []string
	for _, d := range found {
		got = append(got, d.Range.String()+" "+d.Message)
	}
	want := []string{"x.yaml:18:24 a function calls itself: a → b → a", "x.yaml:24:24 a function calls itself: c → c"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	// A walk along every path would not end.
	edges := map[string][]string{}
	var names []string
	for i := range 100 {
		names = append(names, strconv.Itoa(i))
		edges[strconv.Itoa(i)] = []string{strconv.Itoa(i + 1), strconv.Itoa(i + 2)}
	}
	if found := cyclesOf(names, edges); found != nil {
		t.Errorf("cycles %v where there are none", found)
	}
}
