package main

import (
	"fmt"
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

func (t *table) note(format string, args ...any) { t.notes = append(t.notes, fmt.Sprintf(format, args...)) }

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
