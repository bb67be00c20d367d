package validate

import (
	"fmt"

	"mobiusc/internal/number"
	"mobiusc/ir"
	"mobiusc/ops"
)

// subgraphs checks every graph that a node holds, then what the node takes from
// it. Inference finds the types of the subgraphs' inputs before the walk and those
// of the node's outputs after it; what it reports matters only if the walk finds
// no cause.
func (w *walk) subgraphs(n *ir.Node, schema *ops.Schema, s *scope) {
	if len(graphsOf(n)) == 0 {
		return
	}
	before := w.faults
	need, known := w.interfaceOf(n, schema)
	var err error
	infer := known && w.faults == before && w.prepare(n)
	if infer {
		err = w.env.InferInputs(n)
	}
	for _, a := range n.Attrs {
		if a.Ref != "" {
			continue
		}
		if a.Graph != nil {
			inner := w.in(w.attributePlace(n, a.Name))
			if known && schema.Attr(a.Name) != nil {
				inner.pass(a.Graph, need)
			}
			inner.graph(a.Graph, s)
			if known && schema.Attr(a.Name) != nil {
				inner.take(a.Graph, need)
			}
		}
		for i, g := range a.Graphs {
			if g == nil {
				w.reportNode(attributeValue, n, "entry %d of the attribute %s is no graph", i, a.Name)
				continue
			}
			w.in(w.attributePlace(n, fmt.Sprintf("%s[%d]", a.Name, i))).graph(g, s)
		}
	}
	if infer && err == nil && w.faults == before {
		err = w.env.InferOutputs(n)
	}
	if err != nil && w.faults == before {
		w.reportNode(subgraphTypes, n, "%s", contradiction(n, err))
	}
}

func (w *walk) attributePlace(n *ir.Node, name string) *place {
	return &place{outer: &place{outer: w.at, kind: nodePlace, node: n}, kind: attributePlace, name: name}
}

// bodyInterface is what a node passes to its subgraph and takes from it.
type bodyInterface struct {
	op      string
	inputs  []*ir.Type // nil: unknown
	outputs []*ir.Type // nil: any
}

var (
	iterationType = ir.Unranked(ir.Int64)
	conditionType = ir.Unranked(ir.Bool)
)

// interfaceOf returns the interface that the operators with subgraphs demand;
// known is false for other operators, and where the node is too broken to say.
func (w *walk) interfaceOf(n *ir.Node, schema *ops.Schema) (need bodyInterface, known bool) {
	if schema == nil {
		return need, false
	}
	need.op = n.OpType
	if schema.Domain == "ai.onnx.preview" && n.OpType == "FlexAttention" {
		need.inputs, need.outputs = make([]*ir.Type, 1), make([]*ir.Type, 1) // each of them maps scores to scores
		return need, true
	}
	if schema.Domain != "" {
		return need, false
	}
	switch n.OpType {
	case "If":
		need.outputs = make([]*ir.Type, len(n.Outputs()))
		return need, true
	case "Loop":
		return w.loopInterface(n, need)
	case "Scan":
		return w.scanInterface(n, schema, need)
	case "SequenceMap":
		for _, v := range n.Inputs() {
			t := w.typeOf(v)
			if t != nil && t.Kind == ir.SequenceKind {
				t = t.Inner
			}
			need.inputs = append(need.inputs, t)
		}
		need.outputs = make([]*ir.Type, len(n.Outputs()))
		return need, true
	}
	return need, false
}

// loopInterface: the body takes the iteration number, the condition and the
// carried values, and returns the condition, the carried values and what is
// collected.
func (w *walk) loopInterface(n *ir.Node, need bodyInterface) (bodyInterface, bool) {
	if len(n.Inputs()) < 2 {
		return need, false
	}
	carried := n.Inputs()[2:]
	if len(n.Outputs()) < len(carried) {
		w.reportNode(outputCount, n, "Loop carries %s but has only %s", number.Count(len(carried), "value"), number.Count(len(n.Outputs()), "output"))
		return need, false
	}
	need.inputs = []*ir.Type{iterationType, conditionType}
	need.outputs = make([]*ir.Type, 1+len(n.Outputs()))
	need.outputs[0] = conditionType
	for i, v := range carried {
		t := withoutShape(w.typeOf(v)) // the shape may change between iterations
		need.inputs = append(need.inputs, t)
		need.outputs[1+i] = t
	}
	return need, true
}

// scanInterface: the body takes the carried values and one slice of each
// scanned input, and returns the carried values and one slice of each scanned
// output.
func (w *walk) scanInterface(n *ir.Node, schema *ops.Schema, need bodyInterface) (bodyInterface, bool) {
	inputs := n.Inputs()
	if schema.Since < 9 && len(inputs) > 0 {
		inputs = inputs[1:] // sequence_lens
	}
	scanned, ok := w.intAttr(n, "num_scan_inputs", 0)
	if !ok || n.Attr("num_scan_inputs") == nil {
		return need, false
	}
	if scanned < 1 || scanned > int64(len(inputs)) {
		w.reportNode(attributeValue, n, "num_scan_inputs is %d, expected 1 to %d, the count of inputs", scanned, len(inputs))
		return need, false
	}
	carried := len(inputs) - int(scanned)
	if len(n.Outputs()) < carried {
		w.reportNode(outputCount, n, "Scan carries %s but has only %s", number.Count(carried, "value"), number.Count(len(n.Outputs()), "output"))
		return need, false
	}
	need.outputs = make([]*ir.Type, len(n.Outputs()))
	for i, v := range inputs {
		t := w.typeOf(v)
		if i >= carried || schema.Since < 9 {
			t = withoutShape(t)
		}
		need.inputs = append(need.inputs, t)
		if i < carried {
			need.outputs[i] = withoutShape(t)
		}
	}
	w.scanLists(n, int(scanned), len(n.Outputs())-carried)
	return need, true
}

// scanLists checks the lengths of the lists with one entry for each scanned
// input or output.
func (w *walk) scanLists(n *ir.Node, inputs, outputs int) {
	for _, l := range []struct {
		name string
		want int
	}{
		{"scan_input_axes", inputs}, {"scan_input_directions", inputs}, {"directions", inputs},
		{"scan_output_axes", outputs}, {"scan_output_directions", outputs},
	} {
		if a := w.attr(n, l.name); a != nil && a.Type == ir.AttrInts && len(a.Ints) != l.want {
			w.reportNode(attributeValue, n, "%s has %s, expected one for each of %d", l.name, number.Count(len(a.Ints), "entry"), l.want)
		}
	}
}

// pass compares a subgraph's inputs with what its node passes, and records the
// types of inputs that declare none.
func (w *walk) pass(g *ir.Graph, need bodyInterface) {
	inputs := g.Inputs
	if w.model.IRVersion < 4 {
		inputs = withoutInit(inputs) // initializers had to be inputs
	}
	if len(inputs) != len(need.inputs) {
		w.report(subgraphInputs, "%s passes %s, the subgraph takes %d", need.op, number.Count(len(need.inputs), "value"), len(inputs))
	}
	for i, v := range inputs {
		if v == nil || i >= len(need.inputs) {
			continue
		}
		if v.Init != nil {
			w.report(subgraphInputs, "the input %q is also an initializer, but %s passes a value for it", v.Name, need.op)
		}
		t := need.inputs[i]
		switch {
		case t == nil:
		case v.Type == nil:
			w.passType(v, t)
		case !agree(v.Type, t):
			w.report(subgraphTypes, "the input %q is declared as %s, but %s passes %s", v.Name, ops.TypeName(v.Type), need.op, ops.TypeName(t))
		default:
			if reason := shapeConflict(v.Type, t); reason != "" {
				w.report(subgraphTypes, "the input %q is declared with another shape than %s passes: %s", v.Name, need.op, reason)
			}
			w.passType(v, merge(v.Type, t))
		}
	}
}

// passType records the type of a subgraph's input, unless inference of the
// whole node has found one.
func (w *walk) passType(v *ir.Value, t *ir.Type) {
	if w.env.Type(v) == v.Type {
		w.env.SetType(v, t)
	}
}

func withoutInit(values []*ir.Value) []*ir.Value {
	var out []*ir.Value
	for _, v := range values {
		if v == nil || v.Init == nil {
			out = append(out, v)
		}
	}
	return out
}

// take compares a subgraph's outputs with what its node needs.
func (w *walk) take(g *ir.Graph, need bodyInterface) {
	if len(g.Outputs) != len(need.outputs) {
		w.report(subgraphOutputs, "%s needs %s of the subgraph, found %d", need.op, number.Count(len(need.outputs), "output"), len(g.Outputs))
	}
	for i, v := range g.Outputs {
		if v == nil || i >= len(need.outputs) {
			continue
		}
		if t := w.typeOf(v); !agree(t, need.outputs[i]) && !becomesOptional(t, need.outputs[i]) {
			w.report(subgraphTypes, "the output %q is %s, but %s needs %s there", v.Name, ops.TypeName(t), need.op, ops.TypeName(need.outputs[i]))
		}
	}
}

// becomesOptional reports whether a value stands where an optional of its type
// is carried: a loop may start with nothing and go on with something.
func becomesOptional(t, need *ir.Type) bool {
	return need != nil && need.Kind == ir.OptionalKind && agree(t, need.Inner)
}
