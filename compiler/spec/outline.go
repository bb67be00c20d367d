package spec

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// SymbolKind says what a name in a spec stands for.
type SymbolKind uint8

// The kinds of symbols.
const (
	NoSymbol SymbolKind = iota
	ConfigSymbol
	LetSymbol
	BlockSymbol
	ValueSymbol
	ComponentSymbol
	OutputSymbol // component.output
	VariantSymbol
	LayerKindSymbol
	FunctionSymbol
	DimSymbol
	SpecSymbol // a parent
)

// String names the kind as messages do.
func (k SymbolKind) String() string {
	return [...]string{"", "config key", "named expression", "block", "value", "component", "output", "variant", "kind of layer",
		"function", "symbol of dims", "spec"}[k]
}

// Symbol is what a name stands for. Equal symbols are one thing, all over a spec
// and its relatives, but for values: those belong to components.
type Symbol struct {
	Kind SymbolKind
	Name string // vision.depth, embedding.inputs_embeds
}

// Occurrence is a place where a symbol is named.
type Occurrence struct {
	Symbol
	Range diag.Range // of the name alone, quotes included
	// Defines is set where the symbol is stated; Entry is then its key and its
	// value.
	Defines bool
	Entry   diag.Range
	// value is the value of a definition.
	value *tree.Node
	// owner is the component or the block that the place belongs to.
	owner string
	// inDim is set for a name in a dim: it may be a symbol of dims.
	inDim bool
}

// Place is a key or a value of a file, with what the language says about it.
type Place struct {
	Range diag.Range
	Path  []string // keys that lead to it, its own included
	IsKey bool
	node  *tree.Node
	form  *form  // of the value
	field *field // that a key is, or nil
	owner *form  // the record that it is a field of
}

// ValueRange returns the place of the value, or of the value of a key.
func (p Place) ValueRange() diag.Range { return p.node.Range }

// Name returns the key, or that of a value.
func (p Place) Name() string {
	if len(p.Path) == 0 {
		return ""
	}
	return p.Path[len(p.Path)-1]
}

// Text returns the text of the value, "" of a list or a mapping.
func (p Place) Text() string { return p.node.Text }

// Options returns the places of the values of a block's options, or of what
// stands for one of them.
func (p Place) Options() []diag.Range {
	out := []diag.Range{p.node.Range}
	for _, e := range p.node.Entries {
		out = append(out, e.Value.Range)
	}
	return out
}

// Outline is one file of a spec as it is written. It can be made of any text,
// however wrong the spec is.
type Outline struct {
	Path   string
	Text   []byte
	Root   *tree.Node // nil if nothing of the text is YAML
	Places []Place    // in the order of the file
	names  []Occurrence
	// suffixes are what a block adds to a name: grid.row of grid.
	suffixes map[string]string
}

// NewOutline reads the text of a file. Lines that keep it from being YAML are
// left out.
func NewOutline(path string, text []byte) *Outline {
	out := &Outline{Path: path, Text: text, suffixes: map[string]string{}}
	for range maxRepairs {
		root, found := tree.ParseYAML(path, text)
		if out.Root = root; root != nil || len(found) == 0 {
			break
		}
		var ok bool
		if text, ok = blankLine(text, found[0].Range.Start.Line); !ok {
			break
		}
	}
	if out.Root == nil {
		return out
	}
	o := &outliner{
		Outline: out, g: language(), seen: map[outlined]bool{},
		read: &checked{g: language(), exprs: map[*tree.Node]*expr.Expr{}, names: map[*tree.Node][]namePart{}, types: map[*tree.Node]*tensorType{}},
	}
	o.value(out.Root, o.g.document, nil, "")
	slices.SortStableFunc(out.Places, func(a, b Place) int { return comparePos(a.Range.Start, b.Range.Start) })
	return out
}

// maxRepairs bounds how many lines are left out; while one types there is one.
const maxRepairs = 4

func comparePos(a, b diag.Pos) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Col - b.Col
}

// blankLine replaces a line by blanks, so that no place moves.
func blankLine(text []byte, n int) ([]byte, bool) {
	lines := strings.SplitAfter(string(text), "\n")
	if n < 1 || n > len(lines) || strings.TrimSpace(lines[n-1]) == "" {
		return nil, false
	}
	end := ""
	if strings.HasSuffix(lines[n-1], "\n") {
		end = "\n"
	}
	lines[n-1] = end
	return []byte(strings.Join(lines, "")), true
}

// Extends returns the name of the parent, or "".
func (o *Outline) Extends() string { return textOf(o.Root.Get("extends")) }

type outlined struct {
	n     *tree.Node
	f     *form
	owner string
}

type outliner struct {
	*Outline
	g    *grammar
	read *checked // parses expressions; what it finds wrong is the check's to say
	seen map[outlined]bool
}

// value notes a value and all below it. owner is the component or the block that
// it belongs to.
func (o *outliner) value(n *tree.Node, f *form, path []string, owner string) {
	if n == nil || o.seen[outlined{n, f, owner}] {
		return
	}
	o.seen[outlined{n, f, owner}] = true
	if f != nil && n.Kind != tree.Null {
		f = o.g.written(n, f)
	}
	switch n.Kind {
	case tree.Map:
		o.mapping(n, f, path, owner)
	case tree.List:
		inner := f
		if f != nil && f.kind == formList {
			inner = f.each
		}
		for _, item := range n.Items {
			o.value(item, inner, path, owner)
		}
	default:
		o.Places = append(o.Places, Place{Range: n.Range, Path: path, node: n, form: f})
		if f != nil && n.Kind == tree.String {
			if f.kind == formList {
				f = f.each
			}
			o.scalar(n, f, path, owner)
		}
	}
}

func (o *outliner) mapping(n *tree.Node, f *form, path []string, owner string) {
	if f == nil {
		f = &form{}
	}
	for _, e := range n.Entries {
		key := e.Key.Text
		here := append(path[:len(path):len(path)], key)
		inner, child := owner, o.g.childForm(n, f, key)
		record := f
		if f.kind == formBody && isConditional(n) {
			record = o.g.blocks["if"]
		}
		place := Place{Range: e.Key.Range, Path: here, IsKey: true, node: e.Value, form: child, field: record.field(key), owner: record}
		if f.kind == formBody && record == f && child != nil {
			o.blockValues(e, child, owner)
		}
		if f.defines != NoSymbol && record.field(key) == nil {
			name := symbolName(f.defines, here, owner)
			o.names = append(o.names, Occurrence{
				Symbol: Symbol{f.defines, name}, Range: e.Key.Range, Defines: true, Entry: span(e), value: e.Value, owner: owner,
			})
			if f.defines == BlockSymbol || f.defines == ComponentSymbol {
				inner = f.defines.String() + " " + key
			}
		}
		o.Places = append(o.Places, place)
		o.value(e.Value, child, here, inner)
	}
}

// span is the range of a key and its value. A value that an alias puts there
// stands elsewhere.
func span(e tree.Entry) diag.Range {
	r := e.Key.Range
	if comparePos(e.Value.Range.End, r.End) > 0 {
		r.End = e.Value.Range.End
	}
	return r
}

// symbolName returns the name of what a key defines: the path of a key of the
// config, an output with its component.
func symbolName(kind SymbolKind, path []string, owner string) string {
	name := path[len(path)-1]
	switch kind {
	case ConfigSymbol:
		var names []string
		from := 1
		if path[0] == "variants" { // variants.text_only.config.vision
			from = 3
		}
		for i := from; i < len(path); i += 2 { // config.vision.keys.depth
			names = append(names, path[i])
		}
		return strings.Join(names, ".")
	case OutputSymbol:
		return strings.TrimPrefix(owner, ComponentSymbol.String()+" ") + "." + name
	}
	return name
}

// valueTemplate is how a block names a value: by an option, and what follows it.
var valueTemplate = regexp.MustCompile(`^\{(\w+)\}(.*)$`)

// blockValues notes the values that a block names.
func (o *outliner) blockValues(e tree.Entry, f *form, owner string) {
	for _, template := range f.decl.Values {
		m := valueTemplate.FindStringSubmatch(template)
		if m == nil {
			continue
		}
		n := e.Value.Get(m[1])
		if f.short == m[1] && e.Value.Kind == tree.String {
			n = e.Value
		}
		if n == nil || n.Kind != tree.String {
			continue
		}
		if m[2] != "" {
			o.suffixes[n.Text+m[2]] = n.Text
			continue
		}
		o.names = append(o.names, Occurrence{
			Symbol: Symbol{ValueSymbol, n.Text}, Range: n.Range, Defines: true, Entry: span(e), value: e.Value, owner: owner,
		})
	}
}

// scalar notes what a text names.
func (o *outliner) scalar(n *tree.Node, f *form, path []string, owner string) {
	name := func(kind SymbolKind, text string, r diag.Range) {
		o.names = append(o.names, Occurrence{Symbol: Symbol{kind, text}, Range: r, owner: owner})
	}
	switch f.kind {
	case formBody:
		name(BlockSymbol, n.Text, n.Range)
	case formFunction:
		name(FunctionSymbol, n.Text, n.Range)
	case formValue:
		if n.Text != "none" && n.Text != "result" {
			name(ValueSymbol, n.Text, n.Range)
		}
	case formText:
		switch {
		case f.names == OutputSymbol:
			component, _, ok := strings.Cut(n.Text, ".")
			if at := len([]rune(component)); ok {
				name(ComponentSymbol, component, n.Span(0, at))
				name(OutputSymbol, n.Text, n.Span(at+1, len([]rune(n.Text))))
			}
		case f.names != NoSymbol:
			name(f.names, n.Text, n.Range)
		}
	case formName:
		for _, part := range o.read.nameParts(n) {
			o.expression(part.expr, nil, false, owner)
		}
	case formType:
		if t := o.read.tensorType(n); t != nil {
			for _, d := range t.dims {
				o.expression(d, nil, true, owner)
			}
		}
	case formExpr:
		if words := wordsOf(f.opt); !slices.Contains(words, n.Text) {
			o.expression(o.read.parse(n), words, f.opt.Kind == lowering.DimsOption, owner)
		}
	case formAny:
		if len(path) > 0 && path[len(path)-1] == "default" {
			o.expression(o.read.parse(n), nil, false, owner)
		}
	}
}

// expression notes the names of an expression: config keys, named expressions
// and, in dims, symbols. Which it is the whole chain of files decides.
func (o *outliner) expression(e *expr.Expr, words []string, inDim bool, owner string) {
	if e == nil {
		return
	}
	expr.Walk(e.Root, func(n expr.Node) {
		path, ok := expr.Path(n)
		if !ok {
			return
		}
		r := e.Range(n)
		if a, is := n.(*expr.Attr); is {
			r = e.NameRange(a)
		} else if slices.Contains(words, path) || path == "layer" || path == "kind" {
			return
		}
		o.names = append(o.names, Occurrence{Symbol: Symbol{NoSymbol, path}, Range: r, inDim: inDim, owner: owner})
	})
}

// PlaceAt returns the innermost key or value at a place of a file.
func (o *Outline) PlaceAt(pos diag.Pos) (Place, bool) {
	for i := len(o.Places) - 1; i >= 0; i-- {
		if p := o.Places[i]; p.Range.File == o.Path && holds(p.Range, pos) {
			return p, true
		}
	}
	return Place{}, false
}

// Name returns the name of the spec, by its file.
func (o *Outline) Name() string { return baseName(filepath.ToSlash(o.Path)) }

// Summary returns the sentence that says what the spec is.
func (o *Outline) Summary() string { return textOf(o.Root.Get("summary")) }
