package fault

import (
	"strconv"
	"strings"

	"mobiusc/internal/diag"
	"mobiusc/internal/suggest"
)

// UnreadKey reports a key of config.json that is neither read nor ignored: a
// warning, or a note where its value says nothing.
func UnreadKey(r diag.Range, path string, empty bool, known []string) *diag.Diagnostic {
	d := unread.At(r, "the spec neither reads %s nor ignores it with a reason", path)
	if empty {
		d.Severity = diag.Note
	}
	last := path[strings.LastIndexByte(path, '.')+1:]
	if d = meant(d, last, known); !strings.HasPrefix(d.Hint, "did you mean") {
		d.Hint = ""
	}
	return d
}

// UnusedKey reports a declared config key that nothing uses; known are the keys
// that the spec inherits beside it.
func UnusedKey(r diag.Range, path string, known []string) *diag.Diagnostic {
	d := hinted(unused.At(r, "config key `%s` is declared, and nothing uses it", path),
		"use it, limit it with `values`, or list it under `ignore` with a reason")
	return perhaps(d, path[strings.LastIndexByte(path, '.')+1:], known)
}

// InheritedUnusedKey reports a config key that a parent declares and uses, and
// that nothing of the child uses.
func InheritedUnusedKey(r diag.Range, path string, declared diag.Range) *diag.Diagnostic {
	return hinted(noted(unused.At(r, "config key `%s` is inherited, and nothing uses it any more", path), declared, "declared here"),
		"use it, limit it with `values`, or delete it with null and list it under `ignore` with a reason")
}

// MissingConfigKey reports a required key that config.json lacks; unread are the
// keys at its place that the spec does not declare.
func MissingConfigKey(r diag.Range, path string, unread []string, declared diag.Range) *diag.Diagnostic {
	d := missing.At(r, "the config has no `%s`", path)
	if near := suggest.Nearest(path[strings.LastIndexByte(path, '.')+1:], unread); near != "" {
		d.Hint = "it has `" + near + "`, which the spec does not read: one of the two may be misspelt"
	}
	return noted(d, declared, "required here")
}

// BadConfigValue reports a value of config.json of another type.
func BadConfigValue(r diag.Range, path, want, got string) *diag.Diagnostic {
	d := badValue.At(r, "%s must be %s, not %s", path, want, got)
	if _, err := strconv.ParseFloat(strings.Trim(got, `"`), 64); err == nil && strings.HasPrefix(got, `"`) && strings.Contains(want, "number") {
		return hinted(d, "write it without quotes")
	}
	return d
}

// BadConfigWord reports a word of config.json that is none of the known ones.
func BadConfigWord(r diag.Range, path, want, got string, known []string) *diag.Diagnostic {
	d := BadConfigValue(r, path, want, strconv.Quote(got))
	if near := suggest.Nearest(got, known); near != "" {
		d.Hint = "did you mean `" + near + "`?"
	}
	return d
}

// NotCovered reports a value that the spec does not list.
func NotCovered(r diag.Range, path, got string, values []string, declared diag.Range) *diag.Diagnostic {
	return noted(notSupported.At(r, "%s is %s, and the spec covers %s", path, got, strings.Join(values, ", ")), declared, "stated here")
}

// DefaultNotCovered reports a default that is not among the values of its key;
// other is where the other of the two is stated.
func DefaultNotCovered(r diag.Range, what, got string, values []string, other diag.Range) *diag.Diagnostic {
	return hinted(NotCovered(r, what, got, values, other), "state a default that it covers, or delete the default with null")
}

// Refused reports a key that the spec refuses, with the spec's reason.
func Refused(r diag.Range, path, why string) *diag.Diagnostic {
	return notSupported.At(r, "%s is not supported: %s", path, why)
}

// LeftOut warns of a key that describes a part of the model which the package does
// not have, with the spec's reason.
func LeftOut(r diag.Range, path, why string) *diag.Diagnostic {
	d := leftOut.At(r, "%s describes a part of the model that the package leaves out: %s", path, why)
	d.Hint = "if the rest alone is meant, a copy of the config without this key says so"
	return d
}

// AliasesDisagree reports two names of one key with different values.
func AliasesDisagree(r diag.Range, path, got, other, otherGot string, otherAt diag.Range) *diag.Diagnostic {
	return noted(disagree.At(r, "%s is %s, and %s, which means the same, is %s", path, got, other, otherGot), otherAt, "the other one")
}

// Shadowed notes a key of an outer object that differs from the one that is read.
func Shadowed(r diag.Range, path, used string, usedAt diag.Range) *diag.Diagnostic {
	return noted(shadowed.At(r, "%s differs from %s, which is the one that is read", path, used), usedAt, "this one is read")
}

// UnknownRopeType reports a scaling of rotary embeddings that is not known.
func UnknownRopeType(r diag.Range, path, got string, known []string) *diag.Diagnostic {
	return meant(badValue.At(r, "%s is `%s`, which is no known scaling", path, got), got, known)
}

// RopeNeeds reports a scaling that lacks a number.
func RopeNeeds(r diag.Range, path, scaling, key string) *diag.Diagnostic {
	return missing.At(r, "%s of type %s needs `%s`", path, scaling, key)
}

// WrongModelType reports a config of another model type; others are the specs that
// answer to it.
func WrongModelType(r diag.Range, got, spec string, accepted, others []string) *diag.Diagnostic {
	d := modelType.At(r, "the config is of model type `%s`, and %s answers to %s", got, spec, strings.Join(accepted, ", "))
	if got == "" {
		d = modelType.At(r, "the config states no model type, and %s answers to %s", spec, strings.Join(accepted, ", "))
	}
	if len(others) > 0 {
		return hinted(d, "compile it with "+strings.Join(others, " or ")+", which answers to it")
	}
	if near := suggest.Nearest(got, accepted); near != "" {
		d.Hint = "did you mean `" + near + "`?"
	}
	return d
}

// PinMismatch reports a file whose hash differs from the pinned one.
func PinMismatch(r diag.Range, file, want, got string) *diag.Diagnostic {
	return pinMismatch.At(r, "%s has sha256 %s, and %s is pinned", file, got, want)
}

// NoConfig reports that a config is needed.
func NoConfig(r diag.Range, spec string) *diag.Diagnostic {
	return hinted(noConfig.At(r, "%s pins no model", spec), "name a config.json with --config")
}
