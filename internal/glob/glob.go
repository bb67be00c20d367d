// Package glob matches names of tensors and of config keys with patterns, and
// makes names of what a pattern matched: the language of the rules of specs.
package glob

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Pattern is a pattern over names: * is any text, {a,b} one of some words. Where
// there are several ways to match, an earlier * takes as little as it can.
type Pattern struct {
	re             *regexp.Regexp
	prefix, suffix string // literal ends, to refuse most names quickly
	stars, groups  []int  // their submatches in re
	words          [][]string
}

// Parse reads a pattern. The error says what is malformed.
func Parse(pattern string) (*Pattern, error) {
	p := &Pattern{}
	var re strings.Builder
	submatch := 0
	rest := pattern
	for rest != "" {
		i := strings.IndexAny(rest, "*{}")
		if i < 0 {
			i = len(rest)
		}
		literal := rest[:i]
		re.WriteString(regexp.QuoteMeta(literal))
		if submatch == 0 {
			p.prefix = literal
		}
		p.suffix = literal
		if rest = rest[i:]; rest == "" {
			break
		}
		submatch++
		switch rest[0] {
		case '*':
			re.WriteString("(.*?)")
			p.stars = append(p.stars, submatch)
			rest = rest[1:]
		case '{':
			words, after, err := alternatives(rest)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", pattern, err)
			}
			for i, w := range words {
				re.WriteString([]string{"(", "|"}[min(i, 1)] + regexp.QuoteMeta(w))
			}
			re.WriteString(")")
			p.groups, p.words = append(p.groups, submatch), append(p.words, words)
			rest = after
		default:
			return nil, fmt.Errorf("%q: a } without {", pattern)
		}
		p.suffix = ""
	}
	var err error
	if p.re, err = regexp.Compile(`(?s)\A` + re.String() + `\z`); err != nil { // not UTF-8
		return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
	}
	return p, nil
}

// alternatives reads {a,b} at the start of s.
func alternatives(s string) (words []string, rest string, err error) {
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return nil, "", errors.New("a { without }")
	}
	list := s[1:end]
	if strings.ContainsAny(list, "*{") || slices.Contains(strings.Split(list, ","), "") {
		return nil, "", fmt.Errorf("%s: braces hold words, separated by commas", s[:end+1])
	}
	return strings.Split(list, ","), s[end+1:], nil
}

// Match returns the submatches of a name, for [Template.Expand], or nil if it does
// not match.
func (p *Pattern) Match(name string) []string {
	if !strings.HasPrefix(name, p.prefix) || !strings.HasSuffix(name, p.suffix) {
		return nil
	}
	return p.re.FindStringSubmatch(name)
}

// Words returns, for each of the pattern's alternatives, the place of the word that
// a name matched among them.
func (p *Pattern) Words(submatches []string) []int {
	at := make([]int, len(p.groups))
	for i, group := range p.groups {
		at[i] = slices.Index(p.words[i], submatches[group])
	}
	return at
}

// Combinations returns how many ways the pattern's alternatives combine.
func (p *Pattern) Combinations() int {
	n := 1
	for _, w := range p.words {
		n *= len(w)
	}
	return n
}

// Template makes a name of another: its n-th * is the text of the pattern's
// n-th *, and {n} that of the pattern's n-th alternatives.
type Template []part

type part struct {
	literal  string
	submatch int // of the pattern; 0: the literal
}

// Template reads a template for the names that the pattern matches. The error says
// what is malformed.
func (p *Pattern) Template(text string) (Template, error) {
	var t Template
	if text == "" {
		return nil, errors.New("a name is empty")
	}
	star := 0
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, "*{}")
		if i < 0 {
			i = len(rest)
		}
		if i > 0 {
			t, rest = append(t, part{literal: rest[:i]}), rest[i:]
			continue
		}
		if rest[0] == '*' {
			if star == len(p.stars) {
				return nil, fmt.Errorf("%q has more * than the pattern", text)
			}
			t, rest, star = append(t, part{submatch: p.stars[star]}), rest[1:], star+1
			continue
		}
		n, after, err := p.group(rest)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		t, rest = append(t, part{submatch: p.groups[n-1]}), after
	}
	return t, nil
}

// group reads {n} at the start of s.
func (p *Pattern) group(s string) (n int, after string, err error) {
	inside, after, closed := strings.Cut(s[1:], "}")
	switch {
	case s[0] == '}':
		return 0, "", errors.New("a } without {")
	case !closed:
		return 0, "", errors.New("a { without }")
	case len(p.groups) == 0:
		return 0, "", fmt.Errorf("{%s}: the pattern has no alternatives", inside)
	}
	if n, err = strconv.Atoi(inside); err != nil || n < 1 || n > len(p.groups) {
		return 0, "", fmt.Errorf("{%s}: {1} to {%d} stand for the pattern's alternatives", inside, len(p.groups))
	}
	return n, after, nil
}

// Expand writes the name for the submatches of the pattern.
func (t Template) Expand(submatches []string) string {
	var b strings.Builder
	for _, x := range t {
		if x.submatch > 0 {
			b.WriteString(submatches[x.submatch])
		} else {
			b.WriteString(x.literal)
		}
	}
	return b.String()
}
