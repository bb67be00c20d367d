package passes

import (
	"slices"

	"mobiusc/ir"
	"mobiusc/ops"
)

// knownSizes holds the nodes of a graph, so far, that compute what is known in
// symbols: the sequence's length, for instance. Layers ask for the same sizes of
// different tensors, so that equal nodes do not tell.
type knownSizes struct {
	outer *knownSizes // of the graph around
	nodes map[string]*ir.Node
}

// find returns the value with the given content, or nil.
func (s *knownSizes) find(key string) *ir.Value {
	for ; s != nil; s = s.outer {
		if n := s.nodes[key]; n != nil && n.Graph() != nil {
			return n.Output(0)
		}
	}
	return nil
}

// contentKey identifies the type and the content of a node's only output, if it
// is all known, in terms of symbols that mean the same in every copy of the
// graph; it is "" otherwise.
func (r *rewriter) contentKey(n *ir.Node) string {
	if len(n.Outputs()) != 1 || n.Output(0) == nil || !ops.IsDefault(n.Domain) || !ops.Deterministic(n) {
		return ""
	}
	v := n.Output(0)
	elements := r.env.Sizes(v)
	t := r.env.Type(v)
	if len(elements) == 0 || t == nil {
		return ""
	}
	for _, d := range elements {
		if !d.Known() || len(r.symbols) > 0 && slices.ContainsFunc(d.Symbols(), r.isOwnSymbol) {
			return ""
		}
	}
	return string(r.env.AppendContent([]byte(t.String()), v))
}

// isOwnSymbol reports whether a symbol is one that each copy of the template in
// hand has another name for.
func (r *rewriter) isOwnSymbol(name string) bool {
	return slices.ContainsFunc(r.symbols, func(s symbol) bool { return s.name == name })
}

// shareSizes makes the readers of a node's output read an earlier value with the
// same content.
func (r *rewriter) shareSizes(n *ir.Node) {
	key := r.contentKey(n)
	if key == "" {
		return
	}
	if first := r.sizes.find(key); first != nil && r.bypass(n, first) {
		return
	}
	r.contents[n], r.sizes.nodes[key] = key, n
}
