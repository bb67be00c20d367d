package passes

import (
	"slices"
	"strings"

	"mobiusc/ir"
	"mobiusc/ops"
)

// checkCall checks a call against the function that is to replace it.
func (r *rewriter) checkCall(n *ir.Node, f *ir.Function) error {
	if cycle := r.cycle(f); cycle != "" {
		return r.fail(n, "a function calls itself: %s", cycle)
	}
	if err := r.checkImports(n, f); err != nil {
		return err
	}
	if got, max := present(n.Inputs()), len(f.Body.Inputs); got > max {
		return r.fail(n, "found %d inputs, expected at most %d: %s", got, max, ir.ValueNames(f.Body.Inputs))
	}
	if got, max := present(n.Outputs()), len(f.Body.Outputs); got > max {
		return r.fail(n, "found %d outputs, expected at most %d: %s", got, max, ir.ValueNames(f.Body.Outputs))
	}
	if err := r.checkRequired(n); err != nil {
		return err
	}
	for _, a := range n.Attrs {
		if !slices.Contains(f.Attributes, a.Name) && f.Default(a.Name) == nil {
			return r.fail(n, "found the attribute %s, which %s does not have", a.Name, functionName(f))
		}
	}
	for i, v := range f.Body.Outputs {
		if n.Output(i) != nil && v.Producer() == nil && !slices.Contains(f.Body.Inputs, v) && !slices.Contains(f.Body.Initializers, v) {
			return r.fail(n, "the body of %s does not define its output %s", functionName(f), v.Name)
		}
	}
	return nil
}

// cycle returns the calls from f back to f, as a → b → a, or "".
func (r *rewriter) cycle(f *ir.Function) string {
	chain := []string{functionName(f)}
	for ; r.function != nil; r = r.outer {
		chain = append(chain, functionName(r.function))
		if r.function == f {
			slices.Reverse(chain)
			return strings.Join(chain, " → ")
		}
	}
	return ""
}

// checkImports checks that a body and the model agree on what operators mean.
func (r *rewriter) checkImports(n *ir.Node, f *ir.Function) error {
	for _, o := range f.Opsets {
		domain := domainOf(o.Domain)
		if domain == "" {
			if o.Version > r.target.Opset {
				return r.fail(n, "the body of %s imports opset %d", functionName(f), o.Version)
			}
			continue
		}
		want := r.model.OpsetVersion(domain)
		if want == 0 {
			want = r.imports[domain]
		}
		if want != 0 && want != o.Version {
			return r.fail(n, "the body of %s imports version %d of domain %s, expected %d, which is imported already", functionName(f), o.Version, domain, want)
		}
		r.imports[domain] = o.Version
	}
	return nil
}

// checkRequired checks a call of a standard operator for the inputs it needs.
func (r *rewriter) checkRequired(n *ir.Node) error {
	schema := ops.Lookup(n.Domain, n.OpType, ops.MaxOpset(n.Domain))
	if schema == nil {
		return nil
	}
	for i, p := range schema.Inputs {
		if v := n.Input(i); p.Option == ops.Single && (v == nil || r.absent[v]) {
			return r.fail(n, "it lacks its input %s", p.Name)
		}
	}
	return nil
}

// present returns the count of values without trailing absent ones.
func present(values []*ir.Value) int {
	n := len(values)
	for n > 0 && values[n-1] == nil {
		n--
	}
	return n
}

// attr returns the attribute that stands for a reference of node n in the body
// of a function: the value of the call, else the function's default, else nil
// where the operator can do without the attribute.
func (b *rewriter) attr(n *ir.Node, ref *ir.Attr) (*ir.Attr, error) {
	value := b.call.Attr(ref.Ref)
	if value == nil {
		value = b.function.Default(ref.Ref)
	}
	if value == nil {
		if !slices.Contains(b.function.Attributes, ref.Ref) {
			return nil, b.outer.fail(b.call, "%s in the body of %s refers to @%s, which is no attribute of the function", describe(n), functionName(b.function), ref.Ref)
		}
		if needsAttr(n, ref.Name) {
			return nil, b.outer.fail(b.call, "found no attribute %s, which %s in the body of %s needs", ref.Ref, describe(n), functionName(b.function))
		}
		return nil, nil
	}
	if ref.Type != ir.AttrUndefined && ref.Type != value.Type {
		return nil, b.outer.fail(b.call, "found the attribute %s of type %s, expected %s", ref.Ref, value.Type, ref.Type)
	}
	a := *value
	a.Name, a.Doc = ref.Name, ref.Doc
	copyGraphs(&a)
	return &a, nil
}

// needsAttr reports whether an operator cannot do without an attribute. A
// Constant has no other than its value. A function that is called settles the
// question where its body refers to the attribute.
func needsAttr(n *ir.Node, name string) bool {
	if ops.IsDefault(n.Domain) && n.OpType == "Constant" {
		return true
	}
	schema := ops.Lookup(n.Domain, n.OpType, ops.MaxOpset(n.Domain))
	if schema == nil {
		return false
	}
	spec := schema.Attr(name)
	return spec != nil && spec.Required
}

// copyGraphs replaces the graphs of an attribute by copies, since a body may
// refer to the attribute more than once.
func copyGraphs(a *ir.Attr) {
	if a.Graph != nil {
		a.Graph = a.Graph.Clone()
	}
	a.Graphs = slices.Clone(a.Graphs)
	for i, g := range a.Graphs {
		a.Graphs[i] = g.Clone()
	}
}

func describe(n *ir.Node) string {
	return "node " + nameOf(n) + " (" + operator(n.Domain, n.OpType, n.Overload) + ")"
}
