package ops

import (
	"fmt"
	"slices"

	"mobiusc/ir"
)

// inference is the inference of one node. A rule reads the inputs, sets the
// types of the outputs that it can tell, and fails on a contradiction.
type inference struct {
	call
	env *Env
	out []*ir.Type
	err error
	few [3]*ir.Type // what out is made of, for most operators
}

type inferRule func(c *inference)

// wrapped returns the contradiction with the node's name.
func (c *inference) wrapped() error {
	if c.err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", label(c.node), c.err)
}

// rules holds the rule of each standard operator that has one.
var rules = map[string]inferRule{}

// register adds one rule for several operators.
func register(rule inferRule, ops ...string) {
	for _, op := range ops {
		rules[op] = rule
	}
}

func init() {
	registerElementwise()
	registerShapes()
	registerResizing()
	registerIndexing()
	registerProducts()
	registerReductions()
	registerLayers()
	registerAttention()
	registerQuantisation()
	registerMakers()
	registerControl()
	registerSequences()
}

// fail records the first contradiction.
func (c *inference) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// input returns input i, or nil when it is absent: also if it is an optional
// parameter of a function that the call does not give.
func (c *inference) input(i int) *ir.Value {
	v := c.node.Input(i)
	if v != nil && c.env.depth > 0 && c.env.fact(v).absent {
		return nil
	}
	return v
}

func (c *inference) has(i int) bool { return c.input(i) != nil }

// typ returns the type of input i; nil when it is absent or unknown.
func (c *inference) typ(i int) *ir.Type {
	if v := c.input(i); v != nil {
		return c.env.Type(v)
	}
	return nil
}

// elem returns the element type of a tensor input, or Undefined.
func (c *inference) elem(i int) ir.DataType {
	if t := c.typ(i); t != nil && t.Kind == ir.TensorKind {
		return t.Elem
	}
	return ir.Undefined
}

// shape returns the shape of a tensor input; ok is false when its rank is
// unknown. Shapes are shared: read only.
func (c *inference) shape(i int) (s ir.Shape, ok bool) {
	if t := c.typ(i); t != nil && t.Kind == ir.TensorKind && t.Ranked {
		return t.Shape, true
	}
	return nil, false
}

// shapeOfRank is shape for inputs that must have the given rank.
func (c *inference) shapeOfRank(i, rank int) (s ir.Shape, ok bool) {
	s, ok = c.shape(i)
	if ok && len(s) != rank {
		c.fail("input %d has shape %s, expected rank %d", i, shapeText(s), rank)
		return nil, false
	}
	return s, ok
}

// sizes returns the elements of an integer input; nil when unknown.
func (c *inference) sizes(i int) []ir.Dim { return c.env.Sizes(c.node.Input(i)) }

// numbers returns the elements of an integer input that are all known numbers.
func (c *inference) numbers(i int) (values []int64, ok bool) {
	s := c.sizes(i)
	if s == nil {
		return nil, false
	}
	return ir.Shape(s).Static()
}

// optionalNumbers returns what old versions of an operator take as an attribute
// and later ones as input i. given is false where there is neither, known is
// false where the input's content is unknown.
func (c *inference) optionalNumbers(i int, attr string) (values []int64, given, known bool) {
	if values, ok := c.ints(attr); ok {
		return values, true, true
	}
	if !c.has(i) {
		return nil, false, true
	}
	values, known = c.numbers(i)
	return values, true, known
}

// optionalSizes is optionalNumbers for elements that may be symbolic.
func (c *inference) optionalSizes(i int, attr string) (values []ir.Dim, given bool) {
	if values, ok := c.ints(attr); ok {
		return dimsOf(values), true
	}
	return c.sizes(i), c.has(i)
}

// axis returns the axis attribute counted from the front.
func (c *inference) axis(absent int64, rank int) (axis int, ok bool) {
	a := c.int("axis", absent)
	axis, ok = axisOf(a, rank)
	if !ok {
		c.fail("axis %d is out of range for rank %d", a, rank)
	}
	return axis, ok
}

// set gives output i a type.
func (c *inference) set(i int, t *ir.Type) {
	if i < len(c.out) {
		c.out[i] = t
	}
}

// ranked gives output i a tensor type with a shape.
func (c *inference) ranked(i int, elem ir.DataType, shape ir.Shape) {
	for j, d := range shape {
		if size := d.Size(); size != d {
			shape = slices.Clone(shape)
			shape[j] = size
		}
	}
	c.set(i, &ir.Type{Elem: elem, Shape: shape, Ranked: true})
}

// unranked gives output i a tensor type of unknown rank.
func (c *inference) unranked(i int, elem ir.DataType) { c.set(i, ir.Unranked(elem)) }

// unknownDims gives output i a tensor type of known rank only.
func (c *inference) unknownDims(i int, elem ir.DataType, rank int) {
	c.ranked(i, elem, make(ir.Shape, rank))
}

// like gives output i the shape of an input and an element type.
func (c *inference) like(i int, elem ir.DataType, input int) {
	t := c.typ(input)
	switch {
	case t == nil || t.Kind != ir.TensorKind:
		c.unranked(i, elem)
	case t.Elem == elem:
		c.set(i, t)
	default:
		c.set(i, &ir.Type{Elem: elem, Shape: t.Shape, Ranked: t.Ranked})
	}
}

// same gives output i the type of an input.
func (c *inference) same(i, input int) { c.set(i, c.typ(input)) }

// sameElem checks that inputs have one element type and returns it.
func (c *inference) sameElem(inputs ...int) ir.DataType {
	elem, first := ir.Undefined, 0
	for _, i := range inputs {
		e := c.elem(i)
		switch {
		case e == ir.Undefined:
		case elem == ir.Undefined:
			elem, first = e, i
		case e != elem:
			c.fail("input %d is %s but input %d is %s", first, elem, i, e)
		}
	}
	return elem
}

// match checks that two dims of inputs may be the same size and returns the
// preciser one.
func (c *inference) match(what string, a, b ir.Dim, i, j int) ir.Dim {
	if a.Differs(b) {
		s, _ := c.shape(i)
		t, _ := c.shape(j)
		c.fail("%s %s and %s differ: input %d is %s, input %d is %s", what, a, b, i, shapeText(s), j, shapeText(t))
	}
	return preciser(a, b)
}

// broadcast returns the shape that tensor inputs broadcast to; ok is false when
// a rank is unknown.
func (c *inference) broadcast(inputs ...int) (out ir.Shape, ok bool) {
	out = ir.Shape{}
	for _, i := range inputs {
		s, ok := c.shape(i)
		if !ok {
			return nil, false
		}
		if len(out) == 0 || out.Equal(s) {
			if len(s) > 0 {
				out = s
			}
			continue
		}
		var err error
		if out, err = broadcastDims(out, s); err != nil {
			c.fail("%v", err)
			return nil, false
		}
	}
	return out, true
}

// broadcastTo gives output 0 the shape that inputs broadcast to.
func (c *inference) broadcastTo(elem ir.DataType, inputs ...int) {
	if s, ok := c.broadcast(inputs...); ok {
		c.ranked(0, elem, s)
	} else {
		c.unranked(0, elem)
	}
}

// inferFromSchema gives outputs the element types that the schema ties to
// inputs; shapes stay unknown.
func (c *inference) inferFromSchema() {
	s := Lookup(c.node.Domain, c.node.OpType, c.env.opsets[canonical(c.node.Domain)])
	if s == nil {
		return
	}
	for i := range c.out {
		p := s.Output(i)
		if p == nil {
			continue
		}
		if t := p.Allowed.Only(); t != nil {
			c.set(i, t)
			continue
		}
		for j := range c.node.Inputs() {
			in, t := s.Input(j), c.typ(j)
			if in != nil && t != nil && in.Type == p.Type && t.Kind == ir.TensorKind {
				c.unranked(i, t.Elem)
				break
			}
		}
	}
}
