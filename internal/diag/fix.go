package diag

import (
	"cmp"
	"slices"
	"strings"
)

// Apply makes the changes in a text and returns the result and how many of them
// were made: of changes that overlap the first wins, and one made twice counts
// once. Ranges must be of the text.
func Apply(text []byte, fixes []Fix) ([]byte, int) {
	offsets := NewOffsets(text)
	fixes = slices.Clone(fixes)
	slices.SortStableFunc(fixes, func(a, b Fix) int {
		return cmp.Or(comparePos(a.Range.Start, b.Range.Start), comparePos(a.Range.End, b.Range.End))
	})
	var out strings.Builder
	at, made := 0, 0
	for i, f := range fixes {
		from, to := offsets.Of(f.Range.Start), offsets.Of(f.Range.End)
		if from < at || to < from || i > 0 && f.Range == fixes[i-1].Range {
			continue
		}
		out.Write(text[at:from])
		out.WriteString(f.NewText)
		at = to
		made++
	}
	out.Write(text[at:])
	return []byte(out.String()), made
}

func comparePos(a, b Pos) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}

// Offsets finds places in a text, which lines and columns name, as byte offsets.
type Offsets struct {
	text  []byte
	lines []int // where each line begins
}

// NewOffsets reads a text. A line ends with LF, CR LF, CR, or one of the breaks
// of Unicode, as YAML has it; a byte order mark is no column.
func NewOffsets(text []byte) *Offsets {
	o := &Offsets{text: text, lines: []int{0}}
	rest := string(text)
	if after, ok := strings.CutPrefix(rest, bom); ok {
		rest, o.lines[0] = after, len(bom)
	}
	at := o.lines[0]
	for i, r := range rest {
		switch r {
		case '\r':
			if strings.HasPrefix(rest[i+1:], "\n") {
				continue
			}
			o.lines = append(o.lines, at+i+1)
		case '\n', '\u0085', '\u2028', '\u2029':
			o.lines = append(o.lines, at+i+len(string(r)))
		}
	}
	return o
}

const bom = "\ufeff"

// Lines returns how many lines there are.
func (o *Offsets) Lines() int { return len(o.lines) }

// Line returns a line, counted from 1, without its end; "" beyond the last.
func (o *Offsets) Line(n int) string {
	if n < 1 || n > len(o.lines) {
		return ""
	}
	end := len(o.text)
	if n < len(o.lines) {
		end = o.lines[n]
	}
	return strings.TrimRight(string(o.text[o.lines[n-1]:end]), "\r\n\u0085\u2028\u2029")
}

// Of returns the offset of a place: that of the end of the line where the column
// is beyond it, and that of the end of the text where the line is.
func (o *Offsets) Of(p Pos) int {
	if p.Line < 1 {
		return 0
	}
	if p.Line > len(o.lines) {
		return len(o.text)
	}
	at := o.lines[p.Line-1]
	line := o.Line(p.Line)
	for i := range line {
		if p.Col--; p.Col < 1 {
			return at + i
		}
	}
	return at + len(line)
}
