// Package suggest finds the name that a misspelt one was meant to be.
package suggest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
// rounded, and a difference of case alone counts as nothing. Where words differ,
// those that names share do not count: at most half of the rest may be edits, or one,
// so that score_bias is not near score_scale. Of no such candidate, one that name
// shortens, or that shortens name, if it is the only one.
func Near(name string, candidates []string) []string {
	limit := (len([]rune(name)) + 1) / 3
	byDistance := make([][]string, limit+1)
	for _, c := range candidates {
		if d := Distance(name, c); d <= limit && !slices.Contains(byDistance[d], c) && restIsNear(name, c) {
			byDistance[d] = append(byDistance[d], c)
		}
	}
	if near := slices.Concat(byDistance...); len(near) > 0 {
		return near
	}
	var long []string
	for _, c := range candidates {
		if shortens(name, c) && !slices.Contains(long, c) {
			long = append(long, c)
		}
	}
	if len(long) == 1 {
		return long
	}
	return nil
}

// SameNumber returns the candidates that have the digits of name, or none where
// name has some, or some where it has none: a width such as that of float16 is not
// misspelt, it is another.
func SameNumber(name string, candidates []string) []string {
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, s)
	}
	var out []string
	for _, c := range candidates {
		if a, b := digits(name), digits(c); a == b || a == "" || b == "" {
			out = append(out, c)
		}
	}
	return out
}

// words splits a name at what is neither a letter nor a digit.
func words(name string) []string {
	return strings.FieldsFunc(string(fold(name)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// restIsNear reports whether no more than half, or one character, of what is left of two names,
// without the words that both begin and end with, has to be edited. Where one of
// them has nothing left, it lacks a word, which the whole distance judges.
func restIsNear(a, b string) bool {
	x, y := words(a), words(b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	if len(x) == 0 || len(y) == 0 {
		return true
	}
	p, q := strings.Join(x, "_"), strings.Join(y, "_")
	return Distance(p, q) <= max(1, len([]rune(p))/2, len([]rune(q))/2)
}

// shortest is the least length of a word that stands for a longer one.
const shortest = 3

// shortens reports whether name begins a longer one (rms, rms_norm), or differs
// from one in words that are abbreviated in either of them (self_attn,
// self_attention).
func shortens(name, other string) bool {
	x, y := words(name), words(other)
	if whole := string(fold(name)); len(whole) >= shortest && strings.HasPrefix(string(fold(other)), whole) {
		return true
	}
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	for i := range x {
		if x[i] != y[i] && !abbreviates(x[i], y[i]) && !abbreviates(y[i], x[i]) {
			return false
		}
	}
	return true
}

// abbreviates reports whether a word is the beginning of a longer one, or has
// its first letter and then some of its consonants in their order (attn, cfg), a
// third of its letters at least: fewer are in many a word.
func abbreviates(short, long string) bool {
	if len(short) < shortest || len(short) >= len(long) {
		return false
	}
	if strings.HasPrefix(long, short) {
		return true
	}
	if short[0] != long[0] || 3*len(short) < len(long) || strings.ContainsAny(short[1:], "aeiou") {
		return false
	}
	rest := long
	for _, r := range short {
		i := strings.IndexRune(rest, r)
		if i < 0 {
			return false
		}
		rest = rest[i+utf8.RuneLen(r):]
	}
	return true
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
