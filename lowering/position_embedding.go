package lowering

import "mobiusc/ir"

var positionEmbeddingDecl = &Decl{
	Name:  "position_embedding",
	Doc:   "Adds to the stream a learned table read at each token's position. Parameter `name.weight` [size, width].",
	Short: "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Required: true, Doc: "module path"},
		{Name: "of", Kind: ValueOption, Doc: "the positions, int64 [batch, sequence]; absent: the index in the sequence, 0, 1, …, of a component without a cache"},
		{Name: "size", Kind: IntOption, Required: true, Doc: "rows of the table: the longest sequence"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) (y Tensor) {
		o := blk.Opts
		width := b.static(x.Last(), "the width of the stream")
		b.Within(o.Text("name"), func() {
			table := b.Param("weight", b.options.Storage, Init{Std: 0.5}, o.Int("size"), width)
			rows := b.positionRows(table, o.Text("of"), x)
			y = x.with(b.Binary("Add", b.Full(x), b.Cast(rows, x.DType())))
		})
		return y
	},
}

// positionRows reads a table [size, width] at the positions: [batch, sequence,
// width]; or, without positions, its first rows: [sequence, width].
func (b *Builder) positionRows(table *ir.Value, positions string, x Tensor) *ir.Value {
	if positions != "" {
		return b.Binary("Gather", table, b.Full(b.Value(positions)))
	}
	if len(x.Lead()) != 2 {
		b.Fail("positions by index need a stream [batch, sequence, width], not %s", ir.Shape(x.Dims()))
	}
	b.indexed = b.block
	sequence := x.Lead()[1]
	rows := b.Op("Slice", []*ir.Value{table, b.Ints(0), b.ShapeOf(sequence), b.Ints(0)})
	rows.Type = ir.TensorOf(table.Type.Elem, sequence, x.Last()) // inference cannot know that the table is long enough
	return rows
}

// checkIndexed fails where positions were taken from the index although there
// is a cache: they would start at 0 in every call.
func (b *Builder) checkIndexed() {
	if b.indexed == nil {
		return
	}
	for _, s := range b.states {
		for _, d := range s.InType.Shape {
			if d.Equal(ir.Sym("past")) {
				b.block = b.indexed
				b.Fail("positions by index would start at 0 in every call, but layer %d has a cache: give the positions as `of`", s.Layer)
			}
		}
	}
}
