package lowering

import "mobiusc/ir"

var fillPlaceholdersDecl = &Decl{
	Name: "fill_placeholders",
	Doc: "Puts rows of features in the place of placeholder tokens, in the order of the placeholders in the flattened ids; " +
		"the index does not restart at a batch row. Stream [..., batch, sequence, width], features [..., n, width].",
	Options: []Option{
		{Name: "ids", Kind: ValueOption, Required: true, Doc: "token ids, int64 [batch, sequence]"},
		{Name: "tokens", Kind: TokensOption, Required: true, Doc: "the ids that are placeholders"},
		{Name: "features", Kind: ValueOption, Required: true, Doc: "the rows to put there; none is allowed"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		o := blk.Opts
		ids := b.Value(o.Text("ids")).v
		given := b.Full(b.Value(o.Text("features")))
		rank := len(given.Type.Shape)
		is, index := b.placeholders(o.Text("ids"), ids, o.Ints("tokens"), given)
		features := b.withZeroRow(given)
		width := b.static(x.Last(), "the width of the stream")
		rows := b.Op("Gather", []*ir.Value{features, index}, ir.IntAttr("axis", int64(rank-2)))
		old := b.Full(x)
		folded := old
		if lead := x.Lead(); len(lead) >= 2 { // [..., batch·sequence, width]
			dims := append(append([]ir.Dim{}, lead[:len(lead)-2]...), lead[len(lead)-2].Mul(lead[len(lead)-1]), ir.Int(width))
			folded = b.Reshape(old, dims...)
		}
		filled := b.Op("Where", []*ir.Value{is, rows, folded})
		if rank == 2 {
			return x.with(filled)
		}
		return tensorOf(b.Reshape(filled, x.Dims()...))
	},
}

// placeholders returns whether each token gives way to a feature, bool
// [batch·sequence, 1], and which row of the features it takes, int64
// [batch·sequence]. A placeholder without a feature keeps its own embedding: a
// decoder may generate one.
func (b *Builder) placeholders(name string, ids *ir.Value, tokens []int64, features *ir.Value) (is, index *ir.Value) {
	type result struct{ is, index *ir.Value }
	r := once(b, "placeholders "+name+joinInts(tokens), "placeholders", func() result {
		flat := b.Op("Reshape", []*ir.Value{ids, b.Ints(-1)})
		var mask *ir.Value
		for _, t := range tokens {
			eq := b.Binary("Equal", flat, b.IntScalar(t))
			if mask == nil {
				mask = eq
			} else {
				mask = b.Binary("Or", mask, eq)
			}
		}
		before := b.Binary("Sub", b.Binary("CumSum", b.Cast(mask, ir.Int64), b.IntScalar(0)), b.IntScalar(1))
		axis := int64(len(features.Type.Shape) - 2)
		rows := b.Op("Shape", []*ir.Value{features}, ir.IntAttr("start", axis), ir.IntAttr("end", axis+1))
		filled := b.Binary("And", mask, b.Binary("Less", before, rows))
		inside := b.Binary("Min", b.Binary("Max", before, b.IntScalar(0)), rows)
		return result{is: b.Op("Unsqueeze", []*ir.Value{filled, b.Ints(1)}), index: inside}
	})
	return r.is, r.index
}

// withZeroRow appends a row of zeros to features [..., n, width], so that an
// index is valid when there is no feature at all.
func (b *Builder) withZeroRow(v *ir.Value) *ir.Value {
	rank := int64(len(v.Type.Shape))
	pads := make([]int64, 2*rank)
	pads[2*rank-2] = 1
	return b.Op("Pad", []*ir.Value{v, b.Ints(pads...)})
}
