package diag

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Printer writes findings for a person: place, severity, message and name, the
// source line with a caret, the hint, and the other places that contributed.
type Printer struct {
	W     io.Writer
	Color bool
	// Source returns the text of a file; nil reads it from disk. A file that
	// cannot be read is shown without its line.
	Source func(file string) ([]byte, error)

	lines map[string][]string
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
	fmt.Fprintf(&s, "%s%s: %s [%s %s]\n", place, p.paint(severityColor[d.Severity], d.Severity.String()), d.Message, d.Code, d.Name)
	p.excerpt(&s, d.Range)
	if d.Hint != "" {
		fmt.Fprintf(&s, "  = %s\n", d.Hint)
	}
	for _, n := range d.Notes {
		fmt.Fprintf(&s, "  %s: %s\n", n.Range, n.Message)
	}
	_, err := io.WriteString(p.W, s.String())
	return err
}

// excerpt writes the line of a range with a caret below its stretch. Tabs are
// kept in the line of carets, so that both lines have the same width.
func (p *Printer) excerpt(s *strings.Builder, r Range) {
	line, ok := p.line(r.File, r.Start.Line)
	if !ok || r.Start.Col < 1 {
		return
	}
	width := 1
	if r.End.Line == r.Start.Line && r.End.Col > r.Start.Col {
		width = r.End.Col - r.Start.Col
	} else if r.End.Line > r.Start.Line {
		width = max(utf8.RuneCountInString(line)-r.Start.Col+1, 1)
	}
	number := fmt.Sprintf("%5d | ", r.Start.Line)
	pad := strings.Repeat(" ", len(number)-2) + "| "
	for i, c := range []rune(line) {
		if i >= r.Start.Col-1 {
			break
		}
		if c != '\t' {
			c = ' '
		}
		pad += string(c)
	}
	fmt.Fprintf(s, "%s%s\n%s%s\n", number, line, pad, p.paint(severityColor[Error], strings.Repeat("^", width)))
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
			lines = strings.Split(string(text), "\n")
		}
		if p.lines == nil {
			p.lines = map[string][]string{}
		}
		p.lines[file] = lines
	}
	if n > len(lines) {
		return "", false
	}
	return strings.TrimRight(lines[n-1], "\r"), true
}
