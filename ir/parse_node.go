package ir

import (
	"math"
	"strconv"
)

// node reads one node: [name] outputs = domain.op:overload <attributes> (inputs).
// The attributes may also follow the inputs.
func (p *parser) node(s *scope) {
	n := &Node{}
	if p.accept("[") {
		if p.atName() {
			n.Name = p.name("the name of a node")
		}
		p.expect("]", "after the name of a node")
	}
	outputs := p.names(Mention{Node: n, Role: OutputMention})
	p.expect("=", "after the outputs of a node")
	n.Domain, n.OpType = p.operator(n)
	if p.accept(":") {
		n.Overload = p.name("an overload")
	}
	if p.at("<") {
		n.Attrs = p.attrs(n, s)
	}
	p.expect("(", "to begin the inputs of "+n.OpType)
	inputs := p.names(Mention{Node: n, Role: InputMention})
	p.expect(")", "after the inputs of "+n.OpType)
	if p.at("<") && n.Attrs == nil {
		n.Attrs = p.attrs(n, s)
	}
	values := make([]*Value, len(outputs))
	for i, name := range outputs {
		if name != "" {
			values[i] = NewValue(name, nil)
			s.define(values[i])
		}
	}
	n.SetOutputs(values)
	s.graph.Append(n)
	s.nodes = append(s.nodes, unresolvedNode{n, inputs})
}

// names reads the names of inputs or outputs. A name that is missing in front
// of a comma is empty, as "" is; a comma at the end changes nothing.
func (p *parser) names(m Mention) (names []string) {
	for {
		switch {
		case p.atName():
			p.mention(m)
			names = append(names, p.name("a name"))
		case p.at(","):
			names = append(names, "")
		default:
			return names
		}
		if !p.accept(",") {
			return names
		}
	}
}

// operator reads op or domain.op; the domain may itself hold dots.
func (p *parser) operator(n *Node) (domain, op string) {
	p.mention(Mention{Node: n, Role: OperatorMention})
	op = p.name("the name of an operator")
	for qualified := false; p.accept("."); qualified = true {
		if qualified {
			domain += "."
		}
		domain += op
		p.mention(Mention{Node: n, Role: OperatorMention})
		op = p.name("a name after the '.'")
	}
	return domain, op
}

func (p *parser) attrs(n *Node, s *scope) (attrs []*Attr) {
	p.list("<", ">", "the attributes", func() {
		p.mention(Mention{Node: n, Role: AttributeMention})
		attrs = append(attrs, p.attrAfterName(p.name("the name of an attribute"), s))
	})
	return attrs
}

// attrAfterName reads what follows the name of an attribute: [: type] = value.
func (p *parser) attrAfterName(name string, s *scope) *Attr {
	a := &Attr{Name: name}
	if p.accept(":") {
		pos := p.tok.pos
		word := p.ident("the type of an attribute")
		t, ok := AttrTypeOf(word)
		if !ok {
			p.fail(pos, "found %s, expected the type of attribute %s: int, ints, float, floats, string, strings, tensor, graph, …", word, name)
		}
		a.Type = t
	}
	p.expect("=", "after attribute "+name)
	if p.at("[") {
		p.attrList(a, s)
		return a
	}
	pos := p.tok.pos
	v := p.attrValue(a.Type, s)
	v.Name = name
	if v.Ref != "" {
		v.Type = a.Type
	}
	if a.Type != AttrUndefined && a.Type != v.Type {
		p.fail(pos, "found a value of type %s for attribute %s, which is declared as %s", v.Type, name, a.Type)
	}
	return v
}

// listOf gives the list type for each type of a single attribute value.
var listOf = map[AttrType]AttrType{
	AttrFloat: AttrFloats, AttrInt: AttrInts, AttrString: AttrStrings, AttrTensor: AttrTensors,
	AttrGraph: AttrGraphs, AttrSparseTensor: AttrSparseTensors, AttrTypeProto: AttrTypeProtos,
}

// attrList reads a list of values into a, whose Type is the declared one.
func (p *parser) attrList(a *Attr, s *scope) {
	declared := a.Type
	single := AttrUndefined
	for t, list := range listOf {
		if list == declared {
			single = t
		}
	}
	if declared != AttrUndefined && single == AttrUndefined {
		p.fail(p.tok.pos, "found a list for attribute %s, which is declared as %s", a.Name, declared)
	}
	start := p.tok.pos
	p.list("[", "]", "the values of attribute "+a.Name, func() {
		pos := p.tok.pos
		v := p.attrValue(single, s)
		if v.Ref != "" {
			p.fail(pos, "found a reference to @%s in a list, expected a value", v.Ref)
		}
		if single == AttrUndefined {
			single = v.Type
		}
		if v.Type != single {
			p.fail(pos, "found a value of type %s in a list of type %s; declare the list, as in %s: floats = [1, 2.5]", v.Type, listOf[single], a.Name)
		}
		a.add(v)
	})
	if single == AttrUndefined {
		p.fail(start, "found an empty list without a type, expected a type, as in %s: ints = []", a.Name)
	}
	a.Type = listOf[single]
}

// add appends the value of a single attribute to a list attribute.
func (a *Attr) add(v *Attr) {
	switch v.Type {
	case AttrFloat:
		a.Floats = append(a.Floats, v.Float)
	case AttrInt:
		a.Ints = append(a.Ints, v.Int)
	case AttrString:
		a.Strings = append(a.Strings, v.Bytes)
	case AttrTensor, AttrSparseTensor:
		a.Tensors = append(a.Tensors, v.Tensor)
	case AttrGraph:
		a.Graphs = append(a.Graphs, v.Graph)
	case AttrTypeProto:
		a.Types = append(a.Types, v.TypeVal)
	}
}

// attrValue reads one value or a reference. An integer literal is a float where
// a float is wanted.
func (p *parser) attrValue(want AttrType, s *scope) *Attr {
	switch t := p.tok; {
	case t.kind == tokInt && want != AttrFloat:
		return &Attr{Type: AttrInt, Int: p.int64("an integer")}
	case t.kind == tokInt, t.kind == tokFloat, t.kind == tokIdent && isSpecialFloat(t.text):
		return &Attr{Type: AttrFloat, Float: float32(p.float(32))}
	case t.kind == tokString:
		p.next()
		if p.at("(") { // a graph whose name needs quotes
			return p.attrGraph(t.text, s)
		}
		return &Attr{Type: AttrString, Bytes: []byte(t.text)}
	case p.accept("@"):
		return &Attr{Ref: p.name("the name of an attribute parameter")}
	case p.atType():
		return p.attrTypeOrTensor()
	case t.kind == tokIdent:
		p.next()
		return p.attrGraph(t.text, s)
	}
	p.unexpected("the value of an attribute")
	return nil
}

func (p *parser) attrGraph(name string, s *scope) *Attr {
	inner := newScope(s, name)
	p.graphRest(inner)
	return &Attr{Type: AttrGraph, Graph: inner.graph}
}

// attrTypeOrTensor reads a type, or a tensor if one follows its type.
func (p *parser) attrTypeOrTensor() *Attr {
	d := declaration{pos: p.tok.pos}
	d.typ = p.typ()
	if !p.at("{") && !p.at("=") && !p.atName() {
		return &Attr{Type: AttrTypeProto, TypeVal: d.typ}
	}
	if p.atName() {
		d.name = p.name("the name of a tensor")
	}
	p.accept("=")
	a := &Attr{Type: AttrTensor, Tensor: p.tensorOf(d)}
	if d.typ.Kind == SparseTensorKind {
		a.Type = AttrSparseTensor
	}
	return a
}

// float reads a number or inf, infinity, nan with an optional sign.
func (p *parser) float(bits int) float64 {
	t := p.tok
	if t.kind != tokInt && t.kind != tokFloat && (t.kind != tokIdent || !isSpecialFloat(t.text)) {
		p.unexpected("a number")
	}
	f, err := strconv.ParseFloat(t.text, bits)
	if err != nil {
		if t.kind == tokFloat && isSpecialFloat(t.text[1:]) { // -nan, which strconv does not read
			f = math.Copysign(math.NaN(), -1)
		} else {
			p.fail(t.pos, "found %s, which does not fit a float of %d bits", t.text, bits)
		}
	}
	p.next()
	return f
}
