package passes

import (
	"fmt"
	"slices"
	"strconv"

	"mobiusc/ir"
	"mobiusc/ops"
)

// inliner is one run of Legalise. It visits the nodes in order; all before the
// node in hand are final, so that their types and constants are known when the
// node is decided on.
type inliner struct {
	model  *ir.Model
	target Target
	local  map[functionKey]*ir.Function
	env    *ops.Env

	sites   map[*ir.Node]*site
	absent  map[*ir.Value]bool // the inputs of inlined functions that the call leaves out
	imports map[string]int64   // versions of other domains that inlined functions import
	called  map[string]bool    // domains of inlined functions
	values  names
	nodes   names
	inlined int // nodes that were copied
	limit   int // of inlined
	changed bool
}

// maxInlined limits how many nodes are copied: functions that call others many
// times over multiply.
const maxInlined = 1 << 22

type functionKey struct{ domain, name, overload string }

// site is a call that was replaced by the body of its function.
type site struct {
	outer    *site // the site that brought the call, or nil
	call     *ir.Node
	function *ir.Function
}

func newInliner(m *ir.Model, t Target) *inliner {
	in := &inliner{
		model: m, target: t, local: map[functionKey]*ir.Function{}, env: targetEnv(m, t),
		sites: map[*ir.Node]*site{}, absent: map[*ir.Value]bool{}, imports: map[string]int64{},
		called: map[string]bool{}, values: names{}, nodes: names{}, limit: maxInlined,
	}
	for _, f := range m.Functions {
		in.local[functionKey{domainOf(f.Domain), f.Name, f.Overload}] = f
	}
	enterNames(in.values, m.Graph)
	for n := range m.Graph.AllNodes() {
		in.nodes[n.Name]++
	}
	return in
}

// targetEnv returns an environment for the model's graph under the target's
// opset. It knows the functions of operators that do not exist there, so that
// the types of loop bodies which call them can be told before they are inlined.
func targetEnv(m *ir.Model, t Target) *ops.Env {
	view := &ir.Model{Opsets: []ir.Opset{{Version: t.Opset}}}
	for _, o := range m.Opsets {
		if !ops.IsDefault(o.Domain) {
			view.Opsets = append(view.Opsets, o)
		}
	}
	for _, f := range ops.Functions() {
		if f == ops.FunctionFor(f.Domain, f.Name, t.Opset) && ops.Lookup(f.Domain, f.Name, t.Opset) == nil {
			view.Functions = append(view.Functions, f)
		}
	}
	view.Functions = append(view.Functions, m.Functions...)
	return ops.NewModelEnv(view)
}

// names holds the names in use, and how often each was asked for.
type names map[string]int

// unique returns the name, with a number where it is taken.
func (s names) unique(name string) string {
	s[name]++
	if n := s[name]; n > 1 {
		return s.unique(name + "_" + strconv.Itoa(n))
	}
	return name
}

// fail returns an error about a node.
func (in *inliner) fail(n *ir.Node, format string, args ...any) error {
	e := &CallError{Node: n, Source: n.Meta.Get("source"), Opset: in.target.Opset, Reason: fmt.Sprintf(format, args...)}
	for s := in.sites[n]; s != nil; s = s.outer {
		e.Within = append(e.Within, functionName(s.function))
	}
	slices.Reverse(e.Within)
	return e
}

// graph legalises a graph in place.
func (in *inliner) graph(g *ir.Graph) error {
	for _, v := range g.Initializers {
		if !slices.Contains(g.Inputs, v) { // an input's initializer is only its default
			in.env.Declare(v)
		}
	}
	for n := g.First(); n != nil; {
		next, err := in.node(n)
		if err != nil {
			return err
		}
		n = next
	}
	return nil
}

// node brings one node into its final form and returns the node to visit next,
// which is the first of those that took its place, if any did.
func (in *inliner) node(n *ir.Node) (next *ir.Node, err error) {
	inlined := in.sites[n] != nil
	if inlined {
		if next, done, err := in.specialise(n); done || err != nil {
			return next, err
		}
	}
	if !in.target.accepts(n) {
		return in.inline(n)
	}
	if err := in.checkAccepted(n); err != nil {
		return nil, err
	}
	if err := in.infer(n); err != nil {
		return nil, err
	}
	next = n.Next()
	if inlined {
		return next, in.foldKnown(n)
	}
	return next, nil
}

// infer gives the outputs of a node their types, and legalises its subgraphs.
func (in *inliner) infer(n *ir.Node) error {
	for g := range n.Subgraphs() {
		if len(g.Inputs) > 0 {
			// The inputs of loop bodies get their types from the node. Its faults
			// are those of what is still to be inlined; if any stays, it is met below.
			_ = in.env.Infer(n)
			break
		}
	}
	for g := range n.Subgraphs() {
		if err := in.graph(g); err != nil {
			return err
		}
		for _, v := range g.Outputs {
			if in.absent[v] {
				return in.fail(n, "its subgraph %s returns the input %s, which the call of %s leaves out", g.Name, v.Name, functionName(in.sites[n].function))
			}
		}
	}
	if err := in.env.Infer(n); err != nil {
		return in.fail(n, "%v", err)
	}
	return nil
}

// checkAccepted checks that a node which stays means what it meant where it was
// written, and that no input it needs is one that a call left out.
func (in *inliner) checkAccepted(n *ir.Node) error {
	if err := in.settleAbsent(n); err != nil {
		return err
	}
	if !ops.IsDefault(n.Domain) {
		return nil
	}
	versions := ops.Versions(n.Domain, n.OpType)
	from := in.writtenFor(n)
	if len(versions) == 0 || from == 0 {
		return nil
	}
	// An operator newer than what the body imports means its first version.
	from = max(from, versions[0].Since)
	if reason := ops.Conflict(n, from, in.target.Opset); reason != "" {
		return in.fail(n, "it is written for opset %d, and %s", from, reason)
	}
	return nil
}

// writtenFor returns the opset version that a node was written for; 0: the target's.
func (in *inliner) writtenFor(n *ir.Node) int64 {
	if s := in.sites[n]; s != nil {
		return s.function.OpsetVersion("")
	}
	return in.model.OpsetVersion("")
}

// settleAbsent removes from a node's inputs those that the call around it left
// out. It fails where the operator needs the input.
func (in *inliner) settleAbsent(n *ir.Node) error {
	schema := ops.Lookup(n.Domain, n.OpType, in.schemaVersion(n))
	inputs := slices.Clone(n.Inputs())
	for i, v := range inputs {
		if v == nil || !in.absent[v] {
			continue
		}
		if schema != nil {
			if p := schema.Input(i); p != nil && p.Option != ops.Optional {
				return in.fail(n, "it needs the input %s, which the call of %s leaves out", v.Name, functionName(in.sites[n].function))
			}
		}
		inputs[i] = nil
	}
	for len(inputs) > 0 && inputs[len(inputs)-1] == nil {
		inputs = inputs[:len(inputs)-1]
	}
	if !slices.Equal(inputs, n.Inputs()) && in.sites[n] != nil {
		n.SetInputs(inputs)
	}
	return nil
}

func (in *inliner) schemaVersion(n *ir.Node) int64 {
	if ops.IsDefault(n.Domain) {
		return in.target.Opset
	}
	return ops.MaxOpset(n.Domain)
}
