package emit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/internal/golden"
)

// TestGoldenPackage compares a package with the one of testdata, byte for byte:
// the file formats, the layout and the random numbers are the same on every
// machine. testdata/check.py checks that package with onnx and ONNX Runtime.
func TestGoldenPackage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "package")
	write(t, testPackage(1, "encoder", "decoder"), dir, WriteOptions{})
	stored := filepath.Join("testdata", "package")
	if golden.Updating() {
		if err := os.RemoveAll(stored); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(stored, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := tree(t, dir), tree(t, stored); !sameTree(got, want) {
		t.Errorf("the package differs:\n got: %v\nwant: %v", got, want)
	}
}

func TestInspectPackage(t *testing.T) {
	s, err := Inspect("testdata/package")
	if err != nil {
		t.Fatal(err)
	}
	var text, asJSON bytes.Buffer
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/inspect.txt", text.String())
	if err := s.WriteJSON(&asJSON); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/inspect.json", asJSON.String())
}

// TestInspectFiles checks what is not a package: a file with subgraphs and
// functions, a directory of another tool, neither.
func TestInspectFiles(t *testing.T) {
	s, err := Inspect("testdata/attributes.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Components[0]; c.Nodes != 2 || c.SubgraphNodes != 6 || c.Parameters != 4 || len(c.Inputs) != 1 || c.Model != "attributes.onnx" {
		t.Errorf("attributes.onnx: %+v", c)
	}
	if s, err = Inspect("testdata/functions.onnx"); err != nil || s.Components[0].FunctionNodes != 2 {
		t.Errorf("functions.onnx: %+v %v", s, err)
	}
	dir := filepath.Join(t.TempDir(), "a[b]") // a path that is also a pattern
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(dir); err == nil || !strings.Contains(err.Error(), "holds no ONNX files") {
		t.Errorf("an empty directory: %v", err)
	}
	data := readFile(t, "testdata/tensors.onnx")
	for _, name := range []string{"x.onnx", "sub/model.onnx"} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err = Inspect(dir)
	if err != nil || len(s.Components) != 2 || s.Components[1].Model != "sub/model.onnx" || s.Package != nil {
		t.Errorf("a directory of models: %+v %v", s, err)
	}
	if d := s.Components[0].Data; len(d) != 1 || d[0].Size != -1 || d[0].End != 8192 || d[0].Complete() {
		t.Errorf("a missing data file: %+v", d)
	}
}

func TestInspectIncomplete(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	p := testPackage(1, "model")
	p.Components[0].Fill, p.Components[0].Weights = nil, nil
	write(t, p, dir, WriteOptions{})
	s, err := Inspect(dir)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not bound   2 of the tensors below", "9,216  not bound: the file is to hold the weights"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, &text)
		}
	}
}

func TestGroupStates(t *testing.T) {
	var states []StatePair
	types := map[string]string{}
	for _, i := range []string{"0", "3", "7", "11", "15"} {
		states = append(states, StatePair{"past." + i + ".key", "present." + i + ".key"})
		types["past."+i+".key"] = "float[1]"
	}
	states = append(states, StatePair{"memory", "memory_out"})
	groups := groupStates(states, types)
	if len(groups) != 2 || groups[0].input != "past.{i}.key" || groups[0].layers() != "i = 0, 3, …, 15 (5)" || groups[1].layers() != "" {
		t.Errorf("%+v", groups)
	}
}

func TestManifestErrors(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"{", "not a mobiusc package"},
		{`{"format": "other"}`, `its format is "other"`},
		{`{"format": "mobiusc-package", "version": 99}`, "version 99"},
		{`{"format": "mobiusc-package", "version": 1, "files": ["../x"]}`, "not inside the package"},
		{`{"format": "mobiusc-package", "version": 1, "components": [{"model": "/etc/passwd"}]}`, "not inside the package"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ManifestName), []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadManifest(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.content, err, c.want)
		}
	}
}

func TestAppendJSON(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		in   any
		want string
	}{
		{[]int{1, 2}, "[1, 2]\n"},
		{map[string]any{"a": "x,y:{\"}", "b": nil}, `{"a": "x,y:{\"}", "b": null}` + "\n"},
		{[]any{}, "[]\n"},
		{[]any{map[string]int{"a": 1}, map[string]int{}}, "[\n  {\"a\": 1},\n  {}\n]\n"},
		{"plain", "\"plain\"\n"},
		{map[string]any{"a": long, "b": []string{"{"}}, `{"a": "` + long + `", "b": ["{"]}` + "\n"},
		{map[string]any{"a": []any{map[string]any{"b": []int{1}}}, "c": 1}, "{\n  \"a\": [\n    {\"b\": [1]}\n  ],\n  \"c\": 1\n}\n"},
	} {
		if got, err := AppendJSON(nil, c.in); err != nil || string(got) != c.want {
			t.Errorf("%v: %s %v; want %s", c.in, got, err, c.want)
		}
	}
}

// TestDocumentedManifest checks that the example in docs/package.md is what this
// package writes and reads: every key, in the same order and layout.
func TestDocumentedManifest(t *testing.T) {
	doc := string(readFile(t, "../../docs/package.md"))
	_, example, ok := strings.Cut(doc, "```json\n")
	example, _, ok2 := strings.Cut(example, "```")
	if !ok || !ok2 {
		t.Fatal("docs/package.md has no example")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ManifestName), []byte(example), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := AppendJSON(nil, m); err != nil || string(got) != example {
		t.Errorf("written back: %v\n%s", err, firstDifference(string(got), example))
	}
}
