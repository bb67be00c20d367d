package lowering

import "mobiusc/internal/diag"

var catalogue diag.Catalogue

// Kinds returns what lowering can find wrong, in the order of the codes.
func Kinds() diag.Catalogue { return catalogue }

// MB06: blocks on their way to nodes.
var (
	misfit       = catalogue.Add("MB0601", "block-misfit", diag.Error, "a block does not fit the tensor that reaches it, or its options do not fit each other")
	noLastLogits = catalogue.Add("MB0602", "last-logits", diag.Error, "the logits of the last token alone are asked for, and no block keeps them")
	unknownTie   = catalogue.Add("MB0603", "unknown-tie", diag.Error, "a weight is tied to that of a module that no block is, or that has none")
)
