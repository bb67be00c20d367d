// Package diag is the one diagnostic model of the project: findings as values
// with exact ranges. Functions return findings and carry on, so that one run
// reports everything; a returned error means that the tool itself failed.
package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity orders findings.
type Severity uint8

// The severities, most severe first.
const (
	Error Severity = iota
	Warning
	Note
)

// String returns error, warning or note.
func (s Severity) String() string { return [...]string{"error", "warning", "note"}[s] }

// Pos is a place in a text file. Lines and columns count from 1; columns count
// characters (Unicode code points). The zero value is no place.
type Pos struct{ Line, Col int }

// Range is a stretch of a file, from Start to before End. A range without lines
// names the whole file.
type Range struct {
	File       string
	Start, End Pos
}

// String returns file:line:col, or the file alone.
func (r Range) String() string {
	if r.Start.Line == 0 {
		return r.File
	}
	return fmt.Sprintf("%s:%d:%d", r.File, r.Start.Line, r.Start.Col)
}

// Related is another place that contributed to a finding.
type Related struct {
	Range   Range
	Message string
}

// Fix is a change that mends the fault.
type Fix struct {
	Range   Range
	NewText string
	Title   string // what it does: write `task`
	// Guess is set where something else may have been meant: an editor offers
	// the change, and nothing applies it unasked.
	Guess bool
}

// Diagnostic is one finding.
type Diagnostic struct {
	Code     string // MB0123
	Name     string // unknown-reference
	Severity Severity
	Range    Range
	Message  string // one sentence: what was found, what was expected
	Hint     string // the likely fix, or ""
	Notes    []Related
	Fix      *Fix
}

// text returns a finding without its place: message and hint.
func (d Diagnostic) text() string {
	if d.Hint == "" {
		return d.Message
	}
	return d.Message + "; " + d.Hint
}

// String returns the finding on one line: place, severity, message, name.
func (d Diagnostic) String() string {
	s := fmt.Sprintf("%s: %s [%s %s]", d.Severity, d.text(), d.Code, d.Name)
	if place := d.Range.String(); place != "" {
		s = place + ": " + s
	}
	return s
}

// List is a set of findings, in the order found.
type List []Diagnostic

// Add appends a finding.
func (l *List) Add(d Diagnostic) { *l = append(*l, d) }

// HasErrors reports whether any finding is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sorted returns the findings by place, severity and code, each once.
func (l List) Sorted() List {
	out := slices.Clone(l)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Range.File, b.Range.File),
			cmp.Compare(a.Range.Start.Line, b.Range.Start.Line), cmp.Compare(a.Range.Start.Col, b.Range.Start.Col),
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(out, func(a, b Diagnostic) bool {
		return a.Range == b.Range && a.Code == b.Code && a.Message == b.Message
	})
}
