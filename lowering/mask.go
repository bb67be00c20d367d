package lowering

import (
	"fmt"
	"math"

	"mobiusc/ir"
)

// maskSpec is what an attention may see, as the spec states it: the positions
// in the window, not padding and, where there are spans, not later ones of
// another span. The causal rule is not here where the operator's attribute says it.
type maskSpec struct {
	padding, spans         string
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
	if m.padding == "" && m.window == 0 && m.spans == "" {
		return nil
	}
	key := fmt.Sprintf("mask %s %s %d %s %s", m.padding, m.spans, m.window, m.sequence, m.total)
	return once(b, key, "mask", func() *ir.Value {
		var keep *ir.Value // of keys alone, until a rule is also of queries
		if m.padding != "" {
			tokens := b.Cast(b.Value(m.padding).v, ir.Bool)
			keep = b.Op("Unsqueeze", []*ir.Value{tokens, b.Ints(1, 2)}) // [batch, 1, 1, total]
		}
		var rules []*ir.Value
		if m.window > 0 {
			rules = append(rules, b.window(m))
		}
		if m.spans != "" {
			rules = append(rules, b.causalOrSameSpan(m))
		}
		if len(rules) == 0 {
			// The runtime reads the mask's rows by the query's index: they must be there.
			return b.Op("Expand", []*ir.Value{keep, b.ShapeOf(ir.Int(1), ir.Int(1), m.sequence, ir.Int(1))})
		}
		for _, rule := range rules {
			if keep == nil {
				keep = rule
				continue
			}
			keep = b.Binary("And", keep, rule)
		}
		return keep
	})
}

// slots returns the slots of the keys, int64 [total], and of the queries, int64
// [sequence, 1], which are the last ones.
func (b *Builder) slots(m maskSpec) (keys, queries *ir.Value) {
	scalar := func(d ir.Dim) *ir.Value { return b.Op("Squeeze", []*ir.Value{b.ShapeOf(d)}) }
	zero, one := b.IntScalar(0), b.IntScalar(1)
	total := scalar(m.total)
	keys = b.Op("Range", []*ir.Value{zero, total, one})
	queries = keys
	if !m.sequence.Equal(m.total) {
		queries = b.Op("Range", []*ir.Value{b.Binary("Sub", total, scalar(m.sequence)), total, one})
	}
	return keys, b.Op("Unsqueeze", []*ir.Value{queries, b.Ints(1)})
}

// window returns bool [1, 1, sequence, total]: key j is less than window
// positions before query i, counted in slots.
func (b *Builder) window(m maskSpec) *ir.Value {
	keys, queries := b.slots(m)
	keep := b.Binary("Greater", keys, b.Binary("Sub", queries, b.IntScalar(m.window)))
	return b.Op("Unsqueeze", []*ir.Value{keep, b.Ints(0, 1)})
}

// causalOrSameSpan returns bool [batch, 1, sequence, total]: key j is not after
// query i, or in the same span. A span is a run of tokens of this call whose
// value is not 0. An earlier call needs no spans: its keys are not after a query.
func (b *Builder) causalOrSameSpan(m maskSpec) *ir.Value {
	key := fmt.Sprintf("spans %s %s %s", m.spans, m.sequence, m.total)
	return once(b, key, "mask", func() *ir.Value {
		outside := b.Cast(b.Binary("Equal", b.Value(m.spans).v, b.IntScalar(0)), ir.Int64)
		// Between two runs the count of tokens outside grows, inside a run it does not.
		run := b.Binary("Add", b.Binary("CumSum", outside, b.IntScalar(1)), b.IntScalar(1))
		ofKey := b.Binary("Mul", run, b.Binary("Sub", b.IntScalar(1), outside)) // 0 outside
		ofQuery := b.Binary("Sub", ofKey, outside)                              // -1 outside, which no key is
		if !m.sequence.Equal(m.total) {
			past := b.ShapeOf(m.total.Sub(m.sequence))
			pads := b.Op("Concat", []*ir.Value{b.Ints(0), past, b.Ints(0, 0)}, ir.IntAttr("axis", 0))
			ofKey = b.Op("Pad", []*ir.Value{ofKey, pads})
			ofKey.Type = ir.TensorOf(ir.Int64, m.batch, m.total) // inference cannot know the pads
		}
		same := b.Binary("Equal", b.Op("Unsqueeze", []*ir.Value{ofQuery, b.Ints(1, 3)}), b.Op("Unsqueeze", []*ir.Value{ofKey, b.Ints(1, 2)}))
		keys, queries := b.slots(m)
		return b.Binary("Or", same, b.Binary("LessOrEqual", keys, queries))
	})
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
