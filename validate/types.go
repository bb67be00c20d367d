package validate

import (
	"fmt"

	"mobiusc/ir"
	"mobiusc/ops"
)

// nodeTypes checks the types of a node's inputs and outputs against its schema
// and records those of the outputs. sound says that nothing has been found
// about the node so far.
func (w *walk) nodeTypes(n *ir.Node, schema *ops.Schema, sound bool) {
	var b bindings
	for i, v := range n.Inputs() {
		sound = w.inputFits(n, schema, i, w.typeOf(v), &b) && sound
	}
	sound = w.relations(n, schema) && sound
	if sound && len(graphsOf(n)) == 0 { // subgraphs are inferred before they are walked
		if err := w.inferNode(n); err != nil {
			w.reportNode(shapeMismatch, n, "%s", contradiction(n, err))
		}
	}
	for i, v := range n.Outputs() {
		p := schema.Output(i)
		if v == nil || p == nil {
			continue
		}
		t := w.computed(n, schema, v)
		if t == nil {
			t = b.output(p)
		}
		if t == nil {
			t = v.Type
		}
		// What is wrong with the inputs need not be said twice.
		if !sound || t != nil && !w.outputFits(n, schema, p, i, t, &b) {
			w.env.SetType(v, v.Type)
			continue
		}
		w.produces(n, v, t)
	}
}

// inputFits checks that the schema admits the type of an input beside those
// before it.
func (w *walk) inputFits(n *ir.Node, schema *ops.Schema, i int, t *ir.Type, b *bindings) bool {
	p := schema.Input(i)
	if t == nil || p == nil {
		return true
	}
	if !p.Allowed.Has(t) {
		w.reportNode(inputType, n, "input %d, %s, is %s, but %s takes %s", i, p.Name, ops.TypeName(t), versioned(schema), p.Allowed)
		return false
	}
	if first := b.bind(p, t, i); first != nil {
		w.reportNode(typeMismatch, n, "input %d, %s, is %s, but input %d is %s: both are %s of %s",
			i, p.Name, ops.TypeName(t), first.index, ops.TypeName(first.typ), p.Type, versioned(schema))
		return false
	}
	return true
}

// outputFits checks that the schema admits a type for an output.
func (w *walk) outputFits(n *ir.Node, schema *ops.Schema, p *ops.Param, i int, t *ir.Type, b *bindings) bool {
	if !p.Allowed.Has(t) {
		w.reportNode(outputType, n, "output %d, %s, would be %s, but %s produces %s", i, p.Name, ops.TypeName(t), versioned(schema), p.Allowed)
		return false
	}
	if first := b.bind(p, t, -1); first != nil {
		what := "another output"
		if first.index >= 0 {
			what = fmt.Sprintf("input %d", first.index)
		}
		w.reportNode(typeMismatch, n, "output %d, %s, is %s, but %s is %s: both are %s of %s",
			i, p.Name, ops.TypeName(t), what, ops.TypeName(first.typ), p.Type, versioned(schema))
		return false
	}
	return true
}

// produces compares the type that a node gives a value with the one that the
// value declares, and records what the value does not declare.
func (w *walk) produces(n *ir.Node, v *ir.Value, t *ir.Type) {
	if !agree(v.Type, t) {
		w.reportNode(outputType, n, "%q is declared as %s, but the node produces %s", v.Name, ops.TypeName(v.Type), ops.TypeName(t))
	} else if reason := shapeConflict(v.Type, t); reason != "" {
		w.reportNode(shapeMismatch, n, "%q is declared with another shape than the node produces: %s", v.Name, reason)
	} else {
		w.env.SetType(v, merge(v.Type, t))
		return
	}
	w.env.SetType(v, v.Type)
}

// bindings holds what the type variables of one node stand for.
type bindings []binding

type binding struct {
	variable string
	typ      *ir.Type
	index    int // of the input that bound it, -1 for an output
}

// bind binds the variable of a parameter. If it is bound to another type
// already, that binding is returned.
func (b *bindings) bind(p *ops.Param, t *ir.Type, index int) *binding {
	if !p.Homogeneous || !elemKnown(t) {
		return nil
	}
	for i := range *b {
		if have := &(*b)[i]; have.variable == p.Type {
			if agree(have.typ, t) {
				return nil
			}
			return have
		}
	}
	*b = append(*b, binding{p.Type, t, index})
	return nil
}

// output returns the type that an output has because of its variable, or
// because its parameter admits one type only; else nil. Its shape is unknown.
func (b bindings) output(p *ops.Param) *ir.Type {
	if p.Homogeneous {
		for _, have := range b {
			if have.variable == p.Type {
				return withoutShape(have.typ)
			}
		}
	}
	return p.Allowed.Only()
}

func withoutShape(t *ir.Type) *ir.Type {
	if t == nil {
		return nil
	}
	u := *t
	u.Ranked, u.Shape, u.Inner = false, nil, withoutShape(t.Inner)
	return &u
}

// elemKnown reports whether nothing but shapes is unknown about a type.
func elemKnown(t *ir.Type) bool {
	for ; t != nil; t = t.Inner {
		switch t.Kind {
		case ir.TensorKind, ir.SparseTensorKind:
			return t.Elem != ir.Undefined
		case ir.MapKind:
			if t.Elem == ir.Undefined {
				return false
			}
		}
	}
	return false
}

// merge returns what a declared type and an inferred one that agree say
// together. Of two dims a number wins, then what was inferred.
func merge(declared, inferred *ir.Type) *ir.Type {
	if declared == nil || inferred == nil || declared == inferred {
		if inferred == nil {
			return declared
		}
		return inferred
	}
	m := *inferred
	if m.Elem == ir.Undefined {
		m.Elem = declared.Elem
	}
	m.Inner = merge(declared.Inner, inferred.Inner)
	switch {
	case !declared.Ranked:
	case !inferred.Ranked:
		m.Ranked, m.Shape = true, declared.Shape
	default:
		m.Shape = mergeDims(declared.Shape, inferred.Shape)
	}
	return &m
}

func mergeDims(declared, inferred ir.Shape) ir.Shape {
	for i, d := range declared {
		_, number := d.Int()
		_, already := inferred[i].Int()
		if !already && number || !inferred[i].Known() && d.Known() {
			out := append(ir.Shape{}, inferred...)
			for j := i; j < len(out); j++ {
				if _, number := declared[j].Int(); number || !out[j].Known() {
					out[j] = declared[j]
				}
			}
			return out
		}
	}
	return inferred
}

// agree reports whether two types can be the same, shapes aside.
func agree(a, b *ir.Type) bool {
	if a == nil || b == nil {
		return true
	}
	if a.Kind != b.Kind {
		return false
	}
	if a.Elem != b.Elem && a.Elem != ir.Undefined && b.Elem != ir.Undefined {
		return false
	}
	return agree(a.Inner, b.Inner)
}

// shapeConflict tells why two shapes of types that agree cannot be the same, or
// returns "". Dims conflict if they differ whatever the symbols stand for.
func shapeConflict(a, b *ir.Type) string {
	if a == nil || b == nil {
		return ""
	}
	if a.Inner != nil {
		return shapeConflict(a.Inner, b.Inner)
	}
	if !a.Ranked || !b.Ranked {
		return ""
	}
	if len(a.Shape) != len(b.Shape) {
		return fmt.Sprintf("rank %d and rank %d", len(a.Shape), len(b.Shape))
	}
	for i := range a.Shape {
		if a.Shape[i].Differs(b.Shape[i]) {
			return fmt.Sprintf("dim %d is %s and %s", i, a.Shape[i], b.Shape[i])
		}
	}
	return ""
}
