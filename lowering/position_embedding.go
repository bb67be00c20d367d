package lowering

import (
	"slices"

	"mobiusc/ir"
)

var positionEmbeddingDecl = &Decl{
	Name:  "position_embedding",
	Doc:   "Adds to the stream a learned table read at each token's position. Parameter `name.weight` [size, width].",
	Short: "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Required: true, Doc: "module path"},
		{Name: "of", Kind: ValueOption, Doc: "the positions, int64 [batch, sequence]; without `of` and `count`: the index in the sequence, 0, 1, …, of a component without a cache"},
		{Name: "count", Kind: RecordOption, Doc: "positions are counted over the tokens that are not padding, in a component without a cache", Fields: []Option{
			{Name: "tokens", Kind: ValueOption, Required: true, Doc: "the token ids, int64 [batch, sequence]"},
			{Name: "padding", Kind: IntOption, Signed: true, Required: true, Doc: "the id of padding, and the row that padding reads; the first other token reads the row after it, the next one the row after that"},
		}},
		{Name: "offset", Kind: IntOption, Signed: true, Default: "0", Doc: "the row that position 0 reads, of positions that are not counted"},
		{Name: "size", Kind: IntOption, Required: true, Doc: "rows of the table: the longest sequence; with `offset`, that many more; with `count`, padding + 1 more"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) (y Tensor) {
		o := blk.Opts
		if o.Has("of") && o.Has("count") {
			b.Fail("positions are given as `of` or counted by `count`, not both")
		}
		offset, size := o.Int("offset"), o.Int("size")
		if o.Has("count") && offset != 0 {
			b.Fail("counted positions begin after the row of padding, and not at an offset")
		}
		if offset < 0 || offset >= size {
			b.Fail("offset %d leaves a table of %d rows no row for a token: 0 ≤ offset < size", offset, size)
		}
		width := b.static(x.Last(), "the width of the stream")
		b.Within(o.Text("name"), func() {
			table := b.Param("weight", b.options.Storage, Init{Std: 0.5}, size, width)
			rows := b.positionRows(table, o, x)
			y = x.with(b.Binary("Add", b.Full(x), b.Cast(rows, x.DType())))
		})
		return y
	},
}

// positionRows reads a table [size, width] at the positions, given or counted:
// [batch, sequence, width]; or, without positions, its rows from the offset on:
// [sequence, width].
func (b *Builder) positionRows(table *ir.Value, o Record, x Tensor) *ir.Value {
	offset := o.Int("offset")
	switch {
	case o.Has("of"):
		if of := o.Text("of"); slices.ContainsFunc(b.component.Inputs, func(in Input) bool { return in.Name == of }) {
			b.limit(Limit{Input: of, Max: o.Int("size") - offset - 1})
		}
		place := b.positionsOf(o.Text("of"), x)
		if offset != 0 {
			place = b.Binary("Add", place, b.IntScalar(offset))
		}
		return b.Binary("Gather", table, place)
	case o.Has("count"):
		return b.Binary("Gather", table, b.countedPositions(o.Record("count"), o.Int("size")))
	}
	if len(x.Lead()) != 2 {
		b.Fail("positions by index need a stream [batch, sequence, width], not %s", ir.Shape(x.Dims()))
	}
	b.cacheless = b.block
	sequence := x.Lead()[1]
	b.atMost(sequence, o.Int("size")-offset)
	end := b.ShapeOf(sequence)
	if offset != 0 {
		end = b.Binary("Add", end, b.Ints(offset))
	}
	rows := b.Op("Slice", []*ir.Value{table, b.Ints(offset), end, b.Ints(0)})
	rows.Type = ir.TensorOf(table.Type.Elem, sequence, x.Last()) // inference cannot know that the table is long enough
	return rows
}

// positionsOf returns the named positions, one for each token of the stream: others
// would be broadcast over it, or fail when the graph runs.
func (b *Builder) positionsOf(name string, x Tensor) *ir.Value {
	p := b.Value(name)
	if p.DType() != ir.Int64 || !ir.Shape(p.Dims()).Equal(x.Lead()) {
		b.Fail("positions of a stream %s must be int64 %s, and %s is %s", ir.Shape(x.Dims()), ir.Shape(x.Lead()), name, p.Type())
	}
	return b.Full(p)
}

// atMost limits the tokens of a row to the rows of a table that are for them.
func (b *Builder) atMost(sequence ir.Dim, rows int64) {
	n, known := sequence.Int()
	switch {
	case !known:
		b.limit(Limit{Dim: sequence, Max: rows})
	case n > rows:
		b.Fail("the table has rows for %d tokens, and a sequence has %d", rows, n)
	}
}

// countedPositions returns int64 [batch, sequence]: for padding its own id p, for
// the n-th token of a row that is not padding p + n, n from 1. It is the rule of
// fairseq's make_positions: the rows of the table up to p are not of the text.
func (b *Builder) countedPositions(o Record, size int64) *ir.Value {
	ids := b.Full(b.Value(o.Text("tokens")))
	if len(ids.Type.Shape) != 2 {
		b.Fail("positions are counted over tokens [batch, sequence], not %s", ids.Type.Shape)
	}
	padding := o.Int("padding")
	if padding < 0 || padding+1 >= size {
		b.Fail("padding %d leaves a table of %d rows no row for a token: 0 ≤ padding < size - 1", padding, size)
	}
	b.cacheless = b.block
	b.atMost(ids.Type.Shape[1], size-padding-1)
	text := b.Cast(b.Unary("Not", b.Binary("Equal", ids, b.IntScalar(padding))), ir.Int64)
	count := b.Binary("Mul", b.Binary("CumSum", text, b.IntScalar(1)), text)
	return b.Binary("Add", count, b.IntScalar(padding))
}

// checkCacheless fails where a block found positions from one call alone although
// there is a cache: they would begin anew in every call.
func (b *Builder) checkCacheless() {
	if b.cacheless == nil {
		return
	}
	for _, s := range b.states {
		for _, d := range s.InType.Shape {
			if d.Equal(ir.Sym("past")) {
				b.block = b.cacheless
				b.Fail("positions by index or by count would begin anew in every call, but layer %d has a cache: give the positions as `of`", s.Layer)
			}
		}
	}
}
