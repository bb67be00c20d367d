package lowering

import "mobiusc/ir"

var rmsNormDecl = &Decl{
	Name:  "rms_norm",
	Doc:   "x · rsqrt(mean(x²) + epsilon) · (offset + weight) over the last dim, in float32. Parameter `name.weight`.",
	Short: "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Doc: "module path; not needed without `scale`"},
		{Name: "epsilon", Kind: FloatOption, Bound: NotNegative, Required: true, Doc: "added to the mean of the squares"},
		{Name: "offset", Kind: FloatOption, Default: "0", Doc: "added to the weight"},
		{Name: "scale", Kind: BoolOption, Default: "true", Doc: "whether there is a weight"},
		{Name: "over", Kind: WordOption, Words: []string{"last", "heads"}, Default: "'last'",
			Doc: "what is normalised together: the last dim; in the norm of an attention's query or key that is one head, and `heads` means all of them"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		return x.with(b.Cast(b.RMSNorm(b.Flat(x), blk.Opts), x.DType()))
	},
}

// RMSNorm normalises the last dim of x with the options of an rms_norm block
// and returns a float32 value. Square, mean and product with the weight are all
// float32: the operator would cast back before the product.
func (b *Builder) RMSNorm(x *ir.Value, o Record) *ir.Value {
	width := b.static(tensorOf(x).Last(), "the width that is normalised")
	var y *ir.Value
	b.Within(o.Text("name"), func() {
		scale := b.normScale(o, width)
		y = b.Op("RMSNormalization", []*ir.Value{b.Cast(x, ir.Float32), scale},
			ir.IntAttr("axis", -1), b.floatAttr("epsilon", o.Float("epsilon")))
	})
	return y
}

// normScale returns the factor of a norm, float32 [width]: the weight and the
// offset of an rms_norm, the weight of a layer_norm, or ones without `scale`.
func (b *Builder) normScale(o Record, width int64) *ir.Value {
	if !o.Bool("scale") {
		return b.repeated(1, width)
	}
	offset := o.Float("offset")
	w := b.Param("weight", ir.Float32, Init{Mean: 1 - offset, Std: 0.1}, width)
	if offset == 0 {
		return w
	}
	return b.Binary("Add", w, b.Scalar(ir.Float32, offset))
}

// repeated returns a float32 constant [n] of one value.
func (b *Builder) repeated(value float64, n int64) *ir.Value {
	b.mustFitConstant(n, "the stream")
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(value)
	}
	return b.Floats(formatRepeated(value, n), values)
}

var layerNormDecl = &Decl{
	Name:  "layer_norm",
	Doc:   "(x − mean) / sqrt(variance + epsilon) · weight + bias over the last dim, statistics in float32. Parameters `name.weight`, `name.bias`.",
	Short: "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Required: true, Doc: "module path"},
		{Name: "epsilon", Kind: FloatOption, Bound: NotNegative, Required: true, Doc: "added to the variance"},
		{Name: "scale", Kind: BoolOption, Default: "true", Doc: "whether there is a weight"},
		{Name: "bias", Kind: BoolOption, Default: "true", Doc: "whether there is a bias"},
		{Name: "weights", Kind: WordOption, Words: []string{"shared", "each_head"}, Default: "'shared'",
			Doc: "weight and bias of the norm of an attention's query or key: shared by all heads, [head_dim], or one for each head, [heads, head_dim]"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		o := blk.Opts
		width := b.static(x.Last(), "the width that is normalised")
		var y *ir.Value
		b.Within(o.Text("name"), func() {
			if o.Text("weights") == "each_head" {
				y = b.layerNormOfHeads(x, o, width)
			} else {
				inputs := []*ir.Value{b.Cast(b.Flat(x), ir.Float32), b.normScale(o, width)}
				if o.Bool("bias") {
					inputs = append(inputs, b.Param("bias", ir.Float32, Init{Std: 0.1}, width))
				}
				y = b.layerNormalization(o, inputs...)
			}
			y = b.Cast(y, x.DType())
		})
		return x.with(y)
	},
}

func (b *Builder) layerNormalization(o Record, inputs ...*ir.Value) *ir.Value {
	return b.Op("LayerNormalization", inputs, ir.IntAttr("axis", -1), b.floatAttr("epsilon", o.Float("epsilon")))
}

// layerNormOfHeads normalises heads [..., heads, width] that have a weight and a
// bias each and returns a float32 value. The operator takes one for all, so that
// they are a product and a sum of their own.
func (b *Builder) layerNormOfHeads(x Tensor, o Record, width int64) *ir.Value {
	lead := x.Lead()
	heads, known := int64(0), false
	if len(lead) > 0 {
		heads, known = lead[len(lead)-1].Int()
	}
	if !known {
		b.Fail("`weights: each_head` is for the norm of an attention's query or key")
	}
	y := b.layerNormalization(o, b.Cast(b.Full(x), ir.Float32), b.repeated(1, width))
	if o.Bool("scale") {
		y = b.Binary("Mul", y, b.Param("weight", ir.Float32, Init{Mean: 1, Std: 0.1}, heads, width))
	}
	if o.Bool("bias") {
		y = b.Binary("Add", y, b.Param("bias", ir.Float32, Init{Std: 0.1}, heads, width))
	}
	return y
}
