package diag

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"mobiusc/internal/golden"
)

// sample has every kind of place: a stretch, several lines, a whole file, none;
// notes, hints, certain fixes and guesses, and characters that formats reserve.
func sample() (Report, List) {
	var kinds Catalogue
	unknown := kinds.Add("MB0201", "unknown-key", Error, "a key that the language does not have at this place")
	idle := kinds.Add("MB0114", "idle-ignore", Warning, "a comment silences nothing")
	shadowed := kinds.Add("MB0410", "shadowed-config-key", Note, "two objects state a key differently")
	file := "specs/größe, 100%.yaml"
	at := Range{File: file, Start: Pos{3, 5}, End: Pos{3, 9}}
	first := unknown.At(at, "a spec has no key `%s`", "ta%s\n\"<ks>\"")
	first.Hint = "did you mean `task`?"
	first.Fix = &Fix{Range: at, NewText: "task", Title: "write `task`"}
	first.Notes = []Related{{Range{File: "/abs/p.yaml", Start: Pos{1, 1}, End: Pos{1, 2}}, "the parent"}, {Range{File: "c.json"}, "the config"}}
	again := unknown.At(Range{File: file, Start: Pos{9, 1}, End: Pos{11, 4}}, "a spec has no key `%s`", "ta%s\n\"<ks>\"")
	again.Fix = &Fix{Range: again.Range, NewText: "x", Title: "write `x`", Guess: true}
	found := List{*first, *again, *idle.At(Range{File: "b.yaml", Start: Pos{1, 2}, End: Pos{1, 2}}, "nothing to ignore"),
		*shadowed.At(Range{File: "c.json"}, "about the whole file"), *unknown.At(Range{}, "about no file"), *first}
	return Report{Tool: "mobiusc", Version: "v1.2.3", Kinds: kinds, Files: []string{"a.yaml", "b.yaml", file}}, found
}

func TestFormats(t *testing.T) {
	r, found := sample()
	for format, ext := range map[string]string{"json": "json", "sarif": "sarif", "github": "txt", "gitlab": "json", "junit": "xml"} {
		var out bytes.Buffer
		if err := r.Write(&out, format, found); err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		golden.File(t, filepath.Join("testdata", "report."+format+"."+ext), out.String())
	}
	if err := r.Write(&bytes.Buffer{}, "yaml", nil); err == nil {
		t.Error("an unknown format is accepted")
	}
}

// TestWellFormed reads every format back, also when there are no findings, and
// compares SARIF with its published schema.
func TestWellFormed(t *testing.T) {
	sarif := sarifSchema(t)
	r, found := sample()
	for _, found := range []List{found, nil} {
		for _, format := range Formats[1:] {
			var out bytes.Buffer
			if err := r.Write(&out, format, found); err != nil {
				t.Fatal(err)
			}
			var value any
			switch format {
			case "junit":
				if err := xml.Unmarshal(out.Bytes(), new(junitSuites)); err != nil {
					t.Errorf("junit: %v", err)
				}
			case "github":
				if n := strings.Count(out.String(), "\n"); n != len(found.Sorted()) {
					t.Errorf("%d workflow commands of %d findings:\n%s", n, len(found.Sorted()), &out)
				}
			default:
				if err := json.Unmarshal(out.Bytes(), &value); err != nil {
					t.Errorf("%s: %v\n%s", format, err, &out)
				}
			}
			if format == "sarif" {
				if err := sarif.Validate(value); err != nil {
					t.Errorf("SARIF does not fit its schema: %#v", err)
				}
			}
		}
	}
	if sarif.Validate(map[string]any{"version": "2.1.0"}) == nil {
		t.Error("the schema accepts a log without runs")
	}
}

func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.Open("testdata/sarif-2.1.0-rtm.5.json")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("sarif.json", text); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A finding keeps its fingerprint when its line moves.
func TestFingerprints(t *testing.T) {
	_, found := sample()
	moved := List{found[0], found[1]}
	for i := range moved {
		moved[i].Range.Start.Line += 7
	}
	a, b := fingerprints(found[:2]), fingerprints(moved)
	if a[0] == a[1] || a[0] != b[0] || a[1] != b[1] {
		t.Errorf("fingerprints %v and %v", a, b)
	}
}
