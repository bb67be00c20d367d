package lsp

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

type actionParams struct {
	documentParams
	Range   span `json:"range"`
	Context struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type codeAction struct {
	Title       string       `json:"title"`
	Kind        string       `json:"kind"`
	Diagnostics []diagnostic `json:"diagnostics,omitempty"`
	IsPreferred bool         `json:"isPreferred,omitempty"`
	Edit        object       `json:"edit"`
}

// Kinds of code actions.
const (
	quickFix = "quickfix"
	fixAll   = "source.fixAll.mobiusc"
)

// codeActions offers, for the findings in a range, what mends them and a comment
// that silences them, and one action for all that is certain.
func (s *server) codeActions(params json.RawMessage) (any, *rpcError) {
	p, d, bad := openDocument[actionParams](s, params)
	if bad != nil {
		return nil, bad
	}
	actions := []codeAction{}
	c := d.last
	if c == nil || c.open[d.path] != d.text {
		return actions, nil // the findings are of another text
	}
	wanted := func(kind string) bool {
		return len(p.Context.Only) == 0 || slices.ContainsFunc(p.Context.Only, func(only string) bool {
			return only == kind || strings.HasPrefix(kind, only+".")
		})
	}
	for _, f := range c.found.Sorted() {
		shown := c.diagnostic(s, f)
		if !wanted(quickFix) || !overlap(shown.Range, p.Range) {
			continue
		}
		if f.Fix != nil {
			actions = append(actions, d.fix(s, f.Fix, shown)...)
		}
		if at, comment, ok := d.silence(f); ok {
			actions = append(actions, codeAction{
				Title: "ignore " + f.Name + " here", Kind: quickFix, Diagnostics: []diagnostic{shown}, Edit: s.edit(at, comment),
			})
		}
	}
	if wanted(fixAll) {
		if edit, ok := d.fixAll(c.found); ok {
			actions = append(actions, codeAction{Title: "mend all that is certain", Kind: fixAll, Edit: object{"changes": map[string][]textEdit{d.uri: {edit}}}})
		}
	}
	return actions, nil
}

func overlap(a, b span) bool { return !less(a.End, b.Start) && !less(b.End, a.Start) }

func less(a, b position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Character < b.Character
}

// edit is one change of one file.
func (s *server) edit(at diag.Range, text string) object {
	e := edits{}
	e.add(at, text)
	return object{"changes": e.protocol(s)}
}

// fix offers what mends a finding, unless that is a change of a file that cannot
// be changed.
func (d *document) fix(s *server, f *diag.Fix, shown diagnostic) []codeAction {
	if file := clean(f.Range.File); file != d.path && !path.IsAbs(file) {
		return nil
	}
	return []codeAction{{
		Title: f.Title, Kind: quickFix, Diagnostics: []diagnostic{shown}, IsPreferred: !f.Guess, Edit: s.edit(f.Range, f.NewText),
	}}
}

// silence returns the comment that silences a finding: behind its line, beside
// the names that are silenced there already, or on a line above. ok is false
// where a comment cannot silence it.
func (d *document) silence(f diag.Diagnostic) (at diag.Range, comment string, ok bool) {
	kind := fault.All().Find(f.Name)
	if kind == nil || !kind.Judgement || clean(f.Range.File) != d.path || f.Range.Start.Line == 0 {
		return at, "", false
	}
	n := f.Range.Start.Line
	line := strings.TrimRight(d.text.offsets().Line(n), " \t")
	const mark = "mobiusc:ignore "
	behind := diag.Pos{Line: n, Col: len([]rune(line)) + 1}
	tries := []struct {
		at   diag.Pos
		text string
	}{
		{behind, "  # " + mark + f.Name},
		{diag.Pos{Line: n, Col: 1}, line[:len(line)-len(strings.TrimLeft(line, " "))] + "# " + mark + f.Name + "\n"},
	}
	if i := strings.Index(line, mark); i >= 0 {
		tries[0].at.Col, tries[0].text = len([]rune(line[:i+len(mark)]))+1, f.Name+", "
	} else if strings.Contains(line, " #") {
		tries = tries[1:] // a comment stands there already
	}
	before, _ := tree.ParseYAML(d.path, []byte(d.text.s))
	for _, try := range tries { // not inside of a text, where it would be no comment
		at = diag.Range{File: f.Range.File, Start: try.at, End: try.at}
		after, found := tree.ParseYAML(d.path, []byte(d.text.change(d.text.span(at), try.text).s))
		if len(found) == 0 && before != nil && tree.Equal(before, after) {
			return at, try.text, true
		}
	}
	return at, "", false
}

// fixAll returns the change that makes all certain fixes of the document.
func (d *document) fixAll(found diag.List) (textEdit, bool) {
	var fixes []diag.Fix
	for _, f := range found {
		if f.Fix != nil && !f.Fix.Guess && clean(f.Fix.Range.File) == d.path {
			fixes = append(fixes, *f.Fix)
		}
	}
	after, made := diag.Apply([]byte(d.text.s), fixes)
	return d.text.difference(string(after)), made > 0
}

// formatting lays a document out. One with faults in its text is left alone.
func (s *server) formatting(params json.RawMessage) (any, *rpcError) {
	_, d, bad := openDocument[documentParams](s, params)
	if bad != nil {
		return nil, bad
	}
	if !d.isSpec() {
		return nil, nil
	}
	after, found := tree.Format(d.path, []byte(d.text.s))
	if len(found) > 0 {
		return nil, failed(codeRequestFailed, "the file is not formatted: %s", found[0].Message)
	}
	if string(after) == d.text.s {
		return []textEdit{}, nil
	}
	return []textEdit{d.text.difference(string(after))}, nil
}

// difference returns one change that makes another text of this one, over the
// lines that differ.
func (t *text) difference(after string) textEdit {
	from := 0
	for from < len(t.s) && from < len(after) && t.s[from] == after[from] {
		from++
	}
	from = strings.LastIndexByte(t.s[:from], '\n') + 1
	a, b := t.s[from:], after[from:]
	same := 0
	for same < len(a) && same < len(b) && a[len(a)-1-same] == b[len(b)-1-same] {
		same++
	}
	if i := strings.IndexByte(a[len(a)-same:], '\n'); i >= 0 {
		same -= i + 1
	} else {
		same = 0
	}
	return textEdit{span{t.position(from), t.position(len(t.s) - same)}, b[:len(b)-same]}
}
