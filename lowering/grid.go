package lowering

import "mobiusc/ir"

var patchGridDecl = &Decl{
	Name:   "patch_grid",
	Begins: true,
	Values: []string{"{name}", "{name}.row", "{name}.column", "{name}.height", "{name}.width", "{name}.frame"},
	Doc: "Names the place of every packed patch: `name.row`, `name.column` (in its image), `name.height`, `name.width` (of its " +
		"image, in patches) and `name.frame` (which frame it belongs to), each int64 [patches]. Patches of an image follow one another by " +
		"time, block row, block column, row in the block, column in the block. The stream stays.",
	Options: []Option{
		{Name: "name", Kind: NameOption, Required: true, Doc: "prefix of the named values"},
		{Name: "of", Kind: ValueOption, Required: true, Doc: "sizes, int64 [images, 3]: frames, rows and columns in patches"},
		{Name: "patches", Kind: ValueOption, Default: "pixel_values", Doc: "the packed patches; their first dim counts them"},
		{Name: "merge", Kind: IntOption, Default: "1", Doc: "side of a block of patches that are merged later"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		o := blk.Opts
		name := o.Text("name")
		outer := b.prefix
		b.prefix = name
		defer func() { b.prefix = outer }()

		g := b.patchGrid(b.Value(o.Text("of")).v, b.Value(o.Text("patches")).v)
		row, col := b.placeInBlocks(g, o.Int("merge"))
		b.name(name+".row", named{tensor: tensorOf(row)})
		b.name(name+".column", named{tensor: tensorOf(col)})
		b.name(name+".height", named{tensor: tensorOf(g.height)})
		b.name(name+".width", named{tensor: tensorOf(g.width)})
		b.name(name+".frame", named{tensor: tensorOf(g.frame), lengths: g.lengths})
		return x
	},
}

// grid holds what is known of each patch, int64 [patches], and the length of
// each frame, int64 [frames].
type grid struct{ index, height, width, frame, lengths *ir.Value }

// patchGrid finds each patch's image without a loop and without comparing every
// patch with every image: a one where each image begins, summed up, counts them.
func (b *Builder) patchGrid(sizes, patches *ir.Value) grid {
	column := func(i int64) *ir.Value {
		return b.Op("Gather", []*ir.Value{sizes, b.IntScalar(i)}, ir.IntAttr("axis", 1))
	}
	t, h, w := column(0), column(1), column(2)
	area := b.Binary("Mul", h, w)     // patches a frame
	count := b.Binary("Mul", area, t) // patches an image
	ends := b.cumulative(count)       // [images]
	starts := b.Binary("Sub", ends, count)
	total := b.Op("Shape", []*ir.Value{patches}, ir.IntAttr("start", 0), ir.IntAttr("end", 1))

	image := b.ownerOf(starts, total)
	position := b.Op("Range", []*ir.Value{b.IntScalar(0), b.Op("Squeeze", []*ir.Value{total}), b.IntScalar(1)})
	of := func(v *ir.Value) *ir.Value { return b.Binary("Gather", v, image) }
	inImage := b.Binary("Sub", position, of(starts))
	patchArea := of(area)

	frameEnds := b.cumulative(t)
	firstFrame := b.Binary("Sub", frameEnds, t) // [images]
	frames := b.Op("ReduceSum", []*ir.Value{t}, ir.IntAttr("keepdims", 1))
	lengths := b.Binary("Gather", area, b.ownerOf(firstFrame, frames))
	return grid{
		index:   b.Binary("Mod", inImage, patchArea),
		height:  of(h),
		width:   of(w),
		frame:   b.Binary("Add", of(firstFrame), b.Binary("Div", inImage, patchArea)),
		lengths: lengths,
	}
}

// ownerOf returns, for each of total [1] places, the index of the last start
// [n] that is not after it: int64 [total].
func (b *Builder) ownerOf(starts, total *ir.Value) *ir.Value {
	zeros := b.Op("ConstantOfShape", []*ir.Value{total}, ir.TensorAttr("value", ir.Ints64(0)))
	ones := b.Op("ConstantOfShape", []*ir.Value{b.Unary("Shape", starts)}, ir.TensorAttr("value", ir.Ints64(1)))
	marks := b.Op("ScatterElements", []*ir.Value{zeros, starts, ones}, ir.IntAttr("axis", 0), ir.StringAttr("reduction", "add"))
	return b.Binary("Sub", b.cumulative(marks), b.IntScalar(1))
}

func (b *Builder) cumulative(v *ir.Value) *ir.Value { return b.Binary("CumSum", v, b.IntScalar(0)) }

// placeInBlocks returns row and column of patches that are ordered by blocks of
// merge × merge.
func (b *Builder) placeInBlocks(g grid, merge int64) (row, col *ir.Value) {
	m := b.IntScalar(merge)
	block := b.Binary("Div", g.index, b.IntScalar(merge*merge))
	inside := b.Binary("Mod", g.index, b.IntScalar(merge*merge))
	across := b.Binary("Div", g.width, m) // blocks a row
	at := func(block, inside *ir.Value) *ir.Value {
		return b.Binary("Add", b.Binary("Mul", block, m), inside)
	}
	row = at(b.Binary("Div", block, across), b.Binary("Div", inside, m))
	col = at(b.Binary("Mod", block, across), b.Binary("Mod", inside, m))
	return row, col
}
