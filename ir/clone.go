package ir

import "slices"

// Cloner copies nodes and graphs. Values that the copied parts define are
// copied with them; every other value they read, such as one captured from a
// graph around them, is read by the copy too. Constants, types,
// metadata and attributes without graphs, which nothing changes in place, are
// shared. A Cloner makes one copy of a part.
type Cloner struct {
	// Values says what stands for a value in the copy; nil: an absent input.
	// Entries made beforehand replace a value; the values copied are added.
	Values map[*Value]*Value
	// ValueName and NodeName give the names of copies; nil keeps names.
	ValueName func(v *Value) string
	NodeName  func(n *Node) string
	// Resolve replaces an attribute of n that is a reference, or drops it by
	// returning nil; if Resolve is nil, references are copied.
	Resolve func(n *Node, a *Attr) *Attr

	// closed says that no graph surrounds the original, so that what it reads
	// without defining it is copied as well.
	closed bool
}

// Clone returns a copy of the graph, which reads the same values of graphs
// around it.
func (g *Graph) Clone() *Graph { return new(Cloner).Graph(g) }

// Clone returns a copy of the function.
func (f *Function) Clone() *Function {
	c := *f
	c.Attributes = slices.Clone(f.Attributes)
	c.Defaults = (&Cloner{closed: true}).attrs(nil, f.Defaults)
	c.Opsets = slices.Clone(f.Opsets)
	c.Body = (&Cloner{closed: true}).Graph(f.Body)
	return &c
}

// Clone returns a copy of the model.
func (m *Model) Clone() *Model {
	c := *m
	c.Opsets = slices.Clone(m.Opsets)
	c.Graph = (&Cloner{closed: true}).Graph(m.Graph)
	c.Functions = nil
	for _, f := range m.Functions {
		c.Functions = append(c.Functions, f.Clone())
	}
	return &c
}

// Graph returns a copy of a graph.
func (c *Cloner) Graph(g *Graph) *Graph {
	out := &Graph{Name: g.Name, Doc: g.Doc, Meta: g.Meta}
	out.Inputs = c.define(g.Inputs)
	out.Initializers = c.define(g.Initializers)
	c.Define(g)
	for n := range g.Nodes() {
		out.Append(c.Node(n))
	}
	out.Outputs = c.read(g.Outputs)
	return out
}

// Define copies the values that the initializers and nodes of g define, so that
// nodes which are copied one by one may read values defined further down.
func (c *Cloner) Define(g *Graph) {
	c.define(g.Initializers)
	for n := range g.Nodes() {
		c.define(n.outputs)
	}
}

// Node returns a copy of a node and of the graphs in its attributes; it is in
// no graph. Values it reads that are copied later must be in Values already.
func (c *Cloner) Node(n *Node) *Node {
	out := &Node{
		Name: n.Name, Domain: n.Domain, OpType: n.OpType, Overload: n.Overload,
		Doc: n.Doc, Meta: n.Meta,
	}
	if c.NodeName != nil {
		out.Name = c.NodeName(n)
	}
	out.SetInputs(c.read(n.inputs))
	out.SetOutputs(c.define(n.outputs))
	out.Attrs = c.attrs(n, n.Attrs)
	return out
}

// define returns what stands for values that the copied part defines.
func (c *Cloner) define(values []*Value) []*Value {
	if c.Values == nil {
		c.Values = map[*Value]*Value{}
	}
	out := make([]*Value, len(values))
	for i, v := range values {
		if v == nil {
			continue
		}
		w, ok := c.Values[v]
		if !ok {
			w = &Value{Name: v.Name, Type: v.Type, Init: v.Init, Doc: v.Doc, Meta: v.Meta}
			if c.ValueName != nil {
				w.Name = c.ValueName(v)
			}
			c.Values[v] = w
		}
		out[i] = w
	}
	return out
}

// read returns what stands for values that the copied part reads.
func (c *Cloner) read(values []*Value) []*Value {
	out := make([]*Value, len(values))
	for i, v := range values {
		w, ok := c.Values[v]
		switch {
		case ok:
			out[i] = w
		case c.closed:
			out[i] = c.define([]*Value{v})[0]
		default:
			out[i] = v
		}
	}
	return out
}

func (c *Cloner) attrs(n *Node, attrs []*Attr) []*Attr {
	if len(attrs) == 0 {
		return nil
	}
	out := make([]*Attr, 0, len(attrs))
	for _, a := range attrs {
		if a.Ref != "" && c.Resolve != nil {
			if a = c.Resolve(n, a); a != nil {
				out = append(out, a)
			}
			continue
		}
		if a.Graph == nil && len(a.Graphs) == 0 {
			out = append(out, a)
			continue
		}
		b := *a
		if a.Graph != nil {
			b.Graph = c.Graph(a.Graph)
		}
		b.Graphs = nil
		for _, g := range a.Graphs {
			b.Graphs = append(b.Graphs, c.Graph(g))
		}
		out = append(out, &b)
	}
	return out
}
