// Package suggest finds the name that a misspelt one was meant to be.
package suggest

import "slices"

// Nearest returns the candidate closest to name, or "" when none is near. Among
// equals the first wins.
func Nearest(name string, candidates []string) string {
	if near := Near(name, candidates); len(near) > 0 {
		return near[0]
	}
	return ""
}

// Near returns the candidates that name may have meant, the closest first, each
// once: the edit distance (insertions, deletions, substitutions and swaps of
// neighbouring characters) must not exceed a third of the length of the name,
// rounded, and a difference of case alone counts as nothing.
func Near(name string, candidates []string) []string {
	limit := (len([]rune(name)) + 1) / 3
	byDistance := make([][]string, limit+1)
	for _, c := range candidates {
		if d := Distance(name, c); d <= limit && !slices.Contains(byDistance[d], c) {
			byDistance[d] = append(byDistance[d], c)
		}
	}
	return slices.Concat(byDistance...)
}

// Distance returns the edit distance between a and b in characters, ignoring
// the case of ASCII letters (optimal string alignment).
func Distance(a, b string) int {
	x, y := fold(a), fold(b)
	before, prev, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(prev[j]+cost, prev[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(y)]
}

func fold(s string) []rune {
	r := []rune(s)
	for i, c := range r {
		if 'A' <= c && c <= 'Z' {
			r[i] = c + 'a' - 'A'
		}
	}
	return r
}
