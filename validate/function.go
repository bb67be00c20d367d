package validate

import (
	"fmt"
	"slices"
	"strings"

	"mobiusc/internal/number"
	"mobiusc/ir"
	"mobiusc/ops"
)

// functionKey is how a node names a function.
type functionKey struct{ domain, name, overload string }

func keyOf(f *ir.Function) functionKey {
	return functionKey{canonical(f.Domain), f.Name, f.Overload}
}

func (k functionKey) String() string {
	s := domainName(k.domain) + "." + k.name
	if k.overload != "" {
		s += ":" + k.overload
	}
	return s
}

// localFunctions checks the functions of the model, each on its own: with inputs of
// unknown type and attribute parameters of unknown value.
func (w *walk) localFunctions() {
	for _, f := range w.model.Functions {
		if f == nil || f.Body == nil {
			w.report(functionInterface, "a function has no body")
			continue
		}
		key := keyOf(f)
		if w.functions[key] != nil {
			w.report(duplicateFunction, "the function %s is defined twice", key)
			continue
		}
		w.functions[key] = f
	}
	w.recursion()
	w.env = w.newEnv()
	w.unused()
	for _, f := range w.model.Functions {
		if f != nil && f.Body != nil {
			w.function(f)
		}
	}
}

func (w *walk) function(f *ir.Function) {
	body := w.body(f, w.at)
	if w.opts.Standard {
		body.reportHint(functionLeft, "legalise the model: inline the calls", "the model has the function %s", keyOf(f))
	}
	if v := w.model.OpsetVersion(f.Domain); ops.Lookup(f.Domain, f.Name, v) != nil {
		body.report(standardFunction, "ONNX has an operator of this name, and runtimes differ in which of the two a call means")
	}
	body.functionInterface(f)
	body.imports(f.Body, f.Opsets)
	body.functionOpsets(f)
	body.graph(f.Body, nil)
}

// body returns the walk over a function's body.
func (w *walk) body(f *ir.Function, at *place) *walk {
	inner := *w
	inner.at = &place{outer: at, kind: functionPlace, name: keyOf(f).String()}
	inner.fn, inner.opsets, inner.attrs = f, f.Opsets, nil
	inner.env = w.env.InFunction(f, nil)
	return &inner
}

func (w *walk) functionInterface(f *ir.Function) {
	if f.Name == "" {
		w.report(functionInterface, "the function has no name")
	}
	seen := map[string]bool{}
	parameter := func(name string) {
		if seen[name] {
			w.reportMention(functionInterface, ir.Mention{Graph: f.Body, Role: ir.AttributeMention, Name: name}, "", "the attribute parameter %q is listed twice", name)
		}
		seen[name] = true
	}
	for _, name := range f.Attributes {
		parameter(name)
	}
	for _, a := range f.Defaults {
		if a != nil {
			parameter(a.Name)
		}
	}
	outputs := map[string]bool{}
	for _, v := range f.Body.Outputs {
		if v != nil && outputs[v.Name] {
			w.reportMention(functionInterface, ir.Mention{Graph: f.Body, Role: ir.OutputMention, Name: v.Name}, "", "the output %q is listed twice", v.Name)
		}
		if v != nil {
			outputs[v.Name] = true
		}
	}
}

// functionOpsets compares what the operators of a body mean at the function's
// opsets with what they mean at the model's: runtimes read a body by the
// model's.
func (w *walk) functionOpsets(f *ir.Function) {
	var grown []string
	eachNode(f.Body, map[*ir.Graph]bool{}, func(n *ir.Node) {
		own, model := f.OpsetVersion(n.Domain), w.model.OpsetVersion(n.Domain)
		if own == model || model == 0 || !ops.IsStandard(n.Domain) {
			return
		}
		a, b := ops.Lookup(n.Domain, n.OpType, own), ops.Lookup(n.Domain, n.OpType, model)
		if a == b || a == nil {
			return
		}
		if reason := ops.Conflict(n, own, model); reason != "" {
			w.reportNode(functionOpset, n, "the function imports %s %d, the model %d: %s", domainName(n.Domain), own, model, reason)
		} else if change := versioned(a) + " to " + versioned(b); !slices.Contains(grown, change) {
			grown = append(grown, change)
		}
	})
	if len(grown) > 0 {
		w.report(functionOpsetNewer, "at the model's opset the schemas of some operators have grown: %s", abridged(grown))
	}
}

// abridged lists names, of many the first few.
func abridged(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func hasParameter(f *ir.Function, name string) bool {
	for _, a := range f.Attributes {
		if a == name {
			return true
		}
	}
	return f.Default(name) != nil
}

// callees returns the functions that a function's body calls.
func (w *walk) callees(f *ir.Function) []*ir.Function {
	var out []*ir.Function
	eachNode(f.Body, map[*ir.Graph]bool{}, func(n *ir.Node) {
		if g := w.functions[functionKey{canonical(n.Domain), n.OpType, n.Overload}]; g != nil {
			out = append(out, g)
		}
	})
	return out
}

// recursion reports functions that call themselves, with the chain of calls.
func (w *walk) recursion() {
	w.recursive = map[*ir.Function]bool{}
	done := map[*ir.Function]bool{}
	var path []*ir.Function
	var visit func(f *ir.Function)
	visit = func(f *ir.Function) {
		for i, g := range path {
			if g == f {
				w.circle(path[i:])
				return
			}
		}
		if done[f] || len(path) > maxDepth {
			return
		}
		path = append(path, f)
		for _, g := range w.callees(f) {
			visit(g)
		}
		path = path[:len(path)-1]
		done[f] = true
	}
	for _, f := range w.model.Functions {
		if f != nil && f.Body != nil {
			visit(f)
		}
	}
}

func (w *walk) circle(functions []*ir.Function) {
	var names []string
	for _, f := range append(functions[:len(functions):len(functions)], functions[0]) {
		names = append(names, keyOf(f).String())
		w.recursive[f] = true
	}
	w.body(functions[0], w.at).report(RecursiveFunction, "the function calls itself: %s", strings.Join(names, " → "))
}

// unused reports functions that the graph does not reach.
func (w *walk) unused() {
	reached := map[*ir.Function]bool{}
	var reach func(f *ir.Function)
	reach = func(f *ir.Function) {
		if reached[f] {
			return
		}
		reached[f] = true
		for _, g := range w.callees(f) {
			reach(g)
		}
	}
	if w.model.Graph != nil {
		for _, f := range w.callees(&ir.Function{Body: w.model.Graph}) {
			reach(f)
		}
	}
	for _, f := range w.model.Functions {
		if f != nil && f.Body != nil && w.functions[keyOf(f)] == f && !reached[f] {
			w.body(f, w.at).report(unusedFunction, "nothing calls the function")
		}
	}
}

// maxCallNodes bounds the nodes that are checked once more for calls: functions
// that call each other twice a level would double the work at each.
const maxCallNodes = 1 << 20

// call checks a node that calls a function, and the body with the types and
// attributes of this call.
func (w *walk) call(n *ir.Node, f *ir.Function) {
	if have, most := len(n.Inputs()), len(f.Body.Inputs); have > most {
		w.reportNode(inputCount, n, "the function %s takes at most %s, found %d", keyOf(f), number.Count(most, "input"), have)
	}
	if have, most := len(n.Outputs()), len(f.Body.Outputs); have > most {
		w.reportNode(outputCount, n, "the function %s has %s, found %d", keyOf(f), number.Count(most, "output"), have)
	}
	for _, a := range n.Attrs {
		if a.Name != "" && !hasParameter(f, a.Name) {
			w.reportMention(unknownAttribute, attributeOf(n, a), "", "the function %s has no attribute parameter %s", keyOf(f), a.Name)
		}
	}
	for _, name := range f.Attributes {
		if n.Attr(name) == nil {
			w.reportNode(missingAttribute, n, "the function %s needs the attribute %s", keyOf(f), name)
		}
	}
	if w.recursive[f] || w.fn != nil && w.attrs == nil {
		return // endless, or of unknown types: nothing to learn
	}
	if w.callNodes += f.Body.Len(); w.callNodes > maxCallNodes {
		return
	}
	if w.calls >= maxDepth {
		w.reportNode(callDepth, n, "calls are nested more than %d deep", maxDepth)
		return
	}
	w.callTypes(n, f)
}

// callTypes checks a function's body for one call and takes over the types of
// its outputs.
func (w *walk) callTypes(n *ir.Node, f *ir.Function) {
	inner := w.body(f, &place{outer: w.at, kind: nodePlace, node: n})
	inner.calls++
	inner.attrs = map[string]*ir.Attr{}
	for _, d := range f.Defaults {
		if d != nil {
			inner.attrs[d.Name] = d
		}
	}
	for _, a := range n.Attrs {
		if v := w.attr(n, a.Name); v != nil {
			inner.attrs[a.Name] = v
		}
	}
	inner.env = w.env.InFunction(f, inner.attrs)
	for i, v := range f.Body.Inputs {
		if arg := n.Input(i); v != nil && arg != nil {
			inner.env.SetType(v, w.typeOf(arg))
			inner.env.Assume(v, arg, w.env)
		}
	}
	inner.graph(f.Body, nil)
	for i, v := range n.Outputs() {
		if v != nil && i < len(f.Body.Outputs) {
			w.produces(n, v, inner.typeOf(f.Body.Outputs[i]))
		}
	}
}
