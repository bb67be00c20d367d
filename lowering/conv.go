package lowering

import (
	"slices"

	"mobiusc/ir"
)

var convDecl = &Decl{
	Name: "conv",
	Doc: "A convolution: the stream [batch, channels, …] becomes [batch, out, …], each of its n places along a dim (n + 2·padding − kernel) // stride + 1. " +
		"Parameters `name.weight` [out, channels / groups, kernel …] and `name.bias` [out].",
	Short: "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Required: true, Doc: "module path"},
		{Name: "out", Kind: IntOption, Required: true, Doc: "channels of the result"},
		{Name: "kernel", Kind: IntsOption, Required: true, Doc: "size of the kernel along each dim after the channels: as many as the stream has"},
		{Name: "stride", Kind: IntsOption, Doc: "step along each of them; absent: 1"},
		{Name: "padding", Kind: IntsOption, Signed: true, Doc: "zeros added at both ends of each of them; absent: 0"},
		{Name: "groups", Kind: IntOption, Default: "1", Doc: "groups of channels that do not see each other"},
		{Name: "bias", Kind: BoolOption, Default: "true", Doc: "whether a bias is added"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		kernel := blk.Opts.Ints("kernel")
		ones, zeros := slices.Repeat([]int64{1}, len(kernel)), make([]int64, len(kernel))
		c := &convolution{
			Builder: b, out: blk.Opts.Int("out"), groups: blk.Opts.Int("groups"), kernel: kernel, bias: blk.Opts.Bool("bias"),
			stride: b.alongKernel(blk.Opts, "stride", ones), padding: b.alongKernel(blk.Opts, "padding", zeros),
		}
		c.check(x.Dims())
		var y Tensor
		b.Within(blk.Opts.Text("name"), func() { y = c.lower(x) })
		return y
	},
}

// convolution is one conv block while it is lowered.
type convolution struct {
	*Builder
	out, groups             int64
	kernel, stride, padding []int64 // along each dim after the channels
	bias                    bool
}

// alongKernel returns an option that has a number for each dim of the kernel,
// and what it is where it is absent.
func (b *Builder) alongKernel(o Record, name string, absent []int64) []int64 {
	if !o.Has(name) {
		return absent
	}
	if len(o.Ints(name)) != len(absent) {
		b.Fail("%s %v and kernel %v are not along the same number of dims", name, o.Ints(name), o.Ints("kernel"))
	}
	return o.Ints(name)
}

// check fails where the convolution does not fit the stream.
func (c *convolution) check(dims []ir.Dim) {
	c.checkKernel(c.kernel, c.padding, dims)
	channels := c.static(dims[1], "the number of channels")
	if channels%c.groups != 0 || c.out%c.groups != 0 {
		c.Fail("%d channels and %d of the result do not divide among %d groups", channels, c.out, c.groups)
	}
}

// checkKernel fails where a kernel does not fit a stream of the given dims.
func (b *Builder) checkKernel(kernel, padding []int64, dims []ir.Dim) {
	if len(dims) < 3 || len(dims)-2 != len(kernel) {
		b.Fail("a kernel %v needs a stream [batch, channels, …] with %d dims after the channels, not %s", kernel, len(kernel), ir.Shape(dims))
	}
	for i, pad := range padding {
		if pad < 0 {
			b.Fail("padding %v must not be below 0", padding)
		}
		if n, known := dims[2+i].Int(); known && (kernel[i]-n+1)/2 > pad { // 2·pad may be beyond 64 bits
			b.Fail("a kernel of %d is longer than the %d places of the stream, with padding %d at both ends", kernel[i], n, pad)
		}
	}
}

// convolutionDType returns the dtype in which a convolution or a pooling of a
// stream computes. The operators take bfloat16 from opset 22 on only: with
// bfloat16 they compute in float32, which every target has.
func convolutionDType(t ir.DataType) ir.DataType {
	if t == ir.BFloat16 {
		return ir.Float32
	}
	return t
}

// lower adds the operator.
func (c *convolution) lower(x Tensor) Tensor {
	t := convolutionDType(x.DType())
	channels := c.static(x.Dims()[1], "the number of channels") / c.groups
	weight := c.Param("weight", t, fanIn(channels*product(c.kernel)), append([]int64{c.out, channels}, c.kernel...)...)
	inputs := []*ir.Value{c.Cast(c.Full(x), t), weight}
	if c.bias {
		inputs = append(inputs, c.Param("bias", t, Init{Std: 0.1}, c.out))
	}
	attrs := []*ir.Attr{
		ir.IntsAttr("kernel_shape", c.kernel...), ir.IntsAttr("strides", c.stride...),
		ir.IntsAttr("pads", append(append([]int64{}, c.padding...), c.padding...)...), ir.IntAttr("group", c.groups),
	}
	y := c.Cast(c.Op("Conv", inputs, attrs...), x.DType())
	for i, d := range y.Type.Shape[2:] {
		if !d.Known() {
			c.Fail("the size of the result along dim %d of %s cannot be computed with padding %d", 2+i, ir.Shape(x.Dims()), c.padding[i])
		}
	}
	c.sized = append(c.sized, y)
	return tensorOf(y)
}
