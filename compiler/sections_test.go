package compiler

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
)

var sectionsOf = regexp.MustCompile(`(?s)"rope_scaling": \{.*?\}`)

// TestSections lints a model of three position axes whose config shares out the
// frequencies of a head in ways that no head has.
func TestSections(t *testing.T) {
	config := filepath.Join("..", "testdata", "reference", "qwen3_vl", "config.json")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	for sections, want := range map[string]string{
		"[4, 2, 2]": "",
		"[4, 4]":    "",
		"[4, 2, 1]": "the rotary sections [4 2 1] do not add up to the 8 frequencies of a head",
		"[9223372036854775807, 9223372036854775807, 10]": "do not add up to the 8 frequencies",
		"[-6, 14, 0]":  "mrope_section must be a whole number from 0 on, not -6",
		"[2, 2, 2, 2]": `the rotary sections [2 2 2 2] are of 4 axes, but positions "position_ids" have 3`,
	} {
		for _, more := range []string{`"mrope_interleaved": true, `, ``} {
			changed := sectionsOf.ReplaceAllString(string(text), `"rope_scaling": {`+more+`"rope_type": "default", "mrope_section": `+sections+`}`)
			if changed == string(text) {
				t.Fatal("the config states no sections")
			}
			o := Options{Spec: "qwen3_vl", Config: "c.json", Read: func(path string) ([]byte, error) {
				if path == "c.json" {
					return []byte(changed), nil
				}
				return spec.ReadSource(path)
			}}
			found := Lint(o)
			var errors diag.List
			for _, d := range found {
				if d.Severity == diag.Error {
					errors = append(errors, d)
				}
			}
			switch {
			case want == "" && len(errors) > 0:
				t.Errorf("%s: found %v", sections, errors)
			case want != "" && (len(errors) == 0 || !strings.Contains(errors[0].Message, want)):
				t.Errorf("%s: found %v, want %s", sections, errors, want)
			}
		}
	}
}
