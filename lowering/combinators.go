package lowering

import "mobiusc/ir"

var residualDecl = &Decl{
	Name:  "residual",
	Doc:   "Adds its body's result to its input: x + scale·body(x).",
	Short: "body",
	Options: []Option{
		{Name: "body", Kind: BodyOption, Required: true, Doc: "what is added"},
		{Name: "scale", Kind: FloatOption, Default: "1", Doc: "factor of the body's result"},
		{Name: "dtype", Kind: DTypeOption, Words: FloatingWords, Default: "model", Doc: "dtype of the stream of sums; the body runs in the compute dtype"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		sum := blk.Opts.DType("dtype")
		in := x.with(b.Cast(x.v, b.component.compute))
		y := b.Body(blk.Opts.Body("body"), in)
		x = x.with(b.Cast(x.v, sum))
		y = y.with(b.Cast(y.v, sum))
		if s := blk.Opts.Float("scale"); s != 1 {
			y = y.with(b.Binary("Mul", y.v, b.Scalar(sum, s)))
		}
		return b.Add(x, y)
	},
}

var parallelDecl = &Decl{
	Name:   "parallel",
	Begins: true,
	Doc:    "Runs every body on the same input and joins the results.",
	Short:  "of",
	Options: []Option{
		{Name: "of", Kind: BodiesOption, Required: true, Doc: "the bodies"},
		{Name: "join", Kind: WordOption, Words: []string{"sum", "product", "concat"}, Default: "sum", Doc: "how the results become one"},
		{Name: "scale", Kind: FloatOption, Default: "1", Doc: "factor of the result"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		var y Tensor
		for i, body := range blk.Opts.Bodies("of") {
			z := b.Body(body, x)
			if z.IsZero() {
				b.Fail("no stream leaves body %d: it begins with none, and makes none", i+1)
			}
			if i == 0 {
				y = z
				continue
			}
			l, r := b.elementwise(y, z)
			switch blk.Opts.Text("join") {
			case "product":
				y = y.with(b.Binary("Mul", l, r))
			case "concat":
				y = y.with(b.Op("Concat", []*ir.Value{l, r}, ir.IntAttr("axis", -1)))
			default:
				y = b.Add(y, z)
			}
		}
		if s := blk.Opts.Float("scale"); s != 1 {
			y = y.with(b.Binary("Mul", y.v, b.Scalar(y.DType(), s)))
		}
		return y
	},
}

var branchDecl = &Decl{
	Name:    "branch",
	Begins:  true,
	Doc:     "Runs its body on a copy of the stream; only what the body saves or collects remains.",
	Short:   "body",
	Options: []Option{{Name: "body", Kind: BodyOption, Required: true, Doc: "what runs beside the stream"}},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		b.Body(blk.Opts.Body("body"), x)
		return x
	},
}

var scopeDecl = &Decl{
	Name:   "scope",
	Begins: true,
	Doc:    "A prefix for the names in its body.",
	Options: []Option{
		{Name: "name", Kind: NameOption, Required: true, Doc: "the prefix"},
		{Name: "body", Kind: BodyOption, Required: true, Doc: "what is named under it"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		b.Within(blk.Opts.Text("name"), func() { x = b.Body(blk.Opts.Body("body"), x) })
		return x
	},
}

// ifDecl is decided by the front end: a model holds the branch taken.
var ifDecl = &Decl{
	Name: "if",
	Doc:  "Chooses between two bodies when the model is compiled.",
	Options: []Option{
		{Name: "if", Kind: BoolOption, Required: true, Doc: "the condition"},
		{Name: "then", Kind: BodyOption, Required: true, Doc: "the body where it holds"},
		{Name: "else", Kind: BodyOption, Doc: "the body where it does not; nothing if absent"},
	},
}

// layersDecl is written out by the front end: a model holds a scope a layer.
var layersDecl = &Decl{
	Name: "layers",
	Doc:  "Repeats a body; names get the layer's index.",
	Options: []Option{
		{Name: "name", Kind: NameOption, Doc: "the prefix of the layers' names; a layer's index follows it"},
		{Name: "count", Kind: IntOption, Required: true, Doc: "how many layers"},
		{Name: "each", Kind: BodyOption, Required: true, Doc: "the body of a layer"},
		{Name: "kind", Kind: WordOption, Doc: "the kind of the layer in hand: an expression over `layer`"},
		{Name: "kinds", Kind: RecordOption, Doc: "what each kind changes: `{kind: {let, blocks}}`"},
	},
}

// Add returns the sum of two tensors of equal shape, or of one that broadcasts.
func (b *Builder) Add(x, y Tensor) Tensor {
	l, r := b.elementwise(x, y)
	return x.with(b.Binary("Add", l, r))
}
