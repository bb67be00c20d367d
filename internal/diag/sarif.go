package diag

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// The part of SARIF 2.1.0 that findings need. The standard is at
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html; section
// numbers are its.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // 3.14
		Tool       sarifTool       `json:"tool"`
		Artifacts  []sarifArtifact `json:"artifacts"`
		ColumnKind string          `json:"columnKind"`
		Results    []sarifResult   `json:"results"`
	}
	sarifArtifact struct {
		Location sarifFile `json:"location"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct { // 3.19
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct { // 3.49
		ID            string      `json:"id"`
		Name          string      `json:"name"`
		Description   sarifText   `json:"shortDescription"`
		Configuration sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct { // 3.27
		RuleID    string            `json:"ruleId"`
		RuleIndex int               `json:"ruleIndex"`
		Level     string            `json:"level"`
		Message   sarifText         `json:"message"`
		Locations []sarifLocation   `json:"locations,omitempty"`
		Related   []sarifLocation   `json:"relatedLocations,omitempty"`
		Prints    map[string]string `json:"partialFingerprints"`
		Fixes     []sarifFix        `json:"fixes,omitempty"`
	}
	sarifLocation struct { // 3.28
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		File   sarifFile    `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	}
	sarifFile struct {
		URI string `json:"uri"`
	}
	sarifRegion struct { // 3.30
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifFix struct { // 3.55
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		File         sarifFile          `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

// SARIF writes the findings as a SARIF 2.1.0 log, which GitHub's code scanning
// and most editors read. Columns count characters, as the log says.
func (r Report) SARIF(w io.Writer, found List) error {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{r.Tool, r.Version, []sarifRule{}}},
		Artifacts:  []sarifArtifact{},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	for _, k := range r.Kinds {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{k.Code, k.Name, sarifText{k.Summary}, sarifConfig{k.Severity.String()}})
	}
	for _, f := range r.Files {
		run.Artifacts = append(run.Artifacts, sarifArtifact{sarifFile{uri(f)}})
	}
	for i, print := range fingerprints(found) {
		d := found[i]
		out := sarifResult{
			RuleID: d.Code, RuleIndex: slices.IndexFunc(r.Kinds, func(k *Kind) bool { return k.Code == d.Code }),
			Level: d.Severity.String(), Message: sarifText{d.text()}, Prints: map[string]string{"mobiusc/v1": print},
		}
		if d.Range.File != "" {
			out.Locations = []sarifLocation{{Physical: physical(d.Range)}}
		}
		for _, n := range d.Notes {
			out.Related = append(out.Related, sarifLocation{physical(n.Range), &sarifText{n.Message}})
		}
		if d.Fix != nil && !d.Fix.Guess {
			out.Fixes = []sarifFix{{sarifText{d.Fix.Title}, []sarifChange{{sarifFile{uri(d.Fix.Range.File)},
				[]sarifReplacement{{*region(d.Fix.Range), sarifText{d.Fix.NewText}}}}}}}
		}
		run.Results = append(run.Results, out)
	}
	const schema = "https://json.schemastore.org/sarif-2.1.0-rtm.5.json"
	return indented(w, sarifLog{schema, "2.1.0", []sarifRun{run}})
}

func physical(r Range) sarifPhysical { return sarifPhysical{sarifFile{uri(r.File)}, region(r)} }

// region returns the lines and columns of a range, or nil for a whole file.
func region(r Range) *sarifRegion {
	if r.Start.Line < 1 || r.Start.Col < 1 {
		return nil
	}
	end := r.End
	if comparePos(end, r.Start) < 0 {
		end = r.Start
	}
	return &sarifRegion{r.Start.Line, r.Start.Col, end.Line, end.Col}
}

// uri returns a path as the reference of a URI: relative ones stay relative.
func uri(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
		if !strings.HasPrefix(u.Path, "/") { // C:/x
			u.Path = "/" + u.Path
		}
	}
	return u.String()
}
