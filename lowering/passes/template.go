package passes

import (
	"cmp"
	"fmt"
	"slices"

	"mobiusc/ir"
)

// template is the body of a function for all calls of one signature: legal and
// folded for what these calls have in common. Layers are alike, so that few are
// made; a call gives way to a copy.
type template struct {
	graph    *ir.Graph // Outputs: nil where the calls take none
	from     *rewriter // what made it
	size     int       // nodes, those of subgraphs included
	symbols  []symbol
	contents map[*ir.Node]string
	captures bool // it holds a graph of the call, which may read any value, so that it serves this call alone
}

// symbol is a size that the body of a function computes from data: along an axis
// of a value, or with axis -1 its content. Every copy of the template has another
// name for it.
type symbol struct {
	name  string
	value *ir.Value
	axis  int
}

// symbolOf names a size in a template.
func (r *rewriter) symbolOf(v *ir.Value, axis int) string {
	for _, s := range r.symbols {
		if s.value == v && s.axis == axis {
			return s.name
		}
	}
	name := fmt.Sprintf("%s #%d", valueSymbol(v, axis), len(r.symbols))
	r.symbols = append(r.symbols, symbol{name, v, axis})
	return name
}

// templateFor returns the template of a function for a call.
func (r *rewriter) templateFor(call *ir.Node, f *ir.Function) (*template, error) {
	key, ok := r.signature(call, f)
	if t := r.templates[key]; ok && t != nil {
		return t, nil
	}
	t, err := r.specialise(call, f)
	switch {
	case err != nil:
		return nil, err
	case ok:
		r.templates[key] = t
	default:
		t.captures = true
	}
	return t, nil
}

// signature identifies what a function's body is specialised by: the functions
// around the call, which decide what is inlined, the attributes, the types of
// the inputs and what is known of their contents, and which outputs are taken.
// ok is false where an attribute is a graph, which may read any value.
func (r *rewriter) signature(call *ir.Node, f *ir.Function) (key string, ok bool) {
	var b []byte
	for g, within := f, r; g != nil; g, within = within.function, within.outer {
		b = fmt.Appendf(b, "%s %d\n", functionName(g), g.OpsetVersion(""))
		if within == nil || within.function == nil {
			break
		}
	}
	attrs := slices.Clone(call.Attrs)
	slices.SortFunc(attrs, func(x, y *ir.Attr) int { return cmp.Compare(x.Name, y.Name) })
	for _, a := range attrs {
		if b, ok = appendAttr(b, a); !ok {
			return "", false
		}
	}
	for _, v := range call.Inputs() {
		b = append(b, '\n')
		if v == nil || r.absent[v] {
			continue
		}
		if t := r.env.Type(v); t != nil {
			b = append(b, t.String()...)
		}
		b = r.env.AppendContent(b, v)
	}
	for _, v := range call.Outputs() {
		b = append(b, '\n')
		if v != nil {
			b = append(b, 'y')
		}
	}
	return string(b), true
}

// specialise makes the template of a function for a call.
func (r *rewriter) specialise(call *ir.Node, f *ir.Function) (*template, error) {
	b := newRewriter(r.legaliser, ir.NewGraph(f.Name), r.env.Fresh())
	b.outer, b.call, b.function, b.absent = r, call, f, map[*ir.Value]bool{}
	b.env.Symbol = b.symbolOf
	g, err := b.copyBody()
	if err != nil {
		return nil, err
	}
	b.top, b.returned = g, returnersOf(g)
	if err := b.graph(g); err != nil {
		return nil, err
	}
	for _, v := range g.Outputs {
		if b.absent[v] {
			return nil, r.fail(call, "it returns the input %s of %s, which the call leaves out", v.Name, functionName(f))
		}
	}
	d := &remover{opset: r.target.Opset, returned: b.returned}
	d.graph(g)
	t := &template{graph: g, from: b, symbols: b.symbols, contents: b.contents}
	for range g.AllNodes() {
		t.size++
	}
	return t, nil
}

// copyBody copies the body of the function for the call: with the call's
// attributes in the place of references, and inputs that are of the types of the
// call's.
func (b *rewriter) copyBody() (*ir.Graph, error) {
	var fault error
	c := &ir.Cloner{Values: map[*ir.Value]*ir.Value{}, NodeName: nameOf}
	c.Resolve = func(n *ir.Node, a *ir.Attr) *ir.Attr {
		value, err := b.attr(n, a)
		if err != nil && fault == nil {
			fault = err
		}
		return value
	}
	for i, formal := range b.function.Body.Inputs {
		c.Values[formal] = b.parameter(formal, b.call.Input(i))
	}
	g := c.Graph(b.function.Body)
	meta := ir.Properties{{Key: "function", Value: functionName(b.function)}}
	for n := range g.AllNodes() {
		n.Meta = meta
	}
	for formal, v := range c.Values {
		if !slices.Contains(b.function.Body.Inputs, formal) {
			v.Type = withoutSymbols(v.Type)
		}
	}
	for i := range g.Outputs {
		if b.call.Output(i) == nil {
			g.Outputs[i] = nil
		}
	}
	return g, fault
}

// parameter returns what stands for an input of the function in a template. One
// that the call leaves out becomes a value that stands for its absence.
func (b *rewriter) parameter(formal, argument *ir.Value) *ir.Value {
	v := ir.NewValue(formal.Name, nil)
	if argument == nil || b.outer.absent[argument] {
		b.absent[v] = true
		return v
	}
	v.Type = b.outer.env.Type(argument)
	b.env.Assume(v, argument, b.outer.env)
	return v
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
