package verify

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	all := func(int) bool { return true }
	for _, c := range []struct {
		name      string
		got, want []float64
		counts    func(int) bool
		expect    Error
	}{
		{"equal", []float64{1, -2, 0}, []float64{1, -2, 0}, all, Error{Count: 3, Argmax: -1}},
		{"absolute and relative", []float64{1, 101}, []float64{0, 100}, all, Error{Count: 2, MaxAbs: 1, MaxRel: 0.01, RMS: 1, Outside: 0.5, Argmax: -1}},
		{"relative where the value is not small", []float64{0.001, 100}, []float64{0, 100}, all, Error{Count: 2, MaxAbs: 0.001, RMS: 0.001 / math.Sqrt2, Argmax: -1}},
		{"equal infinities", []float64{inf, -inf}, []float64{inf, -inf}, all, Error{Count: 2, Argmax: -1}},
		{"not a number", []float64{nan}, []float64{1}, all, Error{Count: 1, MaxAbs: inf, MaxRel: inf, RMS: inf, Outside: 1, Argmax: -1}},
		{"not a number in both", []float64{nan}, []float64{nan}, all, Error{Count: 1, MaxAbs: inf, RMS: inf, Outside: 1, Argmax: -1}},
		{"nothing counts", []float64{5}, []float64{1}, func(int) bool { return false }, Error{Argmax: -1}},
		{"one counts", []float64{5, 1, 9}, []float64{1, 1, 1}, func(i int) bool { return i == 1 }, Error{Count: 1, Argmax: -1}},
	} {
		if got := difference(c.got, c.want, c.counts, Tolerance{0.5, 0.02}, 0); got != c.expect {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.expect)
		}
	}
	e := difference([]float64{1, 2, 5, 4, 0, 9}, []float64{1, 2, 4, 5, 9, 0}, func(i int) bool { return i < 4 }, Tolerance{}, 2)
	if e.Argmax != 0.5 {
		t.Errorf("argmax agrees in %g of the rows that count, want 0.5", e.Argmax)
	}
}

// TestSummarise joins the results of steps and layers.
func TestSummarise(t *testing.T) {
	rows := Summarise([]Result{
		{Component: "model", Value: "logits", Error: Error{Count: 2, MaxAbs: 1, MaxRel: 0.1, RMS: 1, Outside: 1, Argmax: 1}, Reference: &Error{Count: 2, MaxAbs: 4, RMS: 4}},
		{Component: "model", Value: "present.0.key", Error: Error{Count: 1, RMS: 3, Argmax: -1}},
		{Step: 1, Component: "model", Value: "logits", Error: Error{Count: 6, MaxAbs: 3, RMS: 3, Argmax: 0}, Reference: &Error{Count: 6, MaxAbs: 2, RMS: 2}},
		{Step: 1, Component: "model", Value: "present.11.key", Error: Error{Count: 1, RMS: 4, Argmax: -1}},
		{Step: 1, Component: "other", Value: "logits"},
		{Step: 2, Component: "model", Value: "logits", Error: Error{Argmax: -1}, Reference: &Error{Argmax: -1}}, // all padding
	})
	want := []Row{
		{Component: "model", Value: "logits", Error: Error{Count: 8, MaxAbs: 3, MaxRel: 0.1, RMS: math.Sqrt(7), Outside: 0.25, Argmax: 0.25}, Reference: &Error{Count: 8, MaxAbs: 4, RMS: math.Sqrt(7)}},
		{Component: "model", Value: "present.{i}.key", Error: Error{Count: 2, RMS: math.Sqrt(12.5), Argmax: -1}},
		{Component: "other", Value: "logits"},
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows: %+v", len(rows), rows)
	}
	for i, w := range want {
		got := rows[i]
		if got.Component != w.Component || got.Value != w.Value || got.Error != w.Error || (got.Reference == nil) != (w.Reference == nil) {
			t.Errorf("row %d is %+v, want %+v", i, got, w)
		}
		if w.Reference != nil && *got.Reference != *w.Reference {
			t.Errorf("row %d: the reference's error is %+v, want %+v", i, *got.Reference, *w.Reference)
		}
	}
}

// TestWriteJSON checks that what is not a number can be written, and that
// writing does not change the report.
func TestWriteJSON(t *testing.T) {
	inf := math.Inf(1)
	bad := Error{Count: 1, MaxAbs: inf, MaxRel: inf, RMS: inf, Outside: 1, Argmax: -1}
	reports := []Report{{Reference: "x", Tolerance: 1e-4, Rows: []Row{{Component: "m", Value: "v", Error: bad, Reference: &bad}}, Results: []Result{{Error: bad}}}}
	var b strings.Builder
	if err := WriteJSON(&b, reports); err != nil {
		t.Fatal(err)
	}
	var back []Report
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatal(err)
	}
	if e := back[0].Rows[0]; e.MaxAbs != math.MaxFloat64 || e.Reference.RMS != math.MaxFloat64 {
		t.Errorf("%+v", e)
	}
	if reports[0].Rows[0].MaxAbs != inf || reports[0].Results[0].RMS != inf || bad.RMS != inf {
		t.Error("writing changed the report")
	}
}
