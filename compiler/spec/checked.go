package spec

import (
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
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

	exprs   map[*tree.Node]*expr.Expr
	names   map[*tree.Node][]namePart
	types   map[*tree.Node]*tensorType
	options map[optionsKey]*tree.Node
	patched map[*tree.Node]*tree.Node // blocks or lets of a kind, by its patch
	visited map[visit]bool
	// inKinds is what the patches of the kinds have deleted in whose layers the
	// check stands; kindDeleted is the same by the patch.
	inKinds     []deletions
	kindDeleted map[*tree.Node]map[string]diag.Range
	letTypes    map[letVisit]expr.Type
	openLets    map[*tree.Node]bool

	functions []*ir.Function // of the spec, parsed

	uses *uses
}

// uses is what a spec and its variants mention on the way from its components.
type uses struct {
	config    map[string]bool // paths of config keys
	lets      map[string]bool
	blocks    map[string]bool
	defaults  map[string]bool
	functions map[string]bool
	symbols   map[string][]diag.Range
}

func newUses() *uses {
	return &uses{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string][]diag.Range{}}
}

type optionsKey struct{ block, defaults *tree.Node }

type visit struct {
	node                   *tree.Node
	blocks, lets, defaults *tree.Node
	component              string
	layers, kind           bool
}

type letVisit struct {
	node, lets   *tree.Node
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
		options: map[optionsKey]*tree.Node{}, patched: map[*tree.Node]*tree.Node{}, kindDeleted: map[*tree.Node]map[string]diag.Range{},
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
	switch {
	case found.HasErrors():
		found = append(found, s.ignores.filter(s.misspelt())...)
	case !s.Abstract:
		found = append(found, s.ignores.filter(s.unused(u))...)
	}
	s.leadToChild(found)
	return found
}

// check checks the spec alone.
func (s *Spec) check() diag.List { return s.checkWith(newUses()) }

func (s *Spec) checkWith(u *uses) diag.List {
	c := s.newChecked(u)
	s.compiled = c
	ctx := context{blocks: s.root.Get("blocks"), lets: s.root.Get("let"), defaults: s.root.Get("defaults")}
	c.checkNames(ctx)
	c.checkLets(ctx.lets)
	c.checkDefaults(c.config)
	if checks := s.root.Get("checks"); checks != nil {
		quiet := c.aside() // a check limits a key, and does not use it
		for _, e := range checks.Entries {
			quiet.expression(e.Value, condition, ctx)
		}
		c.found = quiet.found
	}
	if dtype := s.root.Get("dtype"); dtype != nil {
		c.expression(dtype, dtypeResult, ctx)
	}
	c.checkFunctions()
	c.components(ctx)
	c.checkRuntime(ctx)
	c.checkWeights(ctx)
	c.found = s.ignores.filter(c.found)
	return c.found
}

// aside returns the checker with what is used going nowhere. Its findings have
// to be taken over.
func (c *checked) aside() *checked {
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

// checkDefaults checks the defaults of config keys: literals of the key's type,
// or expressions over the config alone.
func (c *checked) checkDefaults(s *section) {
	for _, k := range s.keys {
		switch {
		case k.section != nil:
			c.checkDefaults(k.section)
		case k.defExpr != nil && slices.Contains(expr.Paths(k.defExpr.Root), k.path):
			c.report(fault.Cycle(k.defExpr.Range(k.defExpr.Root), k.path))
		case k.defExpr != nil:
			quiet := c.aside() // a key is used by what uses the default
			quiet.typed(k.defExpr, k.static(), context{})
			c.found = quiet.found
		case k.def != nil && k.refused == "" && (k.typ.wordy() || k.def.Kind != tree.String):
			c.constantDefault(k)
		}
	}
}

// constantDefault checks a default that is no expression: its type, and that it
// is among the values which the key is limited to.
func (c *checked) constantDefault(k *configKey) {
	what := "the default of " + k.path
	v, ok := c.constant(k.def, k.typ, what)
	if !ok || k.covers(v) {
		return
	}
	at, other := k.def.Range, k.valuesAt
	if at.File != c.s.Path && other.File == c.s.Path {
		at, other = other, at // the child has limited what its parent states
	}
	c.report(fault.DefaultNotCovered(at, what, k.def.Describe(), formatAll(k.values), other))
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
	if len(ctx.words) > 0 {
		for _, word := range expr.Results(e.Root) {
			if text, is := word.Value.(string); is && !slices.Contains(ctx.words, text) {
				c.report(fault.UnknownWord(e.Range(word), "option "+o.Name, text, ctx.words))
			}
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
