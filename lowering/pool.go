package lowering

import "mobiusc/ir"

var averagePoolDecl = &Decl{
	Name: "average_pool",
	Doc: "The mean over windows: the stream [batch, channels, …] keeps its channels, and n places along a dim become (n − kernel) // stride + 1; " +
		"what no whole window reaches is left out.",
	Short: "kernel",
	Options: []Option{
		{Name: "kernel", Kind: IntsOption, Required: true, Doc: "size of the window along each dim after the channels: as many as the stream has"},
		{Name: "stride", Kind: IntsOption, Doc: "step along each of them; absent: the kernel, and windows do not overlap"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		kernel := blk.Opts.Ints("kernel")
		stride := b.alongKernel(blk.Opts, "stride", kernel)
		b.checkKernel(kernel, make([]int64, len(kernel)), x.Dims())
		t := convolutionDType(x.DType())
		y := b.Op("AveragePool", []*ir.Value{b.Cast(b.Full(x), t)}, ir.IntsAttr("kernel_shape", kernel...), ir.IntsAttr("strides", stride...))
		y = b.Cast(y, x.DType())
		b.sized = append(b.sized, y)
		return tensorOf(y)
	},
}
