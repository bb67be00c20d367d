package lowering

import "mobiusc/ir"

// convOption declares the depthwise convolution of a mixer.
func convOption(bias string) Option {
	return Option{Name: "conv", Kind: RecordOption, Short: "name", Default: "{}", Doc: "the depthwise convolution", Fields: []Option{
		{Name: "name", Kind: NameOption, Default: "conv1d", Doc: "module path, relative to the block"},
		{Name: "bias", Kind: BoolOption, Default: bias, Doc: "whether it has a bias"},
	}}
}

// CausalConv runs a causal depthwise convolution over x [batch, sequence,
// channels], in the layout that projections give, and the activation after it.
// The result is float32: so is what mixers do next, and rounding between would
// only lose digits. It carries the state `conv_state`, [batch, channels,
// kernel − 1] in the dtype of x: the last inputs as they are.
func (b *Builder) CausalConv(x Tensor, conv Record, kernel int64, activation string) Tensor {
	if activation != "silu" && activation != "none" {
		b.Fail("activation %q after the convolution; the operator has silu and none", activation)
	}
	channels := b.static(x.Last(), "the channels")
	dims := []ir.Dim{x.Lead()[0], ir.Int(channels), ir.Int(kernel - 1)}
	past, setState := b.State("", "conv_state", x.DType(), dims, dims)
	var outs []*ir.Value
	b.Within(conv.Text("name"), func() {
		var bias *ir.Value
		weight := b.Param("weight", ir.Float32, fanIn(kernel), channels, 1, kernel)
		if conv.Bool("bias") {
			bias = b.Param("bias", ir.Float32, Init{}, channels)
		}
		full, carried := b.Cast(b.Full(x), ir.Float32), b.Cast(past, ir.Float32)
		outs = b.Call("CausalConvWithState", []*ir.Value{full, weight, bias, carried}, []*ir.Type{full.Type, carried.Type},
			ir.StringAttr("activation", activation))
	})
	setState(b.Cast(outs[1], x.DType()))
	return x.with(outs[0])
}
