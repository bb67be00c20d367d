package stats

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"mobiusc/internal/number"
)

// Limits of a change, in parts of the recorded count: more is a warning, and
// more is a failure.
const (
	WarnAbove = 0.05
	FailAbove = 0.10
)

// Verdict says what a change means.
type Verdict string

// The verdicts, the worst last.
const (
	OK   Verdict = "ok"
	Note Verdict = "note" // better than recorded, or not recorded yet
	Warn Verdict = "warning"
	Fail Verdict = "failure"
)

var rank = []Verdict{OK, Note, Warn, Fail}

// Row compares one count of one model.
type Row struct {
	Model   string  `json:"model"`
	Count   string  `json:"count"`
	Before  int64   `json:"before"`
	Now     int64   `json:"now"`
	Change  float64 `json:"change"` // (now − before) / before; 0 where nothing is recorded
	Verdict Verdict `json:"verdict"`
	// Why says what the verdict is about; "" for OK.
	Why string `json:"why,omitempty"`
}

// Compare compares the counts of a model with the recorded ones. Nodes may
// become fewer; parameter bytes are given by the checkpoint, and a change in
// either direction counts.
func Compare(recorded, now Model) []Row {
	a, b := recorded.Total(), now.Total()
	rows := []Row{
		row(now.Name(), "nodes", a.Nodes+a.SubgraphNodes, b.Nodes+b.SubgraphNodes),
		row(now.Name(), "parameter bytes", a.ParameterBytes, b.ParameterBytes),
	}
	switch {
	case recorded.Counts == nil:
		for i := range rows {
			rows[i].Verdict, rows[i].Change, rows[i].Why = Note, 0, "not recorded yet"
		}
	case !slices.Equal(slices.Sorted(maps.Keys(recorded.Counts)), slices.Sorted(maps.Keys(now.Counts))):
		rows[0].Verdict = Fail
		rows[0].Why = fmt.Sprintf("the components were %s", strings.Join(slices.Sorted(maps.Keys(recorded.Counts)), ", "))
	}
	return rows
}

func row(model, count string, before, now int64) Row {
	r := Row{Model: model, Count: count, Before: before, Now: now, Verdict: OK}
	switch {
	case before == now:
		return r
	case before == 0:
		r.Change = 1
	default:
		r.Change = float64(now-before) / float64(before)
	}
	size := r.Change
	if count != "nodes" {
		size = math.Abs(size)
	}
	switch {
	case size > FailAbove:
		r.Verdict, r.Why = Fail, fmt.Sprintf("more than %.0f %%", 100*FailAbove)
	case size > WarnAbove:
		r.Verdict, r.Why = Warn, fmt.Sprintf("more than %.0f %%", 100*WarnAbove)
	case size < -WarnAbove:
		r.Verdict, r.Why = Note, "fewer than recorded"
	}
	return r
}

// Worst returns the worst verdict of the rows.
func Worst(rows []Row) Verdict {
	worst := OK
	for _, r := range rows {
		if slices.Index(rank, r.Verdict) > slices.Index(rank, worst) {
			worst = r.Verdict
		}
	}
	return worst
}

// WriteText writes rows as a table.
func WriteText(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MODEL\tCOUNT\tRECORDED\tNOW\tCHANGE")
	for _, r := range rows {
		fmt.Fprintln(t, strings.TrimRight(strings.Join(r.cells(), "\t"), "\t"))
	}
	return t.Flush()
}

// WriteMarkdown writes what changed as a table; a line if nothing did.
func WriteMarkdown(w io.Writer, rows []Row) error {
	changed := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Before == r.Now })
	text := "No model changed its size.\n"
	if len(changed) > 0 {
		text = "| model | count | recorded | now | change |\n|---|---|---:|---:|---|\n"
		for _, r := range changed {
			text += "| " + strings.Join(r.cells(), " | ") + " |\n"
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

// WriteJSON writes rows as JSON.
func WriteJSON(w io.Writer, rows []Row) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}

func (r Row) cells() []string {
	change := ""
	if r.Before != r.Now && r.Before != 0 {
		change = fmt.Sprintf("%+.1f %%", 100*r.Change)
	}
	if r.Verdict != OK {
		change = strings.TrimSpace(change + " " + string(r.Verdict) + ": " + r.Why)
	}
	return []string{r.Model, r.Count, number.Thousands(r.Before), number.Thousands(r.Now), change}
}
