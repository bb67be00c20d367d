package passes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mobiusc/ir"
	"mobiusc/ops"
)

// Target says what a runtime executes.
type Target struct {
	Opset int64 // version of ai.onnx that its models import
	// Accepts reports whether the runtime executes a node as it stands. If it
	// is nil, the runtime executes every operator that ONNX defines at Opset.
	Accepts func(n *ir.Node) bool
}

// Defines reports whether ONNX defines a node's operator at version opset of
// ai.onnx, or in another standard domain.
func Defines(n *ir.Node, opset int64) bool {
	if !ops.IsDefault(n.Domain) {
		opset = ops.MaxOpset(n.Domain)
	}
	s := ops.Lookup(n.Domain, n.OpType, opset)
	return s != nil && !s.Deprecated
}

func (t Target) accepts(n *ir.Node) bool {
	if t.Accepts != nil {
		return t.Accepts(n)
	}
	return Defines(n, t.Opset)
}

// CallError says why a call cannot be replaced by a function body.
type CallError struct {
	Node   *ir.Node
	Source string   // the node's place in the spec, or ""
	Within []string // the inlined functions whose bodies hold the node, outermost first
	Opset  int64    // of the target
	Reason string
}

// Error names the node, its place in the spec, the chain of calls and the target.
func (e *CallError) Error() string {
	var b strings.Builder
	if e.Source != "" {
		b.WriteString(e.Source + ": ")
	}
	fmt.Fprintf(&b, "node %q (%s)", e.Node.Name, operator(e.Node.Domain, e.Node.OpType, e.Node.Overload))
	if len(e.Within) > 0 {
		b.WriteString(" in " + strings.Join(e.Within, " → "))
	}
	fmt.Fprintf(&b, ", for opset %d: %s", e.Opset, e.Reason)
	return b.String()
}

// operator returns domain.op:overload; the default domain is left out.
func operator(domain, op, overload string) string {
	if !ops.IsDefault(domain) {
		op = domain + "." + op
	}
	if overload != "" {
		op += ":" + overload
	}
	return op
}

func functionName(f *ir.Function) string { return operator(f.Domain, f.Name, f.Overload) }

// Legalise replaces every node that the target does not execute by the body of
// its function, recursively and in subgraphs, until only nodes remain that the
// target executes. Bodies come from the model's own functions, then from
// package ops; calls of standard operators that are newer than the target are
// calls like any other.
//
// Before: nodes are ordered, names are unique, and every value has a type. The
// nodes of the graph are written for the target's opset, or for an older one
// that the model imports, under which they mean the same.
// After: the target accepts every node; the model has no functions, imports the
// target's opset, and no longer imports the domains that only functions were of.
//
// Inlined code is specialised: nodes that compute a constant become Constant
// nodes, OptionalHasElement of a call's input among them; an If whose condition
// is constant gives way to its branch; nodes whose values nothing reads are
// left out. The nodes that the graph had before are not touched.
//
// An inlined node is named call/name, where name is that of its first output if
// the body does not name it, and so are values; the outputs of the call stay
// the values they are. Its metadata holds the source of the call, and under
// function the function that it comes from.
//
// What cannot be replaced is an error of type *CallError.
func Legalise(m *ir.Model, t Target) (changed bool, err error) {
	in := newInliner(m, t)
	if err := in.graph(m.Graph); err != nil {
		return false, err
	}
	in.sweep(m.Graph)
	return in.finish() || in.changed, nil
}

// finish brings the imports and functions of the model up to date.
func (in *inliner) finish() (changed bool) {
	m := in.model
	used := map[string]bool{"": true}
	for n := range m.Graph.AllNodes() {
		used[domainOf(n.Domain)] = true
	}
	opsets := []ir.Opset{{Version: in.target.Opset}}
	for _, o := range m.Opsets {
		switch domain := domainOf(o.Domain); {
		case domain == "":
		case used[domain] || !in.called[domain]:
			opsets = append(opsets, o)
		}
	}
	for _, domain := range slices.Sorted(maps.Keys(in.imports)) {
		if used[domain] && m.OpsetVersion(domain) == 0 {
			opsets = append(opsets, ir.Opset{Domain: domain, Version: in.imports[domain]})
		}
	}
	changed = len(m.Functions) > 0 || !slices.Equal(opsets, m.Opsets)
	m.Opsets, m.Functions = opsets, nil
	return changed
}

// domainOf maps both names of the default domain to one.
func domainOf(domain string) string {
	if ops.IsDefault(domain) {
		return ""
	}
	return domain
}
