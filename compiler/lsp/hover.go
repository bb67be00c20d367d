package lsp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
)

type hover struct {
	Contents markup `json:"contents"`
	Range    span   `json:"range"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func markdown(text string) markup { return markup{"markdown", text} }

// view is a document with what a request needs to know of it.
type view struct {
	*document
	s       *server
	sources *spec.Sources
	leaf    *spec.Outline
	pos     diag.Pos
	facts   *facts // nil where the spec has not been bound
}

// view returns the document that a request is about, at its place; nil without
// an error if there is nothing to say about it.
func (s *server) view(params json.RawMessage) (*view, *rpcError) {
	p, d, bad := openDocument[placeParams](s, params)
	if bad != nil {
		return nil, bad
	}
	if !d.isSpec() {
		return nil, nil
	}
	v := &view{document: d, s: s, sources: s.sources(d.path)}
	if v.leaf = v.sources.Leaf(); v.leaf == nil {
		return nil, nil
	}
	v.pos = d.text.pos(d.text.offset(p.Position))
	v.facts = s.factsOf(d)
	return v, nil
}

// factsOf returns what is known of a document under its config: of itself, or,
// where it is only a parent, of an open spec that extends it.
func (s *server) factsOf(d *document) *facts {
	if d.last != nil && d.last.facts != nil {
		return d.last.facts
	}
	var best *document
	for _, o := range s.docs {
		if o.last != nil && o.last.facts != nil && o.last.read[d.path] && (best == nil || o.path < best.path) {
			best = o
		}
	}
	if best != nil {
		f := *best.last.facts
		f.text = best.last.open[d.path]
		return &f
	}
	return nil
}

// sources returns the files of a spec as the editor shows them. Outlines are
// kept while their text is the same.
func (s *server) sources(path string) *spec.Sources {
	open := s.texts()
	read := func(path string) ([]byte, error) { return readFile(open, clean(path)) }
	return spec.ReadSources(path, read, func(path string, text []byte) *spec.Outline {
		if o := s.outlines[path]; o != nil && string(o.Text) == string(text) {
			return o
		}
		o := spec.NewOutline(path, text)
		s.outlines[path] = o
		return o
	})
}

// fresh reports whether facts are about the text that the editor shows.
func (v *view) fresh() bool { return v.facts != nil && v.facts.text == v.text }

func (s *server) hover(params json.RawMessage) (any, *rpcError) {
	v, bad := s.view(params)
	if v == nil {
		return nil, bad
	}
	var parts []string
	add := func(lines ...string) {
		if text := strings.TrimSpace(strings.Join(lines, "\n\n")); text != "" {
			parts = append(parts, text)
		}
	}
	var at diag.Range
	if word, r, ok := v.function(); ok {
		add(word)
		at = r
	}
	if n, ok := v.sources.At(v.pos); ok {
		add(v.symbol(n)...)
		at = n.Range
	}
	if p, ok := v.leaf.PlaceAt(v.pos); ok {
		add(v.place(p)...)
		if at.Start.Line == 0 {
			at = p.Range
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return hover{markdown(strings.Join(parts, "\n\n---\n\n")), v.text.span(at)}, nil
}

// function describes the function of expressions that is called at the place.
func (v *view) function() (string, diag.Range, bool) {
	at := v.text.offsetOf(v.pos)
	from, to := word(v.text.s, at)
	if !strings.HasPrefix(v.text.s[to:], "(") {
		return "", diag.Range{}, false
	}
	doc, ok := spec.FunctionDoc(v.text.s[from:to])
	return "```\n" + doc + "\n```", diag.Range{File: v.path, Start: v.text.pos(from), End: v.text.pos(to)}, ok
}

// word returns the name around a byte.
func word(s string, at int) (from, to int) {
	letter := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
	}
	from, to = at, at
	for from > 0 && letter(s[from-1]) {
		from--
	}
	for to < len(s) && letter(s[to]) {
		to++
	}
	return from, to
}

// place describes a key or a value of the language.
func (v *view) place(p spec.Place) []string {
	var lines []string
	if info, ok := v.leaf.Info(p); ok && p.IsKey {
		lines = infoLines(info)
	}
	if !v.fresh() {
		return lines
	}
	if known := v.facts.block(p.Name(), p.Options()); p.IsKey && len(known) > 0 {
		return append(lines, v.under(known)...)
	}
	known := v.facts.option(p.ValueRange())
	if len(known) == 1 && known[0] == "`"+p.Text()+"`" {
		return lines // it stands there
	}
	return append(lines, v.under(known)...)
}

// under lists what holds under the config.
func (v *view) under(known []string) []string {
	if len(known) == 0 {
		return nil
	}
	config := filepath.Base(v.facts.result.ConfigPath())
	if len(known) == 1 {
		return []string{"with " + config + ": " + known[0]}
	}
	return []string{"with " + config + ":\n- " + strings.Join(known, "\n- ")}
}

func infoLines(info spec.Info) []string {
	lines := []string{"**" + info.Title + "**"}
	if info.Doc != "" {
		lines = append(lines, info.Doc)
	}
	var about []string
	if info.Takes != "" {
		about = append(about, "takes "+info.Takes)
	}
	if info.Default != "" {
		about = append(about, "default `"+info.Default+"`")
	}
	if info.Required {
		about = append(about, "required")
	}
	if info.Short != "" {
		about = append(about, "a plain value sets `"+info.Short+"`")
	}
	if len(about) > 0 {
		lines = append(lines, strings.Join(about, "; "))
	}
	return lines
}

// symbol describes what a name stands for.
func (v *view) symbol(n spec.Occurrence) []string {
	lines := []string{"**" + n.Kind.String() + "** `" + n.Name + "`"}
	switch n.Kind {
	case spec.ConfigSymbol:
		k := v.sources.Key(n.Name)
		lines[0] += ": " + k.String()
		if len(k.From) > 0 {
			lines = append(lines, "read from `"+strings.Join(k.From, "`, `")+"`")
		}
		if k.Values != "" {
			lines = append(lines, "covers `"+k.Values+"`")
		}
	case spec.LetSymbol:
		lines[0] += " = `" + v.sources.Let(n.Name) + "`"
	case spec.DimSymbol:
		lines = append(lines, "a size that is known when the graph runs")
	case spec.SpecSymbol:
		if i := slices.IndexFunc(v.sources.Files, func(o *spec.Outline) bool { return o.Name() == n.Name }); i >= 0 {
			lines = append(lines, v.sources.Files[i].Summary())
		}
	}
	if v.facts != nil {
		lines = append(lines, v.under(v.known(n))...)
	}
	return append(lines, v.stated(n))
}

// known returns what a symbol is under the config.
func (v *view) known(n spec.Occurrence) []string {
	f := v.facts
	switch n.Kind {
	case spec.ConfigSymbol, spec.LetSymbol:
		value, ok := f.result.Eval(n.Name)
		if !ok {
			return nil
		}
		text := "`" + spec.Format(value) + "`"
		for _, c := range f.result.Config {
			if n.Kind == spec.ConfigSymbol && c.Path == n.Name {
				if text += ", its default"; c.Source != "" {
					text = strings.TrimSuffix(text, ", its default") + fmt.Sprintf(", from `%s` in line %d", c.Source, c.Range.Start.Line)
				}
			}
		}
		return []string{text}
	case spec.ValueSymbol:
		return f.value(n.Name, f.values)
	case spec.OutputSymbol:
		component, name, _ := strings.Cut(n.Name, ".")
		if t := f.outputs[component][name]; t != nil {
			return []string{"`" + shape(t) + "`"}
		}
	}
	return nil
}

// stated says which files state a symbol, where that is not here.
func (v *view) stated(n spec.Occurrence) string {
	var files []string
	for _, o := range spec.Same(v.sources.Occurrences(), n) {
		if o.Defines && !slices.Contains(files, o.Range.File) {
			files = append(files, o.Range.File)
		}
	}
	if len(files) == 0 || len(files) == 1 && files[0] == v.path {
		return ""
	}
	for i, f := range files {
		files[i] = filepath.Base(f)
	}
	return "stated in " + strings.Join(files, ", ")
}
