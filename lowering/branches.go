package lowering

import (
	"maps"

	"mobiusc/ir"
)

// If appends a node that runs one of two branches, on a condition that is known
// only at run time. Each branch adds its nodes and returns its results; those of
// both have the given types, which is more than inference can say where the
// condition is what makes two sizes equal.
func (b *Builder) If(condition *ir.Value, then, otherwise func() []*ir.Value, types ...*ir.Type) []*ir.Value {
	outs := b.Node("", "If", []*ir.Value{condition}, len(types),
		ir.GraphAttr("then_branch", b.subgraph("then", then)), ir.GraphAttr("else_branch", b.subgraph("else", otherwise)))
	for i, t := range types {
		outs[i].Type = t
	}
	return outs
}

// subgraph returns a graph of the nodes that make adds. What the builder keeps
// of them for later blocks is forgotten: nothing outside sees into a subgraph.
func (b *Builder) subgraph(name string, make func() []*ir.Value) *ir.Graph {
	outer := *b
	b.flat, b.full = maps.Clone(b.flat), maps.Clone(b.full)
	b.casts, b.derived = maps.Clone(b.casts), maps.Clone(b.derived)
	b.nodes = ir.NewGraph(name)
	for _, v := range make() {
		if v.Producer() == nil || v.Producer().Graph() != b.nodes {
			v = b.Unary("Identity", v)
		}
		b.nodes.Outputs = append(b.nodes.Outputs, v)
	}
	g := b.nodes
	b.nodes, b.flat, b.full, b.casts, b.derived, b.sized = outer.nodes, outer.flat, outer.full, outer.casts, outer.derived, outer.sized
	return g
}
