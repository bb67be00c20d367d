package lsp

import (
	"sort"
	"unicode/utf16"
	"unicode/utf8"

	"mobiusc/internal/diag"
)

// text is the text of a file, and maps between the two ways to name a place in
// it. The protocol counts lines and UTF-16 code units from 0, and a line ends at
// \n, \r\n or \r. How findings count, diag.Offsets knows.
type text struct {
	s        string
	lines    []int // where the protocol's lines begin
	findings *diag.Offsets
}

func newText(s string) *text {
	t := &text{s: s, lines: []int{0}}
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// line returns the start and the end of a line, its line end not included.
func (t *text) line(n int) (from, to int) {
	from = t.lines[n]
	if n+1 == len(t.lines) {
		return from, len(t.s)
	}
	to = t.lines[n+1] - 1
	if t.s[to] == '\n' && to > from && t.s[to-1] == '\r' {
		to--
	}
	return from, to
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
	from, to := t.line(p.Line)
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
	n := max(sort.SearchInts(t.lines, offset+1)-1, 0)
	from, to := t.line(n)
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

// offsets maps places of findings to bytes and back.
func (t *text) offsets() *diag.Offsets {
	if t.findings == nil {
		t.findings = diag.NewOffsets([]byte(t.s))
	}
	return t.findings
}

// pos returns the place of a byte as findings name it.
func (t *text) pos(offset int) diag.Pos { return t.offsets().Pos(offset) }

// offsetOf returns the byte at a place of a finding.
func (t *text) offsetOf(p diag.Pos) int { return t.offsets().Of(p) }

// span returns the range of a finding. One that names no place is the first line.
func (t *text) span(r diag.Range) span {
	if r.Start.Line == 0 {
		_, end := t.line(0)
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
func (t *text) change(at span, with string) *text {
	from, to := t.offset(at.Start), t.offset(at.End)
	if from > to {
		from, to = to, from
	}
	return newText(t.s[:from] + with + t.s[to:])
}
