package lsp

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
)

// check is one run of all checks over a document and what it extends.
type check struct {
	path    string
	version int
	open    map[string]*text // the texts that it read
	read    map[string]bool  // paths of files that it read or looked for
	found   diag.List
	config  string // the config.json that it was bound to, or ""
	// configAt is where the document names it.
	configAt diag.Range
	facts    *facts // nil where the spec has not been bound
	fault    string // a panic
	skip     bool   // the document is no spec
}

// startCheck checks the next document that waits, in the background.
func (s *server) startCheck() {
	path, ok := s.nextPending()
	if s.checking || !ok {
		return
	}
	delete(s.pending, path)
	s.checking = true
	c := &check{path: path, version: s.docs[path].version, open: s.texts(), read: map[string]bool{}, skip: !s.docs[path].isSpec()}
	go func() {
		c.run()
		s.checks <- c
	}()
}

// finishCheck publishes what a check found, unless the document has changed.
func (s *server) finishCheck(c *check) {
	s.checking = false
	d := s.docs[c.path]
	if c.fault != "" {
		s.internal("checking "+c.path, c.fault)
	}
	if d == nil {
		return
	}
	if old := d.last; old != nil && c.facts == nil {
		c.facts = old.facts // values stay known while the text is broken
	}
	d.last = c
	for path := range c.read { // a file that it read has changed meanwhile
		if d := s.docs[path]; d != nil && d.text != c.open[path] {
			s.pending[c.path] = true
		}
	}
	if s.pending[c.path] {
		return // the next check publishes
	}
	defer func() {
		if r := recover(); r != nil {
			s.internal("showing findings of "+c.path, r)
		}
	}()
	s.out.notify("textDocument/publishDiagnostics", publishParams{URI: d.uri, Version: &c.version, Diagnostics: c.diagnostics(s)})
}

// internal logs a fault of the server itself.
func (s *server) internal(while string, fault any) {
	fmt.Fprintf(s.log, "mobiusc lsp: internal error while %s: %v\n%s", while, fault, debug.Stack())
}

// file reads a file, and remembers that it was read.
func (c *check) file(path string) ([]byte, error) {
	path = clean(path)
	c.read[path] = true
	return readFile(c.open, path)
}

// run finds all that can be found: what needs no config and what its values and
// its shapes show, with the config that the spec has or, where it has none, with
// made-up ones.
func (c *check) run() {
	defer func() {
		if r := recover(); r != nil {
			c.fault = fmt.Sprintf("%v\n%s\nfound out here:", r, debug.Stack())
		}
	}()
	if c.read[c.path] = true; c.skip {
		return
	}
	s, found := c.load()
	c.found = found
	if s == nil || found.HasErrors() || s.Abstract {
		return
	}
	config, found := c.configOf(s)
	if c.found = append(c.found, found...); config == nil {
		c.found = append(c.found, s.TryShapes()...)
		return
	}
	c.config = clean(config.Path)
	result, found := s.Bind(config, spec.Options{})
	if c.found = append(c.found, found...); result == nil {
		return
	}
	c.facts = &facts{text: c.open[c.path], result: result}
	c.found = append(c.found, c.facts.lower(result.Model)...)
}

// load loads the document. A buffer without a file has the name that it states:
// it will be saved under that.
func (c *check) load() (*spec.Spec, diag.List) {
	if path.IsAbs(c.path) || filepath.IsAbs(c.path) {
		return spec.Load(c.path, c.file)
	}
	file := "unsaved.yaml"
	if m := statedName.FindStringSubmatch(c.open[c.path].s); m != nil {
		file = m[1] + ".yaml"
	}
	s, found := spec.Load(file, func(path string) ([]byte, error) {
		if clean(path) == file {
			path = c.path
		}
		return c.file(path)
	})
	here := func(r *diag.Range) {
		if r.File == file {
			r.File = c.path
		}
	}
	for i := range found {
		d := &found[i]
		here(&d.Range)
		for i := range d.Notes {
			here(&d.Notes[i].Range)
		}
		if d.Fix != nil {
			here(&d.Fix.Range)
		}
	}
	return s, found
}

var statedName = regexp.MustCompile(`(?m)^name:[ \t]*(\w+)`)

// diagnostics returns the findings as the protocol has them. All are published
// with the document that was checked: another file may be right by itself.
func (c *check) diagnostics(s *server) []diagnostic {
	out := []diagnostic{}
	for _, d := range c.found.Sorted() {
		if clean(d.Range.File) != c.path && d.Severity == diag.Note {
			continue
		}
		out = append(out, c.diagnostic(s, d))
	}
	return out
}

func (c *check) diagnostic(s *server, d diag.Diagnostic) diagnostic {
	out := diagnostic{
		Severity: severityError + int(d.Severity), Code: d.Name, Source: "mobiusc", Message: d.Message,
	}
	if d.Hint != "" {
		out.Message += "\n" + d.Hint
	}
	notes := d.Notes
	if clean(d.Range.File) == c.path {
		out.Range = c.open[c.path].span(d.Range)
		if slices.Contains([]string{"unused-block", "unused-config-key"}, d.Name) {
			out.Tags = []int{tagUnnecessary}
		}
	} else {
		out.Range = c.anchor(d.Range.File)
		out.Message = fmt.Sprintf("%s: %s", shown(d.Range), out.Message)
		notes = append([]diag.Related{{Range: d.Range, Message: d.Message}}, notes...)
	}
	for _, n := range notes {
		if !s.client.Capabilities.TextDocument.PublishDiagnostics.RelatedInformation {
			out.Message += fmt.Sprintf("\n%s: %s", shown(n.Range), n.Message)
			continue
		}
		if at, ok := s.locate(c.open, n.Range); ok {
			out.Related = append(out.Related, related{at, n.Message})
		}
	}
	return out
}

// shown names a place in another file: its name and its line.
func shown(r diag.Range) string {
	name := r.File[strings.LastIndexByte(r.File, '/')+1:]
	if r.Start.Line == 0 {
		return name
	}
	return fmt.Sprintf("%s:%d:%d", name, r.Start.Line, r.Start.Col)
}
