package fault

import (
	"errors"
	"strings"
	"syscall"

	"mobiusc/internal/diag"
)

// noted adds another place to a finding.
func noted(d *diag.Diagnostic, r diag.Range, message string) *diag.Diagnostic {
	if r.File != "" {
		d.Notes = append(d.Notes, diag.Related{Range: r, Message: message})
	}
	return d
}

// DeletedAt adds where what a finding misses was deleted.
func DeletedAt(d *diag.Diagnostic, r diag.Range) { noted(d, r, "deleted here") }

// InheritedBy adds to a finding in a parent where the child names it.
func InheritedBy(d *diag.Diagnostic, r diag.Range) { noted(d, r, "inherited here") }

// hinted adds the likely fix.
func hinted(d *diag.Diagnostic, hint string) *diag.Diagnostic {
	d.Hint = hint
	return d
}

// MalformedYAML reports what the YAML library could not read.
func MalformedYAML(r diag.Range, what string) *diag.Diagnostic {
	said := map[string]string{
		"did not find expected key":                              "the indentation does not fit, or a colon is missing",
		"mapping values are not allowed in this context":         "a second colon: quote the text, or put the mapping on a line of its own",
		"could not find expected ':'":                            "a key without a colon",
		"did not find expected '-' indicator":                    "the indentation of a list does not fit",
		"did not find expected ',' or ']'":                       "a list in brackets is not closed, or a comma is missing",
		"did not find expected ',' or '}'":                       "a mapping in braces is not closed, or a comma is missing",
		"did not find expected node content":                     "a value is expected",
		"found unexpected end of stream":                         "a quote is not closed",
		"found character that cannot start any token":            "a character that must be quoted",
		"did not find expected <document start>":                 "text after the end of the document",
		"found unknown escape character":                         "an escape that YAML does not have",
		"found undefined tag handle":                             "a tag that is not declared: quote text that begins with !",
		"block sequence entries are not allowed in this context": "a list may not begin here: put it on a line of its own",
	}
	if ours, ok := said[what]; ok {
		what = ours
	}
	return malformedYAML.At(r, "this is not YAML: %s", what)
}

// Tab reports a tab in the indentation.
func Tab(r diag.Range) *diag.Diagnostic {
	d := hinted(malformedYAML.At(r, "a tab in the indentation"), "indent with spaces")
	d.Fix = &diag.Fix{Range: r, NewText: "  ", Title: "indent with two spaces", Guess: true}
	return d
}

// UnknownAnchor reports an alias to nothing.
func UnknownAnchor(r diag.Range, name string) *diag.Diagnostic {
	return badAlias.At(r, "no anchor &%s stands above", name)
}

// AliasCycle reports an alias inside the value that it names.
func AliasCycle(r diag.Range, name string) *diag.Diagnostic {
	return badAlias.At(r, "*%s stands inside the value that it names", name)
}

// BadMergeKey reports a merge key whose value is no mapping.
func BadMergeKey(r diag.Range) *diag.Diagnostic {
	return badAlias.At(r, "<< takes an alias of a mapping, or a list of them")
}

// MalformedJSON reports a syntax fault of a JSON file.
func MalformedJSON(r diag.Range, what string) *diag.Diagnostic {
	return malformedJSON.At(r, "this is not JSON: %s", what)
}

// EmptyFile reports a file without a document.
func EmptyFile(r diag.Range) *diag.Diagnostic { return emptyFile.At(r, "the file is empty") }

// SecondDocument reports a document after the first.
func SecondDocument(r diag.Range) *diag.Diagnostic {
	return hinted(secondDocument.At(r, "a second document begins here, and a spec is one"), "put it in a file of its own")
}

// DuplicateKey reports a key that stands twice.
func DuplicateKey(r diag.Range, key string, first diag.Range) *diag.Diagnostic {
	return noted(duplicateKey.At(r, "`%s` stands here a second time", key), first, "the first one")
}

// KeyNotText reports a list, a mapping or nothing as a key.
func KeyNotText(r diag.Range) *diag.Diagnostic { return badKey.At(r, "a key must be a word") }

// MissingValue reports a key that nothing follows.
func MissingValue(r diag.Range, key string) *diag.Diagnostic {
	return hinted(missingValue.At(r, "nothing follows `%s:`", key), "write null to delete what the parent states")
}

// MissingItem reports a dash that nothing follows.
func MissingItem(r diag.Range) *diag.Diagnostic {
	return missingValue.At(r, "nothing follows the dash")
}

// LeadingZero reports a number that YAML 1.1 reads as octal.
func LeadingZero(r diag.Range, text string) *diag.Diagnostic {
	return hinted(ambiguousText.At(r, "some readers take %s for an octal number", text), "drop the leading zero, or quote it")
}

// NumberTooLarge reports a number beyond 64 bits.
func NumberTooLarge(r diag.Range, text string) *diag.Diagnostic {
	return ambiguousText.At(r, "%s does not fit in 64 bits", text)
}

// Tag reports an explicit tag.
func Tag(r diag.Range, tag string) *diag.Diagnostic {
	return hinted(ambiguousText.At(r, "the tag %s is not part of the language", tag), "quote the value to make it text")
}

// NotUTF8 reports another encoding.
func NotUTF8(r diag.Range) *diag.Diagnostic {
	return hinted(badEncoding.At(r, "the file is not UTF-8"), "save it as UTF-8")
}

// TooLarge reports a file beyond a size.
func TooLarge(r diag.Range, bytes int) *diag.Diagnostic {
	return limit.At(r, "the file is larger than %d MB", bytes>>20)
}

// TooDeep reports a document beyond the limits of depth and size.
func TooDeep(r diag.Range, depth, nodes int) *diag.Diagnostic {
	return limit.At(r, "the document is nested deeper than %d levels, or its aliases expand to more than %d values", depth, nodes)
}

// BodiesTooDeep reports blocks that name one another beyond a depth.
func BodiesTooDeep(r diag.Range, depth int) *diag.Diagnostic {
	return hinted(limit.At(r, "more than %d blocks stand in one another", depth), "write the innermost out where they are used")
}

// TooManyBodies reports a component that is larger than any model when it is
// written out.
func TooManyBodies(r diag.Range, component string, most int) *diag.Diagnostic {
	return hinted(limit.At(r, "component %s has more than %d blocks when its layers and named blocks are written out", component, most),
		"look for blocks that name the next one twice, and for `layers` inside `layers`")
}

// IsLimit reports whether a finding is that a spec grows beyond a limit.
func IsLimit(d diag.Diagnostic) bool { return d.Code == limit.Code }

// UnreadableSpec reports a spec that cannot be read; known are the names that it
// may have meant.
func UnreadableSpec(path string, err error, known []string) *diag.Diagnostic {
	d := Unreadable(diag.Range{File: path}, path, err)
	if errors.Is(err, syscall.EISDIR) {
		return hinted(d, "name a spec: a file, or one that mobiusc carries (`mobiusc specs` lists them)")
	}
	return meant(d, path, known)
}

// ConfigForSpec reports a config.json in the place of a spec; answering are the
// carried specs for its model type.
func ConfigForSpec(r diag.Range, file, key string, answering []string) *diag.Diagnostic {
	d := wrongFile.At(r, "this looks like a config.json, and a spec is expected: it has `%s`, and no `spec`", key)
	if len(answering) > 0 {
		return hinted(d, "name the spec and give this file with --config: "+strings.Join(answering, " or ")+" --config "+file)
	}
	return hinted(d, "name a spec and give this file with --config; `mobiusc init "+file+"` drafts a spec for it")
}

// CheckpointForSpec says of an unreadable spec that it is the directory of a
// checkpoint; answering are the carried specs for its model type.
func CheckpointForSpec(d *diag.Diagnostic, dir string, answering []string) {
	d.Hint = "it holds a config.json: name a spec and give the directory with --weights or --config"
	if len(answering) > 0 {
		d.Hint = "it holds a config.json: name the spec and give the directory with --weights or --config: " + strings.Join(answering, " or ") + " --weights " + dir
	}
}

// NotSpec reports a file that has nothing of a spec.
func NotSpec(r diag.Range) *diag.Diagnostic {
	return hinted(wrongFile.At(r, "this is no spec: it has none of the sections of one"), "a spec begins with `spec: v1`")
}

// SpecForConfig reports a spec in the place of a config.json.
func SpecForConfig(r diag.Range) *diag.Diagnostic {
	return hinted(wrongFile.At(r, "this is a spec, and a config.json is expected"), "give the spec as the argument, and with --config the config.json of a model")
}

// Unreadable reports a file that the system does not let us read.
func Unreadable(r diag.Range, path string, err error) *diag.Diagnostic {
	return unreadable.At(r, "%s cannot be read: %v", path, err)
}

// CannotFormat reports a file whose layout the formatter cannot follow.
func CannotFormat(r diag.Range) *diag.Diagnostic {
	return unformatted.At(r, "the layout of this file cannot be changed without changing what it says")
}

// CannotIgnore reports a comment that would silence what no comment can.
func CannotIgnore(r diag.Range, name string) *diag.Diagnostic {
	if name == "" {
		return hinted(idleIgnore.At(r, "the comment does not say what to ignore"), "a comment can silence "+strings.Join(silenceable(), ", "))
	}
	if k := catalogue.Find(name); k != nil {
		return idleIgnore.At(r, "`%s` cannot be ignored: a spec with such a fault has no meaning", name)
	}
	return misspelt(idleIgnore.At(r, "there is no `%s` that a comment could silence", name), name, silenceable())
}

// IdleIgnore reports a comment that silences nothing.
func IdleIgnore(r diag.Range, name string) *diag.Diagnostic {
	return idleIgnore.At(r, "there is no `%s` here to ignore", name)
}
