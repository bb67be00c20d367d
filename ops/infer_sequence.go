package ops

import "mobiusc/ir"

func registerSequences() {
	register(inferSequenceConstruct, "SequenceConstruct")
	register(inferSequenceEmpty, "SequenceEmpty")
	register(inferSequenceInsert, "SequenceInsert")
	register(inferSame, "SequenceErase")
	register(inferSequenceAt, "SequenceAt")
	register(func(c *inference) { c.ranked(0, ir.Int64, ir.Shape{}) }, "SequenceLength")
	register(inferSplitToSequence, "SplitToSequence")
	register(inferConcatFromSequence, "ConcatFromSequence")
	register(inferOptional, "Optional")
	register(inferOptionalGetElement, "OptionalGetElement")
	register(func(c *inference) { c.ranked(0, ir.Bool, ir.Shape{}) }, "OptionalHasElement")
}

func sequenceOf(t *ir.Type) *ir.Type { return &ir.Type{Kind: ir.SequenceKind, Inner: t} }

func inferSequenceConstruct(c *inference) {
	t := c.typ(0)
	for i := range c.node.Inputs() {
		t = union(t, c.typ(i))
	}
	if t != nil {
		c.set(0, sequenceOf(t))
	}
}

func inferSequenceEmpty(c *inference) {
	c.set(0, sequenceOf(ir.Unranked(ir.DataType(c.int("dtype", int64(ir.Float32))))))
}

// inferSequenceInsert: an empty sequence has elements of unknown rank, which
// the inserted tensor cannot narrow: a loop may insert others.
func inferSequenceInsert(c *inference) {
	if s, t := c.typ(0), c.typ(1); s != nil && s.Kind == ir.SequenceKind && t != nil {
		if inner := union(s.Inner, t); inner != nil {
			c.set(0, sequenceOf(inner))
		}
	}
}

func inferSequenceAt(c *inference) {
	if s := c.typ(0); s != nil && s.Kind == ir.SequenceKind {
		c.set(0, s.Inner)
	}
}

func inferSplitToSequence(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		c.set(0, sequenceOf(ir.Unranked(c.elem(0))))
		return
	}
	axis, ok := c.axis(0, len(s))
	if !ok {
		return
	}
	var out ir.Shape
	for i, d := range s {
		if i == axis {
			d = ir.Dim{}
			if !c.has(1) {
				if d = ir.Int(1); c.int("keepdims", 1) == 0 {
					continue
				}
			}
		}
		out = append(out, d)
	}
	c.set(0, sequenceOf(ir.TensorOf(c.elem(0), out...)))
}

func inferConcatFromSequence(c *inference) {
	s := c.typ(0)
	if s == nil || s.Kind != ir.SequenceKind || s.Inner == nil || s.Inner.Kind != ir.TensorKind {
		return
	}
	t := s.Inner
	if c.int("new_axis", 0) != 0 {
		c.set(0, stacked(t, c.int("axis", 0), ir.Dim{}))
		return
	}
	if !t.Ranked {
		c.unranked(0, t.Elem)
		return
	}
	if axis, ok := c.axis(0, len(t.Shape)); ok {
		out := append(ir.Shape{}, t.Shape...)
		out[axis] = ir.Dim{}
		c.ranked(0, t.Elem, out)
	}
}

func inferOptional(c *inference) {
	t := c.typ(0)
	if a := c.attr("type"); t == nil && a != nil {
		t = a.TypeVal
	}
	if t != nil {
		c.set(0, &ir.Type{Kind: ir.OptionalKind, Inner: t})
	}
}

func inferOptionalGetElement(c *inference) {
	t := c.typ(0)
	if t != nil && t.Kind == ir.OptionalKind {
		t = t.Inner
	}
	c.set(0, t)
}
