package emit

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"mobiusc/compiler/emit/onnxpb"
	"mobiusc/ir"
)

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decode(t testing.TB, data []byte) *onnxpb.ModelProto {
	t.Helper()
	p := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(data, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\n got: %s\nwant: %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// TestRoundTrip reads what the Python package onnx wrote and compares the model
// written back with what that package makes of it (see testdata/make.py).
func TestRoundTrip(t *testing.T) {
	for _, name := range []string{"tensors", "attributes", "functions"} {
		t.Run(name, func(t *testing.T) {
			m, err := Read(filepath.Join("testdata", name+".onnx"))
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Dropped) > 0 {
				t.Errorf("dropped: %q", m.Dropped)
			}
			got, err := Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			want := decode(t, readFile(t, filepath.Join("testdata", name+".want.onnx")))
			if p := decode(t, got); !proto.Equal(p, want) {
				t.Errorf("round trip differs: %s", firstDifference(prototext.Format(p), prototext.Format(want)))
			}
		})
	}
}

func TestNameResolution(t *testing.T) {
	info := func(n string) *onnxpb.ValueInfoProto { return &onnxpb.ValueInfoProto{Name: &n} }
	node := func(in, out []string, g ...*onnxpb.GraphProto) *onnxpb.NodeProto {
		n := &onnxpb.NodeProto{OpType: proto.String("Op"), Input: in, Output: out}
		for _, sub := range g {
			n.Attribute = append(n.Attribute, &onnxpb.AttributeProto{Name: proto.String("body"), G: sub})
		}
		return n
	}
	inner := &onnxpb.GraphProto{
		Node: []*onnxpb.NodeProto{
			node([]string{"x", "late", "shadowed", "missing", "missing"}, []string{"o"}),
			node(nil, []string{"shadowed"}),
		},
		Output: []*onnxpb.ValueInfoProto{info("o")},
	}
	p := &onnxpb.ModelProto{Graph: &onnxpb.GraphProto{
		Input: []*onnxpb.ValueInfoProto{info("x"), info("shadowed")},
		Node: []*onnxpb.NodeProto{
			node([]string{"missing"}, []string{"y"}, inner),
			node([]string{"x", ""}, []string{"late", "", "y"}),
		},
		Output: []*onnxpb.ValueInfoProto{info("y"), info("nowhere")},
	}}
	data, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Unmarshal(data, "test")
	if err != nil {
		t.Fatal(err)
	}
	first, second := m.Graph.First(), m.Graph.Last()
	sub := first.Attrs[0].Graph
	reads := sub.First().Inputs()
	if first.Attrs[0].Type != ir.AttrGraph {
		t.Errorf("type of an attribute without type = %s, want graph", first.Attrs[0].Type)
	}
	check := func(what string, got, want *ir.Value) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %p, want %p", what, got, want)
		}
	}
	check("outer input", reads[0], m.Graph.Inputs[0])
	check("outer node defined later", reads[1], second.Output(0))
	check("inner definition before an outer one", reads[2], sub.Last().Output(0))
	check("one undefined value in a graph", reads[3], reads[4])
	check("first of two definitions", m.Graph.Outputs[0], first.Output(0))
	if reads[3] == first.Input(0) {
		t.Error("an undefined name is one value in two graphs, want one in each")
	}
	if second.Output(2) == first.Output(0) || second.Output(2).Name != "y" {
		t.Error("a second definition is not a value of its own")
	}
	if n := second.Inputs(); len(n) != 2 || n[1] != nil {
		t.Errorf("trailing absent input: %v, want kept as nil", n)
	}
	if out := m.Graph.Outputs[1]; out.Producer() != nil || out.Name != "nowhere" {
		t.Errorf("undefined output: %+v", out)
	}
}

func TestDropped(t *testing.T) {
	str := proto.String
	unknownField := protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1)
	tensor := &onnxpb.TensorProto{
		Name: str("w"), DataType: proto.Int32(int32(onnxpb.TensorProto_UINT8)), Int32Data: []int32{300},
		FloatData: []float32{1}, Segment: &onnxpb.TensorProto_Segment{},
	}
	dim := &onnxpb.TensorShapeProto_Dimension{Denotation: str("DATA_BATCH")}
	typed := &onnxpb.TypeProto{Denotation: str("IMAGE"), Value: &onnxpb.TypeProto_TensorType{TensorType: &onnxpb.TypeProto_Tensor{
		ElemType: proto.Int32(1), Shape: &onnxpb.TensorShapeProto{Dim: []*onnxpb.TensorShapeProto_Dimension{dim}}}}}
	node := &onnxpb.NodeProto{Name: str("n"), DeviceConfigurations: []*onnxpb.NodeDeviceConfigurationProto{{}},
		Attribute: []*onnxpb.AttributeProto{{Name: str("a"), Type: onnxpb.AttributeProto_INT.Enum(), I: proto.Int64(1), F: proto.Float32(2)}}}
	p := &onnxpb.ModelProto{
		TrainingInfo: []*onnxpb.TrainingInfoProto{{}}, Configuration: []*onnxpb.DeviceConfigurationProto{{}},
		Graph: &onnxpb.GraphProto{
			Name: str("g"), Node: []*onnxpb.NodeProto{node}, Initializer: []*onnxpb.TensorProto{tensor},
			Input:                  []*onnxpb.ValueInfoProto{{Name: str("x"), Type: typed}},
			ValueInfo:              []*onnxpb.ValueInfoProto{{Name: str("gone")}},
			QuantizationAnnotation: []*onnxpb.TensorAnnotation{{}},
		},
	}
	p.ProtoReflect().SetUnknown(unknownField)
	data, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Unmarshal(data, "test")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(m.Dropped, "\n")
	for _, want := range []string{
		"training_info (entries: 1)", "device configurations (entries: 1)", `graph "g": quantization_annotation`,
		`graph "g": value_info of names that it does not define (entries: 1)`, `node "n": device_configurations`,
		`attribute "a": a value of type float beside its type int`, `tensor "w": the value 300 does not fit uint8`,
		`tensor "w" of type uint8: 1 elements in float_data`, `tensor "w": segment`, `value "x": type denotation "IMAGE"`,
		`value "x": dim denotation "DATA_BATCH"`, `model "g": field 99, unknown to ONNX 1.22`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("not reported: %s\nreported:\n%s", want, all)
		}
	}
	if _, err := Marshal(m); err == nil || !strings.Contains(err.Error(), "would be lost") {
		t.Errorf("Marshal of a model with dropped parts: %v, want an error", err)
	}
}

func TestUnmarshalErrors(t *testing.T) {
	valid := readFile(t, "testdata/attributes.onnx")
	badExternal, err := proto.Marshal(&onnxpb.ModelProto{Graph: &onnxpb.GraphProto{Initializer: []*onnxpb.TensorProto{{
		DataLocation: onnxpb.TensorProto_EXTERNAL.Enum(),
		ExternalData: []*onnxpb.StringStringEntryProto{{Key: proto.String("offset"), Value: proto.String("-1")}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	badText, err := proto.Marshal(&onnxpb.ModelProto{Graph: &onnxpb.GraphProto{Name: proto.String("\xff")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "the file is empty"},
		{"truncated", valid[:len(valid)-200], "truncated"},
		{"lfs", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), "Git LFS pointer"},
		{"zip", []byte("PK\x03\x04\x14\x00"), "ZIP archive"},
		{"gguf", []byte("GGUF\x03\x00\x00\x00"), "GGUF"},
		{"safetensors", []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"), "safetensors"},
		{"json", []byte("{\n  \"a\": 1}"), "JSON"},
		{"garbage", []byte("\xff\xff\xff\xff\xff\xff\xff\xff"), "cannot be decoded as protobuf"},
		{"other message", []byte{0x08, 0x01}, "holds no graph"},
		{"deep", nested(60), "nested deeper"},
		{"external offset", badExternal, `the offset of its external data is "-1"`},
		{"utf8", badText, "not valid UTF-8"},
	} {
		m, err := Unmarshal(c.data, "x.onnx")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.onnx: ") {
			t.Errorf("%s: model %v, error %v; want an error with %q", c.name, m != nil, err, c.want)
		}
	}
}

// nested returns a model whose subgraphs are nested n deep.
func nested(n int) []byte {
	wrap := func(f field, b []byte) []byte { return appendEntry(nil, f, b) }
	var g []byte
	for range n {
		g = wrap(1, wrap(5, wrap(6, g))) // node, attribute, g
	}
	return wrap(7, g)
}

func TestNestingLimit(t *testing.T) {
	if _, err := Unmarshal(nested(30), "x"); err != nil {
		t.Errorf("30 nested subgraphs: %v", err)
	}
	g := ir.NewGraph("innermost")
	for range 40 {
		outer := ir.NewGraph("g")
		outer.Append(ir.NewNode("", "If", nil, nil, ir.GraphAttr("then_branch", g)))
		g = outer
	}
	if _, err := Marshal(&ir.Model{Graph: g}); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("Marshal of 40 nested subgraphs: %v, want an error", err)
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("Read of a directory: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "none.onnx")); !os.IsNotExist(err) {
		t.Errorf("Read of a missing file: %v", err)
	}
	big := filepath.Join(dir, "big.onnx")
	if err := os.WriteFile(big, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, MaxProtoBytes+1); err != nil { // sparse: takes no space
		t.Fatal(err)
	}
	if _, err := Read(big); err == nil || !strings.Contains(err.Error(), "at most 2147483647") {
		t.Errorf("Read of a file over 2 GiB: %v", err)
	}
}

// FuzzUnmarshal checks that no input panics, and that what is read completely
// survives being written and read again.
func FuzzUnmarshal(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.onnx")
	for _, name := range files {
		f.Add(readFile(f, name))
	}
	f.Add(nested(20))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Unmarshal(data, "fuzz")
		if err != nil {
			return
		}
		if err := ir.PrintModel(io.Discard, m); err != nil {
			t.Fatal(err)
		}
		if len(m.Dropped) > 0 {
			return
		}
		first, err := Marshal(m)
		if err != nil {
			return
		}
		again, err := Unmarshal(first, "written")
		if err != nil {
			t.Fatalf("what Marshal wrote cannot be read: %v", err)
		}
		if len(again.Dropped) > 0 {
			t.Fatalf("what Marshal wrote is not read completely: %q", again.Dropped)
		}
		second, err := Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(second) {
			t.Fatalf("a second round trip differs:\n%q\n%q", first, second)
		}
	})
}
