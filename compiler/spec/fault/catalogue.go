// Package fault is the catalogue of what the front end finds wrong: every code
// with its name, and every message with its wording. One constructor makes one
// message, so that wording is reviewed, tested and translated in one place.
package fault

import "mobiusc/internal/diag"

var catalogue diag.Catalogue

// All returns the catalogue in the order of the codes.
func All() diag.Catalogue { return catalogue }

// silenceable returns the names of the kinds that a comment can silence.
func silenceable() (names []string) {
	for _, k := range catalogue {
		if k.Judgement {
			names = append(names, k.Name)
		}
	}
	return names
}

func kind(code, name string, severity diag.Severity, summary string) *diag.Kind {
	return catalogue.Add(code, name, severity, summary)
}

// judgement declares a kind that a comment in a spec can silence.
func judgement(code, name string, severity diag.Severity, summary string) *diag.Kind {
	k := kind(code, name, severity, summary)
	k.Judgement = true
	return k
}

// MB01: the text of a file.
var (
	malformedYAML  = kind("MB0101", "malformed-yaml", diag.Error, "the file is not YAML")
	malformedJSON  = kind("MB0102", "malformed-json", diag.Error, "the file is not JSON")
	emptyFile      = kind("MB0103", "empty-file", diag.Error, "the file holds no document")
	secondDocument = kind("MB0104", "second-document", diag.Error, "a spec is one YAML document")
	duplicateKey   = kind("MB0105", "duplicate-key", diag.Error, "a key stands twice in one mapping")
	badKey         = kind("MB0106", "key-not-text", diag.Error, "a key is not text")
	missingValue   = kind("MB0107", "missing-value", diag.Error, "nothing follows a key or a dash")
	ambiguousText  = kind("MB0108", "ambiguous-scalar", diag.Error, "YAML readers disagree about what was written")
	badAlias       = kind("MB0109", "bad-alias", diag.Error, "an alias or a merge key that cannot be followed")
	badEncoding    = kind("MB0110", "not-utf-8", diag.Error, "the file is not UTF-8 text")
	limit          = kind("MB0111", "limit-exceeded", diag.Error, "the file is larger or deeper than any spec")
	unreadable     = kind("MB0112", "unreadable-file", diag.Error, "a file cannot be read").AsRequest()
	unformatted    = kind("MB0113", "cannot-format", diag.Error, "the formatter cannot follow the layout of a file")
	idleIgnore     = kind("MB0114", "idle-ignore", diag.Warning, "a comment that silences findings silences none")
	wrongFile      = kind("MB0115", "wrong-file", diag.Error, "a file of another kind stands in the place of a spec or of a config.json")
)

// MB02: the structure of a spec.
var (
	unknownKey      = kind("MB0201", "unknown-key", diag.Error, "a key that the language does not have at this place")
	unknownBlock    = kind("MB0202", "unknown-block", diag.Error, "neither a block type nor a block of the spec")
	wrongType       = kind("MB0203", "wrong-type", diag.Error, "a value of another type is expected")
	unknownWord     = kind("MB0204", "unknown-word", diag.Error, "a word that is not among those allowed")
	missingKey      = kind("MB0205", "missing-key", diag.Error, "a required key is absent")
	extends         = kind("MB0206", "bad-extends", diag.Error, "the parent cannot be found, or the chain of parents is a cycle")
	nothingToChange = judgement("MB0207", "nothing-to-change", diag.Error, "a delete or a patch finds nothing to change")
	unknownVariant  = kind("MB0208", "unknown-variant", diag.Error, "the spec has no such variant").AsRequest()
	wrongName       = kind("MB0209", "wrong-name", diag.Error, "the name differs from the file's, or is reserved")
	abstractSpec    = kind("MB0210", "abstract-spec", diag.Error, "a spec that is only extended cannot be compiled").AsRequest()
	wrongCount      = kind("MB0211", "one-block-expected", diag.Error, "a block is a mapping with one key")
	blockCycle      = kind("MB0212", "block-cycle", diag.Error, "a block contains itself")
	unusedBlock     = judgement("MB0213", "unused-block", diag.Error, "a block, a named expression, a default or a function that nothing uses")
	wrongSteps      = kind("MB0214", "one-step-expected", diag.Error, "a transform of weights has no step, or several")
	badPattern      = kind("MB0215", "bad-pattern", diag.Error, "a pattern of names, or a name made of it, is malformed")
)

// MB03: expressions.
var (
	syntax       = kind("MB0301", "malformed-expression", diag.Error, "the expression cannot be read")
	unknownName  = kind("MB0302", "unknown-name", diag.Error, "a name that is neither a config key nor a named expression")
	typeMismatch = kind("MB0303", "type-mismatch", diag.Error, "a value of another type is needed here")
	badCall      = kind("MB0304", "bad-call", diag.Error, "an unknown function, or the wrong number of arguments")
	evaluation   = kind("MB0305", "evaluation-failed", diag.Error, "an expression has no value: index out of range, division by zero, none")
	absent       = kind("MB0306", "absent-section", diag.Error, "an optional section of the config is absent and is read")
	cycle        = kind("MB0307", "expression-cycle", diag.Error, "a named expression or a default depends on itself")
	badDim       = kind("MB0308", "bad-dim", diag.Error, "a dim or a tensor type that cannot be read")
	ambiguous    = kind("MB0309", "ambiguous-word", diag.Error, "a word of an option is also the name of a config key")
	badFunction  = kind("MB0310", "bad-function", diag.Error, "a function of the spec is not one in ONNX's textual syntax")
)

// MB04: config.json.
var (
	unread       = kind("MB0401", "unread-config-key", diag.Warning, "a key of config.json is neither read nor ignored with a reason")
	unused       = judgement("MB0402", "unused-config-key", diag.Error, "a config key is declared and used by nothing")
	missing      = kind("MB0403", "missing-config-key", diag.Error, "a required key of config.json is absent")
	badValue     = kind("MB0404", "bad-config-value", diag.Error, "a value of config.json has another type")
	notSupported = kind("MB0405", "unsupported-config-value", diag.Error, "the spec does not cover this value of config.json")
	disagree     = kind("MB0406", "aliases-disagree", diag.Error, "two names of one config key are present and differ")
	modelType    = kind("MB0407", "wrong-model-type", diag.Error, "the config is of another model type than the spec")
	pinMismatch  = kind("MB0408", "pin-mismatch", diag.Error, "a pinned file differs from what the spec pins")
	noConfig     = kind("MB0409", "no-config", diag.Error, "a config is needed and the spec pins none").AsRequest()
	shadowed     = kind("MB0410", "shadowed-config-key", diag.Note, "an outer object of config.json states a key differently")
	leftOut      = kind("MB0411", "part-left-out", diag.Warning, "config.json describes a part of the model that the package leaves out")
)

// MB05: the model.
var (
	check         = kind("MB0501", "failed-check", diag.Error, "a check of the spec fails for this config")
	schedule      = kind("MB0502", "bad-schedule", diag.Error, "the layer schedule does not fit the number of layers")
	unknownKind   = kind("MB0503", "unknown-layer-kind", diag.Error, "a layer has a kind that the spec does not list")
	badReference  = kind("MB0504", "unknown-reference", diag.Error, "a value, an output or a component that does not exist")
	duplicateName = kind("MB0505", "duplicate-name", diag.Error, "two blocks or values have one name")
	unwired       = judgement("MB0506", "unfed-input", diag.Error, "an input has the name of another component's output and is not fed by it")
	valueRange    = kind("MB0507", "value-out-of-range", diag.Error, "a number that the option cannot take")
	suspiciousDim = judgement("MB0509", "suspicious-dim", diag.Error, "a symbol of a dim that looks like another one misspelt")
	unlikely      = judgement("MB0510", "unlikely-shapes", diag.Warning, "the shapes of two tensors fit for no config that was tried")
)
