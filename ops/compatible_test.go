package ops

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"mobiusc/ir"
)

// TestConflict asks about nodes that set nothing but what they must.
func TestConflict(t *testing.T) {
	for _, c := range []struct {
		op       string
		from, to int64
		want     bool // the node keeps its meaning
	}{
		{"Add", 7, 24, true},
		{"Add", 13, 14, true},
		{"Add", 24, 13, false},
		{"Add", 24, 14, true}, // one schema
		{"Softmax", 11, 13, false},
		{"Softmax", 13, 24, true},
		{"Reshape", 13, 24, true},
		{"Resize", 10, 13, false}, // the second input became roi
		{"GroupNormalization", 18, 21, false},
		{"Attention", 23, 24, true},
		{"Split", 13, 18, false},
		{"Scan", 8, 9, false},
		{"Scatter", 9, 11, false}, // deprecated
		{"Concat", 1, 4, false},   // axis is required
		{"Erf", 9, 13, false},     // fewer types
		{"Range", 11, 27, true},
		{"NoSuch", 11, 12, false},
		{"LinearAttention", 24, 27, false},
	} {
		if got := Conflict(ir.NewNode("", c.op, nil, nil), c.from, c.to); (got == "") != c.want {
			t.Errorf("Conflict(%s, %d, %d) = %q", c.op, c.from, c.to, got)
		}
	}
}

// TestConflictLooksAtNode shows what a node decides that its operator alone
// does not.
func TestConflictLooksAtNode(t *testing.T) {
	x, y := ir.NewValue("x", nil), ir.NewValue("y", nil)
	node := func(op string, inputs []*ir.Value, attrs ...*ir.Attr) *ir.Node {
		return ir.NewNode("", op, inputs, []*ir.Value{ir.NewValue("z", nil)}, attrs...)
	}
	one, two := []*ir.Value{x}, []*ir.Value{x, y}
	for _, c := range []struct {
		n        *ir.Node
		from, to int64
		want     string // part of the reason, "" for none
	}{
		{node("Squeeze", one), 11, 13, ""},
		{node("Squeeze", one, ir.IntsAttr("axes", 0)), 11, 13, "Squeeze-11 and Squeeze-13 differ: attribute axes is gone"},
		{node("Split", one), 13, 18, "num_outputs is required"},
		{node("Split", two), 13, 18, ""},
		{node("MaxPool", one, ir.IntsAttr("kernel_shape", 2)), 12, 22, ""},
		{node("MaxPool", one, ir.IntsAttr("kernel_shape", 2), ir.IntAttr("ceil_mode", 1)), 12, 22, "ceil_mode"},
		{node("Softmax", one, ir.IntAttr("axis", -1)), 11, 13, "axis is one dim"},
		{node("Softmax", one), 11, 13, "another default"},
		{node("Add", two), 6, 7, ""},
		{node("Add", two, ir.IntAttr("broadcast", 1)), 6, 7, "attribute broadcast is gone"},
		{node("Concat", two), 1, 4, "attribute axis is required"},
		{node("Swish", one), 24, 23, "Swish does not exist at opset 23"},
		{node("Cast", one), 24, 23, "newer than opset 23"},
		{node("Upsample", one), 9, 10, "deprecated since opset 10"},
		{node("Cast", one, ir.IntAttr("to", int64(ir.Float8E5M2FNUZ))), 23, 24, "an infinity saturates"},
		{node("Cast", one, ir.IntAttr("to", int64(ir.Float8E5M2))), 23, 24, ""},
		{node("CastLike", []*ir.Value{x, ir.NewValue("f", ir.TensorOf(ir.Float8E4M3FNUZ))}), 23, 24, "an infinity saturates"},
		{node("CastLike", two), 23, 24, ""},
		{node("Range", []*ir.Value{ir.NewValue("h", ir.TensorOf(ir.Float16)), x, y}), 26, 27, "counted in float32"},
		{node("ReduceMean", one, ir.IntsAttr("axes", 1)), 13, 18, "attribute axes is gone"},
	} {
		got := Conflict(c.n, c.from, c.to)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("Conflict(%s, %d, %d) = %q, want %q", c.n.OpType, c.from, c.to, got, c.want)
		}
	}
}

// TestComparedVersions checks that the documentation of every pair of
// neighbouring versions has been compared whose schemas alone look compatible,
// and no other.
func TestComparedVersions(t *testing.T) {
	text, err := os.ReadFile("testdata/compatible.txt")
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			compared[line] = true
		}
	}
	for _, domain := range Domains() {
		for _, op := range Operators(domain) {
			versions := Versions(domain, op)
			for i, b := range versions[1:] {
				a := versions[i]
				pair := fmt.Sprintf("%s %d %d", strings.TrimPrefix(domain+"."+op, "."), a.Since, b.Since)
				if b.Deprecated || schemaConflict(a, b, nil) != "" {
					continue
				}
				if !compared[pair] {
					t.Errorf("%s: compare the documentation of the two versions, enter a change of meaning in changes, and the pair in testdata/compatible.txt", pair)
				}
				delete(compared, pair)
			}
		}
	}
	for pair := range compared {
		t.Errorf("testdata/compatible.txt lists %s, whose schemas differ or do not exist", pair)
	}
}

// TestChangesNameOperators guards the list against typing errors.
func TestChangesNameOperators(t *testing.T) {
	for _, c := range changes {
		if s := Lookup(c.domain, c.op, c.at); s == nil || s.Since != c.at {
			t.Errorf("%s has no version %d", c.op, c.at)
		}
	}
}
