package ops

import (
	"encoding/json"
	"os"
	"testing"

	"mobiusc/ir"
)

// TestInferAgainstReference compares with ONNX's own inference, see
// gen/infer.py: whatever it knows of a type must be known here, and the same.
func TestInferAgainstReference(t *testing.T) {
	data, err := os.ReadFile("testdata/infer.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text  string
		Types map[string]struct {
			Elem ir.DataType
			Dims []any // number, symbol or nil; nil without a rank
		}
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 190 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		m, err := ir.ParseModel("test", []byte(c.Text))
		if err != nil {
			t.Errorf("%s: %v", c.Text, err)
			continue
		}
		if _, err := InferModel(m); err != nil {
			t.Errorf("%s: %v", c.Text, err)
			continue
		}
		for n := range m.Graph.Nodes() {
			for _, v := range n.Outputs() {
				want, ok := c.Types[v.Name]
				if !ok {
					continue
				}
				if v.Type == nil || v.Type.Elem != want.Elem || want.Dims != nil && !sameDims(v.Type, want.Dims) {
					t.Errorf("%s\n%s is %s, want %s%v", c.Text, v.Name, v.Type, want.Elem, want.Dims)
				}
			}
		}
	}
}

func sameDims(t *ir.Type, want []any) bool {
	if !t.Ranked || len(t.Shape) != len(want) {
		return false
	}
	for i, d := range t.Shape {
		switch w := want[i].(type) {
		case float64:
			if n, ok := d.Int(); !ok || n != int64(w) {
				return false
			}
		case string:
			if d.String() != w {
				return false
			}
		}
	}
	return true
}
