package validate

import (
	"slices"
	"strings"
	"testing"

	"mobiusc/ir"
)

const header = `<ir_version: 10, opset_import: ["" : 24]>
`

// parse reads a model in ONNX's textual syntax; the usual header may be left out.
func parse(t testing.TB, text string) *ir.Model {
	t.Helper()
	if !strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = header + text
	}
	m, err := ir.ParseModel("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// faulty is a model with what must be found in it, in full and in order.
type faulty struct {
	name string
	text string
	edit func(m *ir.Model) // what the text cannot say
	opts Options
	want []string
}

// find returns the node with the given name, in any graph of the model.
func find(m *ir.Model, name string) *ir.Node {
	for n := range m.Graph.AllNodes() {
		if n.Name == name {
			return n
		}
	}
	return nil
}

const relu = `main (float[2] x) => (float[2] y) { [n] y = Relu (x) }`

var faults = slices.Concat(modelFaults, nameFaults, operatorFaults, typeFaults, subgraphFaults, functionFaults, tensorFaults)

var modelFaults = []faulty{
	{name: "no graph", text: relu, edit: func(m *ir.Model) { m.Graph = nil },
		want: []string{`model: error: the model has no graph [MBV101 no-graph]`}},
	{name: "no IR version", text: relu, edit: func(m *ir.Model) { m.IRVersion = 0 },
		want: []string{`model: error: the IR version is 0, expected 1 to 13; set ir_version [MBV102 ir-version]`}},
	{name: "IR version of the future", text: relu, edit: func(m *ir.Model) { m.IRVersion = 14 },
		want: []string{`model: error: the IR version is 14, but the newest that ONNX defines is 13; write the model for an older IR version [MBV102 ir-version]`}},
	{name: "opset imports before they existed", text: relu, edit: func(m *ir.Model) { m.IRVersion = 2 },
		want: []string{`model: error: the IR version is 2, which has no opset imports yet, but the model imports some [MBV102 ir-version]`}},
	{name: "IR version before imports", text: relu, edit: func(m *ir.Model) { m.IRVersion, m.Opsets = 2, nil }},
	{name: "no imports", text: relu, edit: func(m *ir.Model) { m.Opsets = nil },
		want: []string{
			`model: error: the model imports no operator set; import ai.onnx [MBV104 no-opset-import]`,
			`graph "main" > node "n" (Relu): error: no version of the domain ai.onnx is imported; import ai.onnx [MBV104 no-opset-import]`}},
	{name: "a type that is newer than the IR version",
		text: `<ir_version: 9, opset_import: ["" : 21]> main (int4[2] x) => (int4[2] y) { [n] y = Identity (x) }`,
		want: []string{`graph "main": warning: IR version 9 has no type int4, they came with 10; raise the IR version [MBV103 ir-feature]`}},
	{name: "opset of the future", text: relu, edit: func(m *ir.Model) { m.Opsets[0].Version = 28 },
		want: []string{`model: error: ai.onnx version 28 is imported, but ONNX defines 1 to 27 [MBV105 opset-version]`}},
	{name: "two versions of one domain", text: relu, edit: func(m *ir.Model) { m.Opsets = append(m.Opsets, ir.Opset{Domain: "ai.onnx", Version: 13}) },
		want: []string{`model: error: ai.onnx is imported as version 24 and as version 13 [MBV106 opset-conflict]`}},
	{name: "metadata twice", text: relu, edit: func(m *ir.Model) { m.Meta = ir.Properties{{Key: "k", Value: "1"}, {Key: "k", Value: "2"}} },
		want: []string{`model: error: metadata_props has the key "k" twice [MBV107 duplicate-metadata]`}},
	{name: "not represented", text: relu, edit: func(m *ir.Model) { m.Dropped = []string{"training_info (entries: 1)"} },
		want: []string{`model: warning: the file has training_info (entries: 1), which the compiler does not read [MBV108 not-represented]`}},
	{name: "a graph in itself", text: relu, edit: func(m *ir.Model) {
		n := find(m, "n")
		n.OpType, n.Domain = "Wrap", "com.example"
		n.Attrs = []*ir.Attr{ir.GraphAttr("body", m.Graph)}
		m.Opsets = append(m.Opsets, ir.Opset{Domain: "com.example", Version: 1})
	}, want: []string{
		`graph "main" > node "n" (com.example.Wrap): warning: Wrap of the domain com.example is not a standard operator [MBV304 custom-domain]`,
		`graph "main" > node "n" (com.example.Wrap) > attribute body: error: the graph "main" contains itself, or is nested in more than 100 others [MBV110 nested-graph]`}},
	{name: "a loop body that is the graph itself", text: `main (float[2] x) => (float[2] y) { [n] y = Scan <num_scan_inputs = 1> (x) }`, edit: func(m *ir.Model) {
		n := find(m, "n")
		n.Attrs = append(n.Attrs, ir.GraphAttr("body", m.Graph))
	}, want: []string{`graph "main" > node "n" (Scan) > attribute body: error: the graph "main" contains itself, or is nested in more than 100 others [MBV110 nested-graph]`}},
	{name: "an attribute that is nothing", text: relu, edit: func(m *ir.Model) { find(m, "n").Attrs = []*ir.Attr{nil} },
		want: []string{`graph "main" > node "n" (Relu): error: the list of attributes has an empty entry [MBV207 empty-name]`}},
	{name: "domain written in two ways", text: relu, edit: func(m *ir.Model) { find(m, "n").Domain = "ai.onnx" },
		want: []string{`graph "main" > node "n" (ai.onnx.Relu): warning: the node writes the domain as "ai.onnx", the import does not; use the empty name for both [MBV111 domain-alias]`}},
}

var nameFaults = []faulty{
	{name: "undefined name", text: `main (float[2] hidden) => (float[2] y) { [n] y = Relu (hiden) }`,
		want: []string{`graph "main" > node "n" (Relu): error: input 0, "hiden", is not defined; did you mean hidden? [MBV201 undefined-name]`}},
	{name: "undefined output", text: `main (float[2] x) => (float[2] y) { [n] z = Relu (x) }`,
		want: []string{`graph "main": error: the output "y" is not defined [MBV201 undefined-name]`}},
	{name: "wrong order", text: `main (float[2] x) => (float[2] y) { [a] y = Relu (z) [b] z = Relu (x) }`,
		want: []string{`graph "main" > node "a" (Relu): error: input 0, "z", is defined only by a later node [MBV202 not-topological]`}},
	{name: "cycle", text: `main (float[2] x) => (float[2] y) { [a] z = Add (x, y) [b] y = Relu (z) }`,
		want: []string{
			`graph "main" > node "a" (Add): error: input 1, "y", is defined only by a later node [MBV202 not-topological]`,
			`graph "main" > node "a" (Add): error: the nodes depend on each other: node "a" (Add) reads node "b" (Relu) reads node "a" (Add) [MBV203 cycle]`}},
	{name: "cycle through a subgraph", text: `main (bool c, float[2] x) => (float[2] y) {
			[a] y = If (c) <then_branch = t () => (float[2] u) { [b] u = Relu (z) }, else_branch = e () => (float[2] v) { v = Relu (x) }>
			[d] z = Relu (y) }`,
		want: []string{
			`graph "main" > node "a" (If) > attribute then_branch > node "b" (Relu): error: input 0, "z", is defined only by a later node [MBV202 not-topological]`,
			`graph "main" > node "a" (If): error: the nodes depend on each other: node "a" (If) reads node "d" (Relu) reads node "a" (If) [MBV203 cycle]`}},
	{name: "defined twice", text: `main (float[2] x) => (float[2] y) { [a] y = Relu (x) [b] y = Abs (x) }`,
		want: []string{`graph "main" > node "b" (Abs): error: "y" is defined here and by an earlier output [MBV204 duplicate-definition]`}},
	{name: "defined as an input", text: `main (float[2] x) => (float[2] x) { [a] x = Relu (x) }`,
		want: []string{`graph "main" > node "a" (Relu): error: "x" is defined here and as an input or initializer of the graph [MBV204 duplicate-definition]`}},
	{name: "two inputs of one name", text: `main (float[2] x, float[2] x) => (float[2] y) { [a] y = Relu (x) }`,
		want: []string{`graph "main": error: "x" is defined as an input twice [MBV204 duplicate-definition]`}},
	{name: "shadowing", text: `main (bool c, float[2] x) => (float[2] y) {
			[n] y = If (c) <then_branch = t () => (float[2] x) { [a] x = Neg (x) }, else_branch = e () => (float[2] v) { v = Relu (x) }> }`,
		want: []string{`graph "main" > node "n" (If) > attribute then_branch > node "a" (Neg): error: "x" is defined here and in a graph around it; rename the output [MBV205 shadowed-name]`}},
	{name: "shadowing by an input", text: `main (float[2] s, float[3, 2] x) => (float[2] last, float[3, 2] all) {
			[n] last, all = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t, float[2] u) { t = Add (s, e) u = Relu (t) }> (s, x) }`,
		want: []string{`graph "main" > node "n" (Scan) > attribute body: warning: the input "s" has the name of a value of a graph around it; rename it [MBV206 shadowing-input]`}},
	{name: "no graph name", text: relu, edit: func(m *ir.Model) { m.Graph.Name = "" },
		want: []string{`graph "": error: the graph has no name [MBV207 empty-name]`}},
	{name: "two nodes of one name", text: `main (float[2] x) => (float[2] y) { [a] z = Relu (x) [a] y = Abs (z) }`,
		want: []string{`graph "main" > node "a" (Abs): warning: another node of the graph has the same name [MBV208 duplicate-node-name]`}},
	{name: "a branch that yields an outer value", text: `main (bool c, float[2] x) => (float[2] y) {
			[n] y = If (c) <then_branch = t () => (x) { [a] w = Neg (x) }, else_branch = e () => (float[2] v) { v = Relu (x) }> }`,
		want: []string{`graph "main" > node "n" (If) > attribute then_branch: error: the output "x" is a value of a graph around it; pass it through Identity [MBV209 outer-output]`}},
	{name: "another value of the name", text: relu, edit: func(m *ir.Model) { find(m, "n").SetInput(0, ir.NewValue("x", nil)) },
		want: []string{`graph "main" > node "n" (Relu): error: input 0 is another value than the one that the name "x" stands for [MBV210 other-value]`}},
	{name: "an output twice", text: `main (float[2] x) => (float[2] y, float[2] y) { [n] y = Relu (x) }`,
		want: []string{`graph "main": warning: the output "y" is listed twice [MBV211 duplicate-output]`}},
}

var operatorFaults = []faulty{
	{name: "unknown operator", text: `main (float[2] x) => (float[2] y) { [n] y = Rleu (x) }`,
		want: []string{`graph "main" > node "n" (Rleu): error: ai.onnx has no operator Rleu; did you mean Relu? [MBV301 unknown-operator]`}},
	{name: "operator too new", text: `<ir_version: 8, opset_import: ["" : 17]> main (float[2] x) => (float[2] y) { [n] y = Gelu (x) }`,
		want: []string{`graph "main" > node "n" (Gelu): error: Gelu came with ai.onnx version 20, version 17 is imported; import ai.onnx version 20 [MBV302 operator-too-new]`}},
	{name: "deprecated operator", text: `main (float[2] x, float[1] s) => (float[2] y) { [n] y = Upsample (x, s) }`,
		want: []string{`graph "main" > node "n" (Upsample): error: Upsample is deprecated since ai.onnx version 10 [MBV303 deprecated-operator]`}},
	{name: "custom operator deep inside, standard only", opts: Options{Standard: true}, text: `<ir_version: 10, opset_import: ["" : 24, "com.example" : 1]>
		main (bool c, float[2] s, float[3, 2] x) => (float[3, 2] y) {
			[if] y = If (c) <
				then_branch = t () => (float[3, 2] all) {
					[scan] last, all = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] d, float[2] u) {
						d = Add (a, e)
						[deep] u = com.example.Fast (d)
					}> (s, x)
				},
				else_branch = e () => (float[3, 2] v) { v = Relu (x) }> }`,
		edit: func(m *ir.Model) { find(m, "deep").Meta.Set("source", "specs/a.yaml:12:5") },
		want: []string{`graph "main" > node "if" (If) > attribute then_branch > node "scan" (Scan) > attribute body > node "deep" (com.example.Fast): error: ` +
			`Fast of the domain com.example is not a standard operator; legalise the model: replace the call by standard operators (from specs/a.yaml:12:5) [MBV304 custom-domain]`}},
	{name: "empty node", text: relu, edit: func(m *ir.Model) { m.Graph.Append(ir.NewNode("", "", nil, nil)) },
		want: []string{`graph "main" > node (): error: the node has no operator [MBV305 empty-node]`}},
	{name: "too few inputs", text: `main (float[2] x) => (float[2] y) { [n] y = Add (x) }`,
		want: []string{`graph "main" > node "n" (Add): error: Add-14 takes 2 inputs, found 1 [MBV306 input-count]`}},
	{name: "too many outputs", text: `main (float[2] x) => (float[2] y) { [n] y, z = Relu (x) }`,
		want: []string{`graph "main" > node "n" (Relu): error: Relu-14 has 1 output, found 2 [MBV307 output-count]`}},
	{name: "statistics of BatchNormalization", text: `main (float[2, 3] x, float[3] a) => (float[2, 3] y) { [n] y, m = BatchNormalization (x, a, a, a, a) }`,
		want: []string{`graph "main" > node "n" (BatchNormalization): error: BatchNormalization-15 has either 1 or 3 outputs, found 2 [MBV307 output-count]`}},
	{name: "missing input", text: `main (float[2] x) => (float[2] y) { [n] y = Add (x, "") }`,
		want: []string{`graph "main" > node "n" (Add): error: input 1, B, is required but left out [MBV308 missing-input]`}},
	{name: "missing output", text: relu, edit: func(m *ir.Model) {
		m.Graph.Append(ir.NewNode("", "Abs", []*ir.Value{m.Graph.Inputs[0]}, []*ir.Value{nil}))
	}, want: []string{`graph "main" > node (Abs): error: output 0, Y, is required but left out [MBV309 missing-output]`}},
	{name: "unknown attribute", text: `main (float[2, 2] x) => (float[2, 2] y) { [n] y = Gemm <transb = 1> (x, x) }`,
		want: []string{`graph "main" > node "n" (Gemm): error: Gemm-13 has no attribute transb; did you mean transB? [MBV310 unknown-attribute]`}},
	{name: "attribute that became an input", text: `main (float[2, 1] x) => (float[2] y) { [n] y = Squeeze <axes = [1]> (x) }`,
		want: []string{`graph "main" > node "n" (Squeeze): error: Squeeze-24 has no attribute axes; it is an input since Squeeze-13 [MBV310 unknown-attribute]`}},
	{name: "attribute type", text: `main (float[2] x) => (float[2] y) { [n] y = Softmax <axis = 1.5> (x) }`,
		want: []string{`graph "main" > node "n" (Softmax): error: the attribute axis of Softmax-13 is of type int, found float [MBV311 attribute-type]`}},
	{name: "missing attribute", text: `main (float[2] x) => (float[2] y) { [n] y = Concat (x) }`,
		want: []string{`graph "main" > node "n" (Concat): error: Concat-13 needs the attribute axis of type int [MBV312 missing-attribute]`}},
	{name: "attribute twice", text: `main (float[2] x) => (float[2] y) { [n] y = Softmax (x) }`,
		edit: func(m *ir.Model) { find(m, "n").Attrs = []*ir.Attr{ir.IntAttr("axis", 0), ir.IntAttr("axis", 0)} },
		want: []string{`graph "main" > node "n" (Softmax): error: the attribute axis is there twice [MBV313 duplicate-attribute]`}},
	{name: "attribute without value", text: `main () => (float[2] y) { [n] y = Constant <value = float[2] {1, 2}> () }`,
		edit: func(m *ir.Model) { find(m, "n").Attrs[0].Tensor = nil },
		want: []string{`graph "main" > node "n" (Constant): error: the attribute value is of type tensor but holds none [MBV314 attribute-value]`}},
	{name: "cast to nothing", text: `main (float[2] x) => (float[2] y) { [n] y = Cast <to = 77> (x) }`,
		want: []string{`graph "main" > node "n" (Cast): error: the attribute to is 77, which is no element type [MBV314 attribute-value]`}},
	{name: "attribute reference in the graph", text: `main (float[2] x) => (float[2] y) { [n] y = LeakyRelu <alpha: float = @slope> (x) }`,
		want: []string{`graph "main" > node "n" (LeakyRelu): error: the attribute alpha refers to the parameter "slope", but the node is not in a function [MBV315 attribute-reference]`}},
}

var typeFaults = []faulty{
	{name: "input type", text: `main (bool[2] x) => (bool[2] y) { [n] y = Exp (x) }`,
		want: []string{`graph "main" > node "n" (Exp): error: input 0, input, is bool, but Exp-13 takes float, float16, double, bfloat16 [MBV401 input-type]`}},
	{name: "mixed types", text: `main (float[2] x, float16[2] z) => (float[2] y) { [n] y = Mul (x, z) }`,
		want: []string{`graph "main" > node "n" (Mul): error: input 1, B, is float16, but input 0 is float: both are T of Mul-14 [MBV402 mixed-types]`}},
	{name: "inferred type, two nodes on", text: `main (float[2] x) => (float[2] y) { a = Cast <to = 7> (x) b = Neg (a) [n] y = Add (b, x) }`,
		want: []string{`graph "main" > node "n" (Add): error: input 1, B, is float, but input 0 is int64: both are T of Add-14 [MBV402 mixed-types]`}},
	{name: "mixed types in a sequence", text: `main (float[2] x, int64[2] z) => (seq(float[2]) y) { s = SequenceConstruct (x) [n] y = SequenceInsert (s, z) }`,
		want: []string{`graph "main" > node "n" (SequenceInsert): error: the sequence holds float, but the inserted tensor is int64 [MBV402 mixed-types]`}},
	{name: "normalization and scale", text: `main (float16[2, 2] x, float[2] w) => (float[2, 2] y) { [n] y = RMSNormalization (x, w) }`,
		want: []string{`graph "main" > node "n" (RMSNormalization): error: output 0, Y, is float16, but input 1 is float: both are V of RMSNormalization-23 [MBV402 mixed-types]`}},
	{name: "output type", text: `main (float[2] x) => (int64[2] y) { [n] y = Relu (x) }`,
		want: []string{`graph "main" > node "n" (Relu): error: "y" is declared as int64, but the node produces float [MBV403 output-type]`}},
	{name: "declared shape", text: `main () => (float[3] y) { [n] y = Constant <value = float[2] {1, 2}> () }`,
		want: []string{`graph "main" > node "n" (Constant): error: "y" is declared with another shape than the node produces: dim 0 is 3 and 2 [MBV404 shape-mismatch]`}},
	{name: "inner dims", text: `main (float[2, 3] x, float[4, 2] w) => (float[2, 2] y) { [n] y = MatMul (x, w) }`,
		want: []string{`graph "main" > node "n" (MatMul): error: inner dims 3 and 4 differ: input 0 is [2, 3], input 1 is [4, 2] [MBV404 shape-mismatch]`}},
	{name: "a shape that follows from contents", text: `main (float[batch, 6] x) => (float[batch, 3, 3] y) {
			size = Shape <start = 0, end = 1> (x) rest = Constant <value_ints = [3, 2]> () target = Concat <axis = 0> (size, rest) [n] y = Reshape (x, target) }`,
		want: []string{`graph "main" > node "n" (Reshape): error: "y" is declared with another shape than the node produces: dim 2 is 3 and 2 [MBV404 shape-mismatch]`}},
	{name: "a shape deep inside", text: `main (bool c, float[2] x) => (float[2] y) {
			[if] y = If (c) <then_branch = t () => (float[2] u) { k = Constant <value = float[3] {1, 2, 3}> () [add] u = Add (x, k) }, else_branch = e () => (float[2] v) { v = Relu (x) }> }`,
		want: []string{`graph "main" > node "if" (If) > attribute then_branch > node "add" (Add): error: shapes [2] and [3] do not broadcast: 2 against 3 [MBV404 shape-mismatch]`}},
	{name: "untyped input", text: relu, edit: func(m *ir.Model) { m.Graph.Inputs[0].Type = nil },
		want: []string{`graph "main": error: the input "x" has no type [MBV405 untyped-value]`}},
	{name: "input without shape", text: `main (float x) => (float[2] y) { [n] y = Relu (x) }`, edit: func(m *ir.Model) { m.Graph.Inputs[0].Type.Ranked = false },
		want: []string{`graph "main": error: the input "x" has no shape [MBV405 untyped-value]`}},
	{name: "a type that ONNX does not have", text: relu, edit: func(m *ir.Model) { m.Graph.Inputs[0].Type.Elem = 99 },
		want: []string{
			`graph "main": error: the element type of "x" is number 99, which ONNX does not define [MBV406 invalid-type]`,
			`graph "main" > node "n" (Relu): error: input 0, X, is datatype(99), but Relu-14 takes float, int8, int16, int32, int64, float16, double, bfloat16 [MBV401 input-type]`}},
	{name: "initializer type", text: `<ir_version: 10, opset_import: ["" : 24]> main (float[2] x) => (float[2] y) <int64[2] w = {1, 2}> { [n] y = Relu (x) }`,
		edit: func(m *ir.Model) { m.Graph.Initializers[0].Type = ir.Unranked(ir.Float32) },
		want: []string{`graph "main": error: the initializer "w" is int64, but is declared as float [MBV407 initializer-type]`}},
}

var subgraphFaults = []faulty{
	{name: "body takes too much", text: `main (float[2] s, float[3, 2] x) => (float[2] last, float[3, 2] all) {
			[n] last, all = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e, float[2] f) => (float[2] t, float[2] u) { t = Add (a, e) u = Relu (t) }> (s, x) }`,
		want: []string{`graph "main" > node "n" (Scan) > attribute body: error: Scan passes 2 values, the subgraph takes 3 [MBV501 subgraph-inputs]`}},
	{name: "branch yields too little", text: `main (bool c, float[2] x) => (float[2] y, float[2] z) {
			[n] y, z = If (c) <then_branch = t () => (float[2] u) { u = Neg (x) }, else_branch = e () => (float[2] v, float[2] w) { v = Relu (x) w = Abs (x) }> }`,
		want: []string{`graph "main" > node "n" (If) > attribute then_branch: error: If needs 2 outputs of the subgraph, found 1 [MBV502 subgraph-outputs]`}},
	{name: "branches of different types", text: `main (bool c, float[2] x) => (float[2] y) {
			[n] y = If (c) <then_branch = t () => (u) { u = Cast <to = 7> (x) }, else_branch = e () => (v) { v = Relu (x) }> }`,
		want: []string{`graph "main" > node "n" (If): error: output 0 is int64[2] in one branch and float[2] in the other [MBV503 subgraph-types]`}},
	{name: "body of another type", text: `main (int64 m, bool c, float[2] x) => (float[2] y) {
			[n] y = Loop (m, c, x) <body = b (int64 i, bool d, float16[2] a) => (bool d2, float16[2] a2) { d2 = Identity (d) a2 = Relu (a) }> }`,
		want: []string{
			`graph "main" > node "n" (Loop) > attribute body: error: the input "a" is declared as float16, but Loop passes float [MBV503 subgraph-types]`,
			`graph "main" > node "n" (Loop) > attribute body: error: the output "a2" is float16, but Loop needs float there [MBV503 subgraph-types]`}},
	{name: "too many scan inputs", text: `main (float[2] s, float[3, 2] x) => (float[2] last, float[3, 2] all) {
			[n] last, all = Scan <num_scan_inputs = 3, body = b (float[2] a, float[2] e) => (float[2] t, float[2] u) { t = Add (a, e) u = Relu (t) }> (s, x) }`,
		want: []string{`graph "main" > node "n" (Scan): error: num_scan_inputs is 3, expected 1 to 2, the count of inputs [MBV314 attribute-value]`}},
}

// functions prefixes a model that calls local.f with definitions of functions.
func functionModel(body string) string {
	return `<ir_version: 10, opset_import: ["" : 24, "local" : 1]>
main (float[2] x) => (float[2] y) { [n] y = local.f (x) }
` + body
}

const plainFunction = `<domain: "local", opset_import: ["" : 24]> f (a) => (b) { [m] b = Relu (a) }`

var functionFaults = []faulty{
	{name: "function twice", text: functionModel(plainFunction + plainFunction),
		want: []string{`model: error: the function local.f is defined twice [MBV601 duplicate-function]`}},
	{name: "recursion", text: functionModel(`
		<domain: "local", opset_import: ["local" : 1]> f (a) => (b) { [m] b = local.g (a) }
		<domain: "local", opset_import: ["local" : 1]> g (a) => (b) { [m] b = local.f (a) }`),
		want: []string{`function local.f: error: the function calls itself: local.f → local.g → local.f [MBV602 recursive-function]`}},
	{name: "unused function", text: functionModel(plainFunction + `<domain: "local", opset_import: ["" : 24]> g (a) => (b) { b = Abs (a) }`),
		want: []string{`function local.g: warning: nothing calls the function [MBV603 unused-function]`}},
	{name: "parameter twice", text: functionModel(plainFunction), edit: func(m *ir.Model) {
		m.Functions[0].Defaults = []*ir.Attr{ir.IntAttr("p", 1), ir.IntAttr("p", 2)}
	}, want: []string{`function local.f: error: the attribute parameter "p" is listed twice [MBV604 function-interface]`}},
	{name: "opset conflict", text: functionModel(`<domain: "local", opset_import: ["" : 11]> f (a) => (b) { [m] b = Softmax (a) }`),
		want: []string{`function local.f > node "m" (Softmax): error: the function imports ai.onnx 11, the model 24: Softmax-11 and Softmax-13 differ: attribute axis has another default [MBV605 function-opset]`}},
	{name: "opset that is only older", text: functionModel(`<domain: "local", opset_import: ["" : 13]> f (a) => (b) { [m] b = Relu (a) }`),
		want: []string{`function local.f: warning: at the model's opset the schemas of some operators have grown: Relu-13 to Relu-14 [MBV606 function-opset-version]`}},
	{name: "functions in a standard model", text: functionModel(plainFunction), opts: Options{Standard: true},
		want: []string{
			`function local.f: error: the model has the function local.f; legalise the model: inline the calls [MBV607 function-left]`,
			`graph "main" > node "n" (local.f): error: f of the domain local is not a standard operator; legalise the model: replace the call by standard operators [MBV304 custom-domain]`}},
	{name: "function of a standard name", text: `<ir_version: 10, opset_import: ["" : 24]>
		main (float[2] x) => (float[2] y) { [n] y = Relu (x) }
		<domain: "", opset_import: ["" : 24]> Relu (a) => (b) { b = Abs (a) }`,
		want: []string{
			`function ai.onnx.Relu: warning: ONNX has an operator of this name, and runtimes differ in which of the two a call means [MBV608 standard-function]`}},
	{name: "arguments of a call", text: functionModel(`<domain: "local", opset_import: ["" : 24]> f <need> (a) => (b) { [m] b = LeakyRelu <alpha: float = @need> (a) }`),
		edit: func(m *ir.Model) {
			n, x := find(m, "n"), m.Graph.Inputs[0]
			n.SetInputs([]*ir.Value{x, x})
			n.Attrs = []*ir.Attr{ir.IntAttr("other", 1)}
		},
		want: []string{
			`graph "main" > node "n" (local.f): error: the function local.f takes at most 1 input, found 2 [MBV306 input-count]`,
			`graph "main" > node "n" (local.f): error: the function local.f has no attribute parameter other [MBV310 unknown-attribute]`,
			`graph "main" > node "n" (local.f): error: the function local.f needs the attribute need [MBV312 missing-attribute]`}},
	{name: "a body that does not take the types of a call", text: functionModel(`<domain: "local", opset_import: ["" : 24]> f (a) => (b) { [m] b = BitwiseNot (a) }`),
		want: []string{`graph "main" > node "n" (local.f) > function local.f > node "m" (BitwiseNot): error: input 0, X, is float, but BitwiseNot-18 takes uint8, int8, uint16, int16, int32, int64, uint32, uint64 [MBV401 input-type]`}},
	{name: "an attribute of a call decides a type", text: functionModel(`<domain: "local", opset_import: ["" : 24]> f <to> (a) => (b) { [m] b = Cast <to: int = @to> (a) }`),
		edit: func(m *ir.Model) { find(m, "n").Attrs = []*ir.Attr{ir.IntAttr("to", int64(ir.Int64))} },
		want: []string{`graph "main" > node "n" (local.f): error: "y" is declared as float, but the node produces int64 [MBV403 output-type]`}},
	{name: "calls nested too deeply", text: functionModel(plainFunction), edit: func(m *ir.Model) {
		for i := range maxDepth + 1 {
			f := *m.Functions[i]
			f.Name += "f"
			f.Body = ir.NewGraph("")
			a, b := ir.NewValue("a", nil), ir.NewValue("b", nil)
			f.Body.Inputs, f.Body.Outputs = []*ir.Value{a}, []*ir.Value{b}
			f.Body.Append(ir.NewNode("local", m.Functions[i].Name, []*ir.Value{a}, []*ir.Value{b}))
			f.Opsets = []ir.Opset{{Domain: "local", Version: 1}}
			m.Functions = append(m.Functions, &f)
		}
		find(m, "n").OpType = m.Functions[maxDepth+1].Name
	}, want: []string{"calls are nested more than 100 deep"}},
}

// weight is a model with one initializer, for edits to spoil.
const weight = `<ir_version: 10, opset_import: ["" : 24]> main (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { [n] y = Add (x, w) }`

// spoil returns an edit of the initializer of weight.
func spoil(f func(t *ir.Tensor)) func(*ir.Model) {
	return func(m *ir.Model) { f(m.Graph.Initializers[0].Init) }
}

func external(location string, offset, length int64) func(*ir.Model) {
	return spoil(func(t *ir.Tensor) {
		t.Raw, t.External = nil, &ir.External{Location: location, Offset: offset, Length: length}
	})
}

var tensorFaults = []faulty{
	{name: "tensor without type", text: weight, edit: spoil(func(t *ir.Tensor) { t.Type = ir.Undefined }),
		want: []string{`graph "main": error: the tensor "w" has no element type [MBV701 tensor-type]`}},
	{name: "negative dim", text: weight, edit: spoil(func(t *ir.Tensor) { t.Dims = []int64{-2} }),
		want: []string{`graph "main": error: dim 0 of the tensor "w" is -2 [MBV702 tensor-shape]`}},
	{name: "too many elements", text: weight, edit: spoil(func(t *ir.Tensor) { t.Dims = []int64{1 << 40, 1 << 40} }),
		want: []string{
			`graph "main": error: the tensor "w" of shape [1099511627776 1099511627776] has more elements than can be counted [MBV702 tensor-shape]`,
			`graph "main": error: the initializer "w" has another shape than declared: rank 1 and rank 2 [MBV407 initializer-type]`}},
	{name: "too few bytes", text: weight, edit: spoil(func(t *ir.Tensor) { t.Raw = t.Raw[:7] }),
		want: []string{`graph "main": error: the tensor "w" holds 7 bytes, float[2] takes 8 [MBV703 tensor-data]`}},
	{name: "external strings", text: weight, edit: func(m *ir.Model) {
		v := m.Graph.Initializers[0]
		v.Name, v.Type = "unread", nil
		v.Init = &ir.Tensor{Type: ir.String, Dims: []int64{1}, External: &ir.External{Location: "w.bin"}}
		find(m, "n").SetInput(1, m.Graph.Inputs[0])
	}, want: []string{`graph "main": error: the tensor "unread" holds strings, which cannot be external [MBV703 tensor-data]`}},
	{name: "sparse indices", text: weight, edit: spoil(func(t *ir.Tensor) { t.Sparse, t.Dims = ir.Ints64(1, 0), []int64{2} }),
		want: []string{
			`graph "main": error: the indices of the sparse tensor "w" are not in ascending order at 1 [MBV704 sparse-tensor]`,
			`graph "main": error: the initializer "w" is sparse(float), but is declared as float [MBV407 initializer-type]`}},
	{name: "initializer that is no input", text: `<ir_version: 3, opset_import: ["" : 8]> main (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { [n] y = Add (x, w) }`,
		want: []string{`graph "main": error: the initializer "w" is not a graph input, which IR version 3 demands; raise the IR version to 4 or more [MBV705 initializer-without-input]`}},
	{name: "external, absolute", text: weight, edit: external("/etc/passwd", 0, 8),
		want: []string{`graph "main": error: the external data of "w" lies at the absolute path "/etc/passwd" [MBV801 external-location]`}},
	{name: "external, absolute on Windows", text: weight, edit: external(`C:\weights`, 0, 8),
		want: []string{`graph "main": error: the external data of "w" lies at the absolute path "C:\\weights" [MBV801 external-location]`}},
	{name: "external, above", text: weight, edit: external("a/../../w.bin", 0, 8),
		want: []string{`graph "main": error: the external data of "w" lies outside the model's directory: "a/../../w.bin" [MBV801 external-location]`}},
	{name: "external, nowhere", text: weight, edit: external("", 0, 8),
		want: []string{`graph "main": error: the external data of "w" has no location [MBV801 external-location]`}},
	{name: "external, not placed yet", text: weight, edit: external("", 0, 8), opts: Options{Unplaced: true}},
	{name: "external, another length", text: weight, edit: external("w.bin", 0, 9),
		want: []string{`graph "main": error: the external data of "w" has 9 bytes, float[2] takes 8 [MBV806 external-range]`}},
	{name: "external, negative", text: weight, edit: external("w.bin", -1, 8),
		want: []string{`graph "main": error: the external data of "w" has offset -1 and length 8 [MBV806 external-range]`}},
}

func TestFindings(t *testing.T) {
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, c.text)
			if c.edit != nil {
				c.edit(m)
			}
			var got []string
			for _, f := range Model(m, c.opts) {
				got = append(got, f.String())
			}
			if c.name == "calls nested too deeply" { // its path has a hundred steps
				if len(got) != 1 || !strings.Contains(got[0], c.want[0]) {
					t.Errorf("got %d findings, want one that says %q", len(got), c.want[0])
				}
				return
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// TestEveryCheckIsFound makes sure that each check of the catalogue can be
// provoked.
func TestEveryCheckIsFound(t *testing.T) {
	found := map[string]bool{
		"MBV109": true,                                                 // TestModelTooLarge
		"MBV802": true, "MBV803": true, "MBV804": true, "MBV805": true, // TestExternalFiles
	}
	for _, c := range faults {
		m := parse(t, c.text)
		if c.edit != nil {
			c.edit(m)
		}
		for _, f := range Model(m, c.opts) {
			found[f.Code] = true
		}
	}
	codes := map[string]bool{}
	for _, c := range Checks() {
		if codes[c.Code] {
			t.Errorf("%s stands twice in the catalogue", c.Code)
		}
		codes[c.Code] = true
		if !found[c.Code] {
			t.Errorf("no test provokes %s %s", c.Code, c.Name)
		}
	}
}

func TestModelTooLarge(t *testing.T) {
	m := parse(t, weight)
	c := &checker{model: m, reported: map[string]bool{}, seen: map[seenKey]bool{}}
	w := c.topWalk()
	w.bytes = maxModelBytes
	w.totalSize()
	if len(c.findings) != 0 {
		t.Error("2 GiB - 1 fit")
	}
	w.bytes++
	w.totalSize()
	if len(c.findings) != 1 || c.findings[0].Code != modelTooLarge.Code {
		t.Errorf("got %v", c.findings)
	}
}
