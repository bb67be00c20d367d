package ir

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/internal/golden"
)

// fullText returns everything the syntax can say about x.
func fullText(t *testing.T, x any) string {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch x := x.(type) {
	case *Model:
		err = Printer{}.Model(&b, x)
	case *Graph:
		err = Printer{}.Graph(&b, x)
	case *Function:
		err = Printer{}.Function(&b, x)
	case []*Function:
		for i, f := range x {
			if i > 0 {
				b.WriteString("\n")
			}
			err = errors.Join(err, Printer{}.Function(&b, f))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// parseAny reads a model, or functions where the text holds no graph.
func parseAny(name string, src []byte) (any, error) {
	if strings.Contains(name, "function") && !bytes.Contains(src, []byte("ir_version")) {
		return ParseFunctions(name, src)
	}
	return ParseModel(name, src)
}

// texts returns the files of a pattern below testdata; there must be some.
func texts(tb testing.TB, pattern string) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no files match %s: %v", pattern, err)
	}
	return files
}

// TestReferenceTexts reads what onnx.printer wrote. That onnx.parser reads our
// goldens to the same model is checked by testdata/oracle.py.
func TestReferenceTexts(t *testing.T) {
	for _, file := range texts(t, "onnx/*.txt") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			x, err := parseAny(file, src)
			if err != nil {
				t.Fatal(err)
			}
			got := fullText(t, x)
			golden.File(t, strings.TrimSuffix(file, ".txt")+".golden", got)
			again, err := parseAny(file, []byte(got))
			if err != nil {
				t.Fatalf("what was printed is not read: %v\n%s", err, got)
			}
			if second := fullText(t, again); second != got {
				t.Errorf("printed differently after reading:\n%s\nfirst:\n%s", second, got)
			}
		})
	}
}
