package ir

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

func addTexts(f *testing.F) {
	for _, file := range append(texts(f, "onnx/*"), texts(f, "*.txt")...) {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte(namesText))
}

// FuzzParseModel checks that no text makes the parser panic, that errors carry
// a position, and that what is read is printed to a text that is read to the
// same model.
func FuzzParseModel(f *testing.F) {
	addTexts(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := ParseModel("t", src)
		if err != nil {
			checkPosition(t, src, err)
			return
		}
		first := fullText(t, m)
		again, err := ParseModel("t", []byte(first))
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if second := fullText(t, again); second != first {
			t.Fatalf("got\n%s\nwant\n%s", second, first)
		}
		if copied := fullText(t, m.Clone()); copied != first {
			t.Fatalf("the copy is\n%s\nwant\n%s", copied, first)
		}
		checkUses(t, m.Graph)
	})
}

// FuzzParseFunctions does the same for functions.
func FuzzParseFunctions(f *testing.F) {
	addTexts(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		functions, mentions, err := ParseFunctionMentions("t", src)
		if err != nil {
			checkPosition(t, src, err)
			return
		}
		text := []rune(string(src))
		for m, at := range mentions {
			if said := string(text[at[0]:at[1]]); said != m.Name && !strings.HasPrefix(said, `"`) {
				t.Fatalf("%q is said to be at %q", m.Name, said)
			}
		}
		first := fullText(t, functions)
		again, err := ParseFunctions("t", []byte(first))
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if second := fullText(t, again); second != first {
			t.Fatalf("got\n%s\nwant\n%s", second, first)
		}
	})
}

func checkPosition(t *testing.T, src []byte, err error) {
	t.Helper()
	var e *SyntaxError
	if !errors.As(err, &e) {
		t.Fatalf("%T is not a SyntaxError", err)
	}
	if lines := bytes.Count(src, []byte("\n")) + 1; e.Line < 1 || e.Line > lines || e.Col < 1 || e.Col > len(src)+1 {
		t.Fatalf("position %d:%d in %d lines", e.Line, e.Col, lines)
	}
}
