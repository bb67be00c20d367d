package passes

import (
	"slices"

	"mobiusc/ir"
	"mobiusc/ops"
)

// Limits of constant folding, in elements: of what is put into the model, which
// must not grow much, and of what is looked at, which takes time.
const (
	maxFoldResult = 4096
	maxFoldInput  = 1 << 16
)

// Fold computes what is known before the model runs.
//
// Before: nodes are ordered and names unique among values that see each other;
// types may be missing.
//
// After: every constant is an initializer of the model's graph, where all
// subgraphs can read it and equal ones can be merged; only a constant that is
// itself an output of a graph is still a Constant node. No node of a standard
// operator has only constant inputs, unless its results are large; no
// integers that inference knows are computed (the Shape of a value with static
// dims, and what is gathered from it); no If has a constant condition; no
// OptionalHasElement asks for what is certain; no Identity, and no cast to the
// type that a value has, is left but those that define an output. Every value has the type that inference gives it.
// Function bodies are left alone.
//
// Anything of this, but for types, counts as a change. A contradiction between
// shapes or types is an error.
func Fold(m *ir.Model) (changed bool, err error) {
	f := &folder{
		top: m.Graph, env: ops.NewModelEnv(m), names: namesInUse(m.Graph), returned: returnersOf(m.Graph),
		inputs: map[*ir.Value]bool{},
	}
	err = f.graph(m.Graph)
	return f.changed, err
}

type folder struct {
	top      *ir.Graph
	env      *ops.Env
	names    names
	returned returners
	inputs   map[*ir.Value]bool // graph inputs: their initializers are defaults
	changed  bool
}

// graph folds the model's graph. Inference of a node covers its subgraphs, whose
// nodes are folded afterwards.
func (f *folder) graph(g *ir.Graph) error {
	for _, v := range g.Inputs {
		f.inputs[v] = true
	}
	for _, v := range g.Initializers {
		if !f.inputs[v] {
			f.env.Declare(v)
		}
	}
	for n := g.First(); n != nil; {
		if err := f.env.Infer(n); err != nil {
			return err
		}
		n = f.node(n)
	}
	return nil
}

// node folds a node whose outputs are inferred and returns the node to go on
// with.
func (f *folder) node(n *ir.Node) (next *ir.Node) {
	next = n.Next()
	if !ops.IsDefault(n.Domain) {
		f.subgraphs(n)
		return next
	}
	switch n.OpType {
	case "Constant":
		if t, err := ops.ConstantTensor(n); err == nil {
			f.replace(n, []*ir.Tensor{t})
		}
		return next
	case "If":
		if branch := f.takenBranch(n); branch != nil {
			return f.splice(n, branch)
		}
	}
	if from := f.unchanged(n); from != nil && f.bypass(n, from) || n.OpType == "Identity" {
		return next
	}
	if results := f.results(n); results != nil {
		f.replace(n, results)
		return next
	}
	f.castLike(n)
	f.subgraphs(n)
	return next
}

func (f *folder) subgraphs(n *ir.Node) {
	for g := range n.Subgraphs() {
		for _, v := range g.Inputs {
			f.inputs[v] = true
		}
		f.lift(g)
		for inner := g.First(); inner != nil; {
			inner = f.node(inner)
		}
	}
}

// lift moves the initializers of a subgraph to the model's graph.
func (f *folder) lift(g *ir.Graph) {
	var kept []*ir.Value
	for _, v := range g.Initializers {
		if f.inputs[v] || len(f.returned[v]) > 0 {
			kept = append(kept, v)
			continue
		}
		f.names.move(v)
		f.top.Initializers = append(f.top.Initializers, v)
		f.changed = true
	}
	g.Initializers = kept
}

// constant returns the content of a value, or nil.
func (f *folder) constant(v *ir.Value) *ir.Tensor {
	if t := v.Init; t != nil && !f.inputs[v] && t.External == nil && t.Len() >= 0 && t.Len() <= maxFoldInput {
		return t
	}
	return f.env.Constant(v)
}

// results returns the constants that a node computes, one for each of its
// outputs, or nil.
func (f *folder) results(n *ir.Node) []*ir.Tensor {
	results := f.known(n)
	if results == nil {
		results = f.evaluate(n)
	}
	if len(results) == 0 || len(results) < len(n.Outputs()) {
		return nil
	}
	for _, t := range results {
		if t == nil || t.Len() > maxFoldResult {
			return nil
		}
	}
	return results
}

// known returns the results that inference has found.
func (f *folder) known(n *ir.Node) []*ir.Tensor {
	results := make([]*ir.Tensor, len(n.Outputs()))
	for i, v := range n.Outputs() {
		if v == nil {
			return nil
		}
		if results[i] = f.env.Constant(v); results[i] == nil {
			return nil
		}
	}
	return results
}

// evaluate computes a node with constant inputs.
func (f *folder) evaluate(n *ir.Node) []*ir.Tensor {
	if !ops.Evaluable(n) || len(n.Inputs()) == 0 || n.OpType == "OptionalHasElement" {
		return nil
	}
	inputs := make([]*ir.Tensor, len(n.Inputs()))
	for i, v := range n.Inputs() {
		if v == nil {
			continue
		}
		if inputs[i] = f.constant(v); inputs[i] == nil {
			return nil
		}
	}
	results, err := ops.Eval(n, inputs)
	if err != nil {
		return nil // what is wrong here is for the runtime, if it ever gets here
	}
	return results
}

// replace puts constants in the place of a node's outputs.
func (f *folder) replace(n *ir.Node, results []*ir.Tensor) {
	outputs := n.Outputs()
	isReturned := func(v *ir.Value) bool { return len(f.returned[v]) > 0 }
	if slices.ContainsFunc(outputs, isReturned) {
		if len(outputs) == 1 {
			f.keepAsConstant(n, results[0])
		}
		return
	}
	discard(n)
	f.changed = true
	for i, v := range outputs {
		if v == nil || len(v.Uses()) == 0 {
			continue
		}
		f.names.move(v)
		t := *results[i]
		t.Name = ""
		v.Init = &t
		f.top.Initializers = append(f.top.Initializers, v)
		f.env.Declare(v)
	}
}

// keepAsConstant makes a node that defines an output of a graph a Constant.
func (f *folder) keepAsConstant(n *ir.Node, t *ir.Tensor) {
	if n.OpType == "Constant" {
		return
	}
	n.OpType = "Constant"
	n.SetInputs(nil)
	n.Attrs = []*ir.Attr{ir.TensorAttr("value", t)}
	f.changed = true
}

// takenBranch returns the branch that an If with a constant condition runs, or
// nil.
func (f *folder) takenBranch(n *ir.Node) *ir.Graph {
	if n.Input(0) == nil {
		return nil
	}
	condition := f.constant(n.Input(0))
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

// splice puts the nodes of a branch in the place of its If. An output of the If
// keeps its value, which the node of the branch defines from now on; an Identity
// defines it where the branch returns a value from outside, or one value twice.
func (f *folder) splice(n *ir.Node, branch *ir.Graph) (next *ir.Node) {
	g, before := n.Graph(), n.Prev()
	f.lift(branch)
	inner := map[*ir.Value]bool{}
	for m := branch.First(); m != nil; m = branch.First() {
		branch.Detach(m)
		g.InsertBefore(m, n)
		for _, v := range m.Outputs() {
			if v != nil {
				f.names.move(v)
				inner[v] = true
			}
		}
	}
	for i, out := range n.Outputs() {
		if out == nil {
			continue
		}
		result := branch.Outputs[i]
		f.drop(result, branch)
		if inner[result] {
			delete(inner, result)
			f.redefine(result, out)
			for j, v := range branch.Outputs {
				if v == result {
					branch.Outputs[j] = out
				}
			}
			continue
		}
		c := ir.NewNode("", "Identity", []*ir.Value{result}, []*ir.Value{out})
		c.Name, c.Meta = n.Name, n.Meta
		g.InsertBefore(c, n)
	}
	discard(n)
	f.changed = true
	if before == nil {
		return g.First()
	}
	return before.Next()
}

// drop forgets that a graph which is taken apart returns a value.
func (f *folder) drop(v *ir.Value, g *ir.Graph) {
	var rest []*ir.Graph
	for _, r := range f.returned[v] {
		if r != g {
			rest = append(rest, r)
		}
	}
	f.returned[v] = rest
}
