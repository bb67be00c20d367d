package compiler

import (
	"cmp"
	"slices"

	"mobiusc/compiler/checkpoint"
	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
	"mobiusc/validate"
)

var catalogue diag.Catalogue

// MB00 and MB07: options and targets.
var (
	badOption   = catalogue.Add("MB0001", "bad-option", diag.Error, "an option has a value that no spec could honour").AsRequest()
	badFunction = catalogue.Add("MB0701", "unsupported-target", diag.Error, "a part of the graph cannot be said with the operators of the target")
	noGenAI     = catalogue.Add("MB0702", "no-genai-config", diag.Note, "onnxruntime-genai could not run the package, so that its configuration is not written")
)

// Catalogue returns every kind of finding of the compiler and of the packages
// below it, in the order of the codes.
func Catalogue() diag.Catalogue {
	all := slices.Concat(catalogue, fault.All(), lowering.Kinds(), checkpoint.Kinds(), validate.Checks())
	slices.SortFunc(all, func(a, b *diag.Kind) int { return cmp.Compare(a.Code, b.Code) })
	return all
}
