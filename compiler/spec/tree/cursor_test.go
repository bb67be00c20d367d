package tree

import (
	"fmt"
	"strings"
	"testing"

	"mobiusc/internal/diag"
)

// TestCursor names the place of each ‸: the path, what may stand there (k for a
// key, v for a value), the token before it, and the other keys.
func TestCursor(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"‸", " k"},
		{"sp‸", " k sp"},
		{"spec: v‸", "spec v v"},
		{"spec:‸", "spec v"},
		{"spec: ‸", "spec v"},
		{"spec: v1\n‸\nname: x", " k (spec name)"},
		{"spec: v1\nna‸: x\ntask: a", " k na (spec task)"},
		{"a:\n  ‸", "a kv"},
		{"a:\n  b‸", "a kv b"},
		{"a:\n  b: 1\n  ‸", "a k (b)"},
		{"a:\n  b: 1\n‸", " k (a)"},
		{"a:\n  b:\n    c: 1\n  ‸\n  d: 2\ne: 1", "a k (b d)"},
		{"a:\n  - ‸", "a/- kv"},
		{"a:\n  - b\n  - ‸", "a/- kv"},
		{"a:\n- b: 1\n- ‸", "a/- kv"},
		{"a:\n  - b: 1\n    ‸", "a/- k (b)"},
		{"a:\n  - b:\n      - c‸", "a/-/b/- kv c"},
		{"a:\n  - - b: ‸", "a/-/-/b v"},
		{"a: [b, ‸", "a/- v"},
		{"a: [b, c‸]", "a/- v c"},
		{"a: [{b: ‸}]", "a/-/b v"},
		{"a: {b: 1, ‸}", "a k (b)"},
		{"a: {b: 1, c‸", "a k c (b)"},
		{"a: {b: {c: d + e‸", "a/b/c v d + e"},
		{"a: {b: {c: 1}, ‸", "a k (b)"},
		{"a: {b: [1, 2], c:\n  ‸", "a/c v"},
		{"a: {b: 1,\n    ‸", "a k (b)"},
		{"a: {b: \"x, ‸", "a/b v x, "},
		{"a: 'it''s ‸'", "a v it''s "},
		{"a: \"b # c\" # ‸", ""},
		{"a: b # c ‸", ""},
		{"# ‸", ""},
		{"a: |\n  text: ‸\nb: 1", ""},
		{"a: |\n  text: x\nb: ‸", "b v"},
		{"a: >-\n  text\n\n  more\n‸", " k (a)"},
		{"a: &x {b: ‸}", "a/b v"},
		{"a: *x‸", ""},
		{"a: &x\n  b: ‸", "a/b v"},
		{"a: b\n  c ‸", ""},
		{"a: {b: c} ‸", ""},
		{"größe: {ä: 😀 ö‸", "größe/ä v 😀 ö"},
		{"\"a b\": {'c d': ‸", "a b/c d v"},
		{"a: b: c‸", "a v b: c"},
		{"a:\r\n  b: ‸\r\n", "a/b v"},
		{"a:\n   b: 1\n  ‸", ""},
		{"- ‸", "- kv"},
		{"}}]] ‸", " k }}]] "},
		{"a: [[‸", "a/-/- v"},
	} {
		before, after, _ := strings.Cut(c.text, "‸")
		lines := Lines([]byte(before))
		at := diag.Pos{Line: len(lines), Col: len([]rune(lines[len(lines)-1])) + 1}
		got := showCursor(CursorAt([]byte(before+after), at))
		if got != c.want {
			t.Errorf("%q:\ngot  %q\nwant %q", c.text, got, c.want)
		}
	}
}

func showCursor(c Cursor) string {
	var path []string
	for _, s := range c.Path {
		if s.Item {
			s.Key = "-"
		}
		path = append(path, s.Key)
	}
	s := strings.Join(path, "/")
	if c.Key || c.Value {
		s += " "
	}
	if c.Key {
		s += "k"
	}
	if c.Value {
		s += "v"
	}
	if c.Token != "" {
		s += " " + c.Token
	}
	if len(c.Keys) > 0 {
		s += fmt.Sprint(" (", strings.Join(c.Keys, " "), ")")
	}
	return s
}

// FuzzCursor: no text and no place is too strange, and in the middle of a file
// that is YAML the path of every key is the one that it has.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{"", "a: {b: [c, {d: e}]}\n", "a:\n  - b: 1\n    c: |\n      x\n", "\"a\": 'b\n c'\n", "- - ? x\n", "a: {\n}}]", "\t- :\n"} {
		f.Add(s, 1, 3)
	}
	f.Fuzz(func(t *testing.T, text string, line, col int) {
		CursorAt([]byte(text), diag.Pos{Line: line, Col: col})
		for n, l := range Lines([]byte(text)) {
			for i := range []rune(l) {
				CursorAt([]byte(text), diag.Pos{Line: n + 1, Col: i + 1})
			}
			if n > 20 {
				break
			}
		}
	})
}
