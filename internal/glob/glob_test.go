package glob

import (
	"slices"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	for _, tt := range []struct{ pattern, template, name, want string }{
		{"a.weight", "b.weight", "a.weight", "b.weight"},
		{"a.weight", "b.weight", "a.weights", ""},
		{"a.weight", "b", "xa.weight", ""},
		{"*", "model.*", "h.0.w", "model.h.0.w"},
		{"h.*.w", "l.*.v", "h.12.w", "l.12.v"},
		{"h.*.w", "l.*.v", "h..w", "l..v"},
		{"*.*", "*|*", "a.b.c", "a|b.c"}, // the first takes as little as it can
		{"{q,k,v}.*", "*.{1}", "k.w", "w.k"},
		{"{q,k}.{a,b}", "{2}{1}{2}", "q.b", "bqb"},
		{"{q,k}.w", "x", "v.w", ""},
		{"a+b(*)[0]", "*", "a+b(c)[0]", "c"},
		{"é*", "*", "éß", "ß"},
		{"*\n", "*", "a\nb\n", "a\nb"},
	} {
		p, err := Parse(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		to, err := p.Template(tt.template)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if sub := p.Match(tt.name); sub != nil {
			got = to.Expand(sub)
		}
		if got != tt.want {
			t.Errorf("%q to %q of %q: %q, want %q", tt.pattern, tt.template, tt.name, got, tt.want)
		}
	}
}

func TestWords(t *testing.T) {
	p, err := Parse("{q,k,v}.{w,b}")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Words(p.Match("v.w")); !slices.Equal(got, []int{2, 0}) || p.Combinations() != 6 {
		t.Errorf("words %v of %d combinations", got, p.Combinations())
	}
}

func TestMalformed(t *testing.T) {
	for _, tt := range []struct{ pattern, template, want string }{
		{"a{", "", `"a{": a { without }`},
		{"a}", "", `"a}": a } without {`},
		{"{a,}", "", `"{a,}": {a,}: braces hold words, separated by commas`},
		{"{}", "", `"{}": {}: braces hold words, separated by commas`},
		{"x{a*}", "", `"x{a*}": {a*}: braces hold words, separated by commas`},
		{"*", "**", `"**" has more * than the pattern`},
		{"{a,b}", "{2}", `"{2}": {2}: {1} to {1} stand for the pattern's alternatives`},
		{"{a,b}", "{x}", `"{x}": {x}: {1} to {1} stand for`},
		{"{a,b}", "{1", `"{1": a { without }`},
		{"a", "{1}", `"{1}": {1}: the pattern has no alternatives`},
		{"a", "x}", `"x}": a } without {`},
		{"a", "", "a name is empty"},
		{"\xff", "", `"\xff" is not a pattern`},
	} {
		p, err := Parse(tt.pattern)
		if err == nil {
			_, err = p.Template(tt.template)
		}
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q to %q: %v, want %s", tt.pattern, tt.template, err, tt.want)
		}
	}
}

// FuzzGlob checks that no text makes a pattern panic, and that one without
// special characters matches itself alone.
func FuzzGlob(f *testing.F) {
	for _, s := range []string{"a.*.{b,c}", "{", "}", "**{x}", "\x00*", "\xff", "(?i)"} {
		f.Add(s, "*{1}", s)
	}
	f.Fuzz(func(t *testing.T, pattern, template, name string) {
		p, err := Parse(pattern)
		if err != nil {
			return
		}
		sub := p.Match(name)
		if literal := !strings.ContainsAny(pattern, "*{}"); literal && (sub != nil) != (name == pattern) {
			t.Errorf("%q matches %q", pattern, name)
		}
		if to, err := p.Template(template); err == nil && sub != nil {
			to.Expand(sub)
		}
	})
}
