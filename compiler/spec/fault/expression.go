package fault

import (
	"mobiusc/internal/diag"
	"mobiusc/internal/number"
)

// BadSyntax reports an expression that cannot be read.
func BadSyntax(r diag.Range, what string) *diag.Diagnostic { return syntax.At(r, "%s", what) }

// UnknownName reports a name that an expression may not use here.
func UnknownName(r diag.Range, name string, known []string) *diag.Diagnostic {
	return misspelt(unknownName.At(r, "`%s` is neither a config key nor a named expression", name), name, known)
}

// OutsideLayers reports layer or kind where there is none.
func OutsideLayers(r diag.Range, name string, use diag.Range) *diag.Diagnostic {
	d := unknownName.At(r, "`%s` has a value only inside layers", name)
	if name == "kind" {
		d = unknownName.At(r, "`kind` has a value only inside layers that state a kind")
	}
	return noted(d, use, "used here, outside")
}

// UnknownField reports a key that a section of the config does not declare.
func UnknownField(r diag.Range, section, name string, known []string) *diag.Diagnostic {
	return misspelt(unknownName.At(r, "%s has no `%s`", section, name), name, known)
}

// UnknownFunction reports a call of a function that the language lacks.
func UnknownFunction(r diag.Range, name string, known []string) *diag.Diagnostic {
	return misspelt(badCall.At(r, "there is no function `%s`", name), name, known)
}

// BadArguments reports a call with the wrong number of arguments.
func BadArguments(r diag.Range, name, want string, got int) *diag.Diagnostic {
	return badCall.At(r, "%s takes %s, not %d", name, want, got)
}

// TypeMismatch reports a value of one type where another is needed.
func TypeMismatch(r diag.Range, want, got string) *diag.Diagnostic {
	return typeMismatch.At(r, "%s is needed here, and this is %s", want, got)
}

// FloatForInt reports a fraction where a whole number is needed.
func FloatForInt(r diag.Range) *diag.Diagnostic {
	return hinted(typeMismatch.At(r, "a whole number is needed here, and this is a fraction"), "// divides whole numbers")
}

// NeverEqual reports a comparison of values of different types.
func NeverEqual(r diag.Range, a, b string) *diag.Diagnostic {
	return typeMismatch.At(r, "%s and %s are never equal", a, b)
}

// NoValue reports an operation on none.
func NoValue(r diag.Range, what string) *diag.Diagnostic {
	return evaluation.At(r, "%s needs a value, and this is none", what)
}

// IsEvaluation reports whether a finding is an expression without a value.
func IsEvaluation(d *diag.Diagnostic) bool { return d != nil && d.Code == evaluation.Code }

// DivisionByZero reports a division by zero.
func DivisionByZero(r diag.Range) *diag.Diagnostic { return evaluation.At(r, "division by zero") }

// Overflow reports a number beyond 64 bits, or one that is not a number.
func Overflow(r diag.Range) *diag.Diagnostic {
	return evaluation.At(r, "the result is not a number that fits in 64 bits")
}

// TooLong reports a text or list that an expression makes too long.
func TooLong(r diag.Range, limit int) *diag.Diagnostic {
	return evaluation.At(r, "the result is longer than %d, the most that a text or list may be", limit)
}

// IndexRange reports an index beyond the end of a list.
func IndexRange(r diag.Range, index int64, length int) *diag.Diagnostic {
	return evaluation.At(r, "index %d is outside the list, which has %s", index, number.Count(length, "entry"))
}

// NotInList reports index(list, v) without such an entry.
func NotInList(r diag.Range, value string) *diag.Diagnostic {
	return evaluation.At(r, "the list has no entry %s", value)
}

// MissingKeyOfMap reports m[key] without such a key.
func MissingKeyOfMap(r diag.Range, key string, known []string) *diag.Diagnostic {
	return meant(evaluation.At(r, "the config states nothing for `%s`", key), key, known)
}

// AbsentSection reports the use of a section that the config lacks.
func AbsentSection(r diag.Range, section string) *diag.Diagnostic {
	return absent.At(r, "%s is read here, and the config does not have it", section)
}

// IsAbsentSection reports whether a finding is of that kind.
func IsAbsentSection(d *diag.Diagnostic) bool { return d != nil && d.Code == absent.Code }

// Cycle reports a named expression or a default that depends on itself.
func Cycle(r diag.Range, name string) *diag.Diagnostic {
	return cycle.At(r, "`%s` depends on itself", name)
}

// BadDim reports a dim that is no number, symbol or sum of them.
func BadDim(r diag.Range, what string) *diag.Diagnostic { return badDim.At(r, "%s", what) }

// UnknownFunctionBody reports a block that calls a function which the spec does
// not define.
func UnknownFunctionBody(r diag.Range, name string, known []string) *diag.Diagnostic {
	d := misspelt(badReference.At(r, "the spec has no function `%s`", name), name, known)
	if len(known) == 0 {
		d.Hint = "write it under `functions`, in ONNX's textual syntax"
	}
	return d
}

// UnknownOperator reports a node of a function that is neither an operator nor a
// function.
func UnknownOperator(r diag.Range, name string, known []string) *diag.Diagnostic {
	return meant(badFunction.At(r, "`%s` is neither an operator of ONNX nor a function of the spec", name), name, known)
}

// BadFunction reports a function of the spec that cannot be used.
func BadFunction(r diag.Range, format string, args ...any) *diag.Diagnostic {
	return badFunction.At(r, format, args...)
}

// UnknownDomain reports the import of a domain that is not of ONNX.
func UnknownDomain(r diag.Range, domain string) *diag.Diagnostic {
	return hinted(badFunction.At(r, "ONNX has no domain %q", domain), "a function consists of operators of ONNX, and calls others of the spec without an import")
}

// NoStream reports a function that does not turn one stream into another.
func NoStream(r diag.Range, inputs, outputs int) *diag.Diagnostic {
	return badFunction.At(r, "the function has %s and %s: it takes the stream and whatever else, and gives the new stream",
		number.Count(inputs, "input"), number.Count(outputs, "output"))
}

// SecondFunction reports a text of two functions.
func SecondFunction(r diag.Range, name string, first diag.Range) *diag.Diagnostic {
	d := badFunction.At(r, "the text holds a second function, %s, and a key of section functions holds one", name)
	return noted(hinted(d, "write it under a key of its own"), first, "the first one")
}

// UnknownDType reports a tensor type of a dtype that does not exist.
func UnknownDType(r diag.Range, word string, known []string) *diag.Diagnostic {
	d := misspelt(badDim.At(r, "there is no dtype `%s`", word), word, known)
	if d.Fix == nil {
		d.Hint = ""
	}
	return d
}
