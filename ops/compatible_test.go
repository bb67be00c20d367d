package ops

import (
	"strings"
	"testing"

	"mobiusc/ir"
)

func TestCompatible(t *testing.T) {
	for _, c := range []struct {
		op       string
		from, to int64
		want     bool
	}{
		{"Add", 7, 24, true},
		{"Add", 6, 7, false}, // axis, broadcast
		{"Add", 13, 14, true},
		{"Add", 24, 13, false},
		{"Add", 24, 14, true}, // one schema
		{"Softmax", 11, 13, false},
		{"Softmax", 13, 24, true},
		{"Squeeze", 11, 13, false},
		{"Reshape", 13, 24, true},
		{"ReduceMean", 13, 18, false},
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
		if got := Compatible("", c.op, c.from, c.to); got != c.want {
			t.Errorf("Compatible(%s, %d, %d) = %v", c.op, c.from, c.to, got)
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
	} {
		got := Conflict(c.n, c.from, c.to)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("Conflict(%s, %d, %d) = %q, want %q", c.n.OpType, c.from, c.to, got, c.want)
		}
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
