package diag

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// Printer writes findings for a person: place, severity, message and name, the
// source line with a caret, the hint, and the other places that contributed.
type Printer struct {
	W     io.Writer
	Color bool
	// Source returns the text of a file; nil reads it from disk. A file that
	// cannot be read is shown without its line.
	Source func(file string) ([]byte, error)

	lines map[string]*Offsets
}

// ANSI codes for the severities, in their order, and for emphasis.
var (
	severityColor = [...]string{Error: "\x1b[1;31m", Warning: "\x1b[1;33m", Note: "\x1b[1;36m"}
	bold, reset   = "\x1b[1m", "\x1b[0m"
)

func (p *Printer) paint(code, text string) string {
	if !p.Color {
		return text
	}
	return code + text + reset
}

// Print writes the findings, sorted, and returns the first error of the writer.
func (p *Printer) Print(l List) error {
	for _, d := range l.Sorted() {
		if err := p.one(d); err != nil {
			return err
		}
	}
	return nil
}

func (p *Printer) one(d Diagnostic) error {
	var s strings.Builder
	place := d.Range.String()
	if place != "" {
		place = p.paint(bold, place+":") + " "
	}
	fmt.Fprintf(&s, "%s%s: %s [%s %s]\n", place, p.paint(severityColor[d.Severity], d.Severity.String()), visible(d.Message), d.Code, d.Name)
	p.excerpt(&s, d.Range, d.Severity)
	if d.Hint != "" {
		fmt.Fprintf(&s, "  = %s\n", visible(d.Hint))
	}
	for _, n := range d.Notes {
		fmt.Fprintf(&s, "  %s: %s\n", n.Range, visible(n.Message))
	}
	_, err := io.WriteString(p.W, s.String())
	return err
}

// visible replaces the characters of foreign text that would steer a terminal,
// or change the order of what it shows, one for one.
func visible(text string) string {
	return strings.Map(func(c rune) rune {
		if c != '\t' && unicode.In(c, unicode.Cc, unicode.Bidi_Control) {
			return unicode.ReplacementChar
		}
		return c
	}, text)
}

// maxExcerpt is how many characters of a line are shown; of a longer one, those
// around the range.
const maxExcerpt = 160

// excerpt writes the line of a range with a caret below its stretch.
func (p *Printer) excerpt(s *strings.Builder, r Range, severity Severity) {
	text, ok := p.line(r.File, r.Start.Line)
	line, start := []rune(visible(text)), r.Start.Col-1
	if !ok || start < 0 {
		return
	}
	end := start + 1
	if r.End.Line == r.Start.Line && r.End.Col > r.Start.Col {
		end = r.End.Col - 1
	} else if r.End.Line > r.Start.Line {
		end = max(len(line), start+1)
	}
	before, after := "", ""
	if len(line) > maxExcerpt {
		from := max(0, min(start-maxExcerpt/4, len(line)-maxExcerpt))
		to := min(len(line), from+maxExcerpt)
		if from > 0 {
			before = "…"
		}
		if to < len(line) {
			after = "…"
		}
		line, start, end = line[from:to], start-from, min(end, to+1)-from
	}
	number := fmt.Sprintf("%5d | ", r.Start.Line)
	fmt.Fprintf(s, "%s%s%s%s\n", number, before, string(line), after)
	pad := strings.Repeat(" ", len(number)-2) + "| " + blank([]rune(before)) + blank(line[:min(start, len(line))])
	under := string(line[min(start, len(line)):min(end, len(line))])
	carets := strings.Repeat("^", max(cells(under), end-start-len([]rune(under)), 1))
	fmt.Fprintf(s, "%s%s\n", pad, p.paint(severityColor[severity], carets))
}

// blank returns white space that is as wide as a text. Tabs stay tabs.
func blank(text []rune) string {
	var s strings.Builder
	for _, c := range text {
		if c == '\t' {
			s.WriteRune(c)
			continue
		}
		s.WriteString(strings.Repeat(" ", cells(string(c))))
	}
	return s.String()
}

// cells returns how many cells of a terminal a text takes: two for a wide
// character of East Asia or an emoji, none for a mark that joins the one before.
func cells(text string) (n int) {
	for _, c := range text {
		switch {
		case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf):
		case isWide(c):
			n += 2
		default:
			n++
		}
	}
	return n
}

// isWide reports whether a character has the property East_Asian_Width W or F
// (Unicode Standard Annex 11), by blocks.
func isWide(c rune) bool {
	for _, r := range [][2]rune{
		{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf}, {0xa960, 0xa97f},
		{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
	} {
		if r[0] <= c && c <= r[1] {
			return true
		}
	}
	return false
}

func (p *Printer) line(file string, n int) (string, bool) {
	if file == "" || n < 1 {
		return "", false
	}
	lines, ok := p.lines[file]
	if !ok {
		read := p.Source
		if read == nil {
			read = os.ReadFile
		}
		if text, err := read(file); err == nil {
			lines = NewOffsets(text)
		}
		if p.lines == nil {
			p.lines = map[string]*Offsets{}
		}
		p.lines[file] = lines
	}
	if lines == nil || n > lines.Lines() {
		return "", false
	}
	return lines.Line(n), true
}
