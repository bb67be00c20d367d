package passes

import (
	"slices"

	"mobiusc/ir"
)

// returners says which graphs have a value among their outputs, which are no
// uses of it.
type returners map[*ir.Value][]*ir.Graph

func returnersOf(g *ir.Graph) returners {
	r := returners{}
	r.enter(g)
	return r
}

// enter adds the outputs of a graph and of its subgraphs.
func (r returners) enter(g *ir.Graph) {
	for _, v := range g.Outputs {
		if v != nil && !slices.Contains(r[v], g) {
			r[v] = append(r[v], g)
		}
	}
	for n := range g.Nodes() {
		r.enterNode(n)
	}
}

// enterNode adds the outputs of a node's subgraphs.
func (r returners) enterNode(n *ir.Node) {
	for s := range n.Subgraphs() {
		r.enter(s)
	}
}

// drop removes the outputs of a graph and of its subgraphs.
func (r returners) drop(g *ir.Graph) {
	for _, v := range g.Outputs {
		r[v] = slices.DeleteFunc(r[v], func(by *ir.Graph) bool { return by == g })
	}
	for n := range g.Nodes() {
		for s := range n.Subgraphs() {
			r.drop(s)
		}
	}
}

// replace makes every node that reads v, and every graph that returns it, read
// and return w. v must not be an output of the model's graph.
func (r returners) replace(v, w *ir.Value) {
	v.ReplaceUses(w)
	for _, g := range r[v] {
		for i, out := range g.Outputs {
			if out == v {
				g.Outputs[i] = w
			}
		}
		if !slices.Contains(r[w], g) {
			r[w] = append(r[w], g)
		}
	}
	delete(r, v)
}
