package lowering

import "mobiusc/ir"

var lastTokenDecl = &Decl{
	Name: "last_token",
	Doc: "Keeps the last token of each row: [batch, sequence, width] becomes [batch, 1, width]. Before a head it saves the product with " +
		"the vocabulary for every token but the one that generation reads.",
	Short: "when",
	Options: []Option{
		{Name: "when", Kind: WordOption, Words: []string{"requested", "always"}, Default: "'requested'",
			Doc: "requested: only in a package compiled with --logits last"},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) Tensor {
		if blk.Opts.Text("when") == "requested" {
			if !b.options.LastLogits {
				return x
			}
			b.keptLast = true
		}
		if len(x.Lead()) != 2 {
			b.Fail("needs a stream [batch, sequence, width], not %s", ir.Shape(x.Dims()))
		}
		return tensorOf(b.Op("Gather", []*ir.Value{b.Full(x), b.Ints(-1)}, ir.IntAttr("axis", 1)))
	},
}
