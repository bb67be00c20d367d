package spec

import (
	"slices"
	"sync"

	"mobiusc/compiler/spec/expr"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// formKind says what may stand at one place of a spec.
type formKind uint8

const (
	formText     formKind = iota // literal text
	formWord                     // one of words, literally
	formFlag                     // true or false, literally
	formInt                      // a whole number, literally
	formNumber                   // a number, literally
	formAny                      // any scalar or list: compared, never evaluated
	formExpr                     // an expression; opt says what it must yield
	formName                     // a name with {expr} holes
	formValue                    // the name of a value of the component
	formFunction                 // the name of a function of the spec
	formType                     // a tensor type: int64[batch, sequence]
	formConfig                   // the type of a config key
	formRecord                   // a mapping with the given fields
	formMap                      // a mapping from any key to each
	formList                     // a list of each, or one
	formBody                     // a block, a name of a block, or a list of bodies
)

// form is the grammar of one place. From it come the JSON Schema, the expansion
// of short forms, the merge and the messages about structure; there is one form
// for every place, so that these cannot disagree.
type form struct {
	kind   formKind
	name   string // of the schema's definition; "" for a form that is written in place
	title  string // what messages call it: "section config", "block attention"
	doc    string
	fields []field
	each   *form
	words  []string
	// short is the field that a value in another form sets: `rms_norm: norm`.
	short string
	// late forms keep the null of a patch until the patch is applied.
	late bool
	// strict lists are lists: one value does not stand for a list of one.
	strict bool
	// oneStep records hold what is required and exactly one other field.
	oneStep bool
	opt     *lowering.Option
	decl    *lowering.Decl // of a block's options
	// defines is what the keys of a mapping name, its fields excepted; names is
	// what a text names.
	defines, names SymbolKind
}

// field is one key of a record.
type field struct {
	name     string
	form     *form
	doc      string
	required bool
}

func (f *form) field(name string) *field {
	for i := range f.fields {
		if f.fields[i].name == name {
			return &f.fields[i]
		}
	}
	return nil
}

// child returns the form of the value under a key, or nil.
func (f *form) child(key string) *form {
	switch f.kind {
	case formRecord:
		if fd := f.field(key); fd != nil {
			return fd.form
		}
	case formMap:
		if fd := f.field(key); fd != nil {
			return fd.form
		}
		return f.each
	}
	return nil
}

// keys returns the names of the fields.
func (f *form) keys() []string {
	names := make([]string, len(f.fields))
	for i := range f.fields {
		names[i] = f.fields[i].name
	}
	return names
}

// grammar is the whole language: the document and every block.
type grammar struct {
	document *form
	body     *form
	blocks   map[string]*form // a block's options, by type
	types    []string         // block types, in the order of the declarations
	defaults sync.Map         // *lowering.Option → *parsedDefault
}

// parsedDefault is the default of an option, parsed once.
type parsedDefault struct {
	expr *expr.Expr
	bad  *diag.Diagnostic
}

// defaultOf returns the default of an option as an expression. It has no place
// of its own: findings stand where the option is absent.
func (g *grammar) defaultOf(o *lowering.Option) (*expr.Expr, *diag.Diagnostic) {
	p, ok := g.defaults.Load(o)
	if !ok {
		e, d := expr.Parse(o.Default, func(int, int) diag.Range { return diag.Range{} })
		p, _ = g.defaults.LoadOrStore(o, &parsedDefault{e, d})
	}
	parsed := p.(*parsedDefault)
	if parsed.bad != nil {
		d := *parsed.bad
		return nil, &d
	}
	return parsed.expr, nil
}

// language is the grammar made from the declared blocks.
var language = sync.OnceValue(func() *grammar { return newGrammar(lowering.Decls()) })

func newGrammar(decls []*lowering.Decl) *grammar {
	g := &grammar{blocks: map[string]*form{}, body: &form{kind: formBody, name: "body", title: "a body"}}
	for _, d := range decls {
		g.types = append(g.types, d.Name)
		g.blocks[d.Name] = &form{kind: formRecord, name: "block_" + d.Name, title: "block " + d.Name, doc: d.Doc, short: d.Short, decl: d}
	}
	for _, d := range decls { // after all names exist: options refer to blocks
		g.blocks[d.Name].fields = g.options(d.Options, d.Name)
	}
	g.document = g.documentForm()
	return g
}

// options returns the fields that options are.
func (g *grammar) options(opts []lowering.Option, owner string) []field {
	fields := make([]field, len(opts))
	for i := range opts {
		o := &opts[i]
		fields[i] = field{name: o.Name, form: g.option(o, owner), doc: o.Doc, required: o.Required}
	}
	return fields
}

func (g *grammar) option(o *lowering.Option, owner string) *form {
	f := &form{opt: o, title: "option " + o.Name + " of " + owner}
	switch o.Kind {
	case lowering.NameOption:
		f.kind = formName
	case lowering.ValueOption:
		f.kind = formValue
	case lowering.ValuesOption:
		f.kind, f.each = formList, &form{kind: formValue, title: f.title, opt: o}
	case lowering.BodyOption:
		return g.body
	case lowering.BodiesOption:
		f.kind, f.each, f.strict = formList, g.body, true
	case lowering.IntsOption, lowering.TokensOption, lowering.DimsOption:
		f.kind, f.each = formList, &form{kind: formExpr, title: f.title, opt: o}
	case lowering.MapOption:
		f.kind, f.each = formMap, g.option(o.Each, owner)
	case lowering.FunctionOption:
		f.kind = formFunction
	case lowering.RopeOption:
		f.kind, f.fields, f.short = formRecord, g.options(ropeOptions, o.Name), "from"
	case lowering.RecordOption:
		g.recordOption(f, o, owner)
	default:
		f.kind = formExpr
	}
	return f
}

func (g *grammar) recordOption(f *form, o *lowering.Option, owner string) {
	switch {
	case owner == "layers" && o.Name == "kinds":
		f.kind = formMap
		f.defines = LayerKindSymbol
		f.each = &form{kind: formRecord, late: true, title: "a kind of layer", fields: []field{
			{name: "let", form: g.lets(), doc: "named expressions in layers of this kind"},
			{name: "blocks", form: g.named(), doc: "blocks in layers of this kind"},
		}}
		return
	case len(o.Fields) > 0:
		f.fields = g.options(o.Fields, o.Name)
	case g.blocks[o.Of] != nil:
		f.fields = g.options(g.blocks[o.Of].decl.Options, o.Of)
	}
	f.kind, f.short = formRecord, o.Short
}

// expands reports whether a short form is written out before specs are merged.
// Where the short form is a choice for all (`bias: true`) and the fields are
// choices for each, one replaces the other instead.
func (f *form) expands() bool {
	fd := f.field(f.short)
	if fd == nil {
		return false
	}
	if f.decl != nil || f.opt == nil || f.opt.Kind == lowering.RopeOption {
		return true
	}
	return fd.form.kind == formName || fd.form.kind == formBody
}

// ropeOptions are the fields of a rope written in the spec. They override the
// record that the rope starts from.
var ropeOptions = []lowering.Option{
	{Name: "from", Kind: lowering.WordOption, Doc: "a config key of type rope, or an expression that yields one; none: no rotary embedding"},
	{Name: "type", Kind: lowering.WordOption, Words: ropeTypes, Doc: "how the frequencies are scaled"},
	{Name: "theta", Kind: lowering.FloatOption, Doc: "base of the frequencies"},
	{Name: "fraction", Kind: lowering.FloatOption, Doc: "rotated part of each head, 0 < fraction ≤ 1"},
	{Name: "factor", Kind: lowering.FloatOption, Doc: "factor of the scaling"},
	{Name: "positions", Kind: lowering.ValuesOption, Default: "position_ids", Doc: "values that hold the positions"},
	{Name: "pairs", Kind: lowering.WordOption, Words: []string{"half", "adjacent"}, Default: "half", Doc: "which elements turn together: i and i + half, or 2i and 2i + 1"},
	{Name: "axes", Kind: lowering.WordOption, Words: []string{"none", "chunked", "interleaved", "split", "split_heads"}, Doc: "how frequencies are shared among several axes of positions; absent: as the record says"},
	{Name: "dtype", Kind: lowering.DTypeOption, Words: lowering.FloatingWords, Default: "model", Doc: "dtype of the rotation"},
}

// ropeTypes are the scalings that a rope record can name.
var ropeTypes = []string{"default", "linear", "dynamic", "llama3", "yarn", "longrope", "proportional"}

// dtypeChoices are the words of an option that takes a dtype.
var dtypeChoices = slices.Concat([]string{"model"}, dtypeWords)
