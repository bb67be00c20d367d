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

// constant returns the content of a value, or nil.
func (r *rewriter) constant(v *ir.Value) *ir.Tensor {
	if t := v.Init; t != nil && !r.inputs[v] && t.External == nil && t.Len() >= 0 && t.Len() <= maxFoldInput {
		return t
	}
	return r.env.Constant(v)
}

// evaluate computes the outputs of a node from what it reads, if all of that is
// known. Of a node that is at fault inference says so, or the runtime, if it ever
// gets there.
func (r *rewriter) evaluate(n *ir.Node) []*ir.Tensor {
	results := r.results(n)
	if len(results) < len(n.Outputs()) {
		return nil // the operator has no more
	}
	return results
}

func (r *rewriter) results(n *ir.Node) []*ir.Tensor {
	switch {
	case n.OpType == "Constant":
		if t, err := ops.ConstantTensor(n); err == nil {
			return []*ir.Tensor{t}
		}
		return nil
	case n.OpType == "OptionalHasElement":
		if has, known := r.hasElement(n); known {
			return []*ir.Tensor{ops.Scalar(ir.Bool, has)}
		}
		return nil
	case n.OpType == "Identity" && !r.keeps(n.Output(0)):
		return nil // bypass does without a copy of the constant
	case !ops.Evaluable(n) || len(n.Inputs()) == 0:
		return nil
	}
	inputs := make([]*ir.Tensor, len(n.Inputs()))
	for i, v := range n.Inputs() {
		if v == nil {
			continue
		}
		if inputs[i] = r.constant(v); inputs[i] == nil {
			return nil
		}
	}
	results, err := ops.Eval(n, inputs)
	if err != nil || slices.ContainsFunc(results, isLarge) {
		return nil
	}
	return results
}

func isLarge(t *ir.Tensor) bool { return t == nil || t.Len() > maxFoldResult }

// hasElement tells, as 0 or 1, whether an optional value is there. Of one that
// is itself of optional type, only running the graph can tell.
func (r *rewriter) hasElement(n *ir.Node) (has float64, known bool) {
	v := n.Input(0)
	if v == nil || r.absent[v] {
		return 0, true
	}
	t := r.env.Type(v)
	return 1, t != nil && t.Kind != ir.OptionalKind
}

// known returns the results of a node that inference has found, if it has found
// all, as those of Shape where the dims are numbers.
func (r *rewriter) known(n *ir.Node) []*ir.Tensor {
	if n.OpType == "Constant" || n.OpType == "Identity" || len(n.Outputs()) == 0 {
		return nil
	}
	results := make([]*ir.Tensor, len(n.Outputs()))
	for i, v := range n.Outputs() {
		if v == nil {
			return nil
		}
		if results[i] = r.env.Constant(v); results[i] == nil {
			return nil
		}
	}
	return results
}

// replace puts constants in the place of a node's outputs: initializers, or
// Constant nodes where a graph returns them.
func (r *rewriter) replace(n *ir.Node, results []*ir.Tensor) error {
	if n.OpType == "Constant" && r.keeps(n.Output(0)) {
		return r.infer(n) // it stays as it is
	}
	for i, v := range n.Outputs() {
		if v == nil || len(v.Uses()) == 0 && len(r.returned[v]) == 0 {
			continue
		}
		t := *results[i]
		t.Name = ""
		if !r.keeps(v) {
			if err := r.addConstant(v, &t); err != nil {
				return r.fail(n, "%v", err)
			}
			continue
		}
		c := ir.NewNode("", "Constant", nil, []*ir.Value{v}, ir.TensorAttr("value", &t))
		c.Name, c.Meta = n.Name, n.Meta
		if i > 0 {
			c.Name = r.nodeName(n.Name)
		}
		n.Graph().InsertBefore(c, n)
		if err := r.infer(c); err != nil {
			return err
		}
	}
	r.discard(n)
	return nil
}

// keeps reports whether a value must be defined by a node of the graph that
// returns it. Those that a function body returns need not: the call's graph
// sees to its own outputs.
func (r *rewriter) keeps(v *ir.Value) bool {
	return slices.ContainsFunc(r.returned[v], func(g *ir.Graph) bool { return r.function == nil || g != r.top })
}

// addConstant makes a value an initializer.
func (r *rewriter) addConstant(v *ir.Value, t *ir.Tensor) error {
	if r.function == nil {
		r.values.move(v)
	}
	r.top.Initializers = append(r.top.Initializers, v)
	return r.env.SetConstant(v, t)
}

// lift moves the initializers of a subgraph to the graph.
func (r *rewriter) lift(g *ir.Graph) {
	var kept []*ir.Value
	for _, v := range g.Initializers {
		if r.inputs[v] || r.keeps(v) {
			kept = append(kept, v)
			continue
		}
		if r.function == nil {
			r.values.move(v)
		}
		r.top.Initializers = append(r.top.Initializers, v)
		r.env.Declare(v)
		r.changed = true
	}
	g.Initializers = kept
}

// discard removes a node.
func (r *rewriter) discard(n *ir.Node) {
	for g := range n.Subgraphs() {
		r.returned.drop(g)
	}
	n.Graph().Remove(n)
	r.changed = true
}
