package validate

import (
	"strings"

	"mobiusc/ir"
	"mobiusc/ops"
)

// relations checks what an operator demands of its inputs and attributes
// together, which no schema says. It returns whether all is well.
func (w *walk) relations(n *ir.Node, schema *ops.Schema) bool {
	if schema.Domain != "" {
		return true
	}
	before := w.faults
	w.elementTypes(n, schema)
	switch n.OpType {
	case "Constant":
		if values := valueCount(n); values != 1 {
			w.reportNode(attributeValue, n, "Constant needs exactly one attribute with its value, found %d", values)
		}
	case "SequenceInsert":
		seq, t := w.typeOf(n.Input(0)), w.typeOf(n.Input(1))
		if seq != nil && seq.Kind == ir.SequenceKind && !agree(seq.Inner, t) {
			w.reportNode(typeMismatch, n, "the sequence holds %s, but the inserted tensor is %s", ops.TypeName(seq.Inner), ops.TypeName(t))
		}
	case "Split":
		if schema.Since >= 18 && (n.Input(1) == nil) == (n.Attr("num_outputs") == nil) {
			w.reportNode(attributeValue, n, "%s takes either the input split or the attribute num_outputs", versioned(schema))
		}
	}
	return w.faults == before
}

// valueCount returns how many attributes state the value of a Constant.
func valueCount(n *ir.Node) (count int) {
	for _, a := range n.Attrs {
		if !strings.HasPrefix(a.Name, "__") {
			count++
		}
	}
	return count
}

// elementTypes checks integer attributes that name an element type. 0 stands
// for none where the attribute is optional.
func (w *walk) elementTypes(n *ir.Node, schema *ops.Schema) {
	for _, name := range []string{"to", "dtype", "output_dtype", "output_datatype"} {
		spec := schema.Attr(name)
		if spec == nil || spec.Type != ir.AttrInt || n.Attr(name) == nil {
			continue
		}
		v, known := w.intAttr(n, name, 0)
		if known && !(v == 0 && !spec.Required) && (v < 0 || v > 1<<16 || !ir.DataType(v).Valid()) {
			w.reportNode(attributeValue, n, "the attribute %s is %d, which is no element type", name, v)
		}
	}
}
