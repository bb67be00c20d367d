package fault

import (
	"path"
	"strings"

	"mobiusc/internal/diag"
)

// UnknownKey reports a key that its place does not have.
func UnknownKey(r diag.Range, where, key string, known []string) *diag.Diagnostic {
	return misspelt(unknownKey.At(r, "%s has no key `%s`", where, key), key, known)
}

// UnknownBlock reports a block type that does not exist.
func UnknownBlock(r diag.Range, key string, known []string) *diag.Diagnostic {
	return misspelt(unknownBlock.At(r, "there is no block type `%s`", key), key, known)
}

// LooseBranch reports a then or an else that belongs to no if.
func LooseBranch(r diag.Range, key string) *diag.Diagnostic {
	return unknownBlock.At(r, "`%s` stands without an `if` beside it", key)
}

// UnknownBody reports a word that is no block of the spec.
func UnknownBody(r diag.Range, name string, known []string) *diag.Diagnostic {
	return misspelt(unknownBlock.At(r, "section blocks has no `%s`", name), name, known)
}

// EmptyBlock reports an empty mapping where a block is expected.
func EmptyBlock(r diag.Range) *diag.Diagnostic {
	return hinted(wrongCount.At(r, "a block is a mapping with one key, its type"), "write [] for a body that does nothing")
}

// SecondBlock reports a second key in the mapping of a block.
func SecondBlock(r diag.Range, key string) *diag.Diagnostic {
	return hinted(wrongCount.At(r, "a block is a mapping with one key, and `%s` is a second one", key),
		"an option stands deeper than its block; blocks in sequence are a list")
}

// NoStep reports a transform that does nothing.
func NoStep(r diag.Range, steps []string) *diag.Diagnostic {
	return wrongSteps.At(r, "a transform needs a step: one of %s", strings.Join(steps, ", "))
}

// SecondStep reports a second step in one transform.
func SecondStep(r diag.Range, step string) *diag.Diagnostic {
	return hinted(wrongSteps.At(r, "a transform has one step, and `%s` is a second one", step),
		"write a rule for each: they are applied in the order written")
}

// BadPattern reports a pattern of names that cannot be read.
func BadPattern(r diag.Range, err error) *diag.Diagnostic {
	return badPattern.At(r, "%v", err)
}

// WrongType reports a value of the wrong form.
func WrongType(r diag.Range, want, got string) *diag.Diagnostic {
	return wrongType.At(r, "%s is expected here, not %s", want, got)
}

// UnknownWord reports a word that is not among those allowed.
func UnknownWord(r diag.Range, where, word string, known []string) *diag.Diagnostic {
	return misspelt(unknownWord.At(r, "%s cannot be `%s`", where, word), word, known)
}

// MissingKey reports a required key that is absent.
func MissingKey(r diag.Range, where, key string) *diag.Diagnostic {
	return missingKey.At(r, "%s needs `%s`", where, key)
}

// MissingType reports a config key without a type; known are those that have one.
func MissingType(r diag.Range, name string, known []string) *diag.Diagnostic {
	return perhaps(MissingKey(r, "config key "+name, "type"), name, known)
}

// SameMistake reports whether two findings about structure are about one mistake
// that is reached in two ways, through an alias.
func SameMistake(a, b diag.Diagnostic) bool {
	return a.Range == b.Range && a.Code == b.Code && a.Code != missingKey.Code // of which one place may lack several
}

// MissingOption reports a required option that neither the block nor its
// defaults state.
func MissingOption(r diag.Range, block, option, doc string) *diag.Diagnostic {
	return hinted(missingKey.At(r, "%s needs `%s`: %s", block, option, doc), "write it here or under defaults")
}

// NoneOption reports a required option whose expression yields none.
func NoneOption(r diag.Range, block, option string) *diag.Diagnostic {
	return missingKey.At(r, "%s needs `%s`, and this is none", block, option)
}

// UnknownParent reports a parent that is neither beside the spec nor carried.
func UnknownParent(r diag.Range, name string, known []string) *diag.Diagnostic {
	return misspelt(extends.At(r, "no spec `%s` stands beside this one or is carried by the program", name), name, known)
}

// ExtendsCycle reports a chain of parents that comes back to itself.
func ExtendsCycle(r diag.Range, chain []string) *diag.Diagnostic {
	return extends.At(r, "a spec extends itself: %s", strings.Join(chain, " → "))
}

// BadParentName reports a path where a name is expected.
func BadParentName(r diag.Range, name string) *diag.Diagnostic {
	d := hinted(extends.At(r, "a parent is named, and `%s` is no name", name), "write the name of the spec, without path and .yaml")
	if base := strings.TrimSuffix(path.Base(name), ".yaml"); name != "" && !strings.ContainsAny(base, `/\.`) {
		return mended(d, r, base)
	}
	return d
}

// NothingToDelete reports a null for a key that is not there.
func NothingToDelete(r diag.Range, key string, known []string) *diag.Diagnostic {
	return misspelt(nothingToChange.At(r, "null deletes `%s`, and there is none", key), key, known)
}

// NothingChanged reports a patch that changes nothing.
func NothingChanged(r diag.Range, what string) *diag.Diagnostic {
	return nothingToChange.At(r, "%s changes nothing", what)
}

// UnknownVariant reports a variant that the spec does not have.
func UnknownVariant(r diag.Range, name string, known []string) *diag.Diagnostic {
	d := meant(unknownVariant.At(r, "the spec has no variant `%s`", name), name, known)
	if len(known) == 0 {
		d.Hint = "it has none"
	}
	return d
}

// WrongName reports a name that differs from the file's.
func WrongName(r diag.Range, name, file string) *diag.Diagnostic {
	return mended(wrongName.At(r, "the spec is named `%s`, and its file %s", name, file), r, quoted(strings.TrimSuffix(file, path.Ext(file))))
}

// ReservedName reports a config key or a named expression with a reserved name.
func ReservedName(r diag.Range, name string) *diag.Diagnostic {
	return wrongName.At(r, "`%s` has a meaning of its own in expressions: choose another name, and state the key's own under `from`", name)
}

// NotAName reports a name that expressions could not mention.
func NotAName(r diag.Range, name string) *diag.Diagnostic {
	return hinted(wrongName.At(r, "`%s` cannot be a name in expressions", name), "choose a name of letters, digits and _, and state the key's own under `from`")
}

// NameTaken reports a named expression with the name of a config key.
func NameTaken(r diag.Range, name string, first diag.Range) *diag.Diagnostic {
	return noted(wrongName.At(r, "`%s` is a config key too", name), first, "the config key")
}

// Abstract reports an attempt to compile a spec that is only extended.
func Abstract(r diag.Range, name string) *diag.Diagnostic {
	return abstractSpec.At(r, "%s is only extended: it describes no model by itself", name)
}

// BlockCycle reports a named body that contains itself.
func BlockCycle(r diag.Range, chain []string) *diag.Diagnostic {
	return blockCycle.At(r, "a block contains itself: %s", strings.Join(chain, " → "))
}

// NoComponent reports a spec whose section components is empty.
func NoComponent(r diag.Range) *diag.Diagnostic {
	return hinted(missingKey.At(r, "a spec needs a component"), "a component is one graph: its inputs, body and outputs")
}

// Unused reports what a spec states and nothing uses; known are names that the
// spec inherits.
func Unused(r diag.Range, what, name string, known []string) *diag.Diagnostic {
	return perhaps(unusedBlock.At(r, "%s `%s` is used by nothing", what, name), name, known)
}

// GoesWith adds to a finding that something is unused what only that uses.
func GoesWith(d *diag.Diagnostic, r diag.Range) {
	noted(d, r, "used by that alone")
}
