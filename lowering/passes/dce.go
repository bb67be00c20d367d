package passes

import (
	"slices"

	"mobiusc/ir"
	"mobiusc/ops"
)

// DCE removes what no output of the model depends on.
//
// Before: nodes are ordered.
//
// After: every node, in subgraphs too, defines a value that is read or returned;
// no optional output at the end of a node's list is unused; every initializer
// that is no input is read or returned; every function is called. A node that
// holds subgraphs stays or goes as a whole. Inputs of graphs stay: they are an
// interface.
//
// Anything removed counts as a change.
func DCE(m *ir.Model) (changed bool, err error) {
	d := &remover{opset: m.OpsetVersion(""), returned: returnersOf(m.Graph)}
	d.graph(m.Graph)
	d.functions(m)
	return d.changed, nil
}

type remover struct {
	opset    int64
	returned returners
	changed  bool
}

func (d *remover) graph(g *ir.Graph) {
	d.nodes(g)
	d.initializers(g)
}

func (d *remover) isRead(v *ir.Value) bool {
	return v != nil && (len(v.Uses()) > 0 || len(d.returned[v]) > 0)
}

// nodes visits the last nodes first, so that what they alone read goes too.
func (d *remover) nodes(g *ir.Graph) {
	for n := g.Last(); n != nil; n = n.Prev() {
		if !slices.ContainsFunc(n.Outputs(), d.isRead) {
			for s := range n.Subgraphs() {
				d.returned.drop(s)
			}
			g.Remove(n)
			d.changed = true
			continue
		}
		d.trim(n)
		for s := range n.Subgraphs() {
			d.nodes(s)
		}
	}
}

// trim cuts off optional outputs that are not read: a runtime computes what is
// named.
func (d *remover) trim(n *ir.Node) {
	s := ops.Lookup(n.Domain, n.OpType, d.opset)
	if s == nil || !ops.IsDefault(n.Domain) {
		return
	}
	outputs := n.Outputs()
	k := len(outputs)
	for k > 0 && !d.isRead(outputs[k-1]) {
		if p := s.Output(k - 1); p == nil || p.Option != ops.Optional {
			break
		}
		k--
	}
	if k < len(outputs) {
		n.SetOutputs(outputs[:k])
		d.changed = true
	}
}

func (d *remover) initializers(g *ir.Graph) {
	before := len(g.Initializers)
	inputs := map[*ir.Value]bool{}
	for _, v := range g.Inputs {
		inputs[v] = true
	}
	g.Initializers = slices.DeleteFunc(g.Initializers, func(v *ir.Value) bool { return !inputs[v] && !d.isRead(v) })
	d.changed = d.changed || len(g.Initializers) < before
	for n := range g.Nodes() {
		for s := range n.Subgraphs() {
			d.initializers(s)
		}
	}
}

// functions removes those that neither the graph nor a function it calls calls.
func (d *remover) functions(m *ir.Model) {
	byKey := map[functionKey]*ir.Function{}
	for _, f := range m.Functions {
		byKey[functionKey{domainOf(f.Domain), f.Name, f.Overload}] = f
	}
	called := map[*ir.Function]bool{}
	var visit func(g *ir.Graph)
	visit = func(g *ir.Graph) {
		for n := range g.AllNodes() {
			f := byKey[functionKey{domainOf(n.Domain), n.OpType, n.Overload}]
			if f != nil && !called[f] {
				called[f] = true
				visit(f.Body)
			}
		}
	}
	visit(m.Graph)
	before := len(m.Functions)
	m.Functions = slices.DeleteFunc(m.Functions, func(f *ir.Function) bool { return !called[f] })
	d.changed = d.changed || len(m.Functions) < before
}
