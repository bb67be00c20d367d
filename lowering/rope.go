package lowering

import (
	"fmt"
	"math"

	"mobiusc/ir"
)

// rotate applies a rotary embedding to the heads of t [..., heads·head_dim].
func (a *attention) rotate(r *Rope, t Tensor, heads int64) Tensor {
	cos, sin := a.rotary(r, a.dim)
	dtype := t.DType()
	x := a.Cast(t.v, cos.Type.Elem)
	rows := t.with(x)
	packed := len(t.Lead()) == 1 // [patches, …]: the operator wants a batch
	if packed {
		x = a.Op("Reshape", []*ir.Value{x, a.Ints(1, -1, heads*a.dim)})
	} else {
		x = a.Full(rows)
	}
	attrs := []*ir.Attr{ir.IntAttr("num_heads", heads)}
	if n := 2 * a.static(cos.Type.Shape[2], "the count of frequencies"); n != a.dim {
		attrs = append(attrs, ir.IntAttr("rotary_embedding_dim", n))
	}
	if r.Pairs == "adjacent" {
		attrs = append(attrs, ir.IntAttr("interleaved", 1))
	}
	y := a.Op("RotaryEmbedding", []*ir.Value{x, cos, sin}, attrs...)
	if packed {
		y = a.Op("Reshape", []*ir.Value{y, a.Ints(-1, heads*a.dim)})
	}
	return t.with(a.Cast(y, dtype))
}

type tables struct{ cos, sin *ir.Value }

// rotary returns cos and sin of every angle, [batch, sequence, frequencies] in
// the dtype of the rotation (batch is 1 for packed rows). Equal rotations share
// them.
func (b *Builder) rotary(r *Rope, headDim int64) (cos, sin *ir.Value) {
	dtype := r.DType
	if dtype == ir.Undefined {
		dtype = b.component.compute
	}
	t := once(b, fmt.Sprintf("rotary %d %+v", headDim, *r), "rotary", func() tables {
		steps, scale := b.turns(r, headDim)
		n := b.static(steps.Type.Shape[0], "the count of frequencies")
		angle := b.angles(b.ropePositions(r, n), steps)
		table := func(op string) *ir.Value {
			v := b.Unary(op, angle)
			if scale != 1 {
				v = b.Binary("Mul", v, b.Scalar(ir.Float32, scale))
			}
			return b.Cast(v, dtype)
		}
		return tables{table("Cos"), table("Sin")}
	})
	return t.cos, t.sin
}

// turn is one full turn in the fixed-point unit of angles. Positions up to 2^20
// times a frequency below one turn in 6.28 positions stay below 2^63, and an
// angle keeps 2^-22 of a turn at 2^20 positions. Positions times float32
// frequencies would lose digits with the position: 0.01 rad at 262,143.
const turn = 1 << 42

// turns returns each frequency in units of turn a position, int64
// [frequencies], and the factor of cos and sin.
func (b *Builder) turns(r *Rope, headDim int64) (*ir.Value, float64) {
	freqs := b.frequencies(r, headDim)
	if problem := r.misfit(); problem != "" {
		b.Fail("a rotary embedding of type %s needs %s", r.Type, problem)
	}
	b.mustTurn(r, freqs)
	switch r.Type {
	case "dynamic":
		return b.dynamicTurns(r, freqs), 1
	case "longrope":
		return b.longTurns(r, freqs)
	}
	scale, problem := r.rescale(freqs)
	if problem != "" {
		b.Fail("%s", problem)
	}
	b.mustTurn(r, freqs)
	return b.steps(freqs), scale
}

// mustTurn refuses frequencies that are not numbers above 0.
func (b *Builder) mustTurn(r *Rope, freqs []float64) {
	for j, f := range freqs {
		if !(f >= 0) || math.IsInf(f, 0) || j == 0 && f == 0 { // NaN as well; the last ones may be too small for a float64
			b.Fail("the numbers of the rotary embedding do not fit: with theta %g and factor %g, pair %d turns by %g a position", r.Theta, r.Factor, j, f)
		}
	}
}

// steps returns frequencies in radians a position as a constant in units of turn.
func (b *Builder) steps(freqs []float64) *ir.Value {
	steps := make([]int64, len(freqs))
	for i, f := range freqs {
		steps[i] = int64(math.Round(f / (2 * math.Pi) * turn))
	}
	return b.table("turns", ir.Ints64(steps...))
}

// angles returns positions·steps in radians, less whole turns: exact in int64,
// and rounded once, to float32.
func (b *Builder) angles(positions, steps *ir.Value) *ir.Value {
	turned := b.Binary("Mod", b.Binary("Mul", positions, steps), b.IntScalar(turn))
	return b.Binary("Mul", b.Cast(turned, ir.Float32), b.Scalar(ir.Float32, 2*math.Pi/turn))
}

// positions names the values that hold the positions.
func (r *Rope) positions() []string {
	if len(r.Positions) == 0 {
		return []string{"position_ids"}
	}
	return r.Positions
}

// ropePositions returns the position that each frequency reads, int64 [batch,
// sequence, n], or with n = 1 where all read the same.
func (b *Builder) ropePositions(r *Rope, n int64) *ir.Value {
	names := r.positions()
	axes := r.Axes
	p := b.Value(names[0])
	if axes == "" && len(r.Sections) > 0 && len(p.Dims()) == 3 {
		axes = "chunked"
		if r.Interleaved {
			axes = "interleaved"
		}
	}
	switch axes {
	case "", "none":
		if len(p.Dims()) != 2 {
			b.Fail("positions %q must be [batch, sequence], but are %s", names[0], ir.Shape(p.Dims()))
		}
		return b.Op("Unsqueeze", []*ir.Value{b.Full(p), b.Ints(2)})
	case "split":
		return b.splitPositions(names, n)
	}
	if len(p.Dims()) != 3 {
		b.Fail("positions %q of a rotary embedding with axes must be [axes, batch, sequence], but are %s", names[0], ir.Shape(p.Dims()))
	}
	if count, ok := p.Dims()[0].Int(); ok && int64(len(r.Sections)) > count {
		b.Fail("the rotary sections %v are of %d axes, but positions %q have %d", r.Sections, len(r.Sections), names[0], count)
	}
	axisOf := b.axisOfFrequency(r, axes, n)
	chosen := b.Op("Gather", []*ir.Value{b.Full(p), b.Ints(axisOf...)}, ir.IntAttr("axis", 0)) // [n, batch, sequence]
	return b.Op("Transpose", []*ir.Value{chosen}, ir.IntsAttr("perm", 1, 2, 0))
}

// splitPositions gives each of the named positions [rows] an equal run of the
// frequencies: int64 [1, rows, n].
func (b *Builder) splitPositions(names []string, n int64) *ir.Value {
	each := n / int64(len(names))
	var parts []*ir.Value
	for _, name := range names {
		p := b.Value(name)
		if len(p.Dims()) != 1 {
			b.Fail("positions %q of a rotary embedding with split axes must be [rows], but are %s", name, ir.Shape(p.Dims()))
		}
		column := b.Op("Unsqueeze", []*ir.Value{p.v, b.Ints(0, 2)})
		parts = append(parts, b.Op("Expand", []*ir.Value{column, b.Ints(1, 1, each)}))
	}
	return b.Op("Concat", parts, ir.IntAttr("axis", -1))
}

// axisOfFrequency returns the position axis that each frequency reads. Chunked:
// the sections follow one another. Interleaved: frequency j reads axis j % 3,
// until the axis has as many frequencies as its section; what is left reads axis 0.
func (b *Builder) axisOfFrequency(r *Rope, axes string, n int64) []int64 {
	left := n
	for _, s := range r.Sections {
		if s > left { // compared before it is subtracted: the sum of any numbers may not be countable
			left = -1
			break
		}
		left -= s
	}
	if left != 0 {
		b.Fail("the rotary sections %v do not add up to the %d frequencies of a head", r.Sections, n)
	}
	out := make([]int64, n)
	count := int64(len(r.Sections))
	if axes == "interleaved" {
		for axis := int64(1); axis < count; axis++ {
			for j := axis; j < min(r.Sections[axis]*count, n); j += count {
				out[j] = axis
			}
		}
		return out
	}
	j := int64(0)
	for axis, s := range r.Sections {
		for range s {
			out[j] = int64(axis)
			j++
		}
	}
	return out
}

// frequencies returns the angle that each pair turns a position, in radians,
// before any scaling.
func (b *Builder) frequencies(r *Rope, headDim int64) []float64 {
	b.mustFitConstant(headDim, "a head")
	if r.Type == "proportional" {
		return b.proportionalFrequencies(r, headDim)
	}
	rotated := int64(float64(headDim) * r.Fraction)
	if rotated < 2 || rotated%2 != 0 || rotated > headDim {
		b.Fail("a rotary embedding cannot turn %d of %d dims of a head", rotated, headDim)
	}
	n := rotated / 2
	if r.Axes == "split" {
		return b.splitFrequencies(r, n)
	}
	freqs := make([]float64, n)
	for j := range freqs {
		freqs[j] = math.Pow(r.Theta, -2*float64(j)/float64(rotated))
	}
	return freqs
}

// proportionalFrequencies returns the frequencies of the whole head, of which the
// lowest are zero: the fraction says how many pairs turn.
func (b *Builder) proportionalFrequencies(r *Rope, headDim int64) []float64 {
	if headDim%2 != 0 || r.Fraction > 1 || r.Axes == "split" {
		b.Fail("a rotary embedding of type proportional cannot turn %g of %d dims of a head, nor split them among axes", r.Fraction, headDim)
	}
	freqs := make([]float64, headDim/2)
	for j := range int64(float64(headDim) * r.Fraction / 2) {
		freqs[j] = math.Pow(r.Theta, -2*float64(j)/float64(headDim))
	}
	return freqs
}

// splitFrequencies returns the frequencies of every axis, one axis after the
// other: theta^(−2j/m) with m the dims that one axis turns.
func (b *Builder) splitFrequencies(r *Rope, n int64) []float64 {
	axes := int64(len(r.Positions))
	if axes == 0 || n%axes != 0 {
		b.Fail("%d frequencies do not divide among %d position axes", n, axes)
	}
	each := n / axes
	freqs := make([]float64, n)
	for j := range freqs {
		freqs[j] = math.Pow(r.Theta, -float64(int64(j)%each)/float64(each))
	}
	return freqs
}
