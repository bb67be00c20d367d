package lsp

import (
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"mobiusc/internal/diag"
)

// text is the text of a file, and maps between the two ways to name a place in
// it. The protocol counts lines and UTF-16 code units from 0, and a line ends at
// \n, \r\n or \r. Findings count lines and characters from 1, without a byte
// order mark; in YAML a line also ends at U+0085, U+2028 and U+2029.
type text struct {
	s     string
	lines []int // where the protocol's lines begin
	yaml  []int // where the lines of findings begin; nil: the same
}

// newText returns the text of a file of the given name.
func newText(path, s string) *text {
	t := &text{s: s, lines: lineStarts(s, false)}
	if ext := filepath.Ext(path); ext != ".json" && strings.ContainsAny(s, "\u0085\u2028\u2029") {
		t.yaml = lineStarts(s, true)
	}
	return t
}

func lineStarts(s string, yaml bool) []int {
	starts := []int{0}
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf && yaml {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		i += size
		switch {
		case r == '\r' && i < len(s) && s[i] == '\n':
		case r == '\n', r == '\r', yaml && (r == '\u0085' || r == '\u2028' || r == '\u2029'):
			starts = append(starts, i)
		}
	}
	return starts
}

// line returns the start and the end of a line, its line end not included.
func (t *text) line(starts []int, n int) (from, to int) {
	from = starts[n]
	if n+1 == len(starts) {
		return from, len(t.s)
	}
	to = starts[n+1]
	if strings.HasSuffix(t.s[from:to], "\r\n") {
		return from, to - 2
	}
	_, size := utf8.DecodeLastRuneInString(t.s[from:to])
	return from, to - size
}

// offset returns the byte that a position names. One beyond a line or beyond
// the text is its end; one inside a pair of code units is before the pair.
func (t *text) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(t.s)
	}
	from, to := t.line(t.lines, p.Line)
	units := 0
	for i, r := range t.s[from:to] {
		if units += max(utf16.RuneLen(r), 1); units > p.Character {
			return from + i
		}
	}
	return to
}

// position returns the position of a byte; inside a character or a line end it
// is where that begins.
func (t *text) position(offset int) position {
	n, from, to := t.holding(t.lines, offset)
	units := 0
	for i := from; i < to; {
		r, size := utf8.DecodeRuneInString(t.s[i:])
		if i += size; i > offset {
			break
		}
		units += max(utf16.RuneLen(r), 1)
	}
	return position{n, units}
}

// holding returns the line that holds a byte, from 0.
func (t *text) holding(starts []int, offset int) (n, from, to int) {
	n = max(sort.SearchInts(starts, offset+1)-1, 0)
	from, to = t.line(starts, n)
	return n, from, to
}

func (t *text) findingLines() []int {
	if t.yaml != nil {
		return t.yaml
	}
	return t.lines
}

const byteOrderMark = "\ufeff"

// pos returns the place of a byte as findings name it.
func (t *text) pos(offset int) diag.Pos {
	n, from, to := t.holding(t.findingLines(), offset)
	if n == 0 && strings.HasPrefix(t.s, byteOrderMark) {
		from = len(byteOrderMark)
	}
	col := 1
	for i := from; i < to; col++ {
		_, size := utf8.DecodeRuneInString(t.s[i:])
		if i += size; i > offset {
			break
		}
	}
	return diag.Pos{Line: n + 1, Col: col}
}

// offsetOf returns the byte at a place of a finding.
func (t *text) offsetOf(p diag.Pos) int {
	starts := t.findingLines()
	if p.Line < 1 {
		return 0
	}
	if p.Line > len(starts) {
		return len(t.s)
	}
	from, to := t.line(starts, p.Line-1)
	if p.Line == 1 && strings.HasPrefix(t.s, byteOrderMark) {
		from = len(byteOrderMark)
	}
	col := 1
	for i := range t.s[from:to] {
		if col == p.Col {
			return from + i
		}
		col++
	}
	return to
}

// span returns the range of a finding. One that names no place is the first line.
func (t *text) span(r diag.Range) span {
	if r.Start.Line == 0 {
		_, end := t.line(t.lines, 0)
		return span{position{}, t.position(end)}
	}
	from := t.offsetOf(r.Start)
	to := from
	if r.End.Line > 0 {
		to = max(from, t.offsetOf(r.End))
	}
	return span{t.position(from), t.position(to)}
}

// change returns the text with one stretch replaced.
func (t *text) change(path string, at span, with string) *text {
	from, to := t.offset(at.Start), t.offset(at.End)
	if from > to {
		from, to = to, from
	}
	return newText(path, t.s[:from]+with+t.s[to:])
}
