package spec

import (
	"math"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/ir"
	"mobiusc/lowering"
)

// record evaluates the options of a block or the fields of an option. An option
// that is absent, or none, has no entry; then its default is evaluated, which
// may read the other options.
func (ev *evaluator) record(n *tree.Node, f *form, title string, r diag.Range, at place) lowering.Record {
	out := lowering.Record{}
	if n.Kind != tree.Map { // the short form of a choice for all
		if short := f.field(f.short); short != nil {
			n = tree.NewMap(n.Range, tree.Entry{Key: tree.NewText(f.short, n.Range), Value: n})
		}
	}
	for i := range f.fields {
		fd := &f.fields[i]
		value := n.Get(fd.name)
		if value == nil || value.Kind == tree.Null {
			continue
		}
		v, ok := ev.option(value, fd.form, at)
		switch {
		case !ok:
			out[fd.name] = lowering.Opt{} // reported: no default, no second message
		case v != nil:
			out[fd.name] = lowering.Opt{Value: v, Range: value.Range}
		case fd.required:
			ev.fail(fault.NoneOption(value.Range, title, fd.name))
			out[fd.name] = lowering.Opt{}
		}
	}
	ev.defaults(out, n, f, r, at)
	for name, o := range out {
		if o.Value == nil {
			delete(out, name)
		}
	}
	return out
}

// defaults fills in the options that are absent.
func (ev *evaluator) defaults(out lowering.Record, n *tree.Node, f *form, r diag.Range, at place) {
	for i := range f.fields {
		fd := &f.fields[i]
		o := fd.form.opt
		if o == nil || o.Default == "" || out.Has(fd.name) {
			continue
		}
		if v := n.Get(fd.name); v != nil && fd.form.kind == formValue {
			continue // none: there is to be no value
		}
		if v := ev.defaultOf(o, fd.form, out, r, at); v != nil {
			out[fd.name] = lowering.Opt{Value: v, Range: r}
		}
	}
}

// defaultOf evaluates a default of a block declaration.
func (ev *evaluator) defaultOf(o *lowering.Option, f *form, owner lowering.Record, r diag.Range, at place) any {
	switch {
	case f.kind == formName:
		return o.Default
	case f.kind == formValue:
		ev.available(o.Default, r, at)
		return o.Default
	case o.Kind == lowering.ValuesOption:
		return []string{o.Default}
	case f.kind == formRecord:
		return ev.record(&tree.Node{Kind: tree.Map, Range: r}, f, o.Name, r, at)
	}
	at.words, at.owner = wordsOf(o), owner
	e, d := ev.g.defaultOf(o)
	var v expr.Value
	if d == nil {
		v, d = expr.Eval(e, &environment{ev, at})
	}
	if d != nil {
		if d.Range = r; len(ev.errs) == 0 { // else it follows from an option that was reported
			ev.fail(d)
		}
		return nil
	}
	if v == nil {
		return nil // what it is made of is none, or was reported
	}
	if list, ok := v.([]expr.Value); ok || isListOption(o) {
		if !ok {
			list = []expr.Value{v}
		}
		return ev.ints(list, o, r)
	}
	out, _ := ev.typedValue(v, o, r)
	return out
}

func isListOption(o *lowering.Option) bool {
	return o.Kind == lowering.IntsOption || o.Kind == lowering.TokensOption
}

// option evaluates one option to the Go type that its kind states; nil is none.
func (ev *evaluator) option(n *tree.Node, f *form, at place) (any, bool) {
	switch f.kind {
	case formBody:
		return ev.body(n, at), true
	case formName:
		return orNone(ev.name(n, at))
	case formValue:
		if n.Text == "none" {
			return nil, true
		}
		return n.Text, ev.available(n.Text, n.Range, at)
	case formFunction:
		return n.Text, true
	case formMap:
		return ev.mapping(n, f, at)
	case formList:
		return ev.list(n, f, at)
	case formRecord:
		return ev.recordOption(n, f, at)
	}
	v, ok := ev.value(n, f.opt, at)
	if !ok || v == nil {
		return nil, ok
	}
	before := len(ev.errs)
	defer func() { ev.explain(before, at, ev.expression(n)) }()
	return ev.typedValue(v, f.opt, n.Range)
}

func orNone(text string, ok bool) (any, bool) {
	if text == "" {
		return nil, ok
	}
	return text, ok
}

// name evaluates a name with its holes.
func (ev *evaluator) name(n *tree.Node, at place) (string, bool) {
	at.words, at.owner = nil, nil
	var b strings.Builder
	for _, part := range ev.nameParts(n) {
		b.WriteString(part.text)
		if part.expr == nil {
			continue
		}
		v, d := ev.eval(part.expr, at)
		if d != nil {
			ev.fail(d)
			return "", false
		}
		b.WriteString(strings.Trim(expr.Format(v), "'"))
	}
	return b.String(), true
}

// available checks that a value has been named before it is read.
func (ev *evaluator) available(name string, r diag.Range, at place) bool {
	if _, ok := at.component.values[name]; !ok {
		ev.fail(fault.ValueTooEarly(r, name))
		return false
	}
	return true
}

// mapping evaluates what stands under each name; what is none is left out.
func (ev *evaluator) mapping(n *tree.Node, f *form, at place) (any, bool) {
	out := lowering.Record{}
	for _, e := range n.Entries {
		v, ok := ev.option(e.Value, f.each, at)
		if !ok {
			return nil, false
		}
		if v != nil {
			out[e.Key.Text] = lowering.Opt{Value: v, Range: e.Value.Range}
		}
	}
	return out, true
}

// recordOption evaluates a mapping. One whose `when` does not hold is absent.
func (ev *evaluator) recordOption(n *tree.Node, f *form, at place) (any, bool) {
	if f.opt.Kind == lowering.RopeOption {
		return ev.rope(n, f, at)
	}
	if fd := f.field("when"); fd != nil && n.Get("when") != nil {
		holds, ok := ev.truth(n.Get("when"), at)
		if !ok || !holds {
			return nil, ok
		}
	}
	record := ev.record(n, f, f.title, n.Range, at)
	delete(record, "when")
	return record, true
}

// list evaluates a list, or an expression that yields one.
func (ev *evaluator) list(n *tree.Node, f *form, at place) (any, bool) {
	switch f.opt.Kind {
	case lowering.BodiesOption:
		var bodies []lowering.Body
		for _, item := range n.Items {
			bodies = append(bodies, ev.body(item, at))
		}
		return bodies, true
	case lowering.ValuesOption:
		names := textsOf(n)
		for i, name := range names {
			where := n.Range
			if n.Kind == tree.List {
				where = n.Items[i].Range
			}
			if !ev.available(name, where, at) {
				return nil, false
			}
		}
		return names, true
	case lowering.DimsOption:
		return ev.dims(n, at)
	}
	items := []*tree.Node{n}
	if n.Kind == tree.List {
		items = n.Items
	}
	var out []expr.Value
	for _, item := range items {
		v, ok := ev.value(item, f.opt, at)
		if !ok {
			return nil, false
		}
		switch list, is := v.([]expr.Value); {
		case is:
			out = append(out, list...)
		case v != nil:
			out = append(out, v)
		case n.Kind != tree.List:
			return nil, true // none: as if the option were not written
		case f.opt.Kind == lowering.IntsOption: // of tokens, one may be left out
			ev.fail(fault.NoValue(item.Range, "an entry of "+f.opt.Name))
			return nil, false
		}
	}
	before := len(ev.errs)
	ints := ev.ints(out, f.opt, n.Range)
	var parts []*expr.Expr
	for _, item := range items {
		parts = append(parts, ev.expression(item))
	}
	ev.explain(before, at, parts...)
	return ints, ints != nil
}

// ints converts a list of whole numbers.
func (ev *evaluator) ints(list []expr.Value, o *lowering.Option, r diag.Range) []int64 {
	out := make([]int64, len(list))
	for i, v := range list {
		whole, ok := v.(int64)
		if !ok {
			ev.fail(fault.TypeMismatch(r, "a list of whole numbers", expr.Format(v)))
			return nil
		}
		if whole < 1 && o.Kind == lowering.IntsOption && !o.Signed {
			ev.fail(fault.BadNumber(r, o.Name, "whole numbers above 0", expr.Format(v)))
			return nil
		}
		out[i] = whole
	}
	return out
}

func (ev *evaluator) dims(n *tree.Node, at place) (any, bool) {
	items := []*tree.Node{n}
	if n.Kind == tree.List {
		items = n.Items
	}
	dims := make([]ir.Dim, len(items))
	for i, item := range items {
		e := ev.dimExpr(item)
		if e == nil {
			return nil, false
		}
		d, ok := ev.dim(e, at)
		if !ok {
			return nil, false
		}
		dims[i] = d
	}
	return dims, true
}

// typedValue converts the value of an expression to the Go type of an option.
func (ev *evaluator) typedValue(v expr.Value, o *lowering.Option, r diag.Range) (any, bool) {
	bad := func(want string) (any, bool) {
		ev.fail(fault.BadNumber(r, o.Name, want, expr.Format(v)))
		return nil, false
	}
	switch o.Kind {
	case lowering.IntOption:
		switch i, ok := v.(int64); {
		case !ok:
			return bad("a whole number")
		case i < 1 && !o.Signed:
			return bad("a whole number above 0")
		default:
			return i, true
		}
	case lowering.FloatOption:
		x, ok := v.(float64)
		if i, whole := v.(int64); whole {
			x, ok = float64(i), true
		}
		switch {
		case !ok || math.IsNaN(x) || math.IsInf(x, 0):
			return bad("a number")
		case o.Bound == lowering.AboveZero && x <= 0:
			return bad("a number above 0")
		case o.Bound == lowering.NotNegative && x < 0:
			return bad("a number from 0 on")
		default:
			return x, true
		}
	case lowering.BoolOption:
		return expr.Truth(v), true
	case lowering.DTypeOption:
		word, _ := v.(string)
		allowed := containsWord(wordsOf(o), word)
		if word == "model" {
			word = ev.compute
		}
		if t := dtypeOf[word]; t != ir.Undefined && allowed {
			return t, true
		}
		ev.fail(fault.BadWordValue(r, o.Name, expr.Format(v), wordsOf(o)))
		return nil, false
	}
	word, ok := v.(string)
	if !ok || len(o.Words) > 0 && !containsWord(o.Words, word) {
		ev.fail(fault.BadWordValue(r, "option "+o.Name, expr.Format(v), o.Words))
		return nil, false
	}
	return word, true
}

func containsWord(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// rope evaluates a rotary embedding: a record from the config, and what the
// spec states over it. Without a record there is none, unless the spec states a
// theta of its own.
func (ev *evaluator) rope(n *tree.Node, f *form, at place) (any, bool) {
	rope := lowering.Rope{Type: "default", Theta: defaultTheta, Fraction: 1, Truncate: true}
	if from := n.Get("from"); from != nil {
		v, ok := ev.value(from, f.field("from").form.opt, at)
		if !ok || v == nil {
			return nil, ok
		}
		record, is := v.(*lowering.Rope)
		if !is {
			ev.fail(fault.TypeMismatch(from.Range, ropeT.String(), expr.Format(v)))
			return nil, false
		}
		rope = *record
	}
	opts := ev.record(n.With(tree.NewText("from", n.Range), nil), f, f.title, n.Range, at)
	set := func(name string, into *float64) {
		if opts.Has(name) {
			*into = opts.Float(name)
		}
	}
	set("theta", &rope.Theta)
	set("fraction", &rope.Fraction)
	set("factor", &rope.Factor)
	if opts.Has("type") {
		rope.Type = opts.Text("type")
	}
	rope.Positions, rope.Pairs, rope.Axes, rope.DType = opts.Texts("positions"), opts.Text("pairs"), opts.Text("axes"), opts.DType("dtype")
	for _, name := range rope.Positions {
		if !ev.available(name, n.Range, at) {
			return nil, false
		}
	}
	return &rope, true
}

// valueNameOf fills a block's evaluated options into the name of a value.
func valueNameOf(template string, opts lowering.Record) string {
	for name, o := range opts {
		if text, ok := o.Value.(string); ok {
			template = strings.ReplaceAll(template, "{"+name+"}", text)
		}
	}
	return template
}
