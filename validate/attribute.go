package validate

import (
	"slices"
	"strings"

	"mobiusc/ir"
	"mobiusc/ops"
)

// attributes checks what holds for the attributes of any node.
func (w *walk) attributes(n *ir.Node) {
	for i, a := range n.Attrs {
		if a.Name == "" {
			w.reportNode(emptyName, n, "an attribute has no name")
			continue
		}
		for _, b := range n.Attrs[:i] {
			if b.Name == a.Name {
				w.reportMention(duplicateAttribute, attributeOf(n, a), "", "the attribute %s is there twice", a.Name)
				break
			}
		}
		if a.Ref != "" {
			w.reference(n, a)
			continue
		}
		w.attributeValue(n, a)
	}
}

func attributeOf(n *ir.Node, a *ir.Attr) ir.Mention {
	return ir.Mention{Node: n, Role: ir.AttributeMention, Name: a.Name}
}

// reference checks that an attribute which takes its value from a parameter of
// the function does so in a function that has the parameter.
func (w *walk) reference(n *ir.Node, a *ir.Attr) {
	switch {
	case w.fn == nil:
		w.reportMention(attributeReference, attributeOf(n, a), "", "the attribute %s refers to the parameter %q, but the node is not in a function", a.Name, a.Ref)
	case !hasParameter(w.fn, a.Ref):
		w.reportMention(attributeReference, attributeOf(n, a), "", "the attribute %s refers to the parameter %q, which the function does not have", a.Name, a.Ref)
	}
}

// attributeValue checks that an attribute holds what its type promises.
func (w *walk) attributeValue(n *ir.Node, a *ir.Attr) {
	held := true
	switch a.Type {
	case ir.AttrTensor, ir.AttrSparseTensor:
		held = a.Tensor != nil
	case ir.AttrGraph:
		held = a.Graph != nil
	case ir.AttrTypeProto:
		held = a.TypeVal != nil
	}
	if !held {
		w.reportMention(attributeValue, attributeOf(n, a), "", "the attribute %s is of type %s but holds none", a.Name, a.Type)
		return
	}
	if a.Type <= ir.AttrUndefined || a.Type > ir.AttrTypeProtos {
		w.reportMention(attributeType, attributeOf(n, a), "", "the attribute %s has no type that ONNX knows", a.Name)
	}
	for _, t := range append(a.Tensors[:len(a.Tensors):len(a.Tensors)], a.Tensor) {
		if t != nil {
			w.in(w.attributePlace(n, a.Name)).tensor(t)
		}
	}
	w.declaredType(a.Name, a.TypeVal)
	for _, t := range a.Types {
		w.declaredType(a.Name, t)
	}
}

// schemaAttributes compares a node's attributes with its operator's.
func (w *walk) schemaAttributes(n *ir.Node, schema *ops.Schema) {
	for _, a := range n.Attrs {
		if a.Name == "" {
			continue
		}
		spec := schema.Attr(a.Name)
		switch {
		case spec == nil && strings.HasPrefix(a.Name, "__"):
			// ONNX leaves such names to the implementation.
		case spec == nil:
			w.reportMention(unknownAttribute, attributeOf(n, a), attributeHint(schema, a.Name), "%s has no attribute %s", versioned(schema), a.Name)
		case a.Type != spec.Type:
			w.reportMention(attributeType, attributeOf(n, a), "", "the attribute %s of %s is of type %s, found %s", a.Name, versioned(schema), spec.Type, a.Type)
		}
	}
	for _, spec := range schema.Attrs {
		if spec.Required && n.Attr(spec.Name) == nil {
			w.reportNode(missingAttribute, n, "%s needs the attribute %s of type %s", versioned(schema), spec.Name, spec.Type)
		}
	}
}

// attributeHint says where an attribute that a schema lacks exists: under a
// similar name, or in another version of the operator.
func attributeHint(schema *ops.Schema, name string) string {
	for _, other := range ops.Versions(schema.Domain, schema.Name) {
		switch {
		case other.Attr(name) != nil && other.Since > schema.Since:
			return "it came with " + versioned(other)
		case hasInput(other, name) && other.Since <= schema.Since:
			return "it is an input since " + versioned(other)
		}
	}
	return didYouMean(schema.SuggestAttr(name))
}

func hasInput(s *ops.Schema, name string) bool {
	return slices.ContainsFunc(s.Inputs, func(p ops.Param) bool { return p.Name == name })
}

// attr returns a node's attribute with its value: in a function body that is
// checked for one call, a reference is followed. It returns nil when the
// attribute is absent, or its value not known.
func (w *walk) attr(n *ir.Node, name string) *ir.Attr {
	a := n.Attr(name)
	if a == nil || a.Ref == "" {
		return a
	}
	return w.attrs[a.Ref]
}

// intAttr returns an integer attribute, or a default when it is absent; ok is
// false when the value is not known.
func (w *walk) intAttr(n *ir.Node, name string, absent int64) (v int64, ok bool) {
	if n.Attr(name) == nil {
		return absent, true
	}
	a := w.attr(n, name)
	if a == nil || a.Type != ir.AttrInt {
		return 0, false
	}
	return a.Int, true
}
