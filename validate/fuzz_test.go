package validate

import (
	"testing"

	"mobiusc/ir"
)

// FuzzModel validates whatever the textual syntax can say, by both sets of
// rules: nothing may panic, and findings are complete.
func FuzzModel(f *testing.F) {
	for _, c := range faults {
		f.Add(c.text)
		f.Add(header + c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ir.ParseModel("fuzz", []byte(text))
		if err != nil {
			return
		}
		before := m.String()
		for _, opts := range []Options{{}, {Standard: true, Dir: t.TempDir()}} {
			for _, f := range Model(m, opts) {
				if f.Code == "" || f.Name == "" || f.Path == "" || f.Message == "" {
					t.Errorf("incomplete finding %+v", f)
				}
			}
		}
		if m.String() != before {
			t.Error("the model was changed")
		}
	})
}
