package lowering

import "mobiusc/ir"

var gatedDeltaNetDecl = &Decl{
	Name: "gated_delta_net",
	Doc: "A linear-attention mixer: short causal convolution, normalised queries and keys, the gated delta rule, a gated norm " +
		"(arXiv 2412.06464). It carries `conv_state` [batch, channels, kernel − 1] in the compute dtype and `recurrent_state` " +
		"[batch, value_heads, key_dim, value_dim] in `state_dtype`.",
	Short: "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Required: true, Doc: "module path"},
		{Name: "key_heads", Kind: IntOption, Required: true, Doc: "heads of queries and keys"},
		{Name: "value_heads", Kind: IntOption, Required: true, Doc: "heads of values and of the state; value head h reads key head h // (value_heads / key_heads)"},
		{Name: "key_dim", Kind: IntOption, Required: true, Doc: "width of a query or key head"},
		{Name: "value_dim", Kind: IntOption, Required: true, Doc: "width of a value head"},
		{Name: "kernel", Kind: IntOption, Required: true, Doc: "length of the convolution"},
		{Name: "activation", Kind: WordOption, Words: activations, Required: true, Doc: "after the convolution"},
		{Name: "norm", Kind: BodyOption, Required: true, Doc: "the norm over each value head of the result"},
		{Name: "gate", Kind: WordOption, Words: activations, Default: "'silu'", Doc: "applied to z, which multiplies the normalised result in float32"},
		projection("qkv", "in_proj_qkv", "queries, keys and values, concatenated"),
		projection("z", "in_proj_z", "the gate"),
		fusedProjection("qkvz", "one projection that holds `qkv` and `z`", "grouped: for each key head its query, its key, the values of its value heads, their gates"),
		projection("beta", "in_proj_b", "how much of a value is written, through a sigmoid"),
		projection("decay", "in_proj_a", "how much of the state is kept"),
		fusedProjection("beta_decay", "one projection that holds `beta` and `decay`", "grouped: for each key head the betas of its value heads, then their decays"),
		projection("output", "out_proj", "back to the stream"),
		convOption("false"),
		{Name: "l2_epsilon", Kind: FloatOption, Bound: NotNegative, Required: true, Doc: "added to the sum of squares of a query or key"},
		mixerPaddingOption,
		{Name: "state_dtype", Kind: DTypeOption, Words: FloatingWords, Default: "model", Doc: "dtype in which the recurrent state is carried"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) (y Tensor) {
		o := blk.Opts
		d := &deltaNet{
			Builder: b, o: o,
			keyHeads: o.Int("key_heads"), valueHeads: o.Int("value_heads"),
			keyDim: o.Int("key_dim"), valueDim: o.Int("value_dim"),
		}
		if len(x.Lead()) != 2 {
			b.Fail("needs a stream [batch, sequence, width], not %s", ir.Shape(x.Dims()))
		}
		if d.keyHeads < 1 || d.valueHeads%d.keyHeads != 0 {
			b.Fail("%d value heads do not divide among %d key heads", d.valueHeads, d.keyHeads)
		}
		b.Within(o.Text("name"), func() { y = d.lower(x) })
		return y
	},
}

// deltaNet is one gated_delta_net block while it is lowered. Widths of all heads
// together are called key and value width.
type deltaNet struct {
	*Builder
	o                                      Record
	keyHeads, valueHeads, keyDim, valueDim int64
}

func (d *deltaNet) keyWidth() int64   { return d.keyHeads * d.keyDim }
func (d *deltaNet) valueWidth() int64 { return d.valueHeads * d.valueDim }

func (d *deltaNet) lower(x Tensor) Tensor {
	in := d.dropPadding(d.o.Text("padding"), x)
	qkv, z := d.projectQKVZ(in)
	mixed := d.CausalConv(qkv, d.o.Record("conv"), d.o.Int("kernel"), d.o.Text("activation"))
	beta, decay := d.projectBetaDecay(in)

	parts := d.Split(mixed.v, 2*d.keyWidth(), d.valueWidth())
	q, k := d.normalise(mixed.with(parts[0]))
	v := mixed.with(parts[1])
	result := d.attend(q, k, v, d.logDecay(decay), beta.with(d.Unary("Sigmoid", d.Cast(beta.v, ir.Float32))))
	gated := d.gate(result, z)
	return d.Linear(gated.with(d.Cast(gated.v, x.DType())), d.o.Record("output"), d.static(x.Last(), "the width of the stream"))
}

// projectQKVZ returns queries, keys and values side by side [..., 2·key width +
// value width], and the gate [..., value width].
func (d *deltaNet) projectQKVZ(in Tensor) (qkv, z Tensor) {
	if !d.o.Has("qkvz") {
		qkv = d.Linear(in, d.o.Record("qkv"), 2*d.keyWidth()+d.valueWidth())
		return qkv, d.Linear(in, d.o.Record("z"), d.valueWidth())
	}
	all := d.Linear(in, d.o.Record("qkvz"), 2*d.keyWidth()+2*d.valueWidth())
	values := d.valueHeads / d.keyHeads * d.valueDim // width of the values of a key head
	parts := d.ungroup(all, d.keyHeads, d.keyDim, d.keyDim, values, values)
	return all.with(d.Op("Concat", parts[:3], ir.IntAttr("axis", 1))), all.with(parts[3])
}

// projectBetaDecay returns both before their nonlinearities, [..., value_heads].
func (d *deltaNet) projectBetaDecay(in Tensor) (beta, decay Tensor) {
	if !d.o.Has("beta_decay") {
		beta = d.Linear(in, d.o.Record("beta"), d.valueHeads)
		return beta, d.Linear(in, d.o.Record("decay"), d.valueHeads)
	}
	both, n := d.Linear(in, d.o.Record("beta_decay"), 2*d.valueHeads), d.valueHeads/d.keyHeads
	parts := d.ungroup(both, d.keyHeads, n, n)
	return both.with(parts[0]), both.with(parts[1])
}

// normalise returns queries and keys [batch, sequence, key width], each head
// divided by sqrt(Σx² + l2_epsilon), float32. RMS normalisation with epsilon/n
// and a weight of n^-1/2 is that same quotient.
func (d *deltaNet) normalise(qk Tensor) (q, k Tensor) {
	n := float64(d.keyDim)
	heads := d.Op("Reshape", []*ir.Value{qk.v, d.Ints(-1, d.keyDim)})
	normed := d.Op("RMSNormalization", []*ir.Value{heads, d.repeated(1/sqrt(n), d.keyDim)},
		ir.IntAttr("axis", -1), d.floatAttr("epsilon", d.o.Float("l2_epsilon")/n))
	flat := qk.with(d.Op("Reshape", []*ir.Value{normed, d.Ints(-1, 2*d.keyWidth())}))
	parts := d.Split(d.Full(flat), d.keyWidth(), d.keyWidth())
	return qk.with(parts[0]), qk.with(parts[1])
}

// logDecay returns −exp(A_log)·softplus(a + dt_bias), float32 [..., value_heads].
func (d *deltaNet) logDecay(a Tensor) Tensor {
	rate := d.Unary("Neg", d.Unary("Exp", d.Param("A_log", ir.Float32, Init{Mean: 1, Std: 0.5}, d.valueHeads)))
	shifted := d.Binary("Add", d.Cast(a.v, ir.Float32), d.Param("dt_bias", ir.Float32, Init{Std: 0.5}, d.valueHeads))
	return a.with(d.Binary("Mul", d.Unary("Softplus", shifted), rate))
}

// attend applies the gated delta rule: float32 [batch, sequence, value width].
func (d *deltaNet) attend(q, k, v, decay, beta Tensor) Tensor {
	batch := q.Lead()[0]
	dims := []ir.Dim{batch, ir.Int(d.valueHeads), ir.Int(d.keyDim), ir.Int(d.valueDim)}
	past, setState := d.State("", "recurrent_state", d.o.DType("state_dtype"), dims, dims)
	values := d.Full(v)
	inputs := []*ir.Value{d.Full(q), d.Full(k), values, past, d.Full(decay), d.Full(beta)}
	outs := d.Call("LinearAttention", inputs, []*ir.Type{values.Type, past.Type},
		ir.StringAttr("update_rule", "gated_delta"),
		ir.IntAttr("q_num_heads", d.keyHeads), ir.IntAttr("k_num_heads", d.keyHeads), ir.IntAttr("v_num_heads", d.valueHeads),
		ir.IntAttr("chunk_size", d.options.chunk()))
	setState(outs[1])
	return v.with(outs[0])
}

// gate normalises each head of the result and multiplies by the activated z:
// float32 [batch·sequence, value width].
func (d *deltaNet) gate(result, z Tensor) Tensor {
	heads := d.Op("Reshape", []*ir.Value{result.v, d.Ints(-1, d.valueDim)})
	normed := d.Body(d.o.Body("norm"), tensorOf(heads))
	flat := d.Op("Reshape", []*ir.Value{normed.v, d.Ints(-1, d.valueWidth())})
	return result.with(d.Binary("Mul", flat, d.Activation(d.o.Text("gate"), d.Cast(z.v, ir.Float32))))
}
