package lowering

import "mobiusc/ir"

var selectiveSSMDecl = &Decl{
	Name: "selective_ssm",
	Doc: "A selective state-space mixer (arXiv 2312.00752): short causal convolution, a state per channel whose step, input and output " +
		"depend on the token, a gate. It carries `conv_state` [batch, inner, kernel − 1] in the compute dtype and `ssm_state` " +
		"[batch, inner, state] in `state_dtype`. Bare parameters `A_log` [inner, state] and `D` [inner].",
	Short: "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Required: true, Doc: "module path"},
		{Name: "inner", Kind: IntOption, Required: true, Doc: "channels of the mixer"},
		{Name: "state", Kind: IntOption, Required: true, Doc: "width of a channel's state"},
		{Name: "dt_rank", Kind: IntOption, Required: true, Doc: "width from which the time steps are projected"},
		{Name: "kernel", Kind: IntOption, Required: true, Doc: "length of the convolution"},
		{Name: "activation", Kind: WordOption, Words: activations, Required: true, Doc: "after the convolution, and of the gate"},
		{Name: "bias", Kind: BoolOption, Default: "false", Doc: "whether the projections from and to the stream have biases"},
		projection("in", "in_proj", "channels and gate, concatenated"),
		convOption("true"),
		projection("x", "x_proj", "from the channels to the rank of the time steps, B and C, concatenated"),
		projection("dt", "dt_proj", "from the rank to the time steps; it has a bias, and a softplus follows"),
		{Name: "norms", Kind: RecordOption, Doc: "norms of what the projection `x` gives; their names are relative to the block", Fields: []Option{
			{Name: "dt", Kind: BodyOption, Doc: "over the rank of the time steps, before they are projected"},
			{Name: "b", Kind: BodyOption, Doc: "over B, the input of the state"},
			{Name: "c", Kind: BodyOption, Doc: "over C, its output"},
		}},
		projection("out", "out_proj", "back to the stream"),
		mixerPaddingOption,
		{Name: "state_dtype", Kind: DTypeOption, Words: FloatingWords, Default: "model", Doc: "dtype in which `ssm_state` is carried"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) (y Tensor) {
		if len(x.Lead()) != 2 {
			b.Fail("needs a stream [batch, sequence, width], not %s", ir.Shape(x.Dims()))
		}
		o := blk.Opts
		s := &selectiveSSM{Builder: b, o: o, inner: o.Int("inner"), state: o.Int("state"), rank: o.Int("dt_rank")}
		b.Within(o.Text("name"), func() { y = s.lower(x) })
		return y
	},
}

// selectiveSSM is one selective_ssm block while it is lowered.
type selectiveSSM struct {
	*Builder
	o                  Record
	inner, state, rank int64
}

func (s *selectiveSSM) lower(x Tensor) Tensor {
	padding := s.o.Text("padding")
	both := s.Linear(s.dropPadding(padding, x), s.biased(s.o, "in"), 2*s.inner)
	parts := s.Split(both.v, s.inner, s.inner)
	channels, gate := both.with(parts[0]), parts[1]
	channels = s.CausalConv(channels, s.o.Record("conv"), s.o.Int("kernel"), s.o.Text("activation"))
	y := s.scan(s.dropPadding(padding, channels)) // a bias of the convolution is not 0 in padding
	gated := y.with(s.gated(s.o.Text("activation"), gate, s.Flat(y)))
	return s.Linear(gated, s.biased(s.o, "out"), s.static(x.Last(), "the width of the stream"))
}

// scan runs the state space over x [batch, sequence, inner], whose own features
// give every token's time step, B and C. A = −exp(A_log) and the time steps,
// softplus(dt), are float32.
func (s *selectiveSSM) scan(x Tensor) Tensor {
	selected := s.Linear(x.with(s.Cast(x.v, s.component.compute)), s.o.Record("x"), s.rank+2*s.state)
	parts := s.Split(selected.v, s.rank, s.state, s.state)
	dt := s.Linear(s.norm("dt", selected.with(parts[0])), s.o.Record("dt").or("bias", Opt{Value: true}), s.inner)
	delta := x.with(s.Unary("Softplus", s.Cast(dt.v, ir.Float32)))
	rate := s.Unary("Neg", s.Unary("Exp", s.Param("A_log", ir.Float32, Init{Mean: 1, Std: 0.5}, s.inner, s.state)))
	skip := s.Param("D", ir.Float32, Init{Mean: 1, Std: 0.1}, s.inner)

	dims := []ir.Dim{x.Lead()[0], ir.Int(s.inner), ir.Int(s.state)}
	past, setState := s.State("", "ssm_state", s.o.DType("state_dtype"), dims, dims)
	full := s.Full(x)
	b, c := s.norm("b", selected.with(s.Cast(parts[1], ir.Float32))), s.norm("c", selected.with(s.Cast(parts[2], ir.Float32)))
	inputs := []*ir.Value{full, s.Full(delta), rate, s.Full(b), s.Full(c), skip, past}
	outs := s.Call("SelectiveScan", inputs, []*ir.Type{full.Type, past.Type})
	setState(outs[1])
	return x.with(outs[0])
}

// norm applies the norm of one part of what the projection x gives, if it has one.
func (s *selectiveSSM) norm(part string, t Tensor) Tensor {
	return s.Body(s.o.Record("norms").Body(part), t)
}
