package spec

import (
	"maps"
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/internal/suggest"
	"mobiusc/ir"
	"mobiusc/lowering"
)

// checked is a spec (or one of its variants) with every expression parsed. The
// static check fills it; evaluation reads it. Everything that is parsed is kept
// by the node it was read from, so that a body that many layers share is parsed
// once.
type checked struct {
	s      *Spec
	g      *grammar
	found  diag.List
	config *section

	exprs    map[*tree.Node]*expr.Expr
	names    map[*tree.Node][]namePart
	types    map[*tree.Node]*tensorType
	options  map[optionsKey]*tree.Node
	patched  map[*tree.Node]*tree.Node // blocks or lets of a kind, by its patch
	visited  map[visit]bool
	letTypes map[letVisit]expr.Type
	openLets map[*tree.Node]bool

	uses *uses
}

// uses is what a spec and its variants mention on the way from its components.
type uses struct {
	config   map[string]bool // paths of config keys
	lets     map[string]bool
	blocks   map[string]bool
	defaults map[string]bool
	symbols  map[string][]diag.Range
}

func newUses() *uses {
	return &uses{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string][]diag.Range{}}
}

type optionsKey struct{ block, defaults *tree.Node }

type visit struct {
	node             *tree.Node
	blocks, defaults *tree.Node
	component        string
	layers, kind     bool
}

type letVisit struct {
	node         *tree.Node
	layers, kind bool
}

// namePart is literal text of a name, or an expression in braces.
type namePart struct {
	text string
	expr *expr.Expr
}

// tensorType is a parsed tensor type.
type tensorType struct {
	model bool // the dtype is the package's
	dtype ir.DataType
	dims  []*expr.Expr
}

// context says where a check stands.
type context struct {
	layers, kind bool       // whether layer and kind have values
	component    string     //
	blocks, lets *tree.Node // as patched by the kind of the layer
	defaults     *tree.Node
	values       []string   // of the component
	use          diag.Range // where a let is used
	stack        []string   // named bodies that are open
	words        []string   // of the option in hand
}

func (s *Spec) newChecked(u *uses) *checked {
	c := &checked{
		s: s, g: s.g, uses: u,
		exprs: map[*tree.Node]*expr.Expr{}, names: map[*tree.Node][]namePart{}, types: map[*tree.Node]*tensorType{},
		options: map[optionsKey]*tree.Node{}, patched: map[*tree.Node]*tree.Node{},
		visited: map[visit]bool{}, letTypes: map[letVisit]expr.Type{}, openLets: map[*tree.Node]bool{},
	}
	c.config = c.declareConfig(s.root.Get("config"))
	return c
}

func (c *checked) report(d *diag.Diagnostic) {
	if d != nil {
		c.found.Add(*d)
	}
}

// checkAll checks the spec and every variant of it, and what none of them uses.
func (s *Spec) checkAll() diag.List {
	u := newUses()
	found := s.checkWith(u)
	for _, name := range s.Variants() {
		if patch := s.root.At("variants", name); patch.Kind == tree.Map {
			v, more := s.patched(name, patch)
			found = append(append(found, more...), v.checkWith(u)...)
		}
	}
	if !s.Abstract && !found.HasErrors() {
		found = append(found, s.unused(u)...)
	}
	return found
}

// check checks the spec alone.
func (s *Spec) check() diag.List { return s.checkWith(newUses()) }

func (s *Spec) checkWith(u *uses) diag.List {
	c := s.newChecked(u)
	s.compiled = c
	ctx := context{blocks: s.root.Get("blocks"), lets: s.root.Get("let"), defaults: s.root.Get("defaults")}
	c.checkNames(ctx)
	c.checkDefaults(c.config)
	if checks := s.root.Get("checks"); checks != nil {
		quiet := c.without(u) // a check limits a key, and does not use it
		for _, e := range checks.Entries {
			quiet.expression(e.Value, condition, ctx)
		}
		c.found = quiet.found
	}
	if dtype := s.root.Get("dtype"); dtype != nil {
		c.expression(dtype, dtypeResult, ctx)
	}
	c.components(ctx)
	c.checkRuntime(ctx)
	return c.found
}

// without returns the checker with its uses going nowhere.
func (c *checked) without(*uses) *checked {
	quiet := *c
	quiet.uses = newUses()
	quiet.letTypes = map[letVisit]expr.Type{}
	return &quiet
}

// checkNames refuses reserved and doubled names among the named expressions.
func (c *checked) checkNames(ctx context) {
	if ctx.lets == nil {
		return
	}
	for _, e := range ctx.lets.Entries {
		c.checkName(e.Key)
		if k := c.config.key(e.Key.Text); k != nil {
			c.report(fault.NameTaken(e.Key.Range, e.Key.Text, k.keyAt))
		}
	}
}

// checkDefaults checks the defaults of config keys, which are expressions over
// the config alone.
func (c *checked) checkDefaults(s *section) {
	for _, k := range s.keys {
		if k.section != nil {
			c.checkDefaults(k.section)
		}
		if k.defExpr == nil {
			if k.def != nil && !k.typ.wordy() && k.def.Kind != tree.String {
				r := &reading{}
				r.convert(k.def, k.typ, "the default of "+k.path)
				c.found = append(c.found, r.found...)
			}
			continue
		}
		quiet := *c
		quiet.uses = newUses()
		t := quiet.typed(k.defExpr, k.static(), context{})
		_ = t
		c.found = quiet.found
	}
}

// typed checks an expression that must have a type.
func (c *checked) typed(e *expr.Expr, want expr.Type, ctx context) expr.Type {
	t, found := expr.Check(e, &scope{c, ctx})
	c.found = append(c.found, found...)
	c.use(e, ctx)
	if len(found) == 0 && !t.Fits(want) {
		if t.Kind == expr.FloatType && want.Kind == expr.IntType {
			c.report(fault.FloatForInt(e.Range(e.Root)))
		} else {
			c.report(fault.TypeMismatch(e.Range(e.Root), want.String(), t.String()))
		}
		return expr.AnyT
	}
	return t
}

// use records the config keys that an expression mentions; what a key's default
// mentions is used with it.
func (c *checked) use(e *expr.Expr, ctx context) {
	for _, path := range expr.Paths(e.Root) {
		c.usePath(path, ctx)
	}
}

func (c *checked) usePath(path string, ctx context) {
	head, rest, _ := strings.Cut(path, ".")
	if slices.Contains(ctx.words, head) || ctx.lets.Get(head) != nil {
		return
	}
	k := c.config.key(head)
	for k != nil && k.section != nil && rest != "" {
		head, rest, _ = strings.Cut(rest, ".")
		k = k.section.key(head)
	}
	if k == nil || c.uses.config[k.path] {
		return
	}
	c.uses.config[k.path] = true
	if k.defExpr != nil {
		c.use(k.defExpr, context{})
	}
}

// scope gives the names of an expression their types.
type scope struct {
	c   *checked
	ctx context
}

// NameType implements expr.Scope.
func (s *scope) NameType(name string, r diag.Range) (expr.Type, *diag.Diagnostic) {
	c, ctx := s.c, s.ctx
	if slices.Contains(ctx.words, name) {
		if at, taken := c.definition(name, ctx); taken {
			return expr.AnyT, fault.AmbiguousWord(r, name, at)
		}
		return expr.StringT, nil
	}
	switch name {
	case "layer":
		if !ctx.layers {
			return expr.AnyT, fault.OutsideLayers(r, name, ctx.use)
		}
		return expr.IntT, nil
	case "kind":
		if !ctx.kind {
			return expr.AnyT, fault.OutsideLayers(r, name, ctx.use)
		}
		return expr.StringT, nil
	}
	if n := ctx.lets.Get(name); n != nil {
		return c.letType(name, n, ctx, r)
	}
	if k := c.config.key(name); k != nil && k.refused == "" {
		return k.static(), nil
	}
	d := fault.UnknownName(r, name, c.known(ctx))
	if at, ok := c.s.deleted["config."+name]; ok {
		d.Notes = append(d.Notes, diag.Related{Range: at, Message: "deleted here"})
	} else if at, ok := c.s.deleted["let."+name]; ok {
		d.Notes = append(d.Notes, diag.Related{Range: at, Message: "deleted here"})
	}
	return expr.AnyT, d
}

// definition returns where a name of the spec is defined.
func (c *checked) definition(name string, ctx context) (diag.Range, bool) {
	if e := ctx.lets.Entry(name); e != nil {
		return e.Key.Range, true
	}
	if k := c.config.key(name); k != nil {
		return k.keyAt, true
	}
	return diag.Range{}, false
}

// isName reports whether a word means something in an expression.
func (c *checked) isName(name string, ctx context) bool {
	_, defined := c.definition(name, ctx)
	return defined || name == "layer" || name == "kind" || slices.Contains(ctx.words, name)
}

// known returns the names that an expression may mention.
func (c *checked) known(ctx context) []string {
	names := slices.Concat(c.config.names(), ctx.lets.Keys(), ctx.words)
	if ctx.layers {
		names = append(names, "layer")
	}
	if ctx.kind {
		names = append(names, "kind")
	}
	return names
}

// letType returns the type of a named expression, which is checked where it is
// used: it may mention layer and kind.
func (c *checked) letType(name string, n *tree.Node, ctx context, r diag.Range) (expr.Type, *diag.Diagnostic) {
	c.uses.lets[name] = true
	key := letVisit{n, ctx.layers, ctx.kind}
	if t, ok := c.letTypes[key]; ok {
		return t, nil
	}
	if c.openLets[n] {
		return expr.AnyT, fault.Cycle(r, name)
	}
	c.openLets[n] = true
	defer delete(c.openLets, n)
	inner := ctx
	inner.words, inner.use = nil, r
	t := c.expression(n, anyResult, inner)
	c.letTypes[key] = t
	return t, nil
}

// expression checks what an option, a named expression or a condition says, and
// returns its type. Literals stand for themselves.
func (c *checked) expression(n *tree.Node, o *lowering.Option, ctx context) expr.Type {
	ctx.words = wordsOf(o)
	want := typeOfOption(o)
	if n.Kind != tree.String || slices.Contains(ctx.words, n.Text) {
		return c.literalType(n, o, want, ctx)
	}
	e := c.parse(n)
	if e == nil {
		return expr.AnyT
	}
	if name, ok := e.Root.(*expr.Name); ok && len(ctx.words) > 0 && !c.isName(name.Name, ctx) {
		c.report(fault.UnknownWord(n.Range, "option "+o.Name, name.Name, ctx.words))
		return expr.AnyT
	}
	t := c.typed(e, want, ctx)
	if word, ok := e.Root.(*expr.Literal); ok && len(ctx.words) > 0 {
		if text, is := word.Value.(string); is && !slices.Contains(ctx.words, text) {
			c.report(fault.UnknownWord(e.Range(e.Root), "option "+o.Name, text, ctx.words))
		}
	}
	return t
}

// literalType checks a value that is no expression.
func (c *checked) literalType(n *tree.Node, o *lowering.Option, want expr.Type, ctx context) expr.Type {
	if n.Kind == tree.String { // a word of the option
		if at, taken := c.definition(n.Text, ctx); taken {
			c.report(fault.AmbiguousWord(n.Range, n.Text, at))
		}
		return expr.StringT
	}
	if n.Kind == tree.List { // of literals; an option that takes a list checks its items itself
		return expr.ListOfT(expr.AnyT)
	}
	t := map[tree.Kind]expr.Type{tree.Null: expr.NoneT, tree.Bool: expr.BoolT, tree.Int: expr.IntT, tree.Float: expr.FloatT}[n.Kind]
	if !t.Fits(want) {
		c.report(fault.WrongType(n.Range, expectedOf(o), n.Describe()))
	}
	return t
}

// typeOfOption returns the type that one value of an option must have.
func typeOfOption(o *lowering.Option) expr.Type {
	switch o.Kind {
	case lowering.IntOption, lowering.IntsOption, lowering.DimsOption:
		return expr.IntT
	case lowering.FloatOption:
		return expr.FloatT
	case lowering.WordOption, lowering.DTypeOption:
		if o.Name == "from" { // of a rope
			return ropeT
		}
		return expr.StringT
	}
	return expr.AnyT
}

// parse returns the expression of a node, parsed once.
func (c *checked) parse(n *tree.Node) *expr.Expr {
	if e, ok := c.exprs[n]; ok {
		return e
	}
	e, d := expr.Parse(n.Text, n.Span)
	c.report(d)
	c.exprs[n] = e
	return e
}

// checkName checks the expressions in a name's braces.
func (c *checked) holes(n *tree.Node, ctx context) {
	ctx.words = nil
	for _, part := range c.nameParts(n) {
		if part.expr != nil {
			c.typed(part.expr, expr.AnyT, ctx)
		}
	}
}

// nameParts splits a name at its braces, once.
func (c *checked) nameParts(n *tree.Node) []namePart {
	if parts, ok := c.names[n]; ok {
		return parts
	}
	var parts []namePart
	text := []rune(n.Text)
	from := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		end := slices.Index(text[i:], '}')
		if end < 0 {
			c.report(fault.BadSyntax(n.Span(i, i+1), "the brace is not closed"))
			break
		}
		end += i
		start := i + 1
		e, d := expr.Parse(string(text[start:end]), func(a, b int) diag.Range { return n.Span(start+a, start+b) })
		c.report(d)
		if e != nil {
			parts = append(parts, namePart{text: string(text[from:i])}, namePart{expr: e})
		}
		from, i = end+1, end
	}
	parts = append(parts, namePart{text: string(text[from:])})
	c.names[n] = parts
	return parts
}

// unused reports what the leaf spec states and neither it nor a variant uses.
func (s *Spec) unused(u *uses) diag.List {
	var found diag.List
	own := func(section string, used map[string]bool, what string) {
		n := s.root.Get(section)
		if n == nil {
			return
		}
		for _, e := range n.Entries {
			if !used[e.Key.Text] && s.states(section, e.Key.Text) {
				found.Add(*fault.Unused(s.statedAt(section, e), what+" `"+e.Key.Text+"`"))
			}
		}
	}
	own("let", u.lets, "the named expression")
	own("blocks", u.blocks, "the block")
	own("defaults", u.defaults, "the default for")
	found = append(found, s.unusedKeys(s.compiled.config, u)...)
	return append(found, s.strangeSymbols(u)...)
}

// states reports whether the leaf file itself has an entry.
func (s *Spec) states(section, key string) bool {
	return s.files[len(s.files)-1].root.At(section, key) != nil
}

func (s *Spec) statedAt(section string, e tree.Entry) diag.Range {
	return s.files[len(s.files)-1].root.Get(section).Entry(e.Key.Text).Key.Range
}

func (s *Spec) unusedKeys(sec *section, u *uses) (found diag.List) {
	for _, k := range sec.keys {
		switch {
		case k.section != nil:
			found = append(found, s.unusedKeys(k.section, u)...)
		case k.refused == "" && len(k.values) == 0 && !u.config[k.path]:
			found.Add(*fault.UnusedKey(k.keyAt, k.path))
		}
	}
	return found
}

// strangeSymbols reports a symbol of a dim that stands in one place only and
// looks like another name.
func (s *Spec) strangeSymbols(u *uses) (found diag.List) {
	names := slices.Sorted(maps.Keys(u.symbols))
	for _, name := range names {
		places := u.symbols[name]
		if len(places) != 1 {
			continue
		}
		var others []string
		for _, other := range slices.Concat(names, s.compiled.config.names(), s.root.Get("let").Keys()) {
			if other != name && suggest.Distance(name, other) <= 1+len(name)/8 {
				others = append(others, other)
			}
		}
		if near := suggest.Nearest(name, others); near != "" && len(name) > 3 {
			found.Add(*fault.SuspiciousDim(places[0], name, near))
		}
	}
	return found
}
