package ops

import (
	"math/bits"
	"slices"
	"strings"

	"mobiusc/ir"
)

// DataTypes is a set of element types, one bit each.
type DataTypes uint32

// Has reports whether t is in the set.
func (d DataTypes) Has(t ir.DataType) bool { return t.Valid() && d>>uint(t)&1 == 1 }

// Len returns the number of types in the set.
func (d DataTypes) Len() int { return bits.OnesCount32(uint32(d)) }

// TypeSet is the set of types a parameter or a type variable admits. Shapes
// play no part in it.
type TypeSet struct {
	Tensors           DataTypes // tensor(t)
	Sequences         DataTypes // seq(tensor(t))
	Optionals         DataTypes // optional(tensor(t))
	OptionalSequences DataTypes // optional(seq(tensor(t)))
	Maps              []string  // types with maps, as String prints them, sorted
}

// Has reports whether t may be of a type in the set. What is unknown about t (a
// nil type, an undefined element type) is assumed to fit.
func (s *TypeSet) Has(t *ir.Type) bool {
	if t == nil {
		return true
	}
	if bits, elem, ok := s.family(t); ok {
		return bits.Has(elem) || elem == ir.Undefined && bits != 0
	}
	return slices.Contains(s.Maps, TypeName(t))
}

// family returns the part of the set that t's structure selects and t's
// element type; ok is false for maps, sparse tensors and deeper nesting.
func (s *TypeSet) family(t *ir.Type) (_ DataTypes, elem ir.DataType, ok bool) {
	switch t.Kind {
	case ir.TensorKind:
		return s.Tensors, t.Elem, true
	case ir.SequenceKind:
		if e, ok := tensorElem(t.Inner); ok {
			return s.Sequences, e, true
		}
	case ir.OptionalKind:
		if e, ok := tensorElem(t.Inner); ok {
			return s.Optionals, e, true
		}
		if t.Inner.Kind == ir.SequenceKind {
			if e, ok := tensorElem(t.Inner.Inner); ok {
				return s.OptionalSequences, e, true
			}
		}
	}
	return 0, 0, false
}

func tensorElem(t *ir.Type) (ir.DataType, bool) {
	if t == nil {
		return ir.Undefined, true
	}
	return t.Elem, t.Kind == ir.TensorKind
}

// Contains reports whether every type of o is in s.
func (s *TypeSet) Contains(o *TypeSet) bool {
	return o.Tensors&^s.Tensors == 0 && o.Sequences&^s.Sequences == 0 && o.Optionals&^s.Optionals == 0 &&
		o.OptionalSequences&^s.OptionalSequences == 0 &&
		!slices.ContainsFunc(o.Maps, func(m string) bool { return !slices.Contains(s.Maps, m) })
}

// Only returns the type when the set has exactly one, a tensor of unknown rank,
// and else nil.
func (s *TypeSet) Only() *ir.Type {
	if s.Tensors.Len() != 1 || s.Sequences|s.Optionals|s.OptionalSequences != 0 || s.Maps != nil {
		return nil
	}
	return ir.Unranked(ir.DataType(bits.TrailingZeros32(uint32(s.Tensors))))
}

// Names returns the types in the notation of String, tensors first, in the
// order of ONNX's element types.
func (s *TypeSet) Names() []string {
	var out []string
	add := func(set DataTypes, before, after string) {
		for t := ir.Float32; t.Valid(); t++ {
			if set.Has(t) {
				out = append(out, before+t.String()+after)
			}
		}
	}
	add(s.Tensors, "", "")
	add(s.Sequences, "seq(", ")")
	add(s.Optionals, "optional(", ")")
	add(s.OptionalSequences, "optional(seq(", "))")
	return append(out, s.Maps...)
}

// String lists the types: "float, double, seq(float)". A tensor is named by its
// element type alone.
func (s *TypeSet) String() string { return strings.Join(s.Names(), ", ") }

// TypeName returns a type as String prints it: the element type for a tensor,
// seq(…), optional(…), map(key,value) and sparse(…) for the rest, "?" for what
// is unknown. Shapes are left out.
func TypeName(t *ir.Type) string {
	if t == nil {
		return "?"
	}
	switch t.Kind {
	case ir.TensorKind:
		if t.Elem == ir.Undefined {
			return "?"
		}
		return t.Elem.String()
	case ir.SparseTensorKind:
		return "sparse(" + t.Elem.String() + ")"
	case ir.SequenceKind:
		return "seq(" + TypeName(t.Inner) + ")"
	case ir.OptionalKind:
		return "optional(" + TypeName(t.Inner) + ")"
	}
	return "map(" + t.Elem.String() + "," + TypeName(t.Inner) + ")"
}
