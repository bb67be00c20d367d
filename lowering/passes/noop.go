package passes

import (
	"slices"

	"mobiusc/ir"
	"mobiusc/ops"
)

// unchanged returns the input that a node passes on as it is, or nil: that of an
// Identity, of a cast to the type it has, of a Reshape or Expand to the shape it
// has, of a Transpose that leaves every axis in its place.
func (f *folder) unchanged(n *ir.Node) *ir.Value {
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
		same = isTensor(from.Type) && from.Type.Ranked && isIdentity(n, len(from.Type.Shape))
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

// isIdentity reports whether a Transpose of the given rank moves no axis.
func isIdentity(n *ir.Node, rank int) bool {
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

// castLike makes a CastLike whose type is known a Cast, which does not read the
// value that has the type.
func (f *folder) castLike(n *ir.Node) {
	if n.OpType != "CastLike" || n.Output(0) == nil || !isTensor(n.Output(0).Type) {
		return
	}
	n.OpType = "Cast"
	n.SetInputs(n.Inputs()[:1])
	n.SetAttr(ir.IntAttr("to", int64(n.Output(0).Type.Elem)))
	f.changed = true
}

// bypass makes the readers of a node's output read the value that it passes on,
// and reports whether the node is gone. An output of a graph keeps its value:
// the node that computes it defines the output instead. That cannot be where
// the value is an output itself, or comes from outside the graph.
func (f *folder) bypass(n *ir.Node, from *ir.Value) bool {
	to := n.Output(0)
	switch returned := f.returned[to]; {
	case len(returned) == 0:
		f.discard(n)
		to.ReplaceUses(from)
	case len(returned) == 1 && returned[0] == n.Graph() && f.canDefine(from, n.Graph()):
		f.discard(n)
		f.redefine(from, to)
	default:
		return false
	}
	return true
}

// canDefine reports whether the node of graph g that defines v may define an
// output of g instead.
func (f *folder) canDefine(v *ir.Value, g *ir.Graph) bool {
	p := v.Producer()
	return p != nil && p.Graph() == g && len(f.returned[v]) == 0 && ops.IsDefault(p.Domain)
}

// redefine makes the node that defines one value define another, which takes its
// place everywhere.
func (f *folder) redefine(v, as *ir.Value) {
	producer, index := v.Def()
	outputs := slices.Clone(producer.Outputs())
	outputs[index] = as
	producer.SetOutputs(outputs)
	replaceAll(v, as, f.returned)
	f.env.Assume(as, v, f.env)
}

func (f *folder) discard(n *ir.Node) {
	discard(n)
	f.changed = true
}
