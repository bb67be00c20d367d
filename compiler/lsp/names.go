package lsp

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"mobiusc/compiler/spec"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// definition leads from a name to where it is stated, and from where it is
// stated to what that changes in a parent.
func (s *server) definition(params json.RawMessage) (any, *rpcError) {
	v, bad := s.view(params)
	if v == nil {
		return nil, bad
	}
	if r, ok := v.anchor(); ok {
		return s.locations([]diag.Range{r}), nil
	}
	n, ok := v.sources.At(v.pos)
	if !ok {
		return nil, nil
	}
	if n.Kind == spec.SpecSymbol {
		for _, o := range v.sources.Files {
			if o.Name() == n.Name && o != v.leaf {
				return s.locations([]diag.Range{{File: o.Path, Start: diag.Pos{Line: 1, Col: 1}, End: diag.Pos{Line: 1, Col: 1}}}), nil
			}
		}
		return nil, nil
	}
	same := spec.Same(v.sources.Occurrences(), n)
	for _, o := range slices.Backward(v.sources.Files) {
		var here []diag.Range
		for _, d := range same {
			if d.Defines && d.Range.File == o.Path && d.Range != n.Range && !(n.Defines && o == v.leaf) {
				here = append(here, d.Range)
			}
		}
		if len(here) > 0 {
			return s.locations(here), nil
		}
	}
	if n.Defines {
		return s.locations([]diag.Range{n.Range}), nil
	}
	return nil, nil
}

// anchor returns the anchor of the alias at the place.
func (v *view) anchor() (diag.Range, bool) {
	if from, _ := word(v.text.s, v.text.offsetOf(v.pos)); !strings.HasSuffix(v.text.s[:from], "*") {
		return diag.Range{}, false // most names are none, and tokens take a while
	}
	tokens, _ := tree.Tokens(v.leaf.Text)
	for i, t := range tokens {
		r := diag.Range{File: v.path, Start: t.Start, End: t.End}
		if t.Kind != tree.NameToken || t.Text[0] != '*' || !contains(r, v.pos) {
			continue
		}
		for _, a := range slices.Backward(tokens[:i]) {
			if a.Kind == tree.NameToken && a.Text == "&"+t.Text[1:] {
				return diag.Range{File: v.path, Start: a.Start, End: a.End}, true
			}
		}
	}
	return diag.Range{}, false
}

func contains(r diag.Range, p diag.Pos) bool {
	return before(r.Start, p) && before(p, r.End)
}

// before reports whether a place is not behind another.
func before(a, b diag.Pos) bool { return a.Line < b.Line || a.Line == b.Line && a.Col <= b.Col }

func (s *server) locations(places []diag.Range) []location {
	out := []location{}
	open := s.texts()
	for _, r := range places {
		if l, ok := s.locate(open, r); ok && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// family returns the files in which a symbol may be named: those of every spec
// that extends the oldest file with the name. A parent stands beside its child,
// so that they stand beside it, or are open.
func (v *view) family(n spec.Occurrence) (all []spec.Occurrence, chains []*spec.Sources) {
	all, chains = v.sources.Occurrences(), []*spec.Sources{v.sources}
	root := v.path
	same := spec.Same(all, n)
	for _, o := range v.sources.Files {
		if slices.ContainsFunc(same, func(n spec.Occurrence) bool { return n.Range.File == o.Path }) {
			root = o.Path
			break
		}
	}
	for _, p := range v.s.beside(v.path, root) {
		if p == v.path {
			continue
		}
		chain := v.s.sources(p)
		if slices.ContainsFunc(chain.Files, func(o *spec.Outline) bool { return o.Path == root }) {
			all, chains = append(all, chain.Occurrences()...), append(chains, chain)
		}
	}
	return all, chains
}

// beside lists the specs in the directories of some files, and the open ones.
func (s *server) beside(files ...string) []string {
	paths := map[string]bool{}
	for p := range s.docs {
		paths[p] = true
	}
	for _, f := range files {
		entries, _ := os.ReadDir(path.Dir(f)) // a buffer has no directory
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".yaml") {
				paths[path.Join(path.Dir(f), e.Name())] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

func (s *server) references(params json.RawMessage) (any, *rpcError) {
	v, bad := s.view(params)
	if v == nil {
		return nil, bad
	}
	p, bad := decode[struct {
		Context struct{ IncludeDeclaration bool }
	}](params)
	if bad != nil {
		return nil, bad
	}
	n, ok := v.sources.At(v.pos)
	if !ok {
		return nil, nil
	}
	all, _ := v.family(n)
	var places []diag.Range
	for _, o := range spec.Same(all, n) {
		if !o.Defines || p.Context.IncludeDeclaration {
			places = append(places, o.Range)
		}
	}
	return s.locations(places), nil
}

func (s *server) prepareRename(params json.RawMessage) (any, *rpcError) {
	v, bad := s.view(params)
	if v == nil {
		return nil, bad
	}
	n, ok := v.sources.At(v.pos)
	if !ok || n.Kind == spec.SpecSymbol || n.Kind == spec.LayerKindSymbol {
		return nil, nil
	}
	return object{"range": v.text.span(n.Range), "placeholder": n.Name[strings.LastIndexByte(n.Name, '.')+1:]}, nil
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

func (s *server) rename(params json.RawMessage) (any, *rpcError) {
	v, bad := s.view(params)
	if v == nil {
		return nil, bad
	}
	p, bad := decode[struct{ NewName string }](params)
	if bad != nil {
		return nil, bad
	}
	n, ok := v.sources.At(v.pos)
	if !ok {
		return nil, failed(codeRequestFailed, "nothing is named here")
	}
	all, chains := v.family(n)
	if why := spec.CheckNewName(all, n.Symbol, p.NewName); why != "" {
		return nil, failed(codeRequestFailed, "%s", why)
	}
	changes := edits{}
	for _, o := range spec.Same(all, n) {
		changes.add(o.Range, p.NewName)
	}
	if n.Kind == spec.ConfigSymbol {
		for _, c := range chains {
			if at, text, ok := c.Sourced(n.Symbol); ok {
				changes.add(at, text)
			}
		}
	}
	for file := range changes {
		if name, ok := spec.IsCarried(file); ok {
			return nil, failed(codeRequestFailed, "the %s is named in the spec %s, which mobiusc carries and cannot change", n.Kind, name)
		}
	}
	if why := v.s.spoils(changes, chains); why != "" {
		return nil, failed(codeRequestFailed, "with the new name, %s", why)
	}
	return object{"changes": changes.protocol(s)}, nil
}

// edits are changes by file.
type edits map[string]map[diag.Range]string

func (e edits) add(at diag.Range, text string) {
	file := clean(at.File)
	if e[file] == nil {
		e[file] = map[diag.Range]string{}
	}
	e[file][at] = text
}

// of returns the changes of one file, the last in the file first.
func (e edits) of(file string, t *text) []textEdit {
	var out []textEdit
	for at, with := range e[file] {
		out = append(out, textEdit{t.span(at), with})
	}
	slices.SortFunc(out, func(a, b textEdit) int {
		if a.Range.Start.Line != b.Range.Start.Line {
			return b.Range.Start.Line - a.Range.Start.Line
		}
		return b.Range.Start.Character - a.Range.Start.Character
	})
	return out
}

func (e edits) protocol(s *server) map[string][]textEdit {
	open := s.texts()
	out := map[string][]textEdit{}
	for file := range e {
		if t := textOf(open, file); t != nil {
			uri := uriOf(file)
			if d := s.docs[file]; d != nil {
				uri = d.uri
			}
			out[uri] = e.of(file, t)
		}
	}
	return out
}

// spoils applies changes in memory and says what is wrong with a spec that was
// right before, or "".
func (s *server) spoils(changes edits, chains []*spec.Sources) string {
	open := s.texts()
	changed := maps.Clone(open)
	for file := range changes {
		t := textOf(open, file)
		if t == nil {
			return file + " cannot be read"
		}
		for _, e := range changes.of(file, t) {
			t = t.change(e.Range, e.NewText)
		}
		changed[file] = t
	}
	load := func(texts map[string]*text, p string) diag.List {
		_, found := spec.Load(p, func(p string) ([]byte, error) { return readFile(texts, clean(p)) })
		return found
	}
	for _, c := range chains {
		p := c.Leaf().Path
		if load(open, p).HasErrors() {
			continue
		}
		for _, d := range load(changed, p) {
			if d.Severity == diag.Error {
				return d.String()
			}
		}
	}
	return ""
}
