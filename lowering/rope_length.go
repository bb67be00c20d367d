package lowering

import (
	"math"

	"mobiusc/ir"
)

// dynamicTurns returns the frequencies of rope type dynamic, int64
// [frequencies] in units of turn: the base of the frequencies is multiplied by
// s^(d / (d − 2)), d being the dims that are rotated, as soon as the longest row
// of the call is longer than the trained length M:
//
//	s = factor·length/M − (factor − 1)
//
// so that frequency j is theta^(−2j/d) · s^(−2j / (d − 2)). At length M and below,
// s is 1.
func (b *Builder) dynamicTurns(r *Rope, freqs []float64) *ir.Value {
	trained := float64(r.MaxPositions)
	pairs := float64(len(freqs))
	if trained == 0 {
		b.Fail("a rotary embedding of type dynamic needs the trained length, max_position_embeddings")
	}
	if pairs < 2 {
		b.Fail("a rotary embedding of type dynamic needs at least two frequencies")
	}
	exponents, steps := make([]float64, len(freqs)), make([]float64, len(freqs))
	for j, f := range freqs {
		exponents[j] = -float64(j) / (pairs - 1)
		steps[j] = f / (2 * math.Pi) * turn
	}
	last := b.Binary("Max", b.lastPosition(r), b.IntScalar(r.MaxPositions-1))
	// float64: a step has 40 digits before the point.
	s := b.Binary("Mul", b.Cast(last, ir.Float64), b.Scalar(ir.Float64, r.Factor/trained))
	s = b.Binary("Add", s, b.Scalar(ir.Float64, r.Factor/trained-(r.Factor-1)))
	scaled := b.Binary("Mul", b.table("turns", ir.Floats64(steps...)), b.Binary("Pow", s, b.table("exponents", ir.Floats64(exponents...))))
	return b.Cast(b.Unary("Round", scaled), ir.Int64)
}

// longTurns returns the frequencies of rope type longrope, int64 [frequencies]
// in units of turn, and the factor of cos and sin: every frequency is divided by
// a factor of its own, one for calls within the original length and another for
// calls in which a row is longer.
func (b *Builder) longTurns(r *Rope, freqs []float64) (*ir.Value, float64) {
	original := r.OriginalMaxPositions
	if original == 0 {
		original = r.MaxPositions
	}
	if original == 0 {
		b.Fail("a rotary embedding of type longrope needs the trained length, original_max_position_embeddings")
	}
	short, long := b.divided(freqs, r.ShortFactor, "short_factor"), b.divided(freqs, r.LongFactor, "long_factor")
	beyond := b.Binary("Greater", b.lastPosition(r), b.IntScalar(original-1))
	return b.Op("Where", []*ir.Value{beyond, b.steps(long), b.steps(short)}), r.longScale(float64(original))
}

func (b *Builder) divided(freqs, factors []float64, name string) []float64 {
	if len(factors) != len(freqs) {
		b.Fail("%s of the rotary embedding has %d factors, but %d frequencies turn a head", name, len(factors), len(freqs))
	}
	out := make([]float64, len(freqs))
	for j := range freqs {
		if !(factors[j] > 0) {
			b.Fail("%s of the rotary embedding must be numbers above 0, and holds %g", name, factors[j])
		}
		out[j] = freqs[j] / factors[j]
	}
	return out
}

// longScale returns the factor of cos and sin of rope type longrope: 1 where the
// model is not longer than it was trained, else sqrt(1 + ln(factor) / ln(original)).
func (r *Rope) longScale(original float64) float64 {
	if r.AttentionFactor != 0 {
		return r.AttentionFactor
	}
	factor := r.Factor
	if factor == 0 {
		factor = float64(r.MaxPositions) / original
	}
	if factor <= 1 {
		return 1
	}
	return math.Sqrt(1 + math.Log(factor)/math.Log(original))
}

// lastPosition returns the largest position in the call, int64 of rank 0.
func (b *Builder) lastPosition(r *Rope) *ir.Value {
	return once(b, "last position "+r.positions()[0], "rotary", func() *ir.Value {
		return b.Op("ReduceMax", []*ir.Value{b.Full(b.Value(r.positions()[0]))}, ir.IntAttr("keepdims", 0))
	})
}
