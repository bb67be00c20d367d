package diag

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// GitHub writes the findings as workflow commands, which GitHub Actions shows at
// the lines of a pull request.
func (r Report) GitHub(w io.Writer, found List) error {
	var b bytes.Buffer
	for _, d := range found {
		command := map[Severity]string{Error: "error", Warning: "warning", Note: "notice"}[d.Severity]
		var props []string
		if d.Range.File != "" {
			props = append(props, "file="+escapeProperty(filepath.ToSlash(d.Range.File)))
		}
		if start, end := d.Range.Start, d.Range.End; start.Line > 0 {
			props = append(props, fmt.Sprintf("line=%d", start.Line), fmt.Sprintf("endLine=%d", max(end.Line, start.Line)))
			if end.Line == start.Line { // columns count within one line only
				props = append(props, fmt.Sprintf("col=%d", start.Col), fmt.Sprintf("endColumn=%d", max(end.Col, start.Col)))
			}
		}
		props = append(props, "title="+escapeProperty(d.Code+" "+d.Name))
		fmt.Fprintf(&b, "::%s %s::%s\n", command, strings.Join(props, ","), escapeData(d.text()))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// What the syntax of workflow commands reserves.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func escapeData(s string) string     { return data.Replace(s) }
func escapeProperty(s string) string { return property.Replace(s) }

// gitLabFinding is an entry of GitLab's Code Quality report.
type gitLabFinding struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitLabLocation `json:"location"`
}

type gitLabLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
		End   int `json:"end"`
	} `json:"lines"`
}

// GitLab writes the findings as a Code Quality report, which GitLab shows in a
// merge request. Paths must be relative to the repository: run there.
func (r Report) GitLab(w io.Writer, found List) error {
	out := []gitLabFinding{}
	for i, print := range fingerprints(found) {
		d := found[i]
		f := gitLabFinding{Description: d.text(), CheckName: d.Name, Fingerprint: print,
			Severity: map[Severity]string{Error: "major", Warning: "minor", Note: "info"}[d.Severity]}
		f.Location.Path = filepath.ToSlash(filepath.Clean(d.Range.File))
		f.Location.Lines.Begin = max(d.Range.Start.Line, 1)
		f.Location.Lines.End = max(d.Range.End.Line, f.Location.Lines.Begin)
		out = append(out, f)
	}
	return indented(w, out)
}

// fingerprints names findings so that the same one has the same name after
// other lines of the file have changed: by file, kind and message, and by their
// order among equals.
func fingerprints(found List) []string {
	out := make([]string, len(found))
	seen := map[string]int{}
	for i, d := range found {
		key := strings.Join([]string{filepath.ToSlash(d.Range.File), d.Code, d.Message}, "\x00")
		seen[key]++
		sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(seen[key])))
		out[i] = hex.EncodeToString(sum[:16])
	}
	return out
}

// The part of JUnit's XML that CI systems read.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string         `xml:"name,attr"`
		ClassName string         `xml:"classname,attr"`
		Failures  []junitFailure `xml:"failure"`
		Out       string         `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the findings as a report of tests: each file is a test, which
// fails by its errors; warnings and notes are its output.
func (r Report) JUnit(w io.Writer, found List) error {
	files := slices.Clone(r.Files)
	for _, d := range found {
		if !slices.Contains(files, d.Range.File) {
			files = append(files, d.Range.File)
		}
	}
	suite := junitSuite{Name: r.Tool, Tests: len(files)}
	for _, f := range files {
		c := junitCase{Name: f, ClassName: r.Tool}
		if f == "" {
			c.Name = "command line"
		}
		for _, d := range found {
			switch {
			case d.Range.File != f:
			case d.Severity == Error:
				c.Failures = append(c.Failures, junitFailure{d.Code + " " + d.Name, d.text(), d.String()})
			default:
				c.Out += d.String() + "\n"
			}
		}
		if len(c.Failures) > 0 {
			suite.Failures++
		}
		suite.Cases = append(suite.Cases, c)
	}
	text, err := xml.MarshalIndent(junitSuites{Tests: suite.Tests, Failures: suite.Failures, Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}
