package passes

import (
	"fmt"
	"slices"

	"mobiusc/ir"
	"mobiusc/ops"
)

// rewriter legalises one graph with its subgraphs: the model's, or the body of a
// function for calls of one signature. It visits the nodes in order; all before
// the node in hand are final, so that their types and constants are known when
// the node is decided on.
type rewriter struct {
	*legaliser
	top      *ir.Graph
	env      *ops.Env
	returned returners
	inputs   map[*ir.Value]bool // of the graph and subgraphs: their initializers are defaults
	changed  bool

	// Of the body of a function: the rewriter of the graph with the call, the
	// call, the function, and the inputs that the call leaves out.
	outer    *rewriter
	call     *ir.Node
	function *ir.Function
	absent   map[*ir.Value]bool
	symbols  []symbol

	constants map[*ir.Value]*ir.Value // copies of templates' constants
	sizes     *knownSizes             // of the graph in hand
	contents  map[*ir.Node]string     // see contentKey
}

func newRewriter(l *legaliser, g *ir.Graph, env *ops.Env) *rewriter {
	return &rewriter{
		legaliser: l, top: g, env: env, returned: returnersOf(g), inputs: map[*ir.Value]bool{},
		constants: map[*ir.Value]*ir.Value{}, contents: map[*ir.Node]string{},
	}
}

// fail returns an error about a node.
func (r *rewriter) fail(n *ir.Node, format string, args ...any) error {
	e := &NodeError{
		Name: nameOf(n), Operator: operator(n.Domain, n.OpType, n.Overload), Source: n.Meta.Get("source"),
		Opset: r.target.Opset, Reason: fmt.Sprintf(format, args...),
	}
	for ; r.function != nil; r = r.outer {
		e.Name = nameOf(r.call) + "/" + e.Name
		e.Source = r.call.Meta.Get("source")
		e.Within = append(e.Within, functionName(r.function))
	}
	slices.Reverse(e.Within)
	return e
}

// graph legalises the graph or a subgraph.
func (r *rewriter) graph(g *ir.Graph) error {
	for _, v := range g.Inputs {
		r.inputs[v] = true
	}
	if g != r.top {
		r.lift(g)
	}
	r.sizes = &knownSizes{r.sizes, map[string]*ir.Node{}}
	defer func() { r.sizes = r.sizes.outer }()
	for _, v := range g.Initializers {
		if !r.inputs[v] {
			r.env.Declare(v)
		}
	}
	for n := g.First(); n != nil; {
		next, err := r.node(n)
		if err != nil {
			return err
		}
		n = next
	}
	return nil
}

// node brings one node into its final form and returns the node to visit next,
// which is the first of those that took its place, if any did.
func (r *rewriter) node(n *ir.Node) (next *ir.Node, err error) {
	// Before the target is asked: it may lack an operator that goes away.
	if next, done, err := r.decide(n); done || err != nil {
		return next, err
	}
	if !r.target.accepts(n) {
		return r.expand(n)
	}
	if err := r.checkAccepted(n); err != nil {
		return nil, err
	}
	if err := r.infer(n); err != nil {
		return nil, err
	}
	next = n.Next()
	if !ops.IsDefault(n.Domain) {
		return next, nil
	}
	again, err := r.simplify(n)
	if again {
		next = n
	}
	return next, err
}

// decide replaces a node by constants, or an If by the branch it takes, if what
// the node reads is enough to tell. next is the node to visit next.
func (r *rewriter) decide(n *ir.Node) (next *ir.Node, done bool, err error) {
	if !ops.IsDefault(n.Domain) {
		return nil, false, nil
	}
	next = n.Next()
	if n.OpType == "If" {
		if branch := r.takenBranch(n); branch != nil {
			return r.splice(n, branch), true, nil
		}
		return nil, false, nil
	}
	results := r.evaluate(n)
	if results == nil {
		return nil, false, nil
	}
	return next, true, r.replace(n, results)
}

// simplify replaces a node whose outputs have their types. again says that the
// node has become another, to be visited once more.
func (r *rewriter) simplify(n *ir.Node) (again bool, err error) {
	if results := r.known(n); results != nil {
		return false, r.replace(n, results)
	}
	r.joinReshapes(n)
	if from := r.unchanged(n); from != nil && r.bypass(n, from) {
		return false, nil
	}
	if r.castLike(n) {
		return true, nil
	}
	r.shareSizes(n)
	return false, nil
}

// infer gives the outputs of a node their types, and legalises its subgraphs.
func (r *rewriter) infer(n *ir.Node) error {
	// A body may call what is still to be inlined. If that has faults that stay,
	// they are met below.
	_ = r.env.InferInputs(n)
	for g := range n.Subgraphs() {
		if err := r.graph(g); err != nil {
			return err
		}
		for _, v := range g.Outputs {
			if r.absent[v] {
				return r.fail(n, "its subgraph %s returns the input %s, which the call of %s leaves out", g.Name, v.Name, functionName(r.function))
			}
		}
	}
	if err := r.env.InferOutputs(n); err != nil {
		return r.fail(n, "%v", err)
	}
	return nil
}

// checkAccepted checks that a node which stays means what it meant where it was
// written, and that no input it needs is one that a call left out.
func (r *rewriter) checkAccepted(n *ir.Node) error {
	if err := r.settleAbsent(n); err != nil {
		return err
	}
	if !ops.IsDefault(n.Domain) {
		return nil
	}
	from := r.model.OpsetVersion("")
	if r.function != nil {
		from = r.function.OpsetVersion("")
	}
	versions := ops.Versions(n.Domain, n.OpType)
	if len(versions) == 0 || from == 0 || from == r.target.Opset {
		return nil
	}
	// An operator newer than what the body imports means its first version.
	from = max(from, versions[0].Since)
	if reason := ops.Conflict(n, from, r.target.Opset); reason != "" {
		return r.fail(n, "it is written for opset %d, and %s", from, reason)
	}
	return nil
}

// settleAbsent removes from a node's inputs those that the call around it left
// out. It fails where the operator needs the input.
func (r *rewriter) settleAbsent(n *ir.Node) error {
	if len(r.absent) == 0 {
		return nil
	}
	version := r.target.Opset
	if !ops.IsDefault(n.Domain) {
		version = ops.MaxOpset(n.Domain)
	}
	schema := ops.Lookup(n.Domain, n.OpType, version)
	inputs := slices.Clone(n.Inputs())
	for i, v := range inputs {
		if v == nil || !r.absent[v] {
			continue
		}
		if schema != nil {
			if p := schema.Input(i); p != nil && p.Option != ops.Optional {
				return r.fail(n, "it needs the input %s, which the call of %s leaves out", v.Name, functionName(r.function))
			}
		}
		inputs[i] = nil
	}
	for len(inputs) > 0 && inputs[len(inputs)-1] == nil {
		inputs = inputs[:len(inputs)-1]
	}
	if !slices.Equal(inputs, n.Inputs()) {
		n.SetInputs(inputs)
	}
	return nil
}
