package ops

import (
	"fmt"

	"mobiusc/ir"
)

// call is a node together with the attributes of the function call whose body
// holds it, which its own attributes may refer to.
type call struct {
	node *ir.Node
	bind map[string]*ir.Attr
}

// attr returns an attribute with references resolved, or nil.
func (c call) attr(name string) *ir.Attr {
	a := c.node.Attr(name)
	if a != nil && a.Ref != "" {
		return c.bind[a.Ref]
	}
	return a
}

// int returns an integer attribute, or the default when it is absent.
func (c call) int(name string, absent int64) int64 {
	if a := c.attr(name); a != nil && a.Type == ir.AttrInt {
		return a.Int
	}
	return absent
}

// ints returns a list attribute; ok is false when it is absent.
func (c call) ints(name string) (values []int64, ok bool) {
	if a := c.attr(name); a != nil && a.Type == ir.AttrInts {
		return a.Ints, true
	}
	return nil, false
}

// text returns a string attribute, or the default when it is absent.
func (c call) text(name, absent string) string {
	if a := c.attr(name); a != nil && a.Type == ir.AttrString {
		return string(a.Bytes)
	}
	return absent
}

// label names a node in messages: its operator, and its name if it has one.
func label(n *ir.Node) string {
	op := n.OpType
	if n.Domain != "" && n.Domain != "ai.onnx" {
		op = n.Domain + "." + op
	}
	if n.Name == "" {
		return op
	}
	return fmt.Sprintf("%s %q", op, n.Name)
}

// axisOf returns an axis counted from the front; ok is false when it is out of
// range.
func axisOf(axis int64, rank int) (i int, ok bool) {
	if axis < 0 {
		axis += int64(rank)
	}
	return int(axis), axis >= 0 && axis < int64(rank)
}

// axesOf returns axes counted from the front, each at most once.
func axesOf(axes []int64, rank int) (set []bool, err error) {
	set = make([]bool, rank)
	for _, a := range axes {
		i, ok := axisOf(a, rank)
		if !ok {
			return nil, fmt.Errorf("axis %d is out of range for rank %d", a, rank)
		}
		if set[i] {
			return nil, fmt.Errorf("axis %d stands twice in %v", a, axes)
		}
		set[i] = true
	}
	return set, nil
}
