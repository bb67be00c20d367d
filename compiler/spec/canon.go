package spec

import "mobiusc/compiler/spec/tree"

// isConditional reports whether a block is an if, which is written without a
// key of its own: {if: …, then: …, else: …}.
func isConditional(n *tree.Node) bool { return n.Get("if") != nil }

// canon writes out the short forms of a tree, so that what is merged, printed
// and evaluated has one form: `rms_norm: norm` becomes `rms_norm: {name: norm}`.
func (g *grammar) canon(n *tree.Node, f *form) *tree.Node {
	if n == nil || f == nil || n.Kind == tree.Null {
		return n
	}
	switch f.kind {
	case formRecord:
		if f.short != "" && f.expands() && !g.isLong(n, f) {
			value := g.canon(n, f.field(f.short).form)
			return tree.NewMap(n.Range, tree.Entry{Key: tree.NewText(f.short, n.Range), Value: value})
		}
	case formList:
		if n.Kind != tree.List && !f.strict && f.each.kind != formExpr { // an expression may yield a list itself
			return &tree.Node{Kind: tree.List, Range: n.Range, Items: []*tree.Node{g.canon(n, f.each)}}
		}
	}
	return g.below(n, f, g.canon)
}

// short is the inverse of canon: it writes a mapping of one field in its short
// form where there is one.
func (g *grammar) short(n *tree.Node, f *form) *tree.Node {
	if n == nil || f == nil || n.Kind == tree.Null {
		return n
	}
	n = g.below(n, f, g.short)
	if f.kind == formRecord && f.short != "" && f.expands() && n.Kind == tree.Map && len(n.Entries) == 1 {
		v := n.Get(f.short)
		if v != nil && v.Kind != tree.Null && !g.isLong(v, f) {
			return v
		}
	}
	return n
}

// below returns a copy of a value with change applied to what it holds.
func (g *grammar) below(n *tree.Node, f *form, change func(*tree.Node, *form) *tree.Node) *tree.Node {
	if n.IsScalar() {
		return n
	}
	out := *n
	out.Items = make([]*tree.Node, len(n.Items))
	for i, item := range n.Items {
		inner := f
		if f.kind == formList {
			inner = f.each
		}
		out.Items[i] = change(item, inner)
	}
	out.Entries = make([]tree.Entry, len(n.Entries))
	for i, e := range n.Entries {
		out.Entries[i] = tree.Entry{Key: e.Key, Value: change(e.Value, g.childForm(n, f, e.Key.Text))}
	}
	return &out
}

// childForm returns the form of the value under a key of a mapping.
func (g *grammar) childForm(n *tree.Node, f *form, key string) *form {
	switch {
	case f.kind == formBody && isConditional(n):
		return g.blocks["if"].child(key)
	case f.kind == formBody:
		return g.blocks[key]
	}
	return f.child(key)
}

// isLong reports whether a value of a record with a short form is the mapping
// of its fields. A mapping can also be the short form, where that is a block.
func (g *grammar) isLong(n *tree.Node, f *form) bool {
	if n.Kind != tree.Map {
		return false
	}
	if short := f.field(f.short); short == nil || short.form.kind != formBody {
		return true
	}
	for _, e := range n.Entries {
		if f.field(e.Key.Text) != nil {
			return true
		}
	}
	return false
}
