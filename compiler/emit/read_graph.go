package emit

import (
	"bytes"

	"mobiusc/compiler/emit/onnxpb"
	"mobiusc/ir"
)

// scope maps the names of one graph to values.
type scope struct {
	outer     *scope
	graph     *ir.Graph
	defs      map[string]*ir.Value
	undefined map[string]*ir.Value
}

func newScope(g *ir.Graph, outer *scope, size int) *scope {
	return &scope{outer: outer, graph: g, defs: make(map[string]*ir.Value, size)}
}

// define makes v what its name resolves to, unless the name has a definition.
func (s *scope) define(v *ir.Value) *ir.Value {
	if _, ok := s.defs[v.Name]; !ok && v.Name != "" {
		s.defs[v.Name] = v
	}
	return v
}

// resolve returns the value a name stands for, or one without definition.
func (s *scope) resolve(name string) *ir.Value {
	for in := s; in != nil; in = in.outer {
		if v, ok := in.defs[name]; ok {
			return v
		}
	}
	v, ok := s.undefined[name]
	if !ok {
		v = ir.NewValue(name, nil)
		if s.undefined == nil {
			s.undefined = map[string]*ir.Value{}
		}
		s.undefined[name] = v
	}
	return v
}

func (r *reader) graph(p *onnxpb.GraphProto, outer *scope) *ir.Graph {
	g := ir.NewGraph(r.text(p.GetName()))
	g.Doc = r.text(p.GetDocString())
	g.Meta = r.meta(p.MetadataProps)
	s := newScope(g, outer, len(p.Input)+len(p.Initializer)+len(p.Node))
	for _, in := range p.Input {
		v := ir.NewValue(r.text(in.GetName()), nil)
		r.describe(v, in)
		g.Inputs = append(g.Inputs, s.define(v))
	}
	r.initializers(p, s)
	r.nodes(p.Node, p.ValueInfo, s)
	for _, out := range p.Output {
		v := s.resolve(r.text(out.GetName()))
		r.describe(v, out)
		g.Outputs = append(g.Outputs, v)
	}
	if n := len(p.QuantizationAnnotation); n > 0 {
		r.drop("graph %q: quantization_annotation (entries: %d)", g.Name, n)
	}
	r.unknown("graph", g.Name, p)
	return g
}

// initializers adds the dense and sparse initializers. One that has the name of
// a graph input is that input's default.
func (r *reader) initializers(p *onnxpb.GraphProto, s *scope) {
	var tensors []*ir.Tensor
	for _, t := range p.Initializer {
		tensors = append(tensors, r.tensor(t))
	}
	for _, t := range p.SparseInitializer {
		tensors = append(tensors, r.sparse(t))
	}
	for _, t := range tensors {
		if v := s.defs[t.Name]; v != nil && v.Init == nil {
			v.Init = t
			s.graph.Initializers = append(s.graph.Initializers, v)
			continue
		}
		v := s.graph.AddInitializer(t.Name, t)
		if t.Sparse != nil {
			v.Type.Kind = ir.SparseTensorKind
		}
		s.define(v)
	}
}

// nodes adds the nodes. All their outputs are defined before any input is
// resolved, since a file may list nodes in the wrong order.
func (r *reader) nodes(list []*onnxpb.NodeProto, infos []*onnxpb.ValueInfoProto, s *scope) {
	outputs := make([][]*ir.Value, len(list))
	for i, p := range list {
		outputs[i] = make([]*ir.Value, len(p.Output))
		for j, name := range p.Output {
			if name != "" {
				outputs[i][j] = s.define(ir.NewValue(r.text(name), nil))
			}
		}
	}
	stale := 0
	for _, info := range infos {
		if v, ok := s.defs[r.text(info.GetName())]; ok {
			r.describe(v, info)
		} else {
			stale++
		}
	}
	if stale > 0 {
		r.drop("graph %q: value_info of names that it does not define (entries: %d)", s.graph.Name, stale)
	}
	for i, p := range list {
		s.graph.Append(r.node(p, outputs[i], s))
	}
}

func (r *reader) node(p *onnxpb.NodeProto, outputs []*ir.Value, s *scope) *ir.Node {
	inputs := make([]*ir.Value, len(p.Input))
	for i, name := range p.Input {
		if name != "" {
			inputs[i] = s.resolve(r.text(name))
		}
	}
	n := ir.NewNode(r.text(p.GetDomain()), r.text(p.GetOpType()), inputs, outputs)
	n.Name = r.text(p.GetName())
	n.Overload = r.text(p.GetOverload())
	n.Doc = r.text(p.GetDocString())
	n.Meta = r.meta(p.MetadataProps)
	if len(p.Attribute) > 0 {
		n.Attrs = make([]*ir.Attr, 0, len(p.Attribute))
	}
	for _, a := range p.Attribute {
		n.Attrs = append(n.Attrs, r.attr(a, s))
	}
	if len(p.DeviceConfigurations) > 0 {
		r.drop("node %q: device_configurations", n.Name)
	}
	r.unknown("node", n.Name, p)
	return n
}

// describe gives v the type and documentation of a ValueInfoProto, unless it
// has them from an earlier one.
func (r *reader) describe(v *ir.Value, p *onnxpb.ValueInfoProto) {
	r.unknown("value", v.Name, p)
	t := r.typ(v.Name, p.Type)
	switch {
	case v.Type == nil:
		v.Type = t
	case t != nil && !bytes.Equal(appendType(nil, t), appendType(nil, v.Type)):
		r.drop("value %q: a second type that differs from the first", v.Name)
	}
	doc, meta := r.text(p.GetDocString()), r.meta(p.MetadataProps)
	if (doc != "" && v.Doc != "" && doc != v.Doc) || (meta != nil && v.Meta != nil) {
		r.drop("value %q: a second doc_string or metadata_props", v.Name)
		return
	}
	if doc != "" {
		v.Doc = doc
	}
	if meta != nil {
		v.Meta = meta
	}
}

func (r *reader) attr(p *onnxpb.AttributeProto, s *scope) *ir.Attr {
	a := &ir.Attr{
		Name:    r.text(p.GetName()),
		Type:    ir.AttrType(p.GetType()),
		Ref:     r.text(p.GetRefAttrName()),
		Doc:     r.text(p.GetDocString()),
		Float:   p.GetF(),
		Int:     p.GetI(),
		Bytes:   p.GetS(),
		Floats:  p.Floats,
		Ints:    p.Ints,
		Strings: p.Strings,
		TypeVal: r.typ(p.GetName(), p.Tp),
	}
	r.attrMessages(a, p, s)
	for _, t := range populated(p) {
		switch {
		case a.Type == ir.AttrUndefined && a.Ref == "":
			a.Type = t // files of IR version 1 have no type
		case t != a.Type:
			r.drop("attribute %q: a value of type %s beside its type %s", a.Name, t, a.Type)
		}
	}
	r.unknown("attribute", a.Name, p)
	return a
}

// attrMessages converts the tensors, graphs and types that an attribute holds.
func (r *reader) attrMessages(a *ir.Attr, p *onnxpb.AttributeProto, s *scope) {
	if p.T != nil {
		a.Tensor = r.tensor(p.T)
	}
	if p.SparseTensor != nil {
		a.Tensor = r.sparse(p.SparseTensor)
	}
	for _, t := range p.Tensors {
		a.Tensors = append(a.Tensors, r.tensor(t))
	}
	for _, t := range p.SparseTensors {
		a.Tensors = append(a.Tensors, r.sparse(t))
	}
	if p.G != nil {
		a.Graph = r.graph(p.G, s)
	}
	for _, g := range p.Graphs {
		a.Graphs = append(a.Graphs, r.graph(g, s))
	}
	for _, t := range p.TypeProtos {
		a.Types = append(a.Types, r.typ(a.Name, t))
	}
}

// populated lists the types of the values that an attribute holds: one, in a
// valid file. An empty list holds no value.
func populated(p *onnxpb.AttributeProto) []ir.AttrType {
	var types []ir.AttrType
	for _, f := range []struct {
		set bool
		typ ir.AttrType
	}{
		{p.F != nil, ir.AttrFloat}, {p.I != nil, ir.AttrInt}, {p.S != nil, ir.AttrString},
		{p.T != nil, ir.AttrTensor}, {p.G != nil, ir.AttrGraph}, {p.SparseTensor != nil, ir.AttrSparseTensor},
		{p.Tp != nil, ir.AttrTypeProto}, {len(p.Floats) > 0, ir.AttrFloats}, {len(p.Ints) > 0, ir.AttrInts},
		{len(p.Strings) > 0, ir.AttrStrings}, {len(p.Tensors) > 0, ir.AttrTensors}, {len(p.Graphs) > 0, ir.AttrGraphs},
		{len(p.SparseTensors) > 0, ir.AttrSparseTensors}, {len(p.TypeProtos) > 0, ir.AttrTypeProtos},
	} {
		if f.set {
			types = append(types, f.typ)
		}
	}
	return types
}
