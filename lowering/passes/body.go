package passes

import (
	"maps"
	"slices"
	"strings"

	"mobiusc/ir"
	"mobiusc/ops"
)

// body returns the function that a call may be replaced by: the model's own, or
// of those of package ops the one for the highest opset within the target. One
// that leads back to an operator being replaced gives way to one for an older
// opset: the newer body relies on operators that this runtime lacks.
func (in *inliner) body(n *ir.Node) (*ir.Function, error) {
	if f := in.local[functionKey{domainOf(n.Domain), n.OpType, n.Overload}]; f != nil {
		return f, nil
	}
	all := ops.FunctionsOf(n.Domain, n.OpType)
	if len(all) == 0 || n.Overload != "" {
		return nil, in.fail(n, "the target does not execute it, and it has no function")
	}
	newest := ops.FunctionFor(n.Domain, n.OpType, in.target.Opset)
	if newest == nil {
		return nil, in.fail(n, "the target does not execute it, and its function needs opset %d", all[0].OpsetVersion(""))
	}
	for _, f := range slices.Backward(all[:slices.Index(all, newest)+1]) {
		if !in.leadsBack(n, f) {
			return f, nil
		}
	}
	return newest, nil
}

// leadsBack reports whether a function for the call n is being inlined around
// it, or calls an operator whose function is.
func (in *inliner) leadsBack(n *ir.Node, f *ir.Function) bool {
	replaced := map[functionKey]bool{}
	for s := in.sites[n]; s != nil; s = s.outer {
		if s.function == f {
			return true
		}
		replaced[functionKey{domainOf(s.function.Domain), s.function.Name, s.function.Overload}] = true
	}
	for m := range f.Body.AllNodes() {
		if replaced[functionKey{domainOf(m.Domain), m.OpType, m.Overload}] && !in.target.accepts(m) {
			return true
		}
	}
	return false
}

// inline replaces a call by the body of its function and returns the node to
// visit next.
func (in *inliner) inline(n *ir.Node) (next *ir.Node, err error) {
	f, err := in.body(n)
	if err != nil {
		return nil, err
	}
	if err := in.checkCall(n, f); err != nil {
		return nil, err
	}
	if in.inlined > in.limit {
		return nil, in.fail(n, "its functions have more than %d nodes together", in.limit)
	}
	g, before := n.Graph(), n.Prev()
	s := &site{outer: in.sites[n], call: n, function: f}
	if err := in.insertBody(s); err != nil {
		return nil, err
	}
	g.Remove(n)
	in.called[domainOf(f.Domain)] = true
	in.changed = true
	if before == nil {
		return g.First(), nil
	}
	return before.Next(), nil
}

// insertBody copies the body of a function in front of the call.
func (in *inliner) insertBody(s *site) error {
	body, g := s.function.Body, s.call.Graph()
	var fault error
	c := in.cloner(s)
	c.Values = map[*ir.Value]*ir.Value{}
	c.Resolve = func(n *ir.Node, a *ir.Attr) *ir.Attr {
		b, err := in.attr(s, n, a)
		if err != nil && fault == nil {
			fault = err
		}
		return b
	}
	in.bindInputs(s, c)
	copied := in.bindOutputs(s, c)
	bound := maps.Clone(c.Values)
	c.Define(body)
	for _, v := range body.Initializers {
		in.addInitializer(g, c.Values[v])
	}
	for n := range body.Nodes() {
		in.insert(c.Node(n), s)
	}
	for _, p := range copied {
		from := p.formal
		if v, ok := c.Values[from]; ok {
			from = v
		}
		in.insert(in.identity(s.call, from, p.actual), s)
	}
	for v, w := range c.Values {
		if bound[v] == nil {
			w.Type = withoutSymbols(w.Type)
		}
	}
	return fault
}

// cloner returns one that gives unique names beginning with that of the call.
func (in *inliner) cloner(s *site) *ir.Cloner {
	prefix := nameOf(s.call) + "/"
	return &ir.Cloner{
		ValueName: func(v *ir.Value) string { return in.values.unique(prefix + v.Name) },
		NodeName:  func(n *ir.Node) string { return in.nodes.unique(prefix + nameOf(n)) },
	}
}

// withoutSymbols returns a type with its symbolic dims unknown: the symbols of a
// function are not those of the graph it is inlined in.
func withoutSymbols(t *ir.Type) *ir.Type {
	if t == nil {
		return nil
	}
	c := *t
	c.Inner = withoutSymbols(t.Inner)
	c.Shape = slices.Clone(t.Shape)
	for i, d := range c.Shape {
		if _, ok := d.Int(); !ok {
			c.Shape[i] = ir.Dim{}
		}
	}
	return &c
}

// bindInputs makes the inputs of a body the values of the call. One that the
// call leaves out becomes a value that stands for its absence.
func (in *inliner) bindInputs(s *site, c *ir.Cloner) {
	for i, formal := range s.function.Body.Inputs {
		v := s.call.Input(i)
		if v == nil || in.absent[v] {
			v = ir.NewValue(formal.Name, nil)
			in.absent[v] = true
		}
		c.Values[formal] = v
	}
}

// addInitializer moves an initializer to a graph.
func (in *inliner) addInitializer(g *ir.Graph, v *ir.Value) {
	g.Initializers = append(g.Initializers, v)
	in.env.Declare(v)
}

// outputPair is an output of a function and the value of the call that it becomes.
type outputPair struct{ formal, actual *ir.Value }

// bindOutputs makes the values that the body returns those of the call, where a
// node of the body defines them; it returns the others, which have to be copied.
func (in *inliner) bindOutputs(s *site, c *ir.Cloner) (copied []outputPair) {
	for i, formal := range s.function.Body.Outputs {
		actual := s.call.Output(i)
		if actual == nil {
			continue
		}
		if _, taken := c.Values[formal]; taken || formal.Producer() == nil {
			copied = append(copied, outputPair{formal, actual})
			continue
		}
		c.Values[formal] = actual
	}
	return copied
}

// insert puts a node of a body in front of the call, with the metadata that
// says where it comes from.
func (in *inliner) insert(n *ir.Node, s *site) {
	s.call.Graph().InsertBefore(n, s.call)
	in.mark(n, s)
	for g := range n.Subgraphs() {
		for m := range g.AllNodes() {
			in.mark(m, s)
		}
	}
}

func (in *inliner) mark(n *ir.Node, s *site) {
	in.sites[n] = s
	in.inlined++
	if source := s.call.Meta.Get("source"); source != "" {
		n.Meta.Set("source", source)
	}
	n.Meta.Set("function", functionName(s.function))
}

// identity returns a node that copies one value to another.
func (in *inliner) identity(at *ir.Node, from, to *ir.Value) *ir.Node {
	n := ir.NewNode("", "Identity", []*ir.Value{from}, []*ir.Value{to})
	n.Name = in.nodes.unique(nameOf(at) + "/Identity")
	return n
}

// nameOf returns the name of a node, or of its first output, or its operator.
func nameOf(n *ir.Node) string {
	if n.Name != "" {
		return n.Name
	}
	for _, v := range n.Outputs() {
		if v != nil && v.Name != "" {
			return v.Name
		}
	}
	return strings.ToLower(n.OpType)
}
