package lowering

import "mobiusc/ir"

var linearDecl = &Decl{
	Name:  "linear",
	Doc:   "y = x·Wᵀ + b over the last dim. Parameters `name.weight` [out, in] and `name.bias` [out].",
	Short: "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Required: true, Doc: "module path"},
		{Name: "out", Kind: IntOption, Required: true, Doc: "width of the result"},
		{Name: "bias", Kind: BoolOption, Default: "false", Doc: "whether a bias is added"},
		{Name: "stored", Kind: WordOption, Words: []string{"out_in", "in_out", "kernel"}, Default: "out_in",
			Doc: "how the checkpoint stores the weight: [out, in], [in, out], or as the kernel of a convolution over a whole patch, [out, …]"},
		{Name: "kernel", Kind: IntsOption, Doc: "with `stored: kernel`, the dims of the kernel after the first"},
		{Name: "tie", Kind: RecordOption, Doc: "shares the weight with another module", Fields: []Option{
			{Name: "to", Kind: NameOption, Required: true, Doc: "the module whose weight is used, relative to what encloses the block"},
			{Name: "when", Kind: BoolOption, Default: "true", Doc: "whether it is shared"},
		}},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		o := blk.Opts
		return b.Linear(x, o, o.Int("out"))
	},
}

// projectionOptions are the options of a projection inside another block: a
// linear whose width the block knows.
func projectionOptions(extra ...Option) []Option {
	opts := []Option{
		{Name: "name", Kind: NameOption, Doc: "module path, relative to the block"},
		{Name: "bias", Kind: BoolOption, Doc: "whether a bias is added; default: as the block says"},
		{Name: "stored", Kind: WordOption, Words: []string{"out_in", "in_out"}, Doc: "how the checkpoint stores the weight"},
	}
	return append(opts, extra...)
}

// projection declares an option that is a projection with the given default name.
func projection(name, module, doc string, extra ...Option) Option {
	fields := projectionOptions(extra...)
	fields[0].Default = module
	return Option{Name: name, Kind: RecordOption, Default: "{}", Of: "linear", Short: "name", Doc: doc, Fields: fields}
}

// fusedProjection declares an option that is one projection in place of others,
// whose features it holds group by group; grouped says in what order.
func fusedProjection(name, doc, grouped string) Option {
	return Option{Name: name, Kind: RecordOption, Of: "linear", Short: "name", Doc: doc, Fields: projectionOptions(
		Option{Name: "layout", Kind: WordOption, Words: []string{"grouped"}, Default: "grouped", Doc: grouped})}
}

// Linear multiplies the last dim of x [..., in] by a weight; the result is
// [..., out]. o holds the options of a linear or of a projection.
//
// The weight is read as the checkpoint stores it: Gemm transposes inside the
// product, so that no second copy of a weight is made when a model is loaded.
func (b *Builder) Linear(x Tensor, o Record, out int64) Tensor {
	in := b.static(x.Last(), "the width of the stream")
	var y *ir.Value
	var tied *Tie
	if o.Has("tie") {
		tied = &Tie{To: b.Join(o.Record("tie").Text("to")), Range: o.Record("tie")["to"].Range, scope: b.Join("") + "."}
	}
	b.Within(o.Text("name"), func() {
		w, transposed := b.linearWeight(o, tied, in, out, x.DType())
		inputs := []*ir.Value{b.Flat(x), w}
		if o.Bool("bias") {
			inputs = append(inputs, b.Param("bias", x.DType(), Init{}, out))
		}
		var attrs []*ir.Attr
		if transposed {
			attrs = append(attrs, ir.IntAttr("transB", 1))
		}
		y = b.Op("Gemm", inputs, attrs...)
	})
	return x.with(y)
}

// linearWeight returns the weight as a matrix, and whether it is [out, in]. tied
// is to the absolute path of the module whose weight it is, or nil.
func (b *Builder) linearWeight(o Record, tied *Tie, in, out int64, dtype ir.DataType) (w *ir.Value, transposed bool) {
	path, param := "weight", b.Param
	if tied != nil {
		tied.From, tied.To = b.Join("weight"), tied.To+".weight"
		path, param = "/"+tied.To, b.tiedParam
		b.ties = append(b.ties, *tied)
	}
	switch o.Text("stored") {
	case "in_out":
		return param(path, dtype, fanIn(in), in, out), false
	case "kernel":
		kernel := o.Ints("kernel")
		if n := product(kernel); n != in {
			b.Fail("the kernel %v has %d elements a feature, but the stream is %d wide", kernel, n, in)
		}
		w := param(path, dtype, fanIn(in), append([]int64{out}, kernel...)...)
		return b.Op("Reshape", []*ir.Value{w, b.Ints(out, in)}), true
	}
	return param(path, dtype, fanIn(in), out, in), true
}

func product(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// ungroup takes apart a projection [..., groups·Σwidths] that holds, one group
// after the other, a part of each width. It returns a matrix for each part,
// [product of the leading dims, groups·width]: the parts of all groups.
//
// The rows of the weight could be put in order instead. But they are the
// checkpoint's bytes, which a package in place points at, and what is moved here
// is one row of features a token.
func (b *Builder) ungroup(all Tensor, groups int64, widths ...int64) []*ir.Value {
	group := int64(0)
	for _, w := range widths {
		group += w
	}
	rows := b.Op("Reshape", []*ir.Value{all.v, b.Ints(-1, group)})
	parts := b.Split(rows, widths...)
	for i, w := range widths {
		parts[i] = b.Op("Reshape", []*ir.Value{parts[i], b.Ints(-1, groups*w)})
	}
	return parts
}
