package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"mobiusc/compiler/spec"
	"mobiusc/compiler/spec/tree"
)

// Kinds of completion items.
const (
	itemFunction = 3
	itemVariable = 6
	itemClass    = 7
	itemModule   = 9
	itemProperty = 10
	itemEnum     = 20
	itemConstant = 21
)

type completionItem struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"`
	Detail        string   `json:"detail,omitempty"`
	Documentation *markup  `json:"documentation,omitempty"`
	SortText      string   `json:"sortText"`
	TextEdit      textEdit `json:"textEdit"`
}

func (s *server) completion(params json.RawMessage) (any, *rpcError) {
	v, bad := s.view(params)
	if v == nil {
		return nil, bad
	}
	at := v.text.offsetOf(v.pos)
	cursor := tree.CursorAt([]byte(v.text.s), v.pos)
	candidates, prefix := v.sources.Complete(cursor)
	_, end := word(v.text.s, at)
	replaced := span{v.text.position(at - len(prefix)), v.text.position(end)}
	items := []completionItem{}
	for i, c := range candidates {
		item := completionItem{
			Label: c.Text, Kind: itemKind(c), Detail: c.Detail, SortText: fmt.Sprintf("%04d", i), TextEdit: textEdit{replaced, c.Text},
		}
		if c.IsKey && !strings.HasPrefix(v.text.s[end:], ":") {
			item.TextEdit.NewText += ": "
		}
		if doc := v.documentation(c, cursor, prefix); doc != "" {
			m := markdown(doc)
			item.Documentation = &m
		}
		items = append(items, item)
	}
	return object{"isIncomplete": false, "items": items}, nil
}

// documentation describes a candidate: what the language says, or its value
// under the config.
func (v *view) documentation(c spec.Candidate, cursor tree.Cursor, prefix string) string {
	var lines []string
	if c.Info.Title != "" {
		lines = infoLines(c.Info)
	} else if c.Info.Doc != "" {
		lines = []string{c.Info.Doc}
	}
	if v.facts == nil {
		return strings.Join(lines, "\n\n")
	}
	name := c.Text
	if head, ok := strings.CutSuffix(lastPath(cursor.Token, prefix), "."); ok && head != "" {
		name = head + "." + name
	}
	switch c.Symbol {
	case spec.ConfigSymbol, spec.LetSymbol:
		if value, ok := v.facts.result.Eval(name); ok {
			lines = append(lines, v.under([]string{"`" + spec.Format(value) + "`"})...)
		}
	case spec.ValueSymbol:
		lines = append(lines, v.under(v.facts.value(name, v.facts.values))...)
	}
	return strings.Join(lines, "\n\n")
}

// lastPath returns what stands before the prefix in the dotted name that a token
// ends with: `vision.` of `2 * vision.de`.
func lastPath(token, prefix string) string {
	token = strings.TrimSuffix(token, prefix)
	i := len(token)
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(token[:i])
		if from, _ := word(token, i); r != '.' && from == i {
			break
		}
		i -= size
	}
	return token[i:]
}

func itemKind(c spec.Candidate) int {
	switch c.Kind {
	case spec.BlockCandidate:
		return itemClass
	case spec.WordCandidate:
		return itemEnum
	case spec.FunctionCandidate:
		return itemFunction
	case spec.KeyCandidate:
		return itemProperty
	}
	switch c.Symbol {
	case spec.BlockSymbol:
		return itemClass
	case spec.ConfigSymbol:
		return itemConstant
	case spec.ComponentSymbol, spec.OutputSymbol:
		return itemModule
	}
	return itemVariable
}
