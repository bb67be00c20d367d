//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
)

// report is what was measured, in tables.
type report struct{ tables []*table }

// table is one table of the page. Its key finds its place there.
type table struct {
	key, what string
	header    []string
	rows      [][]string
	notes     []string
	measured  string // when and on what
}

// table begins a table; what says what was measured, in a sentence.
func (b *bench) table(key, what string) *table {
	t := &table{key: key, what: what, measured: b.circumstances()}
	b.report.tables = append(b.report.tables, t)
	return t
}

// compare fills a table with one row a shape: the time of the first entrant and
// how many times as long each of the others took.
func (t *table) compare(sizes string, shapes []shape, results [][]timing) {
	t.header = []string{sizes}
	for i, x := range results[0] {
		if i == 0 {
			t.header = append(t.header, x.entrant+", ms")
			continue
		}
		t.header = append(t.header, x.entrant)
	}
	for i, row := range results {
		cells := []string{shapes[i].name}
		for j, x := range row {
			switch {
			case x.err != nil:
				t.note("not measured: %s at %s: %v", x.entrant, shapes[i].name, x.err)
				cells = append(cells, "not measured")
			case j == 0:
				cells = append(cells, figure(1000*x.median()))
			default:
				cells = append(cells, ratioOf(row[0], x).String())
			}
		}
		t.rows = append(t.rows, cells)
	}
}

// pair adds two columns to a table whose rows are shapes: the time of the first of
// two entrants in this run, and how many times as long the second took.
func (t *table) pair(sizes string, shapes []shape, results [][]timing) {
	if t.header == nil {
		t.header = []string{sizes}
		for _, s := range shapes {
			t.rows = append(t.rows, []string{s.name})
		}
	}
	t.header = append(t.header, results[0][0].entrant+", ms", results[0][1].entrant)
	for i, row := range results {
		ours, other := row[0], row[1]
		for _, x := range row {
			if x.err != nil {
				t.note("not measured: %s at %s: %v", x.entrant, shapes[i].name, x.err)
			}
		}
		cells := []string{"not measured", "not measured"}
		if ours.err == nil {
			cells[0] = figure(1000 * ours.median())
		}
		if ours.err == nil && other.err == nil {
			cells[1] = ratioOf(ours, other).String()
		}
		t.rows[i] = append(t.rows[i], cells...)
	}
}

// memory adds a row for each entrant that the table has none for.
func (t *table) memory(p pairing, shapes []shape, results [][]timing, workers []*process) {
	if t.header == nil {
		t.header = []string{"", "load, s", "loaded", "peak of loading"}
		for _, s := range shapes {
			t.header = append(t.header, "peak at "+s.name)
		}
	}
	for i, w := range workers {
		if w == nil || slices.ContainsFunc(t.rows, func(row []string) bool { return row[0] == w.name }) {
			continue
		}
		row := []string{w.name, figure(p.loadTime(w)), gigabytes(w.Resident), gigabytes(w.Peak)}
		for _, shape := range results {
			row = append(row, gigabytes(shape[i].peak))
		}
		t.rows = append(t.rows, row)
	}
}

func gigabytes(n int64) string { return fmt.Sprintf("%.2f", float64(n)/1e9) }

func (t *table) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// markdown returns the table with what is said about it.
func (t *table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n", t.what)
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.header)
	fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(t.header)))
	for _, row := range t.rows {
		line(row)
	}
	b.WriteString("\n")
	for _, n := range t.notes {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	if len(t.notes) > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "*%s*\n", t.measured)
	return b.String()
}

// filled returns the tables that something was measured for: one that flags
// have left empty must not take the place of what the page has.
func (r *report) filled() []*table {
	return slices.DeleteFunc(slices.Clone(r.tables), func(t *table) bool { return len(t.rows) == 0 })
}

func (r *report) markdown() string {
	var parts []string
	for _, t := range r.filled() {
		parts = append(parts, fmt.Sprintf("### %s\n\n%s", t.key, t.markdown()))
	}
	return strings.Join(parts, "\n")
}

// in returns the page with its tables replaced by those of the report. A table
// stands between two comments, the first of which names it; one that the page
// has no place for is put at the end.
func (r *report) in(page string) string {
	for _, t := range r.filled() {
		begin, end := "<!-- bench: "+t.key+" -->\n", "<!-- end -->\n"
		before, rest, found := strings.Cut(page, begin)
		after := ""
		if found {
			_, after, found = strings.Cut(rest, end)
		}
		if !found {
			before, after = strings.TrimRight(page, "\n")+"\n\n", ""
		}
		page = strings.TrimLeft(before+begin+"\n"+t.markdown()+"\n"+end+after, "\n")
	}
	return page
}
