package validate

import (
	"mobiusc/internal/suggest"
	"mobiusc/ir"
)

// maxDepth bounds nesting (subgraphs, types). Protobuf readers stop at 100
// messages, so that no file reaches it.
const maxDepth = 100

// scope is what the names of one graph stand for.
type scope struct {
	outer *scope
	defs  map[string]definition
	// at is the position of the node being checked: names that are defined
	// there or later are not visible yet.
	at int
	// unordered: some node reads what a later node of this graph defines.
	unordered bool
}

// definition is what a name stands for and where it becomes visible: position 0
// for inputs and initializers, i+1 for the outputs of node i.
type definition struct {
	value *ir.Value
	pos   int
	twice bool
}

// visible returns the value that a name stands for at the node being checked.
func (s *scope) visible(name string) (definition, bool) {
	for ; s != nil; s = s.outer {
		if d, ok := s.defs[name]; ok && d.pos <= s.at {
			return d, true
		}
	}
	return definition{}, false
}

// graph checks one graph, its nodes and their subgraphs.
func (w *walk) graph(g *ir.Graph, outer *scope) {
	if w.active[g] || len(w.active) > maxDepth {
		w.report(nestedGraph, "the graph %q contains itself, or is nested in more than %d others", g.Name, maxDepth)
		return
	}
	w.active[g] = true
	defer delete(w.active, g)

	if outer == nil && w.fn == nil {
		w = w.in(&place{outer: w.at, kind: graphPlace, name: g.Name})
	}
	if g.Name == "" && w.fn == nil {
		w.report(emptyName, "the graph has no name")
	}
	s := w.define(g, outer)
	w.graphInterface(g, outer == nil && w.fn == nil)
	for n := range g.Nodes() {
		w.reads(n, s)
		w.node(n, s)
		s.at++
	}
	if s.unordered {
		w.cycles(g)
	}
	w.graphOutputs(g, s)
}

// in returns the walk at an inner place.
func (w *walk) in(at *place) *walk {
	inner := *w
	inner.at = at
	return &inner
}

// define collects the definitions of a graph and reports names that are
// defined twice.
func (w *walk) define(g *ir.Graph, outer *scope) *scope {
	s := &scope{outer: outer, defs: make(map[string]definition, len(g.Inputs)+len(g.Initializers)+g.Len())}
	for _, v := range g.Inputs {
		w.defineInput(g, s, v, "input")
	}
	seen := make(map[string]bool, len(g.Initializers))
	for _, v := range g.Initializers {
		if v == nil {
			w.report(emptyName, "the list of initializers has an empty entry")
			continue
		}
		if seen[v.Name] && v.Name != "" {
			w.reportMention(duplicateDefinition, ir.Mention{Graph: g, Role: ir.InputMention, Name: v.Name}, "", "%q is defined as an initializer twice", v.Name)
		}
		seen[v.Name] = true
		if d, ok := s.defs[v.Name]; !ok || d.value != v {
			w.defineInput(g, s, v, "initializer")
		}
		w.initializer(g, v, s)
	}
	pos, names := 0, make(map[string]bool, g.Len())
	for n := range g.Nodes() {
		pos++
		if n.Name != "" && names[n.Name] {
			w.reportNode(duplicateNodeName, n, "another node of the graph has the same name")
		}
		names[n.Name] = true
		for _, v := range n.Outputs() {
			w.defineOutput(s, n, v, pos)
		}
	}
	return s
}

// defineInput enters an input or initializer. An initializer may share the
// name of an input: it is the input's default then.
func (w *walk) defineInput(g *ir.Graph, s *scope, v *ir.Value, kind string) {
	if v == nil || v.Name == "" {
		w.report(emptyName, "an %s of the graph has no name", kind)
		return
	}
	about := ir.Mention{Graph: g, Role: ir.InputMention, Name: v.Name}
	if d, ok := s.defs[v.Name]; ok {
		if kind == "input" {
			w.reportMention(duplicateDefinition, about, "", "%q is defined as an input twice", v.Name)
		}
		d.twice = true
		s.defs[v.Name] = d
		return
	}
	if s.outer != nil {
		if _, ok := s.outer.visible(v.Name); ok {
			w.reportMention(shadowingInput, about, "rename it", "the %s %q has the name of a value of a graph around it", kind, v.Name)
		}
	}
	s.defs[v.Name] = definition{value: v}
}

func (w *walk) defineOutput(s *scope, n *ir.Node, v *ir.Value, pos int) {
	if v == nil {
		return
	}
	if v.Name == "" {
		w.reportNode(emptyName, n, "an output has no name")
		return
	}
	d, ok := s.defs[v.Name]
	about := ir.Mention{Node: n, Role: ir.OutputMention, Name: v.Name}
	if !ok {
		if s.outer != nil {
			if _, ok := s.outer.visible(v.Name); ok {
				w.reportMention(shadowedName, about, "rename the output", "%q is defined here and in a graph around it", v.Name)
			}
		}
		s.defs[v.Name] = definition{value: v, pos: pos}
		return
	}
	if d.pos == 0 {
		w.reportMention(duplicateDefinition, about, "", "%q is defined here and as an input or initializer of the graph", v.Name)
	} else {
		w.reportMention(duplicateDefinition, about, "", "%q is defined here and by an earlier output", v.Name)
	}
	d.twice = true
	s.defs[v.Name] = d
}

// reads checks that every input of a node is defined by now.
func (w *walk) reads(n *ir.Node, s *scope) {
	for i, v := range n.Inputs() {
		if v == nil {
			continue
		}
		if v.Name == "" {
			w.reportNode(emptyName, n, "input %d reads a value without a name", i)
			continue
		}
		d, ok := s.visible(v.Name)
		about := ir.Mention{Node: n, Role: ir.InputMention, Name: v.Name}
		switch {
		case ok && d.value != v && !d.twice && !s.repeats(v.Name):
			w.reportMention(otherValue, about, "", "input %d is another value than the one that the name %q stands for", i, v.Name)
		case ok:
		case s.definer(v.Name) != nil:
			s.definer(v.Name).unordered = true
			w.reportMention(notTopological, about, "", "input %d, %q, is defined only by a later node", i, v.Name)
		default:
			w.reportMention(undefinedName, about, w.nameHint(v.Name, s), "input %d, %q, is not defined", i, v.Name)
		}
	}
}

// definer returns the scope of the innermost graph that defines a name, at any
// position, or nil.
func (s *scope) definer(name string) *scope {
	for ; s != nil; s = s.outer {
		if _, ok := s.defs[name]; ok {
			return s
		}
	}
	return nil
}

// repeats reports whether more than one graph defines the name.
func (s *scope) repeats(name string) bool {
	n := 0
	for ; s != nil; s = s.outer {
		if _, ok := s.defs[name]; ok {
			n++
		}
	}
	return n > 1
}

// maxNameHints bounds the searches for similar names: each looks at all of them.
const maxNameHints = 20

// nameHint suggests a visible name close to one that is not defined.
func (w *walk) nameHint(name string, s *scope) string {
	if w.nameHints++; w.nameHints > maxNameHints {
		return ""
	}
	var names []string
	for in := s; in != nil; in = in.outer {
		for n, d := range in.defs {
			if d.pos <= in.at {
				names = append(names, n)
			}
		}
	}
	return didYouMean(suggest.Nearest(name, sorted(names)))
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "did you mean " + name + "?"
}

// graphInterface checks what the graph's inputs and outputs declare. Those of
// the model's graph must have types, and tensors a shape.
func (w *walk) graphInterface(g *ir.Graph, typed bool) {
	list := func(kind string, values []*ir.Value) {
		for _, v := range values {
			if v == nil {
				continue
			}
			w.declaredType(v.Name, v.Type)
			if typed {
				w.typed(kind, v)
			}
		}
	}
	list("input", g.Inputs)
	list("output", g.Outputs)
	for n := range g.Nodes() {
		for _, v := range n.Outputs() {
			if v != nil && v.Type != nil {
				w.declaredType(v.Name, v.Type)
			}
		}
	}
}

func (w *walk) typed(kind string, v *ir.Value) {
	switch t := v.Type; {
	case t == nil:
		w.report(untypedValue, "the %s %q has no type", kind, v.Name)
	case t.Kind == ir.TensorKind || t.Kind == ir.SparseTensorKind:
		if t.Elem == ir.Undefined {
			w.report(untypedValue, "the %s %q has no element type", kind, v.Name)
		}
		if !t.Ranked {
			w.report(untypedValue, "the %s %q has no shape", kind, v.Name)
		}
	case t.Inner == nil:
		w.report(untypedValue, "the %s %q does not say what it holds", kind, v.Name)
	}
}

// graphOutputs checks that every output is defined in the graph itself.
func (w *walk) graphOutputs(g *ir.Graph, s *scope) {
	seen := make(map[string]bool, len(g.Outputs))
	for _, v := range g.Outputs {
		if v == nil || v.Name == "" {
			w.report(emptyName, "an output of the graph has no name")
			continue
		}
		about := ir.Mention{Graph: g, Role: ir.OutputMention, Name: v.Name}
		if seen[v.Name] {
			w.reportMention(duplicateOutput, about, "", "the output %q is listed twice", v.Name)
		}
		seen[v.Name] = true
		d, ok := s.defs[v.Name]
		switch {
		case ok && d.value != v && !d.twice:
			w.reportMention(otherValue, about, "", "the output %q is another value than the one that its name stands for", v.Name)
		case ok:
		case s.outer.definer(v.Name) != nil:
			w.reportMention(outerOutput, about, "pass it through Identity", "the output %q is a value of a graph around it", v.Name)
		default:
			w.reportMention(undefinedName, about, w.nameHint(v.Name, s), "the output %q is not defined", v.Name)
		}
	}
}
