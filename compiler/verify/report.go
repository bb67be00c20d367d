package verify

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// Row sums up the results of all steps and layers for one kind of value.
type Row struct {
	Component string `json:"component"`
	Value     string `json:"value"` // logits, present.{i}.key, …
	DType     string `json:"dtype"` // of the package's output
	Error
	Reference *Error `json:"reference_float16,omitempty"`
}

// Summarise joins results of the same kind: of every step, and of the states of
// every layer. Rows come in the order in which kinds first appear.
func Summarise(results []Result) []Row { return group(results, kindOf) }

// SummariseSteps joins the results of every step, and keeps layers apart.
func SummariseSteps(results []Result) []Row {
	return group(results, func(value string) string { return value })
}

func group(results []Result, name func(value string) string) []Row {
	var rows []Row
	index := map[string]int{}
	for _, r := range results {
		kind := name(r.Value)
		i, ok := index[r.Component+"/"+kind]
		if !ok {
			i = len(rows)
			index[r.Component+"/"+kind] = i
			rows = append(rows, Row{Component: r.Component, Value: kind, DType: r.DType, Error: r.Error, Reference: r.Reference})
			continue
		}
		row := &rows[i]
		row.Error = row.Error.join(r.Error)
		if row.Reference != nil && r.Reference != nil {
			joined := row.Reference.join(*r.Reference)
			row.Reference = &joined
		}
	}
	return rows
}

// kindOf replaces the number of a layer by {i}.
func kindOf(value string) string {
	parts := strings.Split(value, ".")
	for i, p := range parts {
		if p != "" && strings.Trim(p, "0123456789") == "" {
			parts[i] = "{i}"
		}
	}
	return strings.Join(parts, ".")
}

// join sums up two errors as if their elements were of one tensor.
func (e Error) join(o Error) Error {
	switch {
	case e.Count == 0:
		return o
	case o.Count == 0:
		return e
	}
	n := float64(e.Count + o.Count)
	weighted := func(a, b float64) float64 { return (a*float64(e.Count) + b*float64(o.Count)) / n }
	out := Error{
		Count: e.Count + o.Count, MaxAbs: max(e.MaxAbs, o.MaxAbs), MaxRel: max(e.MaxRel, o.MaxRel),
		RMS: math.Sqrt(weighted(e.RMS*e.RMS, o.RMS*o.RMS)), Outside: weighted(e.Outside, o.Outside), Argmax: -1,
	}
	if e.Argmax >= 0 && o.Argmax >= 0 {
		out.Argmax = weighted(e.Argmax, o.Argmax)
	}
	return out
}

// Report is the outcome for one reference.
type Report struct {
	Reference string   `json:"reference"`
	Tolerance float64  `json:"tolerance"`
	Rows      []Row    `json:"rows"`
	Results   []Result `json:"results,omitempty"` // step by step, where asked for
}

// Outside reports whether any element is outside the tolerance.
func (r Report) Outside() bool {
	for _, row := range r.Rows {
		if row.Error.Outside > 0 {
			return true
		}
	}
	return false
}

// WriteJSON writes reports as JSON. JSON has no infinity: errors of values that
// are not numbers are written as the largest float64.
func WriteJSON(w io.Writer, reports []Report) error {
	out := slices.Clone(reports)
	for i := range out {
		r := &out[i]
		r.Rows, r.Results = slices.Clone(r.Rows), slices.Clone(r.Results)
		for j := range r.Rows {
			r.Rows[j].Error, r.Rows[j].Reference = r.Rows[j].finite(), finiteOrNil(r.Rows[j].Reference)
		}
		for j := range r.Results {
			r.Results[j].Error, r.Results[j].Reference = r.Results[j].finite(), finiteOrNil(r.Results[j].Reference)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func (e Error) finite() Error {
	bound := func(v float64) float64 { return min(v, math.MaxFloat64) }
	e.MaxAbs, e.MaxRel, e.RMS = bound(e.MaxAbs), bound(e.MaxRel), bound(e.RMS)
	return e
}

func finiteOrNil(e *Error) *Error {
	if e == nil {
		return nil
	}
	f := e.finite()
	return &f
}

// WriteText writes a table a report.
func (r Report) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s (tolerance %g)\n", r.Reference, r.Tolerance)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  component\tvalue\tdtype\tmax abs\tmax rel\trms\toutside\targmax\treference max\treference rms")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", row.Component, row.Value, row.DType, columns(row.Error, row.Reference))
	}
	for _, s := range r.Results {
		fmt.Fprintf(t, "  step %d %s\t%s\t%s\t%s\n", s.Step, s.Component, s.Value, s.DType, columns(s.Error, s.Reference))
	}
	return t.Flush()
}

func columns(e Error, ref *Error) string {
	argmax := "-"
	if e.Argmax >= 0 {
		argmax = fmt.Sprintf("%.1f%%", 100*e.Argmax)
	}
	s := fmt.Sprintf("%.2e\t%.2e\t%.2e\t%.2f%%\t%s", e.MaxAbs, e.MaxRel, e.RMS, 100*e.Outside, argmax)
	if ref == nil {
		return s + "\t-\t-"
	}
	return s + fmt.Sprintf("\t%.2e\t%.2e", ref.MaxAbs, ref.RMS)
}
