package lowering

import (
	"slices"

	"mobiusc/ir"
	"mobiusc/ops"
)

var useDecl = &Decl{
	Name:   "use",
	Begins: true,
	Doc:    "The stream becomes a named value.",
	Short:  "value",
	Options: []Option{
		{Name: "value", Kind: ValueOption, Required: true, Doc: "the value"},
		{Name: "dtype", Kind: DTypeOption, Default: "model", Doc: "dtype of the stream"},
	},
	Lower: func(b *Builder, blk *Block, _ Tensor) Tensor {
		t := b.Value(blk.Opts.Text("value"))
		return t.with(b.Cast(t.v, blk.Opts.DType("dtype")))
	},
}

var saveDecl = &Decl{
	Name:    "save",
	Values:  []string{"{as}"},
	Doc:     "Names the stream, for blocks and outputs that read it later.",
	Short:   "as",
	Options: []Option{{Name: "as", Kind: NameOption, Required: true, Doc: "the name"}},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		b.name(blk.Opts.Text("as"), named{tensor: x})
		return x
	},
}

var collectDecl = &Decl{
	Name:    "collect",
	Values:  []string{"{as}"},
	Doc:     "Appends the stream to a value that stacks, along a new first dim, all that is collected under its name.",
	Short:   "as",
	Options: []Option{{Name: "as", Kind: NameOption, Required: true, Doc: "the name of the stacked value"}},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		as := blk.Opts.Text("as")
		n := b.values[as]
		n.stack = append(n.stack, x)
		b.values[as] = n
		return x
	},
}

var valueOption = Option{Name: "value", Kind: ValueOption, Required: true, Doc: "the other operand"}

// sliceOptions choose one slice of the value.
var sliceOptions = []Option{
	valueOption,
	{Name: "axis", Kind: IntOption, Signed: true, Doc: "axis of the value to take one slice of; absent: the whole value"},
	{Name: "index", Kind: IntOption, Signed: true, Doc: "which slice"},
}

func binaryDecl(name, op, doc string) *Decl {
	return &Decl{
		Name: name, Doc: doc, Short: "value", Options: sliceOptions,
		Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
			y := b.operand(blk.Opts)
			l, r := b.elementwise(x, y.with(b.Cast(y.v, x.DType())))
			return x.with(b.Binary(op, l, r))
		},
	}
}

var (
	addDecl      = binaryDecl("add", "Add", "Adds a value, or one slice of it, to the stream.")
	multiplyDecl = binaryDecl("multiply", "Mul", "Multiplies the stream by a value, or one slice of it.")
)

func (b *Builder) operand(o Record) Tensor {
	t := b.Value(o.Text("value"))
	if o.Has("axis") != o.Has("index") {
		b.Fail("axis and index belong together: one slice of the value is taken, or the whole")
	}
	if !o.Has("axis") {
		return t
	}
	axis, index, dims := o.Int("axis"), o.Int("index"), t.Dims()
	rank := int64(len(dims))
	if axis < -rank || axis >= rank {
		b.Fail("the value %s of shape %s has no axis %d", o.Text("value"), ir.Shape(dims), axis)
	}
	if n, known := dims[(axis+rank)%rank].Int(); known && (index < -n || index >= n) {
		b.Fail("axis %d of the value %s has no index %d: its shape is %s", axis, o.Text("value"), index, ir.Shape(dims))
	}
	return tensorOf(b.Op("Gather", []*ir.Value{b.Full(t), b.IntScalar(index)}, ir.IntAttr("axis", axis)))
}

var zerosDecl = &Decl{
	Name:    "zeros",
	Begins:  true,
	Doc:     "The stream becomes zeros of the given dims; the stream before it is ignored.",
	Short:   "dims",
	Options: []Option{{Name: "dims", Kind: DimsOption, Required: true, Doc: "the dims"}},
	Lower: func(b *Builder, blk *Block, _ Tensor) Tensor {
		zero := ops.Scalar(b.component.compute, 0)
		zero.Dims = []int64{1} // the operator takes one element of rank 1
		return tensorOf(b.Op("ConstantOfShape", []*ir.Value{b.ShapeOf(blk.Opts.Dims("dims")...)}, ir.TensorAttr("value", zero)))
	},
}

var reshapeDecl = &Decl{
	Name:    "reshape",
	Doc:     "Gives the stream new dims; the order of the elements stays.",
	Short:   "dims",
	Options: []Option{{Name: "dims", Kind: DimsOption, Required: true, Doc: "the new dims"}},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		return tensorOf(b.Reshape(b.Full(x), blk.Opts.Dims("dims")...))
	},
}

var transposeDecl = &Decl{
	Name:    "transpose",
	Doc:     "Permutes the dims of the stream.",
	Short:   "axes",
	Options: []Option{{Name: "axes", Kind: IntsOption, Signed: true, Required: true, Doc: "the old axis at each new one"}},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		axes, rank := slices.Clone(blk.Opts.Ints("axes")), int64(len(x.Dims()))
		used := make([]bool, rank)
		for i, a := range axes {
			if a < 0 {
				a += rank // the operator does not count from the end
			}
			if int64(len(axes)) != rank || a < 0 || a >= rank || used[a] {
				b.Fail("axes %v do not name each of the %d dims of the stream %s once", blk.Opts.Ints("axes"), rank, ir.Shape(x.Dims()))
			}
			axes[i], used[a] = a, true
		}
		return tensorOf(b.Op("Transpose", []*ir.Value{b.Full(x)}, ir.IntsAttr("perm", axes...)))
	},
}

// name records a value under a name that must be new.
func (b *Builder) name(as string, n named) {
	if _, taken := b.values[as]; taken {
		b.Fail("a value named %q exists already", as)
	}
	b.values[as] = n
}
