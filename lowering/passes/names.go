package passes

import (
	"strconv"
	"strings"

	"mobiusc/ir"
)

// names holds the names in use, and how often each was asked for.
type names map[string]int

// unique returns the name, with a number where it is taken.
func (s names) unique(name string) string {
	s[name]++
	if n := s[name]; n > 1 {
		return s.unique(name + "_" + strconv.Itoa(n))
	}
	return name
}

// enter adds the names of a graph's values. Those in graphs beside each other
// may be equal.
func (s names) enter(g *ir.Graph) {
	add := func(values []*ir.Value) {
		for _, v := range values {
			if v != nil {
				s[v.Name]++
			}
		}
	}
	add(g.Inputs)
	add(g.Initializers)
	for n := range g.Nodes() {
		add(n.Outputs())
		for sub := range n.Subgraphs() {
			s.enter(sub)
		}
	}
}

// move renames a value that becomes visible in an outer graph if another value
// has its name.
func (s names) move(v *ir.Value) {
	if old := v.Name; s[old] > 1 {
		s[old]--
		v.Name = s.unique(old)
		s[old]-- // unique counts every name it is asked for
	}
}

// nameOf returns the name of a node, or of its first output, or its operator.
func nameOf(n *ir.Node) string {
	if n.Name != "" {
		return n.Name
	}
	for _, v := range n.Outputs() {
		if v != nil && v.Name != "" {
			return v.Name
		}
	}
	return strings.ToLower(n.OpType)
}

// valueSymbol names a size after the value it is an axis of, as v[0], or with
// axis -1 the content of.
func valueSymbol(v *ir.Value, axis int) string {
	if axis < 0 || v.Name == "" {
		return v.Name
	}
	return v.Name + "[" + strconv.Itoa(axis) + "]"
}
