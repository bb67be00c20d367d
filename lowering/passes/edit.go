package passes

import (
	"slices"

	"mobiusc/ir"
)

// namesInUse returns how often each name is given to a value of the model's
// graph or a subgraph: names in graphs beside each other may be equal.
func namesInUse(g *ir.Graph) names {
	n := names{}
	enterNames(n, g)
	return n
}

func enterNames(used names, g *ir.Graph) {
	enter := func(values []*ir.Value) {
		for _, v := range values {
			if v != nil {
				used[v.Name]++
			}
		}
	}
	enter(g.Inputs)
	enter(g.Initializers)
	for n := range g.Nodes() {
		enter(n.Outputs())
		for s := range n.Subgraphs() {
			enterNames(used, s)
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

// discard removes a node and releases everything that it and its subgraphs
// read.
func discard(n *ir.Node) {
	for g := range n.Subgraphs() {
		for inner := range g.AllNodes() {
			inner.SetInputs(nil)
		}
	}
	n.Graph().Remove(n)
}

// replaceAll makes every node and every subgraph output that reads v read w.
// v must not be an output of the model's graph.
func replaceAll(v, w *ir.Value, returned returners) {
	v.ReplaceUses(w)
	for _, g := range returned[v] {
		for i, out := range g.Outputs {
			if out == v {
				g.Outputs[i] = w
			}
		}
	}
	returned[w] = append(returned[w], returned[v]...)
	delete(returned, v)
}

// returners says which graphs have a value among their outputs.
type returners map[*ir.Value][]*ir.Graph

func returnersOf(g *ir.Graph) returners {
	r := returners{}
	r.enter(g)
	return r
}

func (r returners) enter(g *ir.Graph) {
	for _, v := range g.Outputs {
		if v != nil && !slices.Contains(r[v], g) {
			r[v] = append(r[v], g)
		}
	}
	for n := range g.Nodes() {
		for s := range n.Subgraphs() {
			r.enter(s)
		}
	}
}
