package diag

import (
	"encoding/json"
	"fmt"
	"io"
)

// Report is a run of the tool, for the formats that machines read. The methods
// write findings sorted, each once.
type Report struct {
	Tool, Version string
	Kinds         Catalogue
	// Files are all files that were checked, also those without findings.
	Files []string
}

// Formats are the names of the formats. Text, the first, is Printer's.
var Formats = []string{"text", "json", "sarif", "github", "gitlab", "junit"}

// Write writes findings in a format other than text.
func (r Report) Write(w io.Writer, format string, found List) error {
	writers := map[string]func(io.Writer, List) error{
		"json": r.JSON, "sarif": r.SARIF, "github": r.GitHub, "gitlab": r.GitLab, "junit": r.JUnit,
	}
	write, ok := writers[format]
	if !ok {
		return fmt.Errorf("there is no format %q", format)
	}
	return write(w, found.Sorted())
}

// indented writes a value as JSON for machines that people read too.
func indented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// The types of the format json.
type (
	jsonReport struct {
		Tool     string        `json:"tool"`
		Version  string        `json:"version"`
		Files    []string      `json:"files"`
		Findings []jsonFinding `json:"findings"`
	}
	jsonFinding struct {
		Code     string     `json:"code"`
		Name     string     `json:"name"`
		Severity string     `json:"severity"`
		Message  string     `json:"message"`
		Hint     string     `json:"hint,omitempty"`
		Place    jsonPlace  `json:"place"`
		Notes    []jsonNote `json:"notes,omitempty"`
		Fix      *jsonFix   `json:"fix,omitempty"`
	}
	// jsonPlace has no positions where a finding is about a whole file.
	jsonPlace struct {
		File  string   `json:"file,omitempty"`
		Start *jsonPos `json:"start,omitempty"`
		End   *jsonPos `json:"end,omitempty"` // before it the stretch ends
	}
	jsonPos struct {
		Line   int `json:"line"`
		Column int `json:"column"`
	}
	jsonNote struct {
		Message string    `json:"message"`
		Place   jsonPlace `json:"place"`
	}
	jsonFix struct {
		Title   string    `json:"title"`
		Certain bool      `json:"certain"`
		Place   jsonPlace `json:"place"`
		Text    string    `json:"text"`
	}
)

// JSON writes the findings as one JSON object. Lines and columns count from 1,
// columns in characters.
func (r Report) JSON(w io.Writer, found List) error {
	out := jsonReport{Tool: r.Tool, Version: r.Version, Files: append([]string{}, r.Files...), Findings: []jsonFinding{}}
	for _, d := range found {
		f := jsonFinding{Code: d.Code, Name: d.Name, Severity: d.Severity.String(), Message: d.Message, Hint: d.Hint, Place: placeOf(d.Range)}
		for _, n := range d.Notes {
			f.Notes = append(f.Notes, jsonNote{n.Message, placeOf(n.Range)})
		}
		if d.Fix != nil {
			f.Fix = &jsonFix{d.Fix.Title, !d.Fix.Guess, placeOf(d.Fix.Range), d.Fix.NewText}
		}
		out.Findings = append(out.Findings, f)
	}
	return indented(w, out)
}

func placeOf(r Range) jsonPlace {
	p := jsonPlace{File: r.File}
	if r.Start.Line > 0 {
		p.Start, p.End = &jsonPos{r.Start.Line, r.Start.Col}, &jsonPos{r.End.Line, r.End.Col}
	}
	return p
}
