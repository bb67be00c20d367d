package spec

import (
	"fmt"
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// CheckNewName says why a symbol cannot be named so, or "". all are the
// occurrences in every file that the change would touch.
func CheckNewName(all []Occurrence, s Symbol, name string) string {
	inExpressions := s.Kind == ConfigSymbol || s.Kind == LetSymbol || s.Kind == DimSymbol
	switch {
	case s.Kind == SpecSymbol:
		return "a spec has the name of its file"
	case s.Kind == LayerKindSymbol:
		return "the kinds of layers are words of the config, or of an expression"
	case inExpressions && expr.Reserved(name), name == "none", name == "true", name == "false", name == "null", s.Kind == ValueSymbol && name == "result":
		return fmt.Sprintf("`%s` has a meaning of its own", name)
	case s.Kind == ConfigSymbol && slices.Contains(notKeys, name):
		return fmt.Sprintf("`%s` is a key of the language there", name)
	case !expr.IsName(name):
		return fmt.Sprintf("`%s` is not a name: letters, digits and _", name)
	}
	full := name
	if i := strings.LastIndexByte(s.Name, '.'); i >= 0 {
		full = s.Name[:i+1] + name
	}
	for _, n := range all {
		taken := n.Kind == s.Kind && n.Name == full
		if inExpressions { // they are named in the same places
			taken = n.Name == full && (n.Kind == ConfigSymbol || n.Kind == LetSymbol || n.Kind == DimSymbol)
		}
		if taken {
			return fmt.Sprintf("there is a %s `%s` already, at %s", n.Kind, name, n.Range)
		}
	}
	return ""
}

// Sourced returns what has to be written so that a config key that gets another
// name is still read from its old one: the text for a stretch of a file. ok is
// false where nothing has to be, and where it cannot be said.
func (s *Sources) Sourced(key Symbol) (at diag.Range, text string, ok bool) {
	info := s.Key(key.Name)
	field := "from"
	if info.Section {
		field = "at"
	}
	old := key.Name[strings.LastIndexByte(key.Name, '.')+1:]
	var first *Occurrence
	for _, n := range s.Occurrences() {
		if n.Symbol != key || !n.Defines {
			continue
		}
		if n.value.Get(field) != nil {
			return at, "", false
		}
		if first == nil && n.value.Kind != tree.Null {
			first = &n
		}
	}
	if first == nil || comparePos(first.value.Range.Start, first.Range.End) < 0 || first.value.Range.File != first.Range.File {
		return at, "", false
	}
	v := first.value
	at = diag.Range{File: v.Range.File, Start: v.Range.Start, End: v.Range.Start}
	line := tree.Lines(s.file(v.Range.File).Text)[v.Range.Start.Line-1]
	flow := strings.HasPrefix(string([]rune(line)[v.Range.Start.Col-1:]), "{")
	switch {
	case v.Kind != tree.Map:
		return v.Range, fmt.Sprintf("{type: %s, from: %s}", scalar(v.Text, true), old), true
	case flow:
		at.Start.Col++
		at.End.Col++
		if text = field + ": " + old; len(v.Entries) > 0 {
			text += ", "
		}
		return at, text, true
	}
	return at, field + ": " + old + "\n" + strings.Repeat(" ", v.Range.Start.Col-1), true
}

func (s *Sources) file(path string) *Outline {
	return s.Files[slices.IndexFunc(s.Files, func(o *Outline) bool { return o.Path == path })]
}
