package passes

import (
	"slices"

	"mobiusc/ir"
	"mobiusc/ops"
)

// body returns the function that a call may be replaced by: the model's own, or
// of those of package ops the one for the highest opset within the target. One
// that leads back to an operator being replaced gives way to one for an older
// opset: the newer body relies on operators that this runtime lacks.
func (r *rewriter) body(n *ir.Node) (*ir.Function, error) {
	if f := r.local[functionKey{domainOf(n.Domain), n.OpType, n.Overload}]; f != nil {
		return f, nil
	}
	all := ops.FunctionsOf(n.Domain, n.OpType)
	if len(all) == 0 || n.Overload != "" {
		return nil, r.fail(n, "the target does not execute it, and it has no function")
	}
	newest := ops.FunctionFor(n.Domain, n.OpType, r.target.Opset)
	if newest == nil {
		return nil, r.fail(n, "the target does not execute it, and its function needs opset %d", all[0].OpsetVersion(""))
	}
	for _, f := range slices.Backward(all[:slices.Index(all, newest)+1]) {
		if !r.leadsBack(f) {
			return f, nil
		}
	}
	return newest, nil
}

// leadsBack reports whether a function is being inlined around the node in hand,
// or calls an operator whose function is.
func (r *rewriter) leadsBack(f *ir.Function) bool {
	replaced := map[functionKey]bool{}
	for within := r; within.function != nil; within = within.outer {
		g := within.function
		if g == f {
			return true
		}
		replaced[functionKey{domainOf(g.Domain), g.Name, g.Overload}] = true
	}
	for m := range f.Body.AllNodes() {
		if replaced[functionKey{domainOf(m.Domain), m.OpType, m.Overload}] && !r.target.accepts(m) {
			return true
		}
	}
	return false
}

// expand replaces a call by the body of its function and returns the node to
// visit next.
func (r *rewriter) expand(call *ir.Node) (next *ir.Node, err error) {
	f, err := r.body(call)
	if err != nil {
		return nil, err
	}
	if err := r.checkCall(call, f); err != nil {
		return nil, err
	}
	t, err := r.templateFor(call, f)
	if err != nil {
		return nil, err
	}
	if r.copied += t.size; r.copied > r.limit {
		return nil, r.fail(call, "its functions have more than %d nodes together", r.limit)
	}
	r.called[domainOf(f.Domain)] = true
	next, err = r.insert(t, call)
	if t.captures {
		t.graph.Clear()
	}
	return next, err
}

// insert puts a copy of a template in the place of a call and returns the node
// to visit next: those copied are in their final form.
func (r *rewriter) insert(t *template, call *ir.Node) (next *ir.Node, err error) {
	c := r.cloner(t, call)
	sources := map[string]ir.Properties{}
	for n := range t.graph.Nodes() {
		if first := r.sizes.find(t.contents[n]); first != nil {
			c.Values[n.Output(0)] = first
			continue
		}
		m := c.Node(n)
		call.Graph().InsertBefore(m, call)
		r.returned.enterNode(m)
		r.mark(m, call, sources)
		if key := t.contents[n]; key != "" {
			r.contents[m], r.sizes.nodes[key] = key, m
			r.env.Assume(m.Output(0), n.Output(0), t.from.env)
		}
	}
	if err := r.setTypes(t, call, c); err != nil {
		return nil, r.fail(call, "%v", err)
	}
	for i, v := range t.graph.Outputs {
		if out := call.Output(i); out != nil && out.Producer() == call {
			n := r.copyBefore(call, c.Values[v], out)
			if next == nil {
				next = n
			}
		}
	}
	if next == nil {
		next = call.Next()
	}
	r.discard(call)
	return next, nil
}

// cloner returns one that copies the nodes of a template for a call. What the
// template returns becomes the outputs of the call where a node of the template
// defines it.
func (r *rewriter) cloner(t *template, call *ir.Node) *ir.Cloner {
	c := &ir.Cloner{Values: make(map[*ir.Value]*ir.Value, 2*t.size)}
	if r.function == nil {
		prefix := nameOf(call) + "/"
		c.ValueName = func(v *ir.Value) string { return r.values.unique(v.Name) }
		c.NodeName = func(n *ir.Node) string { return r.nodes.unique(prefix + nameOf(n)) }
	}
	for i, v := range t.graph.Inputs {
		c.Values[v] = call.Input(i)
	}
	for _, v := range t.graph.Initializers {
		c.Values[v] = r.copyConstant(v)
	}
	for i, v := range t.graph.Outputs {
		if out := call.Output(i); out != nil && c.Values[v] == nil {
			c.Values[v] = out
		}
	}
	return c
}

// copyConstant returns the graph's copy of a constant of a template.
func (r *rewriter) copyConstant(v *ir.Value) *ir.Value {
	if w := r.constants[v]; w != nil {
		return w
	}
	w := &ir.Value{Name: v.Name, Type: v.Type, Init: v.Init}
	if r.function == nil {
		w.Name = r.values.unique(v.Name)
	}
	r.top.Initializers = append(r.top.Initializers, w)
	r.env.Declare(w)
	r.constants[v] = w
	return w
}

// mark gives a copied node, and those of its subgraphs, the source of the call.
func (r *rewriter) mark(n, call *ir.Node, made map[string]ir.Properties) {
	source := call.Meta.Get("source")
	if r.function != nil || source == "" {
		return
	}
	function := n.Meta.Get("function")
	if made[function] == nil {
		made[function] = ir.Properties{{Key: "source", Value: source}, {Key: "function", Value: function}}
	}
	n.Meta = made[function]
	for g := range n.Subgraphs() {
		for m := range g.Nodes() {
			r.mark(m, call, made)
		}
	}
}

// setTypes gives the values of a copied template their types. Sizes that the
// template computes from data get names of their own.
func (r *rewriter) setTypes(t *template, call *ir.Node, c *ir.Cloner) error {
	sizes := map[string]ir.Dim{}
	for _, s := range t.symbols {
		v := c.Values[s.value]
		if v == nil { // the value is gone, the size is not
			v = ir.NewValue(s.value.Name, nil)
			if r.function == nil {
				v.Name = r.values.unique(v.Name)
			}
		}
		sizes[s.name] = ir.Sym(r.env.NameSize(v, s.axis))
	}
	symbols := ir.NewSubstitution(sizes)
	if len(sizes) > 0 {
		for _, v := range c.Values {
			if v != nil {
				v.Type = symbols.Type(v.Type)
			}
		}
	}
	for i, v := range t.graph.Outputs {
		if out := call.Output(i); out != nil && c.Values[v] == out {
			if err := r.env.Adopt(out, v, t.from.env, symbols); err != nil {
				return err
			}
		}
	}
	return nil
}
