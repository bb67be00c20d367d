//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
)

// report is what was measured, in tables.
type report struct{ tables []*table }

type table struct {
	title, what string
	header      []string
	rows        [][]string
	notes       []string
}

func (r *report) table(title, what string) *table {
	t := &table{title: title, what: what}
	r.tables = append(r.tables, t)
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
func (t *table) memory(shapes []shape, results [][]timing, workers []*process) {
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
		row := []string{w.name, figure(w.Load), gigabytes(w.Resident), gigabytes(w.Peak)}
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

func (r *report) markdown() string {
	var b strings.Builder
	for _, t := range r.tables {
		fmt.Fprintf(&b, "### %s\n\n%s.\n\n", t.title, t.what)
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
	}
	return b.String()
}
