package tree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"as it should be", "a: 1\n\nb:\n  - x\n  - y: 2\n    z: {k: [1, 2]}\n", ""},
		{"blanks", "a:   1  \nb :  2\t\n\n\n\nc: 3\n\n\n", "a: 1\nb: 2\n\nc: 3\n"},
		{"indentation", "a:\n    b:\n        c: 1\n    d: 2\ne: 3\n", "a:\n  b:\n    c: 1\n  d: 2\ne: 3\n"},
		{"lists in the column of their key", "a:\n- 1\n- b: 2\n  c: 3\nd: 4\n", "a:\n  - 1\n  - b: 2\n    c: 3\nd: 4\n"},
		{"lists in lists", "a:\n- - 1\n  - 2\n-   - 3\n", "a:\n  - - 1\n    - 2\n  - - 3\n"},
		{"wide dashes", "a:\n  -   b: 1\n      c: 2\n", "a:\n  - b: 1\n    c: 2\n"},
		{"brackets", "a: { b: 1,c:  [ 1,2 ,3 ] , }\n", "a: {b: 1, c: [1, 2, 3],}\n"},
		{"brackets over lines", "a:\n    b: [\n        1,\n        2\n    ]\n    c: {x: 1,\n        y: 2}\n", "a:\n  b: [\n      1,\n      2\n  ]\n  c: {x: 1,\n      y: 2}\n"},
		{"comments", "#first\na: 1   # behind\n   #  own\nb:\n     # above c\n     c: 1\n     # after c\n# last\n", "# first\na: 1   # behind\n#  own\nb:\n  # above c\n  c: 1\n  # after c\n# last\n"},
		{"a comment keeps its column", "a:    1       # here\nbb:   22      # here\n", "a: 1          # here\nbb: 22        # here\n"},
		{"anchors", "a:   &x   {b: 1}\nc:\n    <<:   *x\n    d: 2\n", "a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n"},
		{"an anchor of a block", "a: &x\n    b: 1\nc: *x\n", "a: &x\n  b: 1\nc: *x\n"},
		{"block scalars", "a:\n    b: |\n        one\n          two\n\n        three\n    c: >-\n     folded\n     text\n", "a:\n  b: |\n    one\n      two\n\n    three\n  c: >-\n    folded\n    text\n"},
		{"a block scalar that keeps its end", "a: |+\n    one\n\n\nb: 1\n", "a: |+\n  one\n\n\nb: 1\n"},
		{"a block scalar with its own indentation", "a: |2\n    one\n  two\n", "a: |2\n    one\n  two\n"},
		{"a block scalar in a list", "a:\n- |\n one\n- two\n", "a:\n  - |\n    one\n  - two\n"},
		{"quotes", "a:   'it''s'\nb:   \"x # y\"  # z\n", "a: 'it''s'\nb: \"x # y\"    # z\n"},
		{"text over lines", "a:   one\n      two\nb: \"three\n   four\"\n", "a: one\n    two\nb: \"three\n   four\"\n"},
		{"line ends", "a: 1\r\nb:\r\n  - 2\r\n", "a: 1\nb:\n  - 2\n"},
		{"a byte order mark", "\ufeffa: 1\n", "a: 1\n"},
		{"no line feed at the end", "a: 1", "a: 1\n"},
		{"a document marker", "---\na: 1\n", "---\na: 1\n"},
		{"wide characters", "größe:   {日本: 1}   # ü\n", "größe: {日本: 1}     # ü\n"},
		{"a value on the next line", "a:\n    1\nb:\n    [1, 2]\n", "a:\n  1\nb:\n  [1, 2]\n"},
		{"explicit keys", "?   a\n:   1\n", "? a\n: 1\n"},
	} {
		if c.want == "" {
			c.want = c.text
		}
		got, found := Format("f.yaml", []byte(c.text))
		if len(found) > 0 {
			t.Errorf("%s: %v", c.name, found)
			continue
		}
		if string(got) != c.want {
			t.Errorf("%s: formatted\n%s\nwant\n%s", c.name, got, c.want)
		}
		checkFormatted(t, []byte(c.text), got)
	}
}

// TestFormatSpecs keeps the project's own specs in its own format.
func TestFormatSpecs(t *testing.T) {
	files, _ := filepath.Glob("../../../specs/*.yaml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if out, found := Format(file, text); len(found) > 0 || string(out) != string(text) {
			t.Errorf("%s is not formatted: mobiusc fmt %s %v", file, file, found)
		}
	}
	if len(files) == 0 {
		t.Error("no specs")
	}
}

// checkFormatted checks what must hold of any result: it says the same, with the
// same anchors and comments in the same order, and formatting it again changes
// nothing.
func checkFormatted(t *testing.T, text, out []byte) {
	t.Helper()
	before, _ := ParseYAML("f.yaml", text)
	after, found := ParseYAML("f.yaml", out)
	if len(found) > 0 || !Equal(before, after) {
		t.Errorf("%q became %q, which says something else: %v", text, out, found)
	}
	if a, b := remarks(text), remarks(out); !slices.Equal(a, b) {
		t.Errorf("%q became %q: the comments and anchors %q became %q", text, out, a, b)
	}
	if again, found := Format("f.yaml", out); string(again) != string(out) {
		t.Errorf("%q became %q, and again %q %v", text, out, again, found)
	}
}

// remarks returns the anchors, aliases and comments of a text.
func remarks(text []byte) (all []string) {
	tokens, _ := Tokens(text)
	for _, t := range tokens {
		switch t.Kind {
		case NameToken:
			all = append(all, t.Text)
		case CommentToken:
			all = append(all, comment(t.Text))
		}
	}
	return all
}

// FuzzFormat formats anything that can be read.
func FuzzFormat(f *testing.F) {
	addSpecs(f)
	for _, s := range []string{"a", "a: b", "- [a, {b: c}]", "? [a]\n: b", "a: |\n  b\n\n c", "---\na: 1", "a: \"\\x41\\\n b\"", "{a: 'b''c', <<: {d: 1}}",
		"\ufeffa: b\r\nc: d", "a: >+\n\n b\n\n\n", "a:\n- b\n# c\n  # d\n- e", "&x a: &y\n  b: *y", "a: # x\n  - |2-\n    b\n   c\nd: 1", "a: 'x\n\n  y'\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if out, found := Format("f.yaml", text); len(found) == 0 {
			checkFormatted(t, text, out)
		} else if out != nil {
			t.Error("a text with findings is formatted")
		}
	})
}
