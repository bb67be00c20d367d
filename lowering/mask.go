package lowering

import (
	"fmt"
	"math"

	"mobiusc/ir"
)

// maskSpec is what an attention may see, as the spec states it: the positions
// in the window, and not padding. The causal rule is not here where the operator
// has an attribute for it.
type maskSpec struct {
	padding                string
	window                 int64
	causal                 bool
	batch, sequence, total ir.Dim
}

// mask returns the cheapest mask that says what the operator's attributes do
// not, true where a query sees a key: nil, or bool [batch or 1, 1, sequence,
// total]. It is made once a component for equal rules.
func (b *Builder) mask(m maskSpec) *ir.Value {
	if _, known := b.values[m.padding]; m.padding != "" && !known {
		b.Value(m.padding) // fails, saying so
	}
	if m.padding == "" && m.window == 0 {
		return nil
	}
	key := fmt.Sprintf("mask %s %d %s %s", m.padding, m.window, m.sequence, m.total)
	return once(b, key, "mask", func() *ir.Value {
		var keep *ir.Value
		if m.padding != "" {
			tokens := b.Cast(b.Value(m.padding).v, ir.Bool)
			keep = b.Op("Unsqueeze", []*ir.Value{tokens, b.Ints(1, 2)}) // [batch, 1, 1, total]
		}
		if m.window > 0 {
			w := b.window(m)
			if keep == nil {
				return w
			}
			return b.Binary("And", keep, w)
		}
		// The runtime reads the mask's rows by the query's index: they must be there.
		return b.Op("Expand", []*ir.Value{keep, b.ShapeOf(ir.Int(1), ir.Int(1), m.sequence, ir.Int(1))})
	})
}

// window returns bool [1, 1, sequence, total]: key j is less than window
// positions before query i, counted in slots.
func (b *Builder) window(m maskSpec) *ir.Value {
	scalar := func(d ir.Dim) *ir.Value { return b.Op("Squeeze", []*ir.Value{b.ShapeOf(d)}) }
	zero, one := b.IntScalar(0), b.IntScalar(1)
	total := scalar(m.total)
	keys := b.Op("Range", []*ir.Value{zero, total, one})
	queries := b.Op("Range", []*ir.Value{b.Binary("Sub", total, scalar(m.sequence)), total, one})
	oldest := b.Binary("Sub", queries, b.IntScalar(m.window))
	keep := b.Binary("Greater", keys, b.Op("Unsqueeze", []*ir.Value{oldest, b.Ints(1)}))
	return b.Op("Unsqueeze", []*ir.Value{keep, b.Ints(0, 1)})
}

// mixerPaddingOption declares what a mixer with a state reads where attention
// has a mask.
var mixerPaddingOption = Option{
	Name: "padding", Kind: ValueOption, Default: "attention_mask",
	Doc: "value that is 0 where a position is padding, int64 [batch, past + sequence], of which the last columns are this call's; none: nothing is",
}

// dropPadding zeroes the rows of padding in x [batch, sequence, width], so that
// they leave convolutions and states untouched. padding names the value that
// says which they are; "" leaves x as it is.
func (b *Builder) dropPadding(padding string, x Tensor) Tensor {
	if padding == "" {
		return x
	}
	mask := b.Value(padding).v // [batch, past + sequence]
	sequence := x.Lead()[1]
	kept := once(b, "kept "+padding+" "+x.DType().String(), "mask", func() *ir.Value {
		start := b.Unary("Neg", b.ShapeOf(sequence))
		now := b.Op("Slice", []*ir.Value{mask, start, b.Ints(math.MaxInt64), b.Ints(1)})
		now.Type = ir.TensorOf(mask.Type.Elem, x.Lead()...) // the mask's last columns are this call's
		return b.Cast(b.Op("Reshape", []*ir.Value{now, b.Ints(-1, 1)}), x.DType())
	})
	return x.with(b.Binary("Mul", b.Flat(x), kept))
}
