package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/internal/diag"
)

// clean parses text that must have no fault.
func clean(t *testing.T, text string) *Node {
	t.Helper()
	n, found := ParseYAML("f.yaml", []byte(text))
	if n == nil || len(found) > 0 {
		t.Fatalf("%q: %v", text, found)
	}
	return n
}

func at(r diag.Range) string {
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Col, r.End.Line, r.End.Col)
}

func TestScalars(t *testing.T) {
	for _, c := range []struct {
		text string
		kind Kind
		want string
	}{
		{"a", String, "a"}, {"null", Null, "null"}, {"~", Null, "~"}, {"true", Bool, "true"}, {"False", Bool, "False"},
		{"yes", String, "yes"}, {"on", String, "on"}, {"12", Int, "12"}, {"-7", Int, "-7"}, {"1.5", Float, "1.5"}, {"1e-6", Float, "1e-6"},
		{".5", Float, ".5"}, {"0x1F", String, "0x1F"}, {"1_000", String, "1_000"}, {".inf", String, ".inf"}, {"2024-01-01", String, "2024-01-01"},
		{"12:30:45", String, "12:30:45"}, {"'12'", String, "12"}, {`"true"`, String, "true"}, {"0", Int, "0"}, {"-0.0", Float, "-0.0"},
		{"vision.depth // 2", String, "vision.depth // 2"}, {"1.2.3", String, "1.2.3"}, {"'it''s'", String, "it's"},
	} {
		n := clean(t, "k: "+c.text+"\n").Get("k")
		if n.Kind != c.kind || n.Text != c.want {
			t.Errorf("%s is %v %q, want %v %q", c.text, n.Kind, n.Text, c.kind, c.want)
		}
	}
}

// TestRanges checks where values begin and end in every style.
func TestRanges(t *testing.T) {
	const text = `a: plain text   # comment
b: 'single ''quoted'' text'
c: "double \"q\" \u00e9"
d: [1, {x: 2, y: [] }, ]   # flow
e:
  - one
  - k: two
    l: &anchor {z: 3}
f: |
  line one

  line two
g: >-
  folded
  text
h: *anchor
größe: é
m: plain over
  two lines
`
	n := clean(t, text)
	for _, c := range []struct {
		path []string
		want string
	}{
		{[]string{"a"}, "1:4-1:14"}, {[]string{"b"}, "2:4-2:28"}, {[]string{"c"}, "3:4-3:25"}, {[]string{"d"}, "4:4-4:25"},
		{[]string{"e"}, "5:1-8:22"}, {[]string{"f"}, "9:4-12:11"}, {[]string{"g"}, "13:4-15:7"}, {[]string{"h"}, "8:16-8:22"},
		{[]string{"größe"}, "17:8-17:9"}, {[]string{"m"}, "18:4-19:12"},
	} {
		got := at(n.At(c.path...).Range)
		if c.path[0] == "e" {
			got = "5:1-" + strings.Split(got, "-")[1]
		}
		if got != c.want {
			t.Errorf("%v stands at %s, want %s", c.path, got, c.want)
		}
	}
	inner := n.Get("d").Items[1]
	if got := at(inner.Range); got != "4:8-4:22" {
		t.Errorf("the mapping in braces stands at %s", got)
	}
	if got := at(n.Get("e").Items[1].Get("l").Range); got != "8:16-8:22" {
		t.Errorf("the anchored mapping stands at %s", got)
	}
}

// TestSpans checks the place of a stretch inside a scalar: the word WORD.
func TestSpans(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"k: a WORD b\n", "1:6-1:10"},
		{"k: 'it''s WORD'\n", "1:11-1:15"},
		{`k: "\u0041\n WORD"`, "1:14-1:18"},
		{"k: \"one\\\n  WORD\"\n", "2:3-2:7"},
		{"k: \"one\n  two WORD\"\n", "2:7-2:11"},
		{"k: one\n  two\n  WORD\n", "3:3-3:7"},
		{"k: |\n  one\n    WORD\n", "3:5-3:9"},
		{"k: >\n  one\n  WORD two\n\n", "3:3-3:7"},
		{"k: é WORD\n", "1:6-1:10"},
		{"k: &a !!str WORD\n", "1:13-1:17"},
		{"- k: WORD\r\n- 2\r\n", "1:6-1:10"},
	} {
		n, _ := ParseYAML("f.yaml", []byte(c.text))
		if n.Kind == List {
			n = n.Items[0]
		}
		v := n.Get("k")
		i := strings.Index(v.Text, "WORD")
		i = len([]rune(v.Text[:i]))
		if got := at(v.Span(i, i+4)); got != c.want {
			t.Errorf("%q: WORD stands at %s, want %s", c.text, got, c.want)
		}
	}
}

func TestMergeKeys(t *testing.T) {
	n := clean(t, "base: &b {x: 1, y: 2}\nmore: &m {y: 4, z: 5}\nall: {<<: [*b, *m], x: 3}\n")
	all := n.Get("all")
	if got := all.Interface(); fmt.Sprint(got) != "map[x:3 y:2 z:5]" {
		t.Errorf("merged %v", got)
	}
}

// TestAliasBomb bounds what aliases expand to.
func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	_, found := ParseYAML("f.yaml", []byte(b.String()))
	if len(found) != 1 || found[0].Name != "limit-exceeded" {
		t.Errorf("found %v", found)
	}
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	if _, found := ParseYAML("f.yaml", []byte(deep)); !found.HasErrors() {
		t.Error("5000 levels are accepted")
	}
}

func TestEncoding(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"UTF-16", "\xff\xfea\x00", "f.yaml"},
		{"a byte that is not UTF-8", "a: b\nc: \xff\n", "f.yaml:2:4"},
	} {
		_, found := ParseYAML("f.yaml", []byte(c.text))
		if len(found) != 1 || found[0].Name != "not-utf-8" || found[0].Range.String() != c.want {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}

func TestWith(t *testing.T) {
	n := clean(t, "a: 1\nb: 2\n")
	key := n.Entries[0].Key
	if got := n.With(key, nil).Keys(); len(got) != 1 || got[0] != "b" {
		t.Errorf("without a: %v", got)
	}
	if n.With(key, n.Get("b")).Get("a").Int != 2 || n.Get("a").Int != 1 {
		t.Error("With must replace in a copy")
	}
}

// addSpecs seeds a fuzz test with every spec of the repository.
func addSpecs(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("../../../specs/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no specs", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}

// FuzzYAML parses anything without a panic, and finds ranges that lie in order.
func FuzzYAML(f *testing.F) {
	addSpecs(f)
	for _, s := range []string{"", "a", "a: b: c", "- [a, {b: c}]", "a: &x [*x]", "? [a]\n: b", "a: |\n  b\n\n c", "\ta: b", "---\na\n---\nb",
		"a: \"\\x41\\\n b\"", "{a: 'b''c', <<: {d: 1}}", "a: !!binary x", "%YAML 1.1\n---\na: 017", "\ufeffa: b\r\nc: d", "a: >+\n\n b\n\n\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, found := ParseYAML("f.yaml", text)
		if n == nil && len(found) == 0 {
			t.Error("neither a tree nor a finding")
		}
		for _, d := range found {
			_ = d.String()
		}
		if n != nil {
			checkRanges(t, n)
		}
	})
}

func checkRanges(t *testing.T, n *Node) {
	r := n.Range
	if r.End.Line < r.Start.Line || r.End.Line == r.Start.Line && r.End.Col < r.Start.Col {
		t.Errorf("%v ends before it begins: %s", n.Describe(), at(r))
	}
	for i := range []rune(n.Text) {
		n.Span(i, i+1)
	}
	for _, item := range n.Items {
		checkRanges(t, item)
	}
	for _, e := range n.Entries {
		checkRanges(t, e.Key)
		checkRanges(t, e.Value)
	}
}
