// Package textdiff compares texts line by line.
package textdiff

import (
	"fmt"
	"slices"
	"strings"
)

// Unified returns the difference between two texts in the unified format that
// patch and git read, with three lines around each change; "" if they are equal.
func Unified(oldName, newName, old, new string) string {
	if old == new {
		return ""
	}
	a, b := lines(old), lines(new)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
	for _, h := range hunks(script(a, b), len(a), len(b)) {
		writeHunk(&out, h, a, b)
	}
	return out.String()
}

// lines cuts a text into lines that keep their ends.
func lines(text string) []string { return slices.Collect(strings.Lines(text)) }

// edit replaces the lines a[from:to] by b[newFrom:newTo].
type edit struct{ from, to, newFrom, newTo int }

// maxEdits bounds the search: texts that differ more are compared as a whole.
const maxEdits = 2000

// script returns the edits that turn a into b, by Myers' algorithm ("An O(ND)
// difference algorithm and its variations", 1986) between the common beginning
// and end.
func script(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	edits, ok := myers(a[head:len(a)-tail], b[head:len(b)-tail])
	if !ok {
		return []edit{{head, len(a) - tail, head, len(b) - tail}}
	}
	for i := range edits {
		e := &edits[i]
		e.from, e.to, e.newFrom, e.newTo = e.from+head, e.to+head, e.newFrom+head, e.newTo+head
	}
	return edits
}

func myers(a, b []string) ([]edit, bool) {
	var trace []map[int]int // of each number of edits: diagonal x-y → furthest x
	furthest := map[int]int{1: 0}
	for d := 0; d <= min(len(a)+len(b), maxEdits); d++ {
		trace = append(trace, make(map[int]int, len(furthest)))
		for k, x := range furthest {
			trace[d][k] = x
		}
		for k := -d; k <= d; k += 2 {
			x := furthest[k-1] + 1
			if k == -d || k != d && furthest[k-1] < furthest[k+1] {
				x = furthest[k+1]
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			furthest[k] = x
			if x >= len(a) && y >= len(b) {
				return backtrack(trace, len(a), len(b)), true
			}
		}
	}
	return nil, false
}

// backtrack walks from the end to the beginning and joins neighbouring edits.
func backtrack(trace []map[int]int, x, y int) []edit {
	var edits []edit
	for d := len(trace) - 1; d > 0; d-- {
		v, k := trace[d], x-y
		before := k - 1
		if k == -d || k != d && v[k-1] < v[k+1] {
			before = k + 1
		}
		px := v[before]
		py := px - before
		for x > px && y > py {
			x, y = x-1, y-1
		}
		e := edit{px, x, py, y}
		if n := len(edits); n > 0 && edits[n-1].from == e.to && edits[n-1].newFrom == e.newTo {
			edits[n-1].from, edits[n-1].newFrom = e.from, e.newFrom
		} else {
			edits = append(edits, e)
		}
		x, y = px, py
	}
	slices.Reverse(edits)
	return edits
}

const around = 3

// hunk is a group of edits whose surroundings touch.
type hunk struct {
	edit  // with the lines around
	edits []edit
}

func hunks(edits []edit, lenA, lenB int) []hunk {
	var all []hunk
	for _, e := range edits {
		wide := edit{max(e.from-around, 0), min(e.to+around, lenA), max(e.newFrom-around, 0), min(e.newTo+around, lenB)}
		if n := len(all); n > 0 && wide.from <= all[n-1].to {
			h := &all[n-1]
			h.to, h.newTo, h.edits = wide.to, wide.newTo, append(h.edits, e)
			continue
		}
		all = append(all, hunk{wide, []edit{e}})
	}
	return all
}

func writeHunk(out *strings.Builder, h hunk, a, b []string) {
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(h.from, h.to), span(h.newFrom, h.newTo))
	at := h.from
	for _, e := range h.edits {
		write(out, " ", a[at:e.from])
		write(out, "-", a[e.from:e.to])
		write(out, "+", b[e.newFrom:e.newTo])
		at = e.to
	}
	write(out, " ", a[at:h.to])
}

// span is a stretch of lines as the format has it: an empty one stands after the
// line it names.
func span(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func write(out *strings.Builder, mark string, lines []string) {
	for _, l := range lines {
		out.WriteString(mark + l)
		if !strings.HasSuffix(l, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
