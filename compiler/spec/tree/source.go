package tree

import (
	"unicode/utf8"

	"mobiusc/internal/diag"
)

// source is a text file cut into lines as YAML cuts them.
type source struct {
	file  string
	lines [][]rune // without line ends
}

func newSource(file string, text []byte) *source {
	s := &source{file: file}
	runes := []rune(string(text))
	start := 0
	for i := 0; i < len(runes); i++ {
		switch runes[i] {
		case '\r', '\n', '\u0085', '\u2028', '\u2029':
			s.lines = append(s.lines, runes[start:i:i])
			if runes[i] == '\r' && i+1 < len(runes) && runes[i+1] == '\n' {
				i++
			}
			start = i + 1
		}
	}
	s.lines = append(s.lines, runes[start:])
	return s
}

// line returns a line counted from 1, empty beyond the end.
func (s *source) line(n int) []rune {
	if n < 1 || n > len(s.lines) {
		return nil
	}
	return s.lines[n-1]
}

// lineRange returns the range of a line without its indentation.
func (s *source) lineRange(n int) diag.Range {
	n = max(1, min(n, len(s.lines)))
	line := s.line(n)
	first := 0
	for first < len(line) && (line[first] == ' ' || line[first] == '\t') {
		first++
	}
	last := len(line)
	for last > first && (line[last-1] == ' ' || line[last-1] == '\t') {
		last--
	}
	return s.span(diag.Pos{Line: n, Col: first + 1}, diag.Pos{Line: n, Col: max(last, first+1) + 1})
}

func (s *source) span(from, to diag.Pos) diag.Range {
	return diag.Range{File: s.file, Start: from, End: to}
}

// cursor walks over a source; at the end of a line it stands on a newline.
type cursor struct {
	s    *source
	line int
	col  int
}

func (s *source) at(p diag.Pos) cursor { return cursor{s, p.Line, p.Col} }

func (c cursor) pos() diag.Pos { return diag.Pos{Line: c.line, Col: c.col} }

// done reports whether nothing is left.
func (c cursor) done() bool {
	return c.line > len(c.s.lines) || c.line == len(c.s.lines) && c.col > len(c.s.line(c.line))
}

// peek returns the character under the cursor, '\n' at the end of a line.
func (c cursor) peek() rune {
	if line := c.s.line(c.line); c.col >= 1 && c.col <= len(line) {
		return line[c.col-1]
	}
	return '\n'
}

func (c *cursor) next() {
	if c.col > len(c.s.line(c.line)) {
		c.line, c.col = c.line+1, 1
		return
	}
	c.col++
}

// skipBlank passes over spaces, tabs and line ends.
func (c *cursor) skipBlank() {
	for !c.done() && isBlank(c.peek()) {
		c.next()
	}
}

// skipSpace passes over blanks and comments.
func (c *cursor) skipSpace() {
	for {
		c.skipBlank()
		if c.done() || c.peek() != '#' {
			return
		}
		c.line, c.col = c.line+1, 1
	}
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// invalidUTF8 returns the place of the first byte that is not UTF-8.
func invalidUTF8(text []byte) (diag.Pos, bool) {
	pos := diag.Pos{Line: 1, Col: 1}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			return pos, true
		}
		pos.Col++
		if r == '\n' {
			pos = diag.Pos{Line: pos.Line + 1, Col: 1}
		}
		text = text[size:]
	}
	return pos, false
}
