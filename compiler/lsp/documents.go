package lsp

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"

	"mobiusc/compiler/spec"
)

// document is an open file.
type document struct {
	uri     string // as the editor writes it
	path    string
	version int
	text    *text
	last    *check // the last that is done; nil before
	// ours is set for a file that the editor itself takes for a spec.
	ours bool
}

// A spec says so in its first key, in its version, or in a modeline. Editors
// start the server for all YAML files, and the key spec alone is one of others
// too.
var (
	specVersion  = regexp.MustCompile(`(?m)^spec:[ \t]*["']?v[0-9]`)
	specFirst    = regexp.MustCompile(`^\x{feff}?(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*spec:`)
	specModeline = regexp.MustCompile(`(?m)^#.*\$schema=\S*spec\.schema\.json`)
)

// isSpec reports whether the document is a spec, or is becoming one.
func (d *document) isSpec() bool {
	return d.ours || specVersion.MatchString(d.text.s) || specFirst.MatchString(d.text.s) || specModeline.MatchString(d.text.s)
}

func (s *server) didOpen(params json.RawMessage) (any, *rpcError) {
	p, bad := decode[openParams](params)
	if bad != nil {
		return nil, bad
	}
	path := pathOf(p.TextDocument.URI)
	s.docs[path] = &document{
		uri: p.TextDocument.URI, path: path, version: p.TextDocument.Version,
		text: newText(p.TextDocument.Text), ours: p.TextDocument.LanguageID == "mobiusc",
	}
	s.changed(path)
	return nil, nil
}

func (s *server) didChange(params json.RawMessage) (any, *rpcError) {
	p, d, bad := openDocument[changeParams](s, params)
	if bad != nil {
		return nil, bad
	}
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			d.text = newText(c.Text)
			continue
		}
		d.text = d.text.change(*c.Range, c.Text)
	}
	if p.TextDocument.Version != nil {
		d.version = *p.TextDocument.Version
	}
	s.changed(d.path)
	return nil, nil
}

func (s *server) didClose(params json.RawMessage) (any, *rpcError) {
	_, d, bad := openDocument[documentParams](s, params)
	if bad != nil {
		return nil, bad
	}
	delete(s.docs, d.path)
	delete(s.pending, d.path)
	delete(s.outlines, d.path)
	s.out.notify("textDocument/publishDiagnostics", publishParams{URI: d.uri, Diagnostics: []diagnostic{}})
	s.changed(d.path) // what reads the file has it from disk again
	return nil, nil
}

func (s *server) didSave(params json.RawMessage) (any, *rpcError) {
	p, bad := decode[documentParams](params)
	if bad != nil {
		return nil, bad
	}
	s.changed(pathOf(p.TextDocument.URI))
	return nil, nil
}

func (s *server) didChangeWatchedFiles(params json.RawMessage) (any, *rpcError) {
	p, bad := decode[watchedFilesParams](params)
	if bad != nil {
		return nil, bad
	}
	for _, c := range p.Changes {
		if path := pathOf(c.URI); s.docs[path] == nil { // what the editor shows goes before the disk
			s.changed(path)
		}
	}
	return nil, nil
}

// openDocument decodes what a message says and returns the document that it is about,
// which must be open.
func openDocument[T interface{ about() string }](s *server, params json.RawMessage) (*T, *document, *rpcError) {
	p, bad := decode[T](params)
	if bad != nil {
		return nil, nil, bad
	}
	d := s.docs[pathOf((*p).about())]
	if d == nil {
		return nil, nil, failed(codeRequestFailed, "%s is not open", (*p).about())
	}
	return p, d, nil
}

// changed marks what has to be checked after a file has changed: the document
// itself, and every one that read the file or looked for it.
func (s *server) changed(path string) {
	for _, d := range s.docs {
		if d.path == path || d.last != nil && d.last.read[path] {
			s.pending[d.path] = true
		}
	}
}

// texts returns the open texts by path, which is what a check works on.
func (s *server) texts() map[string]*text {
	open := make(map[string]*text, len(s.docs))
	for path, d := range s.docs {
		open[path] = d.text
	}
	return open
}

// textOf returns the text of a file as the editor shows it, or nil.
func textOf(open map[string]*text, path string) *text {
	if t := open[path]; t != nil {
		return t
	}
	content, err := spec.ReadSource(path)
	if err != nil {
		return nil
	}
	return newText(string(content))
}

// clean returns a path as documents are known by it.
func clean(path string) string { return filepath.ToSlash(filepath.Clean(path)) }

// nextPending returns a document to check, the first by its path.
func (s *server) nextPending() (string, bool) {
	best := ""
	for path := range maps.Keys(s.pending) {
		if best == "" || path < best {
			best = path
		}
	}
	return best, best != ""
}
