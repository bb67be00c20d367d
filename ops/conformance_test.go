package ops_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/compiler/checkpoint"
	"mobiusc/internal/ort"
	"mobiusc/ir"
	"mobiusc/ops"
)

// conformanceDir holds ONNX's own node tests; its README says how.
const conformanceDir = "../testdata/conformance"

// conformanceFiles says how many cases each file holds, so that none is lost.
var conformanceFiles = map[string]int{
	"attention": 64, "causal_conv_with_state": 13, "linear_attention": 14, "rms_normalization": 19,
	"rotary_embedding": 8, "swish": 1, "tensor_scatter": 3,
}

// ONNX's own tolerance for these tests.
const (
	conformanceAbs = 1e-7
	conformanceRel = 1e-3
)

type conformanceCase struct {
	Name, Domain, Op string
	Opset            int64
	Attributes       map[string]any
	Inputs, Outputs  []string
}

// TestConformance runs every case of ONNX's node tests from the inlined body at
// an opset that has none of the operators: with the sizes known when the body is
// inlined, and with all of them known only at run time. A case of an operator
// that has another body for opset 23 runs at that opset too, if opset 23 lacks
// what the case asks for. ONNX Runtime can run all of them: there is no list of
// exceptions.
func TestConformance(t *testing.T) {
	for file, count := range conformanceFiles {
		cases, tensors := readConformance(t, filepath.Join(conformanceDir, file+".safetensors"))
		if len(cases) != count {
			t.Errorf("%s holds %d cases, want %d", file, len(cases), count)
		}
		for _, c := range cases {
			t.Run(c.Name, func(t *testing.T) { c.run(t, tensors, 22, false) })
			t.Run(c.Name+"/any_size", func(t *testing.T) { c.run(t, tensors, 22, true) })
			if c.Opset > 23 && ops.FunctionFor(c.Domain, c.Op, 23) != ops.FunctionFor(c.Domain, c.Op, 22) {
				t.Run(c.Name+"/opset_23", func(t *testing.T) { c.run(t, tensors, 23, false) })
			}
		}
	}
}

// run runs a case at an opset and compares every output.
func (c conformanceCase) run(t *testing.T, tensors map[string]ort.Tensor, opset int64, anySize bool) {
	node := c.node(t, tensors)
	if anySize {
		forgetSizes(node.Inputs())
	}
	inputs := map[string]ort.Tensor{}
	for _, name := range c.Inputs {
		if name != "" {
			inputs[name] = tensors[name]
		}
	}
	got, err := load(t, node, opset).Run(inputs)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range c.Outputs {
		if name == "" {
			continue
		}
		want := tensors[name]
		if problem := differs(floats(got[name]), floats(want)); problem != "" {
			t.Errorf("%s %v: %s", name, want.Dims, problem)
		}
	}
}

// node returns the case's node, whose values have the types of the tensors.
func (c conformanceCase) node(t *testing.T, tensors map[string]ort.Tensor) *ir.Node {
	values := func(names []string) []*ir.Value {
		out := make([]*ir.Value, len(names))
		for i, name := range names {
			if name != "" {
				out[i] = ir.NewValue(name, typeOf(tensors[name]))
			}
		}
		return out
	}
	n := ir.NewNode(c.Domain, c.Op, values(c.Inputs), values(c.Outputs))
	n.Name = c.Op
	for name, v := range c.Attributes {
		switch v := v.(type) {
		case string:
			n.SetAttr(ir.StringAttr(name, v))
		case json.Number:
			n.SetAttr(numberAttr(t, name, v))
		default:
			t.Fatalf("attribute %s is %v", name, v)
		}
	}
	return n
}

// forgetSizes makes every dim a symbol of its own.
func forgetSizes(values []*ir.Value) {
	for i, v := range values {
		if v == nil {
			continue
		}
		for axis := range v.Type.Shape {
			v.Type.Shape[axis] = ir.Sym(fmt.Sprintf("size_%d_%d", i, axis))
		}
	}
}

// numberAttr returns a float attribute if the number is written with a point.
func numberAttr(t *testing.T, name string, v json.Number) *ir.Attr {
	if strings.ContainsAny(v.String(), ".e") {
		f, err := v.Float64()
		if err != nil {
			t.Fatal(err)
		}
		return ir.FloatAttr(name, float32(f))
	}
	i, err := v.Int64()
	if err != nil {
		t.Fatal(err)
	}
	return ir.IntAttr(name, i)
}

func typeOf(t ort.Tensor) *ir.Type {
	dims := make([]ir.Dim, len(t.Dims))
	for i, d := range t.Dims {
		dims[i] = ir.Int(d)
	}
	return ir.TensorOf(t.Type, dims...)
}

// differs describes the first element that is outside the tolerance, or returns
// "". Infinities and NaN must be the same.
func differs(got, want []float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf("has %d elements, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		same := g == w || math.IsNaN(g) && math.IsNaN(w)
		if !same && !(math.Abs(g-w) <= conformanceAbs+conformanceRel*math.Abs(w)) {
			return fmt.Sprintf("element %d is %g, want %g", i, g, w)
		}
	}
	return ""
}

// readConformance returns the cases of a file and its tensors by name.
func readConformance(t *testing.T, path string) ([]conformanceCase, map[string]ort.Tensor) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var header struct {
		Metadata struct{ Cases string } `json:"__metadata__"`
	}
	if err := json.Unmarshal(data[8:8+binary.LittleEndian.Uint64(data)], &header); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var cases []conformanceCase
	text := json.NewDecoder(strings.NewReader(header.Metadata.Cases))
	text.UseNumber()
	if err := text.Decode(&cases); err != nil {
		t.Fatalf("%s: cases: %v", path, err)
	}
	file, found := checkpoint.Open(path, checkpoint.Options{})
	if found.HasErrors() {
		t.Fatal(found)
	}
	defer file.Close()
	tensors := map[string]ort.Tensor{}
	for _, info := range file.Tensors() {
		raw, err := file.Bytes(info)
		if err != nil {
			t.Fatal(err)
		}
		tensors[info.Name] = ort.Tensor{Type: info.DType.ONNX(), Dims: info.Shape, Raw: append([]byte(nil), raw...)}
	}
	return cases, tensors
}
