package ir

// scope holds the names of one graph while its text is parsed. Names are
// resolved when the outermost graph is complete, since a node may read a value
// that is defined further down or in a graph around it.
type scope struct {
	outer     *scope
	inner     []*scope
	graph     *Graph
	defs      map[string]*Value
	undefined map[string]*Value
	nodes     []unresolvedNode
	outputs   []declaration
	infos     []declaration
}

// unresolvedNode is a node whose inputs are still names; "" is an absent input.
type unresolvedNode struct {
	node   *Node
	inputs []string
}

// declaration is a name with the type the text gives it, or nil.
type declaration struct {
	name string
	typ  *Type
	pos  int
}

func newScope(outer *scope, name string) *scope {
	s := &scope{outer: outer, graph: NewGraph(name), defs: map[string]*Value{}, undefined: map[string]*Value{}}
	if outer != nil {
		outer.inner = append(outer.inner, s)
	}
	return s
}

// define enters a definition. Of several with one name the first is the one
// that the name refers to; the others stay in the graph, to be reported.
func (s *scope) define(v *Value) {
	if _, ok := s.defs[v.Name]; !ok {
		s.defs[v.Name] = v
	}
}

// lookup returns the value a name refers to: what the graph defines, else what
// the graphs around it define, else a value without a definition. local says
// that it belongs to the graph itself.
func (s *scope) lookup(name string) (v *Value, local bool) {
	for t := s; t != nil; t = t.outer {
		if v, ok := t.defs[name]; ok {
			return v, t == s
		}
	}
	v, ok := s.undefined[name]
	if !ok {
		v = NewValue(name, nil)
		s.undefined[name] = v
	}
	return v, true
}

// resolve connects the inputs of every node and the outputs of every graph.
func (p *parser) resolve(s *scope) {
	for _, d := range s.infos {
		p.setType(s, d)
	}
	for _, n := range s.nodes {
		inputs := make([]*Value, len(n.inputs))
		for i, name := range n.inputs {
			if name != "" {
				inputs[i], _ = s.lookup(name)
			}
		}
		n.node.SetInputs(inputs)
	}
	for _, d := range s.outputs {
		s.graph.Outputs = append(s.graph.Outputs, p.setType(s, d))
	}
	for _, t := range s.inner {
		p.resolve(t)
	}
}

// setType gives the value that a declaration names the declared type. A value
// of an outer graph that has a type keeps it.
func (p *parser) setType(s *scope, d declaration) *Value {
	v, local := s.lookup(d.name)
	switch {
	case d.typ == nil:
	case v.Type == nil:
		v.Type = d.typ
	case local && v.Type.String() != d.typ.String():
		p.fail(d.pos, "found the type %s for %s, which is declared as %s elsewhere in the graph", d.typ, quoteID(d.name), v.Type)
	}
	return v
}
