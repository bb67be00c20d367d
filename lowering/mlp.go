package lowering

func mlpOptions(extra ...Option) []Option {
	return append([]Option{
		{Name: "name", Kind: NameOption, Doc: "module path of the whole block"},
		{Name: "width", Kind: IntOption, Required: true, Doc: "width between the projections"},
		{Name: "activation", Kind: WordOption, Words: activations, Required: true, Doc: "the nonlinearity between"},
		{Name: "out", Kind: IntOption, Doc: "width of the result; default: that of the stream"},
		{Name: "bias", Kind: BoolOption, Default: "false", Doc: "whether the projections have biases"},
		projection("up", "up_proj", "the projection to `width`"),
		projection("down", "down_proj", "the projection to `out`"),
	}, extra...)
}

var mlpDecl = &Decl{
	Name:    "mlp",
	Doc:     "down(activation(up(x))).",
	Short:   "name",
	Options: mlpOptions(),
	Lower: func(b *Builder, blk *Block, x Tensor) (y Tensor) {
		o := blk.Opts
		b.Within(o.Text("name"), func() {
			h := b.Linear(x, b.biased(o, "up"), o.Int("width"))
			h = h.with(b.Activation(o.Text("activation"), h.v))
			y = b.Linear(h, b.biased(o, "down"), b.mlpOut(o, x))
		})
		return y
	},
}

var gatedMLPDecl = &Decl{
	Name:  "gated_mlp",
	Doc:   "down(activation(gate(x)) · up(x)).",
	Short: "name",
	Options: mlpOptions(
		projection("gate", "gate_proj", "the projection that the activation is applied to"),
		Option{Name: "gate_up", Kind: RecordOption, Of: "linear", Short: "name", Doc: "one projection that holds gate and up",
			Fields: projectionOptions(Option{Name: "layout", Kind: WordOption, Words: []string{"concatenated"}, Default: "concatenated", Doc: "gate first, then up"})},
	),
	Lower: func(b *Builder, blk *Block, x Tensor) (y Tensor) {
		o := blk.Opts
		b.Within(o.Text("name"), func() {
			gate, up := b.gateAndUp(o, x)
			h := gate.with(b.gated(o.Text("activation"), gate.v, up.v))
			y = b.Linear(h, b.biased(o, "down"), b.mlpOut(o, x))
		})
		return y
	},
}

func (b *Builder) gateAndUp(o Record, x Tensor) (gate, up Tensor) {
	width := o.Int("width")
	if !o.Has("gate_up") {
		return b.Linear(x, b.biased(o, "gate"), width), b.Linear(x, b.biased(o, "up"), width)
	}
	both := b.Linear(x, b.biased(o, "gate_up"), 2*width)
	parts := b.Split(both.v, width, width)
	return both.with(parts[0]), both.with(parts[1])
}

func (b *Builder) mlpOut(o Record, x Tensor) int64 {
	if o.Has("out") {
		return o.Int("out")
	}
	return b.static(x.Last(), "the width of the stream")
}

// biased returns the options of a projection with the block's bias where the
// projection does not say.
func (b *Builder) biased(o Record, name string) Record {
	return o.Record(name).or("bias", o.Opt("bias"))
}
