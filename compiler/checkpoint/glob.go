package checkpoint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// glob is a pattern over names: * is any text, {a,b} one of some words. Where
// there are several ways to match, an earlier * takes as little as it can.
type glob struct {
	re             *regexp.Regexp
	prefix, suffix string // literal ends, to refuse most names quickly
	stars, groups  []int  // their submatches in re
	words          [][]string
}

func parseGlob(pattern string) (*glob, error) {
	g := &glob{}
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
			g.prefix = literal
		}
		g.suffix = literal
		if rest = rest[i:]; rest == "" {
			break
		}
		submatch++
		switch rest[0] {
		case '*':
			re.WriteString("(.*?)")
			g.stars = append(g.stars, submatch)
			rest = rest[1:]
		case '{':
			words, after, err := alternatives(rest)
			if err != nil {
				return nil, err
			}
			for i, w := range words {
				re.WriteString([]string{"(", "|"}[min(i, 1)] + regexp.QuoteMeta(w))
			}
			re.WriteString(")")
			g.groups, g.words = append(g.groups, submatch), append(g.words, words)
			rest = after
		default:
			return nil, fmt.Errorf("%q: a } without {", pattern)
		}
		g.suffix = ""
	}
	g.re = regexp.MustCompile(`(?s)\A` + re.String() + `\z`)
	return g, nil
}

// alternatives reads {a,b} at the start of s.
func alternatives(s string) (words []string, rest string, err error) {
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return nil, "", fmt.Errorf("%q: a { without }", s)
	}
	list := s[1:end]
	if strings.ContainsAny(list, "*{") || slices.Contains(strings.Split(list, ","), "") {
		return nil, "", fmt.Errorf("%q: braces hold words, separated by commas", s[:end+1])
	}
	return strings.Split(list, ","), s[end+1:], nil
}

// match returns the submatches of a name, or nil.
func (g *glob) match(name string) []string {
	if !strings.HasPrefix(name, g.prefix) || !strings.HasSuffix(name, g.suffix) {
		return nil
	}
	return g.re.FindStringSubmatch(name)
}

// template makes a name of another: its n-th * is the text of the pattern's
// n-th *, and {n} that of the pattern's n-th alternatives.
type template []part

type part struct {
	literal  string
	submatch int // of the pattern; 0: the literal
}

// parseTemplate parses a template for the names that g matches.
func parseTemplate(text string, g *glob) (template, error) {
	var t template
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
			if star == len(g.stars) {
				return nil, fmt.Errorf("%q has more * than the pattern", text)
			}
			t, rest, star = append(t, part{submatch: g.stars[star]}), rest[1:], star+1
			continue
		}
		inside, after, _ := strings.Cut(rest[1:], "}")
		n, err := strconv.Atoi(inside)
		if rest[0] == '}' || err != nil || n < 1 || n > len(g.groups) {
			return nil, fmt.Errorf("%q: {1} to {%d} stand for the pattern's alternatives, nothing else may be in braces", text, len(g.groups))
		}
		t, rest = append(t, part{submatch: g.groups[n-1]}), after
	}
	return t, nil
}

// expand writes the name for the submatches of a pattern.
func (t template) expand(submatches []string) string {
	var b strings.Builder
	for _, p := range t {
		if p.submatch > 0 {
			b.WriteString(submatches[p.submatch])
		} else {
			b.WriteString(p.literal)
		}
	}
	return b.String()
}
