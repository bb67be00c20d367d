package spec

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
			want: "MB0310 bad-function: the function imports no opset: begin with <opset_import: [\"\": 27]>, the lowest that it is for",
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
			name: "misspelt attribute in a function", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = «Softmax» <axes = 1> (x) }\n", "double"),
			want: "MB0310 bad-function: Softmax-13 has no attribute axes; did you mean axis?",
		},
		{
			name: "operator that is newer than the function's opset", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = «TensorScatter» (x, x) }\n", "double"),
			want: "MB0310 bad-function: TensorScatter came with ai.onnx version 24, version 21 is imported; import ai.onnx version 24",
		},
		{
			name: "undefined name in a function", spec: functionSpec("    <opset_import: [\"\": 21]>\n    double (x) => (y) { y = «Add» (x, z) }\n", "double"),
			want: "MB0310 bad-function: input 1, \"z\", is not defined",
		},
		{
			name: "functions that call each other", spec: functionSpec(cycleText, "double"),
			want: "MB0310 bad-function: a function calls itself: double → other → double",
		},
		{
			name: "function of two results", spec: functionSpec("    <opset_import: [\"\": 21]>\n    «double» (x) => (y, z) { y = Add (x, x)  z = Neg (x) }\n", "double"),
			want: "MB0310 bad-function: the function has 1 inputs and 2 outputs: it takes the stream and whatever else, and gives the new stream",
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
