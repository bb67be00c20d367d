package validate

import (
	"fmt"
	"slices"
	"strings"

	"mobiusc/ir"
	"mobiusc/ops"
)

// inferNode infers the types of a node's outputs from its inputs alone: what
// the outputs declare is put aside, to be compared. It returns an error when
// the inputs and attributes cannot go together.
func (w *walk) inferNode(n *ir.Node) error {
	if !w.prepare(n) {
		return nil
	}
	return w.env.Infer(n)
}

// prepare puts aside what a node's outputs declare. It returns false for a node
// that cannot be inferred.
func (w *walk) prepare(n *ir.Node) bool {
	if w.unbound(n) || !inferable(n, nil) {
		return false
	}
	for _, v := range n.Outputs() {
		if v != nil {
			w.env.SetType(v, nil)
		}
	}
	return true
}

// inferable reports whether inference, which takes the subgraphs of a node with
// it, will come to an end: no graph contains itself or is missing.
func inferable(n *ir.Node, outer []*ir.Graph) bool {
	if slices.Contains(n.Attrs, nil) {
		return false
	}
	for _, g := range graphsOf(n) {
		if !inferableGraph(g, outer) {
			return false
		}
	}
	return true
}

func inferableGraph(g *ir.Graph, outer []*ir.Graph) bool {
	if g == nil || len(outer) > maxDepth || slices.Contains(outer, g) {
		return false
	}
	inner := append(outer[:len(outer):len(outer)], g)
	for n := range g.Nodes() {
		if !inferable(n, inner) {
			return false
		}
	}
	return true
}

// contradiction returns what inference found wrong with a node, without the
// node's name, which the path of the finding has.
func contradiction(n *ir.Node, err error) string {
	label := n.OpType
	if n.Domain != "" && !ops.IsDefault(n.Domain) {
		label = n.Domain + "." + label
	}
	if n.Name != "" {
		label += fmt.Sprintf(" %q", n.Name)
	}
	return strings.TrimPrefix(err.Error(), label+": ")
}

// unbound reports whether the meaning of a node hangs on an attribute parameter
// that has no value: the function is being checked for any call.
func (w *walk) unbound(n *ir.Node) bool {
	if w.fn == nil || w.attrs != nil {
		return false
	}
	found := false
	look := func(n *ir.Node) {
		for _, a := range n.Attrs {
			found = found || a != nil && a.Ref != ""
		}
	}
	look(n)
	visited := map[*ir.Graph]bool{}
	for _, g := range graphsOf(n) {
		eachNode(g, visited, look)
	}
	return found
}

// computed returns the type that inference found for an output, or nil.
func (w *walk) computed(n *ir.Node, schema *ops.Schema, v *ir.Value) *ir.Type {
	if schema.Domain == "ai.onnx.ml" && n.OpType == "LabelEncoder" {
		return w.labels(n)
	}
	return w.env.Type(v)
}

// labels is the type of what a LabelEncoder maps to.
func (w *walk) labels(n *ir.Node) *ir.Type {
	switch {
	case n.Attr("values_strings") != nil:
		return ir.Unranked(ir.String)
	case n.Attr("values_int64s") != nil:
		return ir.Unranked(ir.Int64)
	case n.Attr("values_floats") != nil:
		return ir.Unranked(ir.Float32)
	}
	if a := w.attr(n, "values_tensor"); a != nil && a.Tensor != nil {
		return ir.Unranked(a.Tensor.Type)
	}
	return nil
}

// tensorType is the type of a constant; its dims are taken as they stand.
func tensorType(t *ir.Tensor) *ir.Type {
	dims := make(ir.Shape, len(t.Dims))
	for i, d := range t.Dims {
		if d >= 0 {
			dims[i] = ir.Int(d)
		}
	}
	u := ir.TensorOf(t.Type, dims...)
	if t.Sparse != nil {
		u.Kind = ir.SparseTensorKind
	}
	return u
}
