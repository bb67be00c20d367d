package spec

import (
	"slices"
	"strings"

	"mobiusc/internal/diag"
)

// Sources are a spec's files as they are written, the oldest parent first.
type Sources struct {
	Files []*Outline
}

// ReadSources reads a file and its parents. outline makes, or remembers, the
// outline of a text.
func ReadSources(path string, read ReadFile, outline func(path string, text []byte) *Outline) *Sources {
	s := &Sources{}
	l := &loader{read: read}
	text, err := l.open(path)
	for err == nil && !slices.ContainsFunc(s.Files, func(o *Outline) bool { return o.Path == path }) {
		o := outline(path, text)
		s.Files = append(s.Files, o)
		parent := o.Extends()
		if parent == "" || strings.ContainsAny(parent, `/\.`) {
			break
		}
		path, text = l.parent(path, o.Root.Get("extends"))
		if text == nil {
			break
		}
	}
	slices.Reverse(s.Files)
	return s
}

// Leaf returns the outline of the file itself, or nil.
func (s *Sources) Leaf() *Outline {
	if len(s.Files) == 0 {
		return nil
	}
	return s.Files[len(s.Files)-1]
}

// Occurrences returns where the files name symbols, the oldest file first.
func (s *Sources) Occurrences() []Occurrence {
	lets, keys, suffixes := map[string]bool{}, map[string]bool{}, map[string]string{}
	var all []Occurrence
	for _, o := range s.Files {
		for _, n := range o.names {
			if n.Defines && n.Kind == LetSymbol {
				lets[n.Name] = true
			}
			if n.Defines && n.Kind == ConfigSymbol {
				keys[n.Name] = true
			}
		}
		for full, name := range o.suffixes {
			suffixes[full] = name
		}
		all = append(all, o.names...)
	}
	for i := range all {
		n := &all[i]
		switch base := suffixes[n.Name]; {
		case n.Kind == ValueSymbol && base != "":
			n.Name = base
			n.Range.End = diag.Pos{Line: n.Range.End.Line, Col: n.Range.Start.Col + len([]rune(base))}
		case n.Kind != NoSymbol:
		case lets[n.Name]:
			n.Kind = LetSymbol
		case keys[n.Name]:
			n.Kind = ConfigSymbol
		case n.inDim && !strings.Contains(n.Name, "."):
			n.Kind = DimSymbol
		}
	}
	return slices.DeleteFunc(all, func(n Occurrence) bool { return n.Kind == NoSymbol })
}

// At returns what is named at a place of the file itself, which may be just
// behind the name.
func (s *Sources) At(pos diag.Pos) (Occurrence, bool) {
	var best Occurrence
	ok := false
	for _, n := range s.Occurrences() {
		if n.Range.File == s.Leaf().Path && holds(n.Range, pos) && (!ok || holds(best.Range, n.Range.Start)) {
			best, ok = n, true
		}
	}
	return best, ok
}

func holds(r diag.Range, pos diag.Pos) bool {
	return comparePos(r.Start, pos) <= 0 && comparePos(pos, r.End) <= 0
}

// Same returns the occurrences of the symbol that one of them names, in order of
// file and place. Values of one name are one value only where the components
// share a block that names it.
func Same(all []Occurrence, one Occurrence) []Occurrence {
	groups := owners(all)
	var out []Occurrence
	for _, n := range all {
		if n.Symbol == one.Symbol && (n.Kind != ValueSymbol || groups.root(n.owner) == groups.root(one.owner)) {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b Occurrence) int {
		if a.Range.File != b.Range.File {
			return strings.Compare(a.Range.File, b.Range.File)
		}
		return comparePos(a.Range.Start, b.Range.Start)
	})
	return slices.CompactFunc(out, func(a, b Occurrence) bool { return a.Range == b.Range })
}

// groups joins the components and blocks that share values.
type groups map[string]string

func (g groups) root(owner string) string {
	for g[owner] != "" && g[owner] != owner {
		owner = g[owner]
	}
	return owner
}

func (g groups) join(a, b string) {
	if a, b = g.root(a), g.root(b); a != b {
		g[b] = a
	}
}

func owners(all []Occurrence) groups {
	g, at := groups{}, map[diag.Range]string{}
	for _, n := range all {
		if n.owner == "" {
			continue
		}
		if n.Kind == BlockSymbol {
			g.join(n.owner, BlockSymbol.String()+" "+n.Name)
		}
		if other, ok := at[n.Range]; ok { // an alias puts one text into two
			g.join(n.owner, other)
		}
		at[n.Range] = n.owner
	}
	return g
}
