package lowering

import "mobiusc/ir"

// activations are the words an activation option takes, in Transformers' sense
// after the config's aliases are resolved.
var activations = []string{"silu", "gelu", "gelu_tanh", "relu", "sigmoid", "tanh", "none"}

var activationDecl = &Decl{
	Name:    "activation",
	Doc:     "An element-wise nonlinearity.",
	Short:   "of",
	Options: []Option{{Name: "of", Kind: WordOption, Words: activations, Required: true, Doc: "the function"}},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		return x.with(b.Activation(blk.Opts.Text("of"), x.v))
	},
}

// Activation applies an activation to every element. silu(x) = x·sigmoid(x);
// gelu is exact (with erf), gelu_tanh its tanh approximation.
func (b *Builder) Activation(name string, x *ir.Value) *ir.Value {
	switch name {
	case "silu":
		return b.Binary("Mul", x, b.Unary("Sigmoid", x))
	case "gelu":
		return b.Unary("Gelu", x)
	case "gelu_tanh":
		return b.Op("Gelu", []*ir.Value{x}, ir.StringAttr("approximate", "tanh"))
	case "relu":
		return b.Unary("Relu", x)
	case "sigmoid":
		return b.Unary("Sigmoid", x)
	case "tanh":
		return b.Unary("Tanh", x)
	case "none", "":
		return x
	}
	b.Fail("unknown activation %q", name)
	return nil
}

// gated returns activation(gate)·x in the dtype of the gate. It is computed in float32, so that a 16-bit
// result is rounded once and not after every step.
func (b *Builder) gated(activation string, gate, x *ir.Value) *ir.Value {
	y := b.Binary("Mul", b.Activation(activation, b.Cast(gate, ir.Float32)), b.Cast(x, ir.Float32))
	return b.Cast(y, gate.Type.Elem)
}

var scaleDecl = &Decl{
	Name:  "scale",
	Doc:   "x·by + shift, and times a stored vector if there is one.",
	Short: "by",
	Options: []Option{
		{Name: "by", Kind: FloatOption, Default: "1", Doc: "factor"},
		{Name: "shift", Kind: FloatOption, Default: "0", Doc: "added after the product"},
		{Name: "weight", Kind: NameOption, Doc: "path of a stored factor: one element, or one a feature"},
		{Name: "size", Kind: IntOption, Default: "1", Doc: "elements of the stored factor"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		o, v, t := blk.Opts, x.v, x.DType()
		if f := o.Float("by"); f != 1 {
			v = b.Binary("Mul", v, b.Scalar(t, f))
		}
		if s := o.Float("shift"); s != 0 {
			v = b.Binary("Add", v, b.Scalar(t, s))
		}
		if o.Has("weight") {
			v = b.Binary("Mul", v, b.Param(o.Text("weight"), t, Init{Mean: 1, Std: 0.1}, o.Int("size")))
		}
		return x.with(v)
	},
}

var softcapDecl = &Decl{
	Name:    "softcap",
	Doc:     "limit · tanh(x / limit).",
	Short:   "limit",
	Options: []Option{{Name: "limit", Kind: FloatOption, Bound: AboveZero, Required: true, Doc: "bound of the absolute value"}},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		limit := b.Scalar(x.DType(), blk.Opts.Float("limit"))
		return x.with(b.Binary("Mul", b.Unary("Tanh", b.Binary("Div", x.v, limit)), limit))
	},
}
