package fault

import (
	"fmt"
	"strings"

	"mobiusc/internal/diag"
	"mobiusc/internal/number"
)

// FailedCheck reports a check of the spec that the config does not pass.
func FailedCheck(r diag.Range, message string, values []string, notes []diag.Related) *diag.Diagnostic {
	return WithValues(check.At(r, "%s", message), values, notes)
}

// WithValues adds what the names of an expression stand for, and where that is stated.
func WithValues(d *diag.Diagnostic, values []string, notes []diag.Related) *diag.Diagnostic {
	if len(values) > 0 {
		d.Hint = "in this config " + strings.Join(values, ", ")
	}
	d.Notes = notes
	return d
}

// BadSchedule reports a list that is read by the layer, such as that of the
// layers' kinds, whose length is not the count.
func BadSchedule(r diag.Range, list string, length int, count int64, countAt, use diag.Range) *diag.Diagnostic {
	d := hinted(schedule.At(r, "%s has %s, and there are %s", list, number.Count(length, "entry"), number.Count(int(count), "layer")), "it needs one entry for each layer")
	return noted(noted(d, countAt, "the number of layers"), use, "each layer reads its entry here")
}

// UnknownKind reports a layer whose kind is not listed.
func UnknownKind(r diag.Range, kind string, layer int64, known []string, use diag.Range) *diag.Diagnostic {
	d := meant(unknownKind.At(r, "layer %d is of kind `%s`, and the spec has no such kind", layer, kind), kind, known)
	return noted(d, use, "the kinds of the spec")
}

// KindNotText reports a kind that is no word.
func KindNotText(r diag.Range, layer int64) *diag.Diagnostic {
	return unknownKind.At(r, "layer %d has no kind: the expression must yield a word", layer)
}

// UnknownValue reports a reference to a value that the component does not have.
func UnknownValue(r diag.Range, name, component string, known []string) *diag.Diagnostic {
	return misspelt(badReference.At(r, "component %s has no value `%s`", component, name), name, known)
}

// MissingDefaultValue reports an option whose default names a value that the
// component does not have.
func MissingDefaultValue(r diag.Range, block, option, value, component string) *diag.Diagnostic {
	return hinted(badReference.At(r, "the %s of %s is `%s` by default, and component %s has no such value", option, block, value, component),
		fmt.Sprintf("add the input, or write `%s: none`", option))
}

// ValueTooEarly reports a value that is named later, or in a branch not taken.
func ValueTooEarly(r diag.Range, name string) *diag.Diagnostic {
	return badReference.At(r, "`%s` has no value here: what names it comes later, or is not built for this config", name)
}

// UnknownWire reports an input that is fed by something that does not exist.
func UnknownWire(r diag.Range, from string, known []string) *diag.Diagnostic {
	return misspelt(badReference.At(r, "there is no output `%s`", from), from, known)
}

// DeadWire reports a wire from an output that is not built for this config.
func DeadWire(r diag.Range, from string) *diag.Diagnostic {
	return badReference.At(r, "the output `%s` is not built for this config, and an input reads it", from)
}

// WireCycle reports components that feed each other.
func WireCycle(r diag.Range, chain []string) *diag.Diagnostic {
	return badReference.At(r, "components feed each other: %s", strings.Join(chain, " → "))
}

// Unwired reports an input with the name of another component's output that
// does not say that it is fed by it.
func Unwired(r diag.Range, input, component, from string) *diag.Diagnostic {
	return hinted(unwired.At(r, "input `%s` of %s has the name of an output of another component, and nothing feeds it", input, component),
		fmt.Sprintf("write `from: %s`", from))
}

// DuplicateName reports two blocks that give one parameter its name.
func DuplicateName(r diag.Range, name string, first diag.Range) *diag.Diagnostic {
	return hinted(noted(duplicateName.At(r, "`%s` is the name of two blocks", name), first, "the first one"),
		"a shared parameter is named absolutely: /"+name)
}

// DuplicateValue reports two values of one name in a component.
func DuplicateValue(r diag.Range, name, component string, first diag.Range) *diag.Diagnostic {
	return noted(duplicateName.At(r, "component %s has a value `%s` already", component, name), first, "the first one")
}

// BadNumber reports a number that an option cannot take.
func BadNumber(r diag.Range, option, want, got string) *diag.Diagnostic {
	return valueRange.At(r, "%s must be %s, and is %s", option, want, got)
}

// BadWordValue reports an expression that yields a word that the option lacks.
func BadWordValue(r diag.Range, where, got string, words []string) *diag.Diagnostic {
	return meant(unknownWord.At(r, "%s cannot be %s", where, got), strings.Trim(got, "'"), words)
}

// AmbiguousWord reports a word of an option that names a config key as well.
func AmbiguousWord(r diag.Range, word string, key diag.Range) *diag.Diagnostic {
	d := hinted(noted(ambiguous.At(r, "`%s` is a word of this option and the name of a value of the spec", word), key, "the name"),
		"rename the value, or quote the word in an expression: '"+word+"'")
	d.Fix = &diag.Fix{Range: r, NewText: `"'` + word + `'"`, Title: "mean the word, not the value", Guess: true}
	return d
}

// SuspiciousDim reports a symbol that looks like a misspelt one.
func SuspiciousDim(r diag.Range, symbol, near string) *diag.Diagnostic {
	d := hinted(suspiciousDim.At(r, "the symbol `%s` stands in no other dim, and `%s` does", symbol, near), didYouMean(near))
	d = mended(d, r, near)
	d.Fix.Guess = true
	return d
}

// NoDType reports that the compute dtype is not known.
func NoDType(r diag.Range) *diag.Diagnostic {
	return hinted(missingKey.At(r, "the spec states no dtype"), "write `dtype: dtype`, or pass --dtype")
}

// UncomputableDType reports a dtype in which no package computes.
func UncomputableDType(r diag.Range, got string, words []string) *diag.Diagnostic {
	return valueRange.At(r, "the compute dtype must be one of %s, and is %s", strings.Join(words, ", "), got)
}

// UnlikelyShapes reports shapes that fit for no config that was made up; sizes
// are those of the last one.
func UnlikelyShapes(r diag.Range, message, sizes string) *diag.Diagnostic {
	d := unlikely.At(r, "the shapes fit for no config that was tried: %s", message)
	if sizes != "" {
		d.Hint = "there, " + sizes
	}
	return d
}

// IsUnlikelyShapes reports whether a kind is that of UnlikelyShapes.
func IsUnlikelyShapes(k *diag.Kind) bool { return k == unlikely }
