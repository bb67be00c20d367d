package emit

import (
	"fmt"

	"mobiusc/ir"
)

// Marshal serializes a model. Equal models give equal bytes.
//
// Every value of a graph or function body whose type is known, other than
// inputs, outputs and initializers, gets a value_info, in subgraphs too: with
// unknown dims ONNX Runtime takes many times longer to load a model.
//
// It is an error if the result would exceed [MaxProtoBytes], if the model was
// read from a file with parts that the IR does not represent (see
// [ir.Model].Dropped), or if messages nest deeper than readers accept.
func Marshal(m *ir.Model) ([]byte, error) {
	if len(m.Dropped) > 0 {
		return nil, fmt.Errorf("the model was read from a file with %s, which would be lost (parts that cannot be kept: %d)", m.Dropped[0], len(m.Dropped))
	}
	if m.Graph == nil {
		return nil, fmt.Errorf("the model has no graph")
	}
	w := &writer{}
	constants, rest := sizeHint(m)
	if constants > MaxProtoBytes {
		w.tooBig(constants)
		return nil, w.err
	}
	b := w.model(make([]byte, 0, constants+rest), m)
	if len(b) > MaxProtoBytes {
		w.tooBig(len(b))
	}
	if w.err != nil {
		return nil, w.err
	}
	return b, nil
}

// sizeHint returns how many bytes the model's constants take, and guesses how
// many the rest does, so that the buffer is rarely copied.
func sizeHint(m *ir.Model) (constants, rest int) {
	const node, initializer = 300, 100 // with names, source position and value_info
	for range m.Graph.AllNodes() {
		rest += node
	}
	for _, v := range m.Graph.Initializers {
		if v.Init != nil {
			constants += len(v.Init.Raw)
			rest += initializer
		}
	}
	return constants, rest
}

// writer appends messages to a buffer in protobuf's wire format. Field numbers
// are those of onnxpb/onnx-ml.proto.
type writer struct {
	err   error
	depth int // of the message in hand
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *writer) tooBig(n int) {
	w.fail("the model takes %d bytes or more, and no runtime reads a model file over %d: store its large tensors as external data", n, MaxProtoBytes)
}

func (w *writer) model(b []byte, m *ir.Model) []byte {
	b = appendInt(b, 1, m.IRVersion)
	b = appendText(b, 2, m.ProducerName)
	b = appendText(b, 3, m.ProducerVersion)
	b = appendText(b, 4, m.Domain)
	if m.ModelVersion != 0 {
		b = appendInt(b, 5, m.ModelVersion)
	}
	b = appendText(b, 6, m.Doc)
	b = w.graph(b, 7, m.Graph)
	b = appendOpsets(b, 8, m.Opsets)
	b = appendMeta(b, 14, m.Meta)
	for _, f := range m.Functions {
		b = w.function(b, 25, f)
	}
	return b
}

func appendOpsets(b []byte, f field, opsets []ir.Opset) []byte {
	for _, o := range opsets {
		var at int
		b, at = begin(b, f)
		b = appendEntry(b, 1, o.Domain) // also "", as the onnx package does
		b = appendInt(b, 2, o.Version)
		b = end(b, at)
	}
	return b
}

func appendMeta(b []byte, f field, props ir.Properties) []byte {
	for _, p := range props {
		b = appendProperty(b, f, p.Key, p.Value)
	}
	return b
}

// appendProperty appends a StringStringEntryProto.
func appendProperty(b []byte, f field, key, value string) []byte {
	b, at := begin(b, f)
	b = appendEntry(b, 1, key)
	b = appendEntry(b, 2, value)
	return end(b, at)
}

func (w *writer) graph(b []byte, f field, g *ir.Graph) []byte {
	// A graph's deepest messages of its own are dims of types: graph,
	// value_info, type, tensor, shape, dim.
	const own = 6
	if w.depth++; w.depth+own > maxDepth {
		w.fail("graph %q: subgraphs are nested deeper than protobuf's readers accept (%d messages)", g.Name, maxDepth)
		return b
	}
	defer func() { w.depth-- }()
	b, at := begin(b, f)
	for n := range g.Nodes() {
		b = w.node(b, 1, n)
	}
	b = appendText(b, 2, g.Name)
	for _, v := range g.Initializers {
		b = w.initializer(b, v)
	}
	b = appendText(b, 10, g.Doc)
	for _, v := range g.Inputs {
		b = appendValue(b, 11, v)
	}
	for _, v := range g.Outputs {
		b = appendValue(b, 12, v)
	}
	b = w.valueInfo(b, 13, g)
	b = appendMeta(b, 16, g.Meta)
	return end(b, at)
}

func (w *writer) initializer(b []byte, v *ir.Value) []byte {
	switch {
	case v.Init == nil:
		w.fail("initializer %q has no content", v.Name)
		return b
	case v.Init.Sparse != nil:
		return w.sparse(b, 15, v.Name, v.Init)
	}
	return w.tensor(b, 5, v.Name, v.Init)
}

// valueInfo appends the entries of the values that nodes of the graph define,
// and of initializers that carry documentation beside their tensor's own.
func (w *writer) valueInfo(b []byte, f field, g *ir.Graph) []byte {
	isOutput := make(map[*ir.Value]bool, len(g.Outputs))
	for _, v := range g.Outputs {
		isOutput[v] = true
	}
	for _, v := range g.Inputs {
		isOutput[v] = true // an initializer that is an input's default
	}
	for _, v := range g.Initializers {
		if (v.Doc != "" || v.Meta != nil) && !isOutput[v] {
			b = appendValue(b, f, v)
		}
	}
	for n := range g.Nodes() {
		for _, v := range n.Outputs() {
			if v != nil && v.Name != "" && !isOutput[v] && (known(v.Type) || v.Doc != "" || v.Meta != nil) {
				b = appendValue(b, f, v)
			}
		}
	}
	return b
}

// known reports whether a type says enough for a value_info: readers reject an
// entry without element type.
func known(t *ir.Type) bool {
	if t == nil {
		return false
	}
	switch t.Kind {
	case ir.SequenceKind, ir.OptionalKind:
		return known(t.Inner)
	case ir.MapKind:
		return t.Elem != ir.Undefined && known(t.Inner)
	}
	return t.Elem != ir.Undefined
}

// name returns what a node or graph calls a value: "" for an absent one.
func name(v *ir.Value) string {
	if v == nil {
		return ""
	}
	return v.Name
}

func (w *writer) node(b []byte, f field, n *ir.Node) []byte {
	w.depth++
	b, at := begin(b, f)
	for _, v := range n.Inputs() {
		b = appendEntry(b, 1, name(v))
	}
	for _, v := range n.Outputs() {
		b = appendEntry(b, 2, name(v))
	}
	b = appendText(b, 3, n.Name)
	b = appendText(b, 4, n.OpType)
	for _, a := range n.Attrs {
		b = w.attr(b, 5, a)
	}
	b = appendText(b, 6, n.Doc)
	b = appendText(b, 7, n.Domain)
	b = appendText(b, 8, n.Overload)
	b = appendMeta(b, 9, n.Meta)
	w.depth--
	return end(b, at)
}

func (w *writer) attr(b []byte, f field, a *ir.Attr) []byte {
	w.depth++
	b, at := begin(b, f)
	b = appendText(b, 1, a.Name)
	b = w.attrContent(b, a)
	b = appendText(b, 13, a.Doc)
	b = appendInt(b, 20, int64(a.Type))
	b = appendText(b, 21, a.Ref)
	w.depth--
	return end(b, at)
}

// attrContent appends the field that the attribute's type names.
func (w *writer) attrContent(b []byte, a *ir.Attr) []byte {
	if a.Ref != "" {
		return b
	}
	switch a.Type {
	case ir.AttrFloat:
		return appendFloat(b, 2, a.Float)
	case ir.AttrInt:
		return appendInt(b, 3, a.Int)
	case ir.AttrString:
		return appendEntry(b, 4, a.Bytes)
	case ir.AttrFloats:
		for _, v := range a.Floats {
			b = appendFloat(b, 7, v)
		}
	case ir.AttrInts:
		for _, v := range a.Ints {
			b = appendInt(b, 8, v)
		}
	case ir.AttrStrings:
		for _, v := range a.Strings {
			b = appendEntry(b, 9, v)
		}
	default:
		return w.attrMessages(b, a)
	}
	return b
}

// attrMessages appends the tensors, graphs or types that an attribute holds.
func (w *writer) attrMessages(b []byte, a *ir.Attr) []byte {
	switch a.Type {
	case ir.AttrTensor:
		b = w.attrTensor(b, 5, a.Tensor)
	case ir.AttrGraph:
		if a.Graph != nil {
			b = w.graph(b, 6, a.Graph)
		}
	case ir.AttrSparseTensor:
		b = w.attrTensor(b, 22, a.Tensor)
	case ir.AttrTensors:
		for _, t := range a.Tensors {
			b = w.attrTensor(b, 10, t)
		}
	case ir.AttrGraphs:
		for _, g := range a.Graphs {
			b = w.graph(b, 11, g)
		}
	case ir.AttrSparseTensors:
		for _, t := range a.Tensors {
			b = w.attrTensor(b, 23, t)
		}
	case ir.AttrTypeProto:
		if a.TypeVal != nil {
			b = appendTypeField(b, 14, a.TypeVal)
		}
	case ir.AttrTypeProtos:
		for _, t := range a.Types {
			b = appendTypeField(b, 15, t)
		}
	default:
		w.fail("attribute %q has the type %s, which cannot be written", a.Name, a.Type)
	}
	return b
}

func (w *writer) attrTensor(b []byte, f field, t *ir.Tensor) []byte {
	switch {
	case t == nil:
		return b
	case t.Sparse != nil:
		return w.sparse(b, f, t.Name, t)
	}
	return w.tensor(b, f, t.Name, t)
}

func (w *writer) function(b []byte, f field, fn *ir.Function) []byte {
	if len(fn.Body.Initializers) > 0 {
		w.fail("function %q has initializers, which the file format has no place for", fn.Name)
		return b
	}
	b, at := begin(b, f)
	b = appendText(b, 1, fn.Name)
	for _, v := range fn.Body.Inputs {
		b = appendEntry(b, 4, v.Name)
	}
	for _, v := range fn.Body.Outputs {
		b = appendEntry(b, 5, v.Name)
	}
	for _, a := range fn.Attributes {
		b = appendEntry(b, 6, a)
	}
	w.depth++
	for n := range fn.Body.Nodes() {
		b = w.node(b, 7, n)
	}
	b = appendText(b, 8, fn.Doc)
	b = appendOpsets(b, 9, fn.Opsets)
	b = appendText(b, 10, fn.Domain)
	for _, a := range fn.Defaults {
		b = w.attr(b, 11, a)
	}
	w.depth--
	b = functionValues(b, 12, fn.Body)
	b = appendText(b, 13, fn.Overload)
	b = appendMeta(b, 14, fn.Meta)
	return end(b, at)
}

// functionValues appends the entries of every value with a known type: unlike
// a graph's, a function's inputs and outputs carry no type of their own.
func functionValues(b []byte, f field, body *ir.Graph) []byte {
	entry := func(v *ir.Value) {
		if v != nil && v.Name != "" && (known(v.Type) || v.Doc != "" || v.Meta != nil) {
			b = appendValue(b, f, v)
		}
	}
	for _, v := range body.Inputs {
		entry(v)
	}
	for n := range body.Nodes() {
		for _, v := range n.Outputs() {
			entry(v)
		}
	}
	return b
}
