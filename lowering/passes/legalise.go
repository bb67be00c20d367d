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

// NodeError says why a node cannot be made one of the target's.
type NodeError struct {
	Name     string // of the node, or of its first output, behind those of the calls whose bodies hold it
	Operator string
	Source   string   // the place in the spec, or ""
	Within   []string // the functions whose bodies hold the node, outermost first
	Opset    int64    // of the target
	Reason   string
}

// Error names the node, its place in the spec, the chain of calls and the target.
func (e *NodeError) Error() string {
	var b strings.Builder
	if e.Source != "" {
		b.WriteString(e.Source + ": ")
	}
	fmt.Fprintf(&b, "node %q (%s)", e.Name, e.Operator)
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
// target executes; and it computes what is known before the model runs. The two
// are one walk, since bodies are written to be specialised: what a call gives
// decides their conditions. Bodies come from the model's own functions, then
// from package ops; calls of standard operators that are newer than the target
// are calls like any other.
//
// Before: nodes are ordered, names are unique among values that see each other.
// The nodes of the graph are written for the target's opset, or for an older one
// that the model imports, under which they mean the same. Types may be missing.
//
// After: the target accepts every node; the model has no functions, imports the
// target's opset, and no longer imports the domains that only functions were of.
// Every value has the type that inference gives it; a size that depends on data
// has a symbol that is named after the value which it is an axis, or the
// content, of, and that no input of the graph has. And of standard operators:
//   - Every constant is an initializer of the model's graph, where all subgraphs
//     can read it and equal ones can be merged; only one that a graph returns, if
//     it is not large, is a Constant node.
//   - No node has only constant inputs, unless its results are large; none
//     computes integers that inference knows (the Shape of a value with static
//     dims, and what is gathered from it).
//   - Integers that inference knows in symbols, as the length of a sequence, are
//     computed once among the nodes of a graph, from whatever tensor, and once in
//     the body of a function with its subgraphs.
//   - No If has a constant condition; no OptionalHasElement asks for what is
//     certain; no CastLike has a known type.
//   - No node only passes on what it reads (see unchanged), but where an output
//     of a graph is otherwise an input, a large constant or another output.
//
// Anything of this, but for types, counts as a change.
//
// An inlined node is named call/name, where name is the body's name for it, or
// for its first output; a value of a body keeps the body's name for it, with a
// number. The outputs of the call stay the values they are. The metadata of an
// inlined node holds the source of the call, and under function the function
// whose body it is from.
//
// A node that cannot be made one of the target's, or that contradicts its
// inputs' types, is an error of type *NodeError.
func Legalise(m *ir.Model, t Target) (changed bool, err error) {
	l := newLegaliser(m, t)
	if err := l.rewriter.graph(m.Graph); err != nil {
		return false, err
	}
	return l.finish() || l.changed, nil
}

// legaliser is one run of Legalise.
type legaliser struct {
	*rewriter // of the model's graph

	model   *ir.Model
	target  Target
	local   map[functionKey]*ir.Function
	imports map[string]int64 // versions of other domains that inlined functions import
	called  map[string]bool  // domains of inlined functions

	templates map[string]*template // by signature
	copied    int                  // nodes that were copied
	limit     int                  // of copied

	values, nodes names             // in use in the model
	named         map[string]symbol // sizes that have names in the model
}

// maxCopied limits how many nodes are copied: functions that call others many
// times over multiply.
const maxCopied = 1 << 22

type functionKey struct{ domain, name, overload string }

func newLegaliser(m *ir.Model, t Target) *legaliser {
	expected := 4 * m.Graph.Len() // nodes, when calls have been replaced
	l := &legaliser{
		model: m, target: t, local: map[functionKey]*ir.Function{}, imports: map[string]int64{}, called: map[string]bool{},
		templates: map[string]*template{}, limit: maxCopied, values: make(names, expected), nodes: make(names, expected),
	}
	for _, f := range m.Functions {
		l.local[functionKey{domainOf(f.Domain), f.Name, f.Overload}] = f
	}
	l.values.enter(m.Graph)
	for n := range m.Graph.AllNodes() {
		l.nodes[n.Name]++
	}
	l.rewriter = newRewriter(l, m.Graph, targetEnv(m, t))
	l.named = map[string]symbol{}
	for name := range declaredSymbols(m.Graph) {
		l.values[name]++
		l.named[name] = symbol{} // of no value
	}
	l.env.Symbol = l.nameSize
	return l
}

// nameSize names a size after its value. One whose name means another size
// already stays unknown.
func (l *legaliser) nameSize(v *ir.Value, axis int) string {
	name := valueSymbol(v, axis)
	size := symbol{name, v, axis}
	if other, taken := l.named[name]; taken && other != size {
		return ""
	}
	l.named[name] = size
	return name
}

// declaredSymbols returns the symbols in the types of a graph's inputs.
func declaredSymbols(g *ir.Graph) map[string]bool {
	names := map[string]bool{}
	for _, v := range g.Inputs {
		if v.Type == nil {
			continue
		}
		for _, d := range v.Type.Shape {
			for _, name := range d.Symbols() {
				names[name] = true
			}
		}
	}
	return names
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

// finish brings the imports and functions of the model up to date.
func (l *legaliser) finish() (changed bool) {
	m := l.model
	used := map[string]bool{"": true}
	for n := range m.Graph.AllNodes() {
		used[domainOf(n.Domain)] = true
	}
	opsets := []ir.Opset{{Version: l.target.Opset}}
	for _, o := range m.Opsets {
		switch domain := domainOf(o.Domain); {
		case domain == "":
		case used[domain] || !l.called[domain]:
			opsets = append(opsets, o)
		}
	}
	for _, domain := range slices.Sorted(maps.Keys(l.imports)) {
		if used[domain] && m.OpsetVersion(domain) == 0 {
			opsets = append(opsets, ir.Opset{Domain: domain, Version: l.imports[domain]})
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
