package lowering

import (
	"math"

	"mobiusc/ir"
)

var embeddingDecl = &Decl{
	Name:   "embedding",
	Begins: true,
	Doc:    "Looks rows of a table up; the stream before it is ignored. Parameter `name.weight` [size, width].",
	Short:  "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Required: true, Doc: "module path"},
		{Name: "of", Kind: ValueOption, Required: true, Doc: "the ids, int64 [batch, sequence]"},
		{Name: "size", Kind: IntOption, Required: true, Doc: "rows of the table"},
		{Name: "width", Kind: IntOption, Required: true, Doc: "width of a row"},
		{Name: "scale", Kind: FloatOption, Default: "1", Doc: "factor, rounded to the compute dtype"},
	},
	Lower: func(b *Builder, blk *Block, _ Tensor) Tensor {
		o, t := blk.Opts, b.component.compute
		ids := b.Value(o.Text("of"))
		var y *ir.Value
		b.Within(o.Text("name"), func() {
			// The rows are cast after the look-up: the table is the largest
			// tensor of many models, a few rows of it are not.
			table := b.Param("weight", b.options.Storage, Init{Std: 1}, o.Int("size"), o.Int("width"))
			y = b.Cast(b.Binary("Gather", table, b.Full(ids)), t)
			if s := o.Float("scale"); s != 1 {
				y = b.Binary("Mul", y, b.Scalar(t, s))
			}
		})
		return tensorOf(y)
	},
}

var gridEmbeddingDecl = &Decl{
	Name: "grid_embedding",
	Doc: "Adds to the stream a learned square table of positions, read at each patch's place in its image, " +
		"whatever the image's size. Parameter `name.weight` [size, width].",
	Short: "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Required: true, Doc: "module path"},
		{Name: "of", Kind: ValueOption, Required: true, Doc: "the grid, as patch_grid names it"},
		{Name: "size", Kind: IntOption, Required: true, Doc: "rows of the table: the square of its side"},
		{Name: "interpolation", Kind: WordOption, Words: []string{"bilinear"}, Default: "bilinear", Doc: "between the table's rows and columns"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		o := blk.Opts
		side := int64(math.Sqrt(float64(o.Int("size"))))
		if side*side != o.Int("size") {
			b.Fail("size must be the square of the table's side, but %d is no square", o.Int("size"))
		}
		width := b.static(x.Last(), "the width of the stream")
		var y *ir.Value
		b.Within(o.Text("name"), func() {
			table := b.Param("weight", ir.Float32, Init{Std: 0.5}, side*side, width)
			rows := b.gridTaps(o.Text("of")+".row", o.Text("of")+".height", side)
			cols := b.gridTaps(o.Text("of")+".column", o.Text("of")+".width", side)
			y = b.Cast(b.bilinear(table, rows, cols, side), x.DType())
		})
		return b.Add(x, tensorOf(y))
	},
}

// taps are the two table lines around each patch's place on one axis, int64
// [patches], and the weight of the second, float32 [patches, 1].
type taps struct{ low, high, weight *ir.Value }

// gridTaps spreads the table's side over an axis: patch i of n reads the table
// at i·(side − 1)/max(n − 1, 1).
func (b *Builder) gridTaps(index, length string, side int64) taps {
	one, last := b.IntScalar(1), b.IntScalar(side-1)
	i, n := b.Value(index).v, b.Value(length).v
	// The numerator and the floor are exact in integers; float32 is used for
	// the remainder alone.
	numerator := b.Binary("Mul", i, last)
	denominator := b.Binary("Max", b.Binary("Sub", n, one), one)
	low := b.Binary("Div", numerator, denominator)
	rest := b.Binary("Sub", numerator, b.Binary("Mul", low, denominator))
	weight := b.Binary("Div", b.Cast(rest, ir.Float32), b.Cast(denominator, ir.Float32))
	return taps{
		low:    low,
		high:   b.Binary("Min", b.Binary("Add", low, one), last),
		weight: b.Op("Unsqueeze", []*ir.Value{weight, b.Ints(1)}),
	}
}

// bilinear reads a table [side², width] between its lines: float32 [patches, width].
func (b *Builder) bilinear(table *ir.Value, rows, cols taps, side int64) *ir.Value {
	line := func(row *ir.Value) *ir.Value {
		base := b.Binary("Mul", row, b.IntScalar(side))
		at := func(col *ir.Value) *ir.Value { return b.Binary("Gather", table, b.Binary("Add", base, col)) }
		return b.mix(at(cols.low), at(cols.high), cols.weight)
	}
	return b.mix(line(rows.low), line(rows.high), rows.weight)
}

// mix returns x·(1 − w) + y·w.
func (b *Builder) mix(x, y, w *ir.Value) *ir.Value {
	return b.Binary("Add",
		b.Binary("Mul", x, b.Binary("Sub", b.Scalar(ir.Float32, 1), w)),
		b.Binary("Mul", y, w))
}
