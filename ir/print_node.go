package ir

import "strings"

// node writes one node. Its attributes follow its inputs where they hold graphs.
func (w *writer) node(n *Node) {
	if n.Name != "" {
		w.str("[")
		w.id(n.Name)
		w.str("] ")
	}
	if len(n.Outputs()) > 0 {
		w.ids(n.Outputs())
		w.str(" ")
	}
	w.str("= ", operatorText(n))
	nested := false
	for range n.Subgraphs() {
		nested = true
	}
	if !nested {
		w.attrs(n.Attrs)
	}
	w.str(" (")
	w.ids(n.Inputs())
	w.str(")")
	if nested {
		w.attrs(n.Attrs)
	}
	if w.Comments {
		w.comments(n)
	}
}

func (w *writer) comments(n *Node) {
	sep := " # "
	for _, e := range n.Meta {
		w.str(sep, e.Key, "=", strings.ReplaceAll(e.Value, "\n", " "))
		sep = " "
	}
	if n.Doc != "" {
		w.str(sep, strings.ReplaceAll(n.Doc, "\n", " "))
	}
}

// operatorText returns domain.op:overload of a node.
func operatorText(n *Node) string {
	s := word(n.OpType)
	if n.Domain != "" {
		domain := n.Domain
		for part := range strings.SplitSeq(domain, ".") {
			if !isIdent(part) {
				domain = quote(n.Domain)
				break
			}
		}
		s = domain + "." + s
	}
	if n.Overload != "" {
		s += ":" + word(n.Overload)
	}
	return s
}

func (w *writer) attrs(attrs []*Attr) {
	if len(attrs) == 0 {
		return
	}
	w.str(" <")
	each(w, attrs, ", ", w.attr)
	w.str(">")
}

func (w *writer) attr(a *Attr) {
	w.str(word(a.Name))
	if a.Type != AttrUndefined {
		w.str(": ", a.Type.String())
	}
	w.str(" = ")
	if a.Ref == "" && a.lacksValue() {
		w.str("?") // a broken file: it does not hold what the type promises
		return
	}
	if a.Ref != "" {
		w.str("@")
		w.id(a.Ref)
		return
	}
	switch a.Type {
	case AttrFloat:
		w.float32(a.Float)
	case AttrInt:
		w.int(a.Int)
	case AttrString:
		w.str(quote(string(a.Bytes)))
	case AttrTensor, AttrSparseTensor:
		w.tensor(a.Tensor)
	case AttrGraph:
		w.graph(a.Graph)
	case AttrTypeProto:
		w.typ(a.TypeVal)
	default:
		w.attrList(a)
	}
}

// lacksValue reports an attribute whose type promises a tensor or a graph that it
// does not have, as files of others may.
func (a *Attr) lacksValue() bool {
	switch a.Type {
	case AttrTensor, AttrSparseTensor:
		return a.Tensor == nil
	case AttrGraph:
		return a.Graph == nil
	}
	return false
}

func (w *writer) attrList(a *Attr) {
	w.str("[")
	switch a.Type {
	case AttrFloats:
		each(w, a.Floats, ", ", w.float32)
	case AttrInts:
		each(w, a.Ints, ", ", w.int)
	case AttrStrings:
		each(w, a.Strings, ", ", func(s []byte) { w.str(quote(string(s))) })
	case AttrTensors, AttrSparseTensors:
		each(w, a.Tensors, ", ", w.tensor)
	case AttrGraphs:
		each(w, a.Graphs, ", ", w.graph)
	case AttrTypeProtos:
		each(w, a.Types, ", ", w.typ)
	}
	w.str("]")
}
