package lowering

import (
	"math"

	"mobiusc/ir"
)

var sinusoidalEmbeddingDecl = &Decl{
	Name: "sinusoidal_embedding",
	Doc: "Adds to the stream the sines and cosines of each token's position p (arXiv 1706.03762): element i of the first half of the width is sin(p · theta^(−2i / width)), " +
		"element i of the second half the cosine. It has no parameters, and no longest sequence.",
	Short: "of",
	Options: []Option{
		{Name: "of", Kind: ValueOption, Doc: "the positions, int64 [batch, sequence]; without it: the index in the sequence, 0, 1, …, of a component without a cache"},
		{Name: "theta", Kind: FloatOption, Bound: AboveZero, Default: "10000", Doc: "base of the frequencies"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		o := blk.Opts
		width := b.static(x.Last(), "the width of the stream")
		if width%2 != 0 {
			b.Fail("sines and cosines need an even width, not %d", width)
		}
		b.mustFitConstant(width, "the stream")
		freqs := make([]float64, width/2)
		for i := range freqs {
			freqs[i] = math.Pow(o.Float("theta"), -2*float64(i)/float64(width))
		}
		var place *ir.Value // [batch, sequence, 1], or [sequence, 1]
		if o.Has("of") {
			place = b.Op("Unsqueeze", []*ir.Value{b.positionsOf(o.Text("of"), x), b.Ints(-1)})
		} else {
			place = b.Op("Unsqueeze", []*ir.Value{b.indices(x), b.Ints(1)})
		}
		angle := b.angles(place, b.steps(freqs))
		waves := b.Op("Concat", []*ir.Value{b.Unary("Sin", angle), b.Unary("Cos", angle)}, ir.IntAttr("axis", -1))
		return x.with(b.Binary("Add", b.Full(x), b.Cast(waves, x.DType())))
	},
}

// indices returns 0, 1, …, int64 [sequence], of a stream [batch, sequence, width].
func (b *Builder) indices(x Tensor) *ir.Value {
	if len(x.Lead()) != 2 {
		b.Fail("positions by index need a stream [batch, sequence, width], not %s", ir.Shape(x.Dims()))
	}
	b.cacheless = b.block
	length := b.Op("Squeeze", []*ir.Value{b.ShapeOf(x.Lead()[1])})
	v := b.Op("Range", []*ir.Value{b.IntScalar(0), length, b.IntScalar(1)})
	v.Type = ir.TensorOf(ir.Int64, x.Lead()[1])
	return v
}
