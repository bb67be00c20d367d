package passes

import (
	"slices"

	"mobiusc/ir"
)

// takenBranch returns the branch that an If with a constant condition runs, or
// nil.
func (r *rewriter) takenBranch(n *ir.Node) *ir.Graph {
	if n.Input(0) == nil {
		return nil
	}
	condition := r.constant(n.Input(0))
	if condition == nil {
		return nil
	}
	values, err := condition.AsInts()
	if err != nil || len(values) != 1 {
		return nil
	}
	name := "else_branch"
	if values[0] != 0 {
		name = "then_branch"
	}
	a := n.Attr(name)
	if a == nil || a.Graph == nil || len(a.Graph.Outputs) < len(n.Outputs()) {
		return nil
	}
	return a.Graph
}

// splice puts the nodes of a branch in the place of the If that holds it, and
// returns the node to visit next. An output of the If keeps its value, which the
// node of the branch defines from now on; an Identity defines it where the branch
// returns a value from outside, or one value twice.
func (r *rewriter) splice(n *ir.Node, branch *ir.Graph) (next *ir.Node) {
	g, before := n.Graph(), n.Prev()
	r.lift(branch)
	inner := map[*ir.Value]bool{}
	for m := branch.First(); m != nil; m = branch.First() {
		branch.Detach(m)
		g.InsertBefore(m, n)
		for _, v := range m.Outputs() {
			if v == nil {
				continue
			}
			inner[v] = true
			if r.function == nil {
				r.values.move(v)
			}
		}
	}
	results := slices.Clone(branch.Outputs)
	r.returned.drop(branch)
	for i, out := range n.Outputs() {
		switch result := results[i]; {
		case out == nil:
		case inner[result]:
			delete(inner, result) // from now on it is out
			r.redefine(result, out)
			replaceAll(results, result, out)
		default:
			r.copyBefore(n, result, out)
		}
	}
	r.discard(n)
	if before == nil {
		return g.First()
	}
	return before.Next()
}

func replaceAll(list []*ir.Value, v, w *ir.Value) {
	for i := range list {
		if list[i] == v {
			list[i] = w
		}
	}
}

// copyBefore puts an Identity before a node, in whose name it stands.
func (r *rewriter) copyBefore(n *ir.Node, from, to *ir.Value) *ir.Node {
	c := ir.NewNode("", "Identity", []*ir.Value{from}, []*ir.Value{to})
	c.Name, c.Meta = r.nodeName(nameOf(n)+"/Identity"), n.Meta
	n.Graph().InsertBefore(c, n)
	return c
}

// redefine makes the node that defines one value define another, which takes its
// place everywhere.
func (r *rewriter) redefine(v, as *ir.Value) {
	producer, index := v.Def()
	outputs := slices.Clone(producer.Outputs())
	outputs[index] = as
	producer.SetOutputs(outputs)
	r.returned.replace(v, as)
	r.env.Assume(as, v, r.env)
}

// nodeName returns a name for a new node: among those of the model a name of its
// own.
func (r *rewriter) nodeName(name string) string {
	if r.function == nil {
		return r.nodes.unique(name)
	}
	return name
}
