package diff

import (
	"io"
	"testing"

	"mobiusc/ir"
)

// FuzzCompare compares whatever parses, broken graphs included: nothing makes it
// panic, and a model does not differ from itself.
func FuzzCompare(f *testing.F) {
	header := "<ir_version: 10, opset_import: [\"\": 24]>\n"
	for _, c := range compareCases {
		f.Add(header+c.a, header+c.b)
		f.Add(c.a, c.b)
	}
	f.Add(header+"g (float[n] x) => (float[n] y) { a = Neg (b) b = Neg (a) y = Abs (b) }", // a cycle
		header+"g (float[n] x) => (float[n] y, y) { y, y = Split (x, , z) }") // names twice, and one of nothing
	f.Fuzz(func(t *testing.T, a, b string) {
		ma, errA := ir.ParseModel("a", []byte(a))
		mb, errB := ir.ParseModel("b", []byte(b))
		if errA != nil || errB != nil {
			t.Skip()
		}
		side := func(m *ir.Model) Side { return Side{Models: []Model{{Name: "m", Model: m}}} }
		r := Compare(side(ma), side(mb))
		for _, write := range []error{r.WriteText(io.Discard, 0), r.WriteMarkdown(io.Discard, 3), r.WriteJSON(io.Discard)} {
			if write != nil {
				t.Fatal(write)
			}
		}
		again, _ := ir.ParseModel("a", []byte(a))
		if r := Compare(side(ma), side(again)); r.Severity != Equal {
			t.Errorf("a model differs from itself: %+v", r.Components)
		}
	})
}
