package spec

import (
	"maps"
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/tree"
	"mobiusc/lowering"
)

// CandidateKind says what a candidate is.
type CandidateKind uint8

// The kinds of candidates.
const (
	KeyCandidate      CandidateKind = iota // a section, or a field of a record
	BlockCandidate                         // a block type
	WordCandidate                          // a word of a fixed list
	SymbolCandidate                        // something that the spec names
	FunctionCandidate                      // a function of expressions
)

// Candidate is what may be written at a place.
type Candidate struct {
	Kind   CandidateKind
	Symbol SymbolKind // of a SymbolCandidate
	Text   string
	Detail string // a word or two
	Info   Info   // of a key or a block
	// IsKey is set for a key: a colon follows.
	IsKey bool
}

// Complete returns what may be written at a place of the file, in the order in
// which it is to be offered. prefix is the part of the token that a candidate
// takes the place of.
func (s *Sources) Complete(c tree.Cursor) (out []Candidate, prefix string) {
	g := language()
	f, path := g.document, []string(nil)
	for _, step := range c.Path {
		if f, path = g.step(f, step), append(path, step.Key); f == nil {
			return nil, ""
		}
	}
	m := &completer{g: g, s: s, path: path}
	if c.Key {
		m.keys(f, c)
	}
	prefix = c.Token
	if c.Value {
		whole := m.values(f)
		if !whole {
			prefix = lastName(c.Token)
		}
		if i := strings.LastIndexByte(prefix, '.'); i >= 0 && !whole {
			m.out = nil
			m.fields(prefix[:i])
			prefix = prefix[i+1:]
		}
	}
	return m.out, prefix
}

// step returns the form of what a step leads to, through short forms.
func (g *grammar) step(f *form, step tree.Step) *form {
	for f != nil {
		switch {
		case step.Item && f.kind == formList:
			return f.each
		case step.Item && f.kind == formBody, f.kind == formBody && step.Key == "":
			return f
		case f.kind == formBody && g.blocks[step.Key] != nil && step.Key != "if":
			return g.blocks[step.Key]
		case f.kind == formBody:
			return g.blocks["if"].child(step.Key)
		case !step.Item && f.child(step.Key) != nil:
			return f.child(step.Key)
		}
		f = f.shortForm()
	}
	return nil
}

// lastName returns the dotted name that a text ends with.
func lastName(text string) string {
	runes := []rune(text)
	i := len(runes)
	for i > 0 && (expr.IsName("a"+string(runes[i-1])) || runes[i-1] == '.') {
		i--
	}
	return string(runes[i:])
}

type completer struct {
	g    *grammar
	s    *Sources
	path []string
	out  []Candidate
}

func (m *completer) add(c Candidate) {
	if !slices.ContainsFunc(m.out, func(o Candidate) bool { return o.Text == c.Text && o.IsKey == c.IsKey }) {
		m.out = append(m.out, c)
	}
}

// keys offers the keys of a mapping.
func (m *completer) keys(f *form, c tree.Cursor) {
	present := func(key string) bool { return slices.Contains(c.Keys, key) }
	if f.kind == formBody {
		m.blocks(c.Keys, present)
		return
	}
	for i := range f.fields {
		if fd := &f.fields[i]; !present(fd.name) {
			m.add(Candidate{Kind: KeyCandidate, Text: fd.name, Detail: fieldInfo(fd, f).Takes, Info: fieldInfo(fd, f), IsKey: true})
		}
	}
	if short := f.shortForm(); short != nil && short.kind == formBody {
		m.blocks(c.Keys, present)
	}
	if f.defines != NoSymbol { // what a parent states may be changed
		for _, n := range m.s.Occurrences() {
			if n.Kind == f.defines && n.Defines && n.Range.File != m.s.Leaf().Path && !present(n.Name) && !strings.Contains(n.Name, ".") {
				m.add(Candidate{Kind: SymbolCandidate, Symbol: n.Kind, Text: n.Name, Detail: "of " + baseName(n.Range.File), IsKey: true})
			}
		}
	}
}

// blocks offers block types: a block is a mapping with one key.
func (m *completer) blocks(keys []string, present func(string) bool) {
	switch {
	case present("if"):
		for _, fd := range m.g.blocks["if"].fields {
			if !present(fd.name) {
				m.add(Candidate{Kind: KeyCandidate, Text: fd.name, Info: fieldInfo(&fd, m.g.blocks["if"]), IsKey: true})
			}
		}
	case len(keys) == 0:
		for _, name := range m.g.types {
			m.add(Candidate{Kind: BlockCandidate, Text: name, Info: blockInfo(m.g.blocks[name].decl), IsKey: true})
		}
	}
}

// symbols offers what the spec names.
func (m *completer) symbols(kinds ...SymbolKind) {
	for _, n := range m.s.Occurrences() {
		if !slices.Contains(kinds, n.Kind) || strings.Contains(n.Name, ".") && n.Kind != OutputSymbol || !n.Defines && n.Kind != DimSymbol {
			continue
		}
		c := Candidate{Kind: SymbolCandidate, Symbol: n.Kind, Text: n.Name}
		switch n.Kind {
		case ConfigSymbol:
			c.Detail = m.s.Key(n.Name).String()
		case LetSymbol:
			c.Detail = m.s.Let(n.Name)
		default:
			c.Detail = n.Kind.String()
		}
		m.add(c)
	}
}

func (m *completer) words(words ...string) {
	for _, w := range words {
		m.add(Candidate{Kind: WordCandidate, Text: w})
	}
}

// fields offers the keys of a section of the config.
func (m *completer) fields(section string) {
	for _, n := range m.s.Occurrences() {
		if rest, ok := strings.CutPrefix(n.Name, section+"."); ok && n.Kind == ConfigSymbol && n.Defines && !strings.Contains(rest, ".") {
			m.add(Candidate{Kind: SymbolCandidate, Symbol: ConfigSymbol, Text: rest, Detail: m.s.Key(n.Name).String()})
		}
	}
}

// values offers what may stand as a value. whole says that a candidate takes
// the place of the whole token, and not of the last name in an expression.
func (m *completer) values(f *form) (whole bool) {
	switch f.kind {
	case formBody:
		m.symbols(BlockSymbol)
		return true
	case formWord:
		m.words(f.words...)
		return true
	case formFlag:
		m.words("true", "false")
		return true
	case formValue:
		if f.opt.Name == "value" && len(m.path) > 1 && slices.Contains(m.path, "outputs") {
			m.words("result")
		}
		m.symbols(ValueSymbol)
		m.suffixed()
		m.words("none")
		return true
	case formFunction:
		m.symbols(FunctionSymbol)
		return true
	case formConfig:
		m.words(configTypes...)
		return true
	case formText:
		if f.names == SpecSymbol {
			m.words(Names()...)
		} else if f.names != NoSymbol {
			m.symbols(f.names)
		}
		return true
	case formType:
		m.words(append([]string{"model"}, dtypeWords...)...)
		m.symbols(DimSymbol, LetSymbol, ConfigSymbol)
	case formExpr:
		m.expression(f.opt)
	case formName:
		m.symbols(LetSymbol, ConfigSymbol)
	case formList:
		return m.values(f.each)
	case formRecord:
		if short := f.shortForm(); short != nil {
			return m.values(short)
		}
	}
	return false
}

// suffixed offers the values that a block names beside its own: grid.row.
func (m *completer) suffixed() {
	for _, o := range m.s.Files {
		for _, name := range slices.Sorted(maps.Keys(o.suffixes)) {
			m.add(Candidate{Kind: SymbolCandidate, Symbol: ValueSymbol, Text: name, Detail: "value"})
		}
	}
}

func (m *completer) expression(o *lowering.Option) {
	m.words(wordsOf(o)...)
	switch o.Kind {
	case lowering.BoolOption:
		m.words("true", "false")
	case lowering.DimsOption:
		m.symbols(DimSymbol)
	}
	m.symbols(LetSymbol, ConfigSymbol)
	m.words("layer", "kind", "none")
	for _, name := range slices.Sorted(maps.Keys(expr.Functions)) {
		m.add(Candidate{Kind: FunctionCandidate, Text: name, Detail: expr.Functions[name].Takes, Info: Info{Doc: expr.Functions[name].Doc}})
	}
}
