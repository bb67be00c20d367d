package diag

import (
	"sort"
	"unicode/utf8"
)

// Pos returns the place of a byte: of one in a line end or in a character, where
// that begins. It is the inverse of Of.
func (o *Offsets) Pos(at int) Pos {
	n := max(sort.SearchInts(o.lines, at+1), 1)
	line, col := o.Line(n), 1
	for i := o.lines[n-1]; line != ""; col++ {
		_, size := utf8.DecodeRuneInString(line)
		if i, line = i+size, line[size:]; i > at {
			break
		}
	}
	return Pos{Line: n, Col: col}
}
