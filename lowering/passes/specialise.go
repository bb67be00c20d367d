package passes

import (
	"slices"

	"mobiusc/ir"
	"mobiusc/ops"
)

// maxFolded is the largest number of elements of a constant that takes the place
// of inlined nodes. It is enough for shapes and conditions; whether a larger
// one is worth its bytes is not for the inliner to say.
const maxFolded = 64

// specialise replaces an inlined node whose result is known before the target
// is asked about it: the operator may be one that the target lacks. next is the
// node to visit next.
func (in *inliner) specialise(n *ir.Node) (next *ir.Node, done bool, err error) {
	if !ops.IsDefault(n.Domain) {
		return nil, false, nil
	}
	var results []*ir.Tensor
	switch n.OpType {
	case "Constant":
	case "If":
		if taken := in.takenBranch(n); taken != nil {
			return in.splice(n, taken), true, nil
		}
	case "OptionalHasElement":
		if has, known := in.hasElement(n); known {
			results = []*ir.Tensor{boolScalar(has)}
		}
	default:
		results = in.evaluate(n)
	}
	if results == nil {
		return nil, false, nil
	}
	next = n.Next()
	return next, true, in.replaceByConstants(n, results)
}

// hasElement tells whether the optional input of an inlined call is there. Of a
// value that is itself an optional, only running the graph can tell.
func (in *inliner) hasElement(n *ir.Node) (has, known bool) {
	v := n.Input(0)
	if v == nil || in.absent[v] {
		return false, true
	}
	return true, v.Type != nil && v.Type.Kind != ir.OptionalKind
}

func boolScalar(v bool) *ir.Tensor {
	t := &ir.Tensor{Type: ir.Bool, Dims: []int64{}, Raw: []byte{0}}
	if v {
		t.Raw[0] = 1
	}
	return t
}

// evaluate returns the results of a node all of whose inputs are constant, or nil.
func (in *inliner) evaluate(n *ir.Node) []*ir.Tensor {
	if !ops.Evaluable(n) || len(n.Inputs()) == 0 {
		return nil
	}
	inputs := make([]*ir.Tensor, len(n.Inputs()))
	for i, v := range n.Inputs() {
		if v == nil {
			continue
		}
		if inputs[i] = in.env.Constant(v); inputs[i] == nil {
			return nil
		}
	}
	results, err := ops.Eval(n, inputs)
	if err != nil || slices.ContainsFunc(results, isLarge) {
		return nil // if the node is at fault, inference says so
	}
	return results
}

func isLarge(t *ir.Tensor) bool { return t == nil || t.Len() > maxFolded }

// foldKnown replaces an inlined node if inference knows all of its results, as
// that of Shape when the dims are numbers.
func (in *inliner) foldKnown(n *ir.Node) error {
	if ops.IsDefault(n.Domain) && n.OpType == "Constant" || len(n.Outputs()) == 0 {
		return nil
	}
	results := make([]*ir.Tensor, len(n.Outputs()))
	for i, v := range n.Outputs() {
		if results[i] = in.env.Constant(v); isLarge(results[i]) {
			return nil
		}
	}
	return in.replaceByConstants(n, results)
}

// replaceByConstants puts a Constant node in the place of each output of a node.
func (in *inliner) replaceByConstants(n *ir.Node, results []*ir.Tensor) error {
	for i, v := range n.Outputs() {
		if v == nil {
			continue
		}
		t := *results[i]
		t.Name = ""
		c := ir.NewNode("", "Constant", nil, []*ir.Value{v}, ir.TensorAttr("value", &t))
		c.Name, c.Meta = n.Name, n.Meta
		if i > 0 {
			c.Name, c.Meta = in.nodes.unique(n.Name), slices.Clone(n.Meta)
		}
		in.sites[c] = in.sites[n]
		n.Graph().InsertBefore(c, n)
		if err := in.env.Infer(c); err != nil {
			return in.fail(c, "%v", err)
		}
	}
	n.Graph().Remove(n)
	return nil
}

// takenBranch returns the branch that an If with a constant condition runs, or nil.
func (in *inliner) takenBranch(n *ir.Node) *ir.Graph {
	condition := in.env.Constant(n.Input(0))
	if condition == nil {
		return nil
	}
	values, err := condition.AsInts()
	if err != nil || len(values) != 1 {
		return nil
	}
	branch := "else_branch"
	if values[0] != 0 {
		branch = "then_branch"
	}
	a := n.Attr(branch)
	if a == nil || a.Graph == nil || len(a.Graph.Outputs) < len(n.Outputs()) {
		return nil
	}
	return a.Graph
}

// splice puts the nodes of a branch in the place of the If that holds it, and
// returns the node to visit next.
func (in *inliner) splice(n *ir.Node, branch *ir.Graph) (next *ir.Node) {
	g, before := n.Graph(), n.Prev()
	for _, v := range branch.Initializers {
		in.addInitializer(g, v)
	}
	inner := map[*ir.Value]bool{}
	for m := branch.First(); m != nil; m = branch.First() {
		branch.Detach(m)
		g.InsertBefore(m, n)
		for _, v := range m.Outputs() {
			inner[v] = v != nil
		}
	}
	for i, out := range n.Outputs() {
		if out == nil {
			continue
		}
		result := branch.Outputs[i]
		if inner[result] {
			inner[result] = false // from now on it is out
			in.rename(g, n, result, out)
			for j := range branch.Outputs {
				if branch.Outputs[j] == result {
					branch.Outputs[j] = out
				}
			}
			continue
		}
		c := in.identity(n, result, out)
		c.Meta = slices.Clone(n.Meta)
		in.sites[c] = in.sites[n]
		g.InsertBefore(c, n)
	}
	g.Remove(n)
	if before == nil {
		return g.First()
	}
	return before.Next()
}

// rename makes the node that defines a value of a spliced branch define another
// one instead, and everything that reads it, up to the node end, read that.
func (in *inliner) rename(g *ir.Graph, end *ir.Node, from, to *ir.Value) {
	producer, index := from.Def()
	outputs := slices.Clone(producer.Outputs())
	outputs[index] = to
	producer.SetOutputs(outputs)
	from.ReplaceUses(to)
	for m := producer; m != end; m = m.Next() {
		replaceOutputs(m, from, to)
	}
}

// replaceOutputs replaces a value among the outputs of a node's subgraphs.
func replaceOutputs(n *ir.Node, from, to *ir.Value) {
	for g := range n.Subgraphs() {
		for i, v := range g.Outputs {
			if v == from {
				g.Outputs[i] = to
			}
		}
		for m := range g.Nodes() {
			replaceOutputs(m, from, to)
		}
	}
}

// sweep removes the inlined nodes of a graph whose values nothing reads.
func (in *inliner) sweep(g *ir.Graph) {
	returned := returns{}
	returned.count(g, 1)
	in.sweepGraph(g, returned)
}

// returns counts how often a value is an output of a graph or subgraph.
type returns map[*ir.Value]int

func (r returns) count(g *ir.Graph, by int) {
	for _, v := range g.Outputs {
		r[v] += by
	}
	for n := range g.Nodes() {
		for s := range n.Subgraphs() {
			r.count(s, by)
		}
	}
}

// sweepGraph visits the last nodes first, so that what they alone read goes too.
func (in *inliner) sweepGraph(g *ir.Graph, returned returns) {
	isRead := func(v *ir.Value) bool { return v != nil && (len(v.Uses()) > 0 || returned[v] > 0) }
	for n := g.Last(); n != nil; n = n.Prev() {
		if in.sites[n] != nil && !slices.ContainsFunc(n.Outputs(), isRead) {
			for s := range n.Subgraphs() {
				returned.count(s, -1)
			}
			g.Remove(n)
			continue
		}
		for s := range n.Subgraphs() {
			in.sweepGraph(s, returned)
		}
	}
}
