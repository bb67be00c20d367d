package spec

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"mobiusc/internal/diag"
	"mobiusc/specs"
)

// A fault case is a spec, a config, or both, with «» around what one mistake is
// about. Exactly one error must be found, there, with this text.
type faultCase struct {
	name   string
	spec   string // "" for child
	config string // "" for none: the spec is only loaded
	want   string // code name: message; hint
	place  string // instead of «»: carried spec, colon, the text at fault
}

// child is a relative that changes nothing but its name.
const child = "spec: v1\nname: x\nextends: llama\nsummary: A test.\n"

// base is a spec without a parent: one component of one linear layer.
const base = `spec: v1
name: x
summary: A test.
model_types: [x]
dtype: dtype
config:
  dtype: {type: dtype, default: float32}
  width: int
  heads: {type: int, default: 4}
components:
  model:
    inputs: {x: "model[batch, width]"}
    body: [{use: x}, {linear: {name: out, out: width * heads}}]
    outputs: {y: result}
`

// llamaConfig is a small config that the child compiles.
const llamaConfig = `{
  "model_type": "llama",
  "hidden_size": 64,
  "intermediate_size": 128,
  "num_hidden_layers": 2,
  "num_attention_heads": 4,
  "num_key_value_heads": 2,
  "rms_norm_eps": 1e-5,
  "vocab_size": 256
}
`

// unmark removes the first «» pair and returns what it encloses as a range.
func unmark(file, text string) (string, diag.Range, bool) {
	before, rest, ok := strings.Cut(text, "«")
	if !ok {
		return text, diag.Range{}, false
	}
	inside, after, _ := strings.Cut(rest, "»")
	return before + inside + after, diag.Range{File: file, Start: posAfter(before), End: posAfter(before + inside)}, true
}

func posAfter(text string) diag.Pos {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	line := strings.Count(text, "\n")
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return diag.Pos{Line: line + 1, Col: len([]rune(last)) + 1}
}

func inMemory(files map[string]string) ReadFile {
	return func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
}

func (c faultCase) run(t *testing.T) {
	spec := c.spec
	if spec == "" {
		spec = child
	}
	spec, want, ok := unmark("x.yaml", spec)
	config, inConfig, marked := unmark("config.json", c.config)
	if !ok {
		want = inConfig
	}
	if ok == marked && c.place == "" {
		t.Fatal("one place must be marked")
	}
	s, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": spec}))
	if s != nil && config != "" && !found.HasErrors() {
		parsed, more := ParseConfig("config.json", []byte(config))
		found = append(found, more...)
		if parsed != nil {
			_, more = s.Bind(parsed, Options{})
			found = append(found, more...)
		}
	}
	var errors diag.List
	for _, d := range found {
		if d.Severity != diag.Note {
			errors = append(errors, d)
		}
	}
	if len(errors) != 1 {
		t.Errorf("%d findings instead of one:", len(errors))
		for _, d := range errors {
			t.Log(d)
		}
		return
	}
	d := errors[0]
	got := d.Code + " " + d.Name + ": " + d.Message
	if d.Hint != "" {
		got += "; " + d.Hint
	}
	if os.Getenv("SHOW") != "" {
		fmt.Printf("%s\t%v-%v\t%s\n", c.name, d.Range, d.Range.End, got)
		return
	}
	if c.place != "" {
		if got := d.Range.File + ": " + textAt(t, d.Range); got != carried+c.place {
			t.Errorf("found at %s, want %s", got, c.place)
		}
	} else if d.Range != want {
		t.Errorf("found at %v to %v, want %v to %v", d.Range, d.Range.End, want, want.End)
	}
	if got != c.want {
		t.Errorf("got  %s\nwant %s", got, c.want)
	}
	if d.Fix != nil {
		c.mend(t, spec, d)
	}
}

// mend applies the fix of a finding, which must not be found again.
func (c faultCase) mend(t *testing.T, spec string, d diag.Diagnostic) {
	if d.Fix.Range.File != "x.yaml" || d.Fix.Title == "" {
		t.Fatalf("the fix is %+v", d.Fix)
	}
	mended, _ := diag.Apply([]byte(spec), []diag.Fix{*d.Fix})
	_, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": string(mended)}))
	for _, left := range found {
		if left.Code == d.Code && left.Range.Start == d.Range.Start && left.Severity == diag.Error {
			t.Errorf("the fix leaves %v\n%s", left, mended)
		}
	}
	if hint := strings.HasPrefix(d.Hint, "did you mean"); hint && !strings.Contains(d.Hint, "`"+strings.Trim(d.Fix.NewText, "'")+"`") {
		t.Errorf("the hint is %s, and the fix writes %s", d.Hint, d.Fix.NewText)
	}
}

// textAt returns the text of a carried spec at a range within one line.
func textAt(t *testing.T, r diag.Range) string {
	t.Helper()
	text, err := specs.FS.ReadFile(strings.TrimPrefix(r.File, carried))
	if err != nil {
		t.Error(err)
		return ""
	}
	line := []rune(strings.Split(string(text), "\n")[r.Start.Line-1])
	return string(line[r.Start.Col-1 : r.End.Col-1])
}

func TestFaults(t *testing.T) {
	for _, c := range faultCases {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), c.run)
	}
}
