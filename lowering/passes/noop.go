package passes

import (
	"slices"

	"mobiusc/ir"
	"mobiusc/ops"
)

// unchanged returns the input that a node passes on as it is, or nil: that of an
// Identity, of a cast to the type it has, of a Reshape or Expand to the shape it
// has, of a Transpose that leaves every axis in its place.
func (r *rewriter) unchanged(n *ir.Node) *ir.Value {
	from, to := n.Input(0), n.Output(0)
	if from == nil || to == nil || len(n.Outputs()) != 1 {
		return nil
	}
	same := false
	switch n.OpType {
	case "Identity":
		same = true
	case "Cast", "CastLike":
		same = isTensor(from.Type) && isTensor(to.Type) && from.Type.Elem == to.Type.Elem
	case "Reshape", "Expand":
		same = sameShape(from.Type, to.Type)
	case "Transpose":
		same = isTensor(from.Type) && from.Type.Ranked && keepsAxes(n, len(from.Type.Shape))
	}
	if !same {
		return nil
	}
	return from
}

func isTensor(t *ir.Type) bool {
	return t != nil && t.Kind == ir.TensorKind && t.Elem != ir.Undefined
}

// sameShape reports whether two tensors are known to have one shape.
func sameShape(a, b *ir.Type) bool {
	return isTensor(a) && isTensor(b) && a.Ranked && b.Ranked && a.Shape.Equal(b.Shape)
}

// keepsAxes reports whether a Transpose of the given rank moves no axis.
func keepsAxes(n *ir.Node, rank int) bool {
	a := n.Attr("perm")
	if a == nil {
		return rank < 2
	}
	for i, axis := range a.Ints {
		if axis != int64(i) {
			return false
		}
	}
	return len(a.Ints) == rank
}

// bypass makes the readers of a node's output read the value that it passes on,
// and reports whether the node is gone. An output of a graph keeps its value:
// the node that computes it defines the output instead. That cannot be where
// the value is an output itself, or comes from outside the graph.
func (r *rewriter) bypass(n *ir.Node, from *ir.Value) bool {
	to := n.Output(0)
	switch {
	case !r.keeps(to):
		r.discard(n)
		r.returned.replace(to, from)
	case len(r.returned[to]) == 1 && r.returned[to][0] == n.Graph() && r.canDefine(from, n.Graph()):
		r.discard(n)
		r.redefine(from, to)
	default:
		return false
	}
	return true
}

// canDefine reports whether the node of graph g that defines v may define an
// output of g instead.
func (r *rewriter) canDefine(v *ir.Value, g *ir.Graph) bool {
	p := v.Producer()
	return p != nil && p.Graph() == g && len(r.returned[v]) == 0
}

// castLike makes a CastLike whose type is known a Cast, which does not read the
// value that has the type, and may be a constant's. It reports whether it did.
func (r *rewriter) castLike(n *ir.Node) bool {
	if n.OpType != "CastLike" || n.Output(0) == nil || !isTensor(n.Output(0).Type) {
		return false
	}
	n.OpType = "Cast"
	n.SetInputs(n.Inputs()[:1])
	n.SetAttr(ir.IntAttr("to", int64(n.Output(0).Type.Elem)))
	r.changed = true
	return true
}

// joinReshapes makes a Reshape of a Reshape read what that one reads. The
// dims that the target copies are written out.
func (r *rewriter) joinReshapes(n *ir.Node) {
	if n.OpType != "Reshape" || n.Input(0) == nil || n.Attr("allowzero") != nil {
		return
	}
	first := n.Input(0).Producer()
	if first == nil || first.OpType != "Reshape" || !ops.IsDefault(first.Domain) || first.Input(0) == nil {
		return
	}
	// A copied dim would be another one.
	if slices.ContainsFunc(r.env.Sizes(n.Input(1)), func(d ir.Dim) bool { return !d.Known() || d.Equal(ir.Int(0)) }) || r.env.Sizes(n.Input(1)) == nil {
		return
	}
	n.SetInput(0, first.Input(0))
	r.changed = true
}
