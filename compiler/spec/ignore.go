package spec

import (
	"bytes"
	"regexp"
	"slices"
	"unicode/utf8"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// ignores are the comments of a spec and its parents that silence findings:
//
//	unused: []  # mobiusc:ignore unused-block: relatives use it
//
// A comment behind text speaks of its line, one on a line of its own of the next
// line with text. Only findings of judgement can be silenced; a spec with one of
// the others has no meaning, whatever a comment says.
type ignores []*ignore

// ignore is one name in such a comment.
type ignore struct {
	name string
	at   diag.Range // the name
	line int        // that it speaks of; 0: none follows
	kind *diag.Kind // nil: nothing that can be silenced
	used bool
	// whole is the comment with the blanks before it, or its line; zero if it
	// holds other names.
	whole diag.Range
}

var (
	ignoreMark    = []byte("mobiusc:ignore")
	ignoreComment = regexp.MustCompile(`^#+\s*mobiusc:ignore(?:\s+([^:]*))?(?::.*)?$`)
	ignoreName    = regexp.MustCompile(`[^\s,]+`)
)

// readIgnores returns what the comments of a file silence.
func readIgnores(path string, text []byte) ignores {
	if !bytes.Contains(text, ignoreMark) {
		return nil
	}
	tokens, _ := tree.Tokens(text)
	var all ignores
	for i, t := range tokens {
		if t.Kind == tree.CommentToken {
			names := namesIn(t, path)
			for _, g := range names {
				g.line = spokenOf(tokens, i)
			}
			if len(names) == 1 {
				names[0].whole = wholeComment(tokens, i, path)
			}
			all = append(all, names...)
		}
	}
	return all
}

// wholeComment returns what is removed with comment i.
func wholeComment(tokens []tree.Token, i int, path string) diag.Range {
	t := tokens[i]
	if i > 0 && tokens[i-1].End.Line == t.Start.Line {
		return diag.Range{File: path, Start: tokens[i-1].End, End: t.End}
	}
	return diag.Range{File: path, Start: diag.Pos{Line: t.Start.Line, Col: 1}, End: diag.Pos{Line: t.Start.Line + 1, Col: 1}}
}

// spokenOf returns the line that comment i speaks of, or 0.
func spokenOf(tokens []tree.Token, i int) int {
	line := tokens[i].Start.Line
	if i > 0 && tokens[i-1].End.Line == line {
		return line
	}
	for _, t := range tokens[i:] {
		if t.Kind != tree.CommentToken {
			return t.Start.Line
		}
	}
	return 0
}

// namesIn returns what one comment silences. A comment that names nothing is an
// ignore without a name.
func namesIn(t tree.Token, path string) ignores {
	m := ignoreComment.FindStringSubmatchIndex(t.Text)
	if m == nil {
		return nil
	}
	comment := diag.Range{File: path, Start: t.Start, End: t.End}
	var names [][]int
	if m[2] >= 0 {
		names = ignoreName.FindAllStringIndex(t.Text[m[2]:m[3]], -1)
	}
	if len(names) == 0 {
		return ignores{{at: comment}}
	}
	var all ignores
	for _, n := range names {
		n[0], n[1] = n[0]+m[2], n[1]+m[2]
		at := comment
		at.Start.Col = comment.Start.Col + utf8.RuneCountInString(t.Text[:n[0]])
		at.End = diag.Pos{Line: at.Start.Line, Col: comment.Start.Col + utf8.RuneCountInString(t.Text[:n[1]])}
		g := &ignore{name: t.Text[n[0]:n[1]], at: at}
		if k := fault.All().Find(g.name); k != nil && k.Judgement {
			g.kind = k
		}
		all = append(all, g)
	}
	return all
}

// filter drops the findings that a comment silences.
func (all ignores) filter(found diag.List) diag.List {
	if len(all) == 0 {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool {
		silent := false
		for _, g := range all {
			if g.kind != nil && g.kind.Code == d.Code && g.at.File == d.Range.File && g.line == d.Range.Start.Line {
				g.used, silent = true, true
			}
		}
		return silent
	})
}

// Unsilenced returns the findings that no comment of the spec silences.
func (s *Spec) Unsilenced(found diag.List) diag.List { return s.ignores.filter(found) }

// idle reports the comments of a file that silence nothing. Where there are
// errors, only those that never could: what they speak of may not have been
// looked at.
func (all ignores) idle(file string, errors bool) (found diag.List) {
	for _, g := range all {
		switch {
		case g.at.File != file || g.used || fault.IsUnlikelyShapes(g.kind): // shapes are looked at later
		case g.kind == nil:
			found.Add(*fault.CannotIgnore(g.at, g.name))
		case !errors:
			d := fault.IdleIgnore(g.at, g.name)
			if g.whole.File != "" {
				d.Fix = &diag.Fix{Range: g.whole, Title: "remove the comment"}
			}
			found.Add(*d)
		}
	}
	return found
}
