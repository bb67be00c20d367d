package diff

import (
	"fmt"

	"mobiusc/ir"
)

// plainAttributes returns the attributes that are no graphs.
func plainAttributes(n *ir.Node) map[string]string {
	out := map[string]string{}
	for _, a := range n.Attrs {
		if a.Graph == nil && len(a.Graphs) == 0 {
			out[a.Name] = attribute(a)
		}
	}
	return out
}

// subgraphs returns the graphs that a node holds, by the names of its attributes.
func subgraphs(n *ir.Node) map[string]*ir.Graph {
	out := map[string]*ir.Graph{}
	for _, a := range n.Attrs {
		if a.Graph != nil {
			out[a.Name] = a.Graph
		}
		for i, g := range a.Graphs {
			out[fmt.Sprintf("%s[%d]", a.Name, i)] = g
		}
	}
	return out
}

// subgraph compares two graphs that a pair of nodes holds. What they read from
// outside is known by what it is paired with.
func (c *comparison) subgraph(m *matcher, a, b *node, name string, ga, gb *ir.Graph) {
	if structure(ga) == structure(gb) && m.sameCaptures(ga, gb) {
		return
	}
	c.outer = append(c.outer, c.frame(b, name))
	c.graphs(m.inner(ga, gb))
	c.outer = c.outer[:len(c.outer)-1]
}

func (c *comparison) frame(n *node, attribute string) string {
	path := modulePath(n.Name)
	if path != "" {
		path += " "
	}
	return path + operator(n.Node) + "." + attribute
}

func (m *matcher) sameCaptures(ga, gb *ir.Graph) bool {
	ca, cb := outside(ga), outside(gb)
	if len(ca) != len(cb) {
		return false
	}
	for i := range ca {
		if !m.corresponds(ca[i], cb[i]) {
			return false
		}
	}
	return true
}

// inner makes the scopes of two subgraphs: inputs are known by their position,
// initializers by their names, captured values by the pair that they are of.
func (m *matcher) inner(ga, gb *ir.Graph) (a, b *scope) {
	a, b = newScope(ga), newScope(gb)
	for _, s := range []*scope{a, b} {
		for i, v := range s.graph.Inputs {
			s.token[v] = fmt.Sprintf("input %d", i)
		}
		for _, v := range s.graph.Initializers {
			s.token[v] = "parameter " + v.Name
		}
	}
	capture := func(inner, outer *scope, partner func(p *node) int) {
		for _, v := range outside(inner.graph) {
			inner.label[v] = outer.describe(v)
			if p := outer.producer(v); p != nil {
				_, out := v.Def()
				inner.token[v] = fmt.Sprintf("outer %d.%d", partner(p), out)
			} else {
				inner.token[v] = outer.name(v)
			}
		}
	}
	// Pairs have the index in b; what a alone has, a negative number.
	capture(b, m.b, func(p *node) int { return p.index })
	capture(a, m.a, func(p *node) int {
		if j := m.p.a[p.index]; j >= 0 {
			return j
		}
		return -1 - p.index
	})
	return a, b
}
