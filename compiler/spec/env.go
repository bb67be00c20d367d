package spec

import (
	"fmt"
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// evaluator turns a checked spec and a config into a model.
type evaluator struct {
	*checked
	config *reading
	errs   diag.List
	open   map[*tree.Node]bool // lets being computed
	// letValues remembers what was computed: named expressions that use others
	// twice would otherwise take time exponential in their depth.
	letValues map[letUse]expr.Value
	// sections holds the records of sections whose every key has a value.
	sections map[*section]expr.Record
	// compute is the package's dtype word.
	compute string
	lacks   bool // a section that is read and absent has been reported
	bodies  int  // written out of the component in hand
	// explaining is set while the names in an expression without a value are
	// read: those without one themselves would have theirs read in turn, and
	// that again at every expression around them.
	explaining bool
}

func (ev *evaluator) fail(d *diag.Diagnostic) {
	if d == nil || fault.IsAbsentSection(d) && ev.lacks {
		return
	}
	if fault.IsAbsentSection(d) {
		ev.lacks = true // once: whatever else reads the section lacks it too
		if names := ev.s.Variants(); len(names) > 0 && ev.s.VariantName == "" {
			d.Hint = "a variant may do without it: " + strings.Join(names, ", ")
		}
	}
	ev.errs.Add(*d)
}

// place says where an evaluation stands.
type place struct {
	layer        int64 // −1 outside layers
	layers       int64 // how many there are
	countAt      diag.Range
	kind         string
	blocks, lets *tree.Node
	defaults     *tree.Node
	component    *component
	prefix       string // of names
	words        []string
	// owner gives the options of a block to the defaults of its other options.
	owner lowering.Record
}

// names is the environment of one expression.
type environment struct {
	ev *evaluator
	at place
}

// Value implements expr.Env: innermost first, the words of an option, layer and
// kind, the named expressions, the config.
func (en *environment) Value(name string, r diag.Range) (expr.Value, *diag.Diagnostic) {
	switch {
	case slices.Contains(en.at.words, name):
		return name, nil
	case name == "layer" && en.at.layer >= 0:
		return en.at.layer, nil
	case name == "kind" && en.at.kind != "":
		return en.at.kind, nil
	case en.at.owner != nil:
		if o, ok := en.at.owner[name]; ok {
			return o.Value, nil
		}
	}
	if n := en.at.lets.Get(name); n != nil {
		return en.ev.let(name, n, en.at, r)
	}
	k := en.ev.checked.config.key(name)
	switch {
	case k == nil:
		return nil, fault.UnknownName(r, name, nil)
	case k.section != nil:
		return en.ev.sectionValue(k.section, r)
	}
	return en.ev.configValue(k.path, r)
}

// letUse is all that the value of a named expression depends on besides the config.
type letUse struct {
	n, lets *tree.Node
	layer   int64
	kind    string
}

// let computes a named expression where it is used.
func (ev *evaluator) let(name string, n *tree.Node, at place, r diag.Range) (expr.Value, *diag.Diagnostic) {
	if n.Kind != tree.String {
		return literal(n), nil
	}
	if ev.open[n] {
		return nil, fault.Cycle(r, name)
	}
	use := letUse{n, at.lets, at.layer, at.kind}
	if v, ok := ev.letValues[use]; ok {
		return v, nil
	}
	ev.open[n] = true
	defer delete(ev.open, n)
	e := ev.parse(n)
	if e == nil {
		return nil, fault.BadSyntax(n.Range, "the expression cannot be read")
	}
	at.words, at.owner = nil, nil
	v, d := ev.eval(e, at)
	if d == nil {
		if ev.letValues == nil {
			ev.letValues = map[letUse]expr.Value{}
		}
		ev.letValues[use] = v
	}
	return v, ev.withValues(d, e, at)
}

// sectionValue returns a section of the config as a record, none if it is absent.
func (ev *evaluator) sectionValue(s *section, r diag.Range) (expr.Value, *diag.Diagnostic) {
	if v, ok := ev.sections[s]; ok {
		return v, nil
	}
	record := expr.Record{}
	for _, k := range s.keys {
		switch {
		case k.section != nil:
			v, d := ev.sectionValue(k.section, r)
			if d != nil {
				return nil, d
			}
			record[k.name] = v
		case ev.config.values[k.path] == nil:
			return nil, nil
		case k.refused == "":
			v, d := ev.configValue(k.path, r)
			if d != nil {
				return nil, d
			}
			record[k.name] = v
		}
	}
	ev.sections[s] = record
	return record, nil
}

// configValue returns the value of a key, computing its default once.
func (ev *evaluator) configValue(path string, r diag.Range) (expr.Value, *diag.Diagnostic) {
	v := ev.config.values[path]
	if v == nil {
		return nil, fault.AbsentSection(r, path)
	}
	switch v.state {
	case computing:
		return nil, fault.Cycle(r, path)
	case defaulted:
		v.state = computing
		at := place{layer: -1}
		value, d := expr.Eval(v.key.defExpr, &environment{ev, at})
		if d != nil {
			v.state = known
			return nil, ev.withValues(d, v.key.defExpr, at)
		}
		if i, ok := value.(int64); ok && v.key.typ.word == "float" && v.key.typ.outer == "" {
			value = float64(i)
		}
		v.value, v.state = value, known
		if value != nil && !v.key.covers(value) {
			return nil, fault.NotCovered(v.at, "the default of "+path, expr.Format(value), formatAll(v.key.values), v.key.valuesAt)
		}
	}
	return v.value, nil
}

// value evaluates what an option says: a literal, one of its words, or an
// expression. ok is false when there is no value, which has been reported.
func (ev *evaluator) value(n *tree.Node, o *lowering.Option, at place) (v expr.Value, ok bool) {
	at.words, at.owner = wordsOf(o), nil
	if n.Kind != tree.String {
		return literal(n), true
	}
	if slices.Contains(at.words, n.Text) {
		return n.Text, true
	}
	e := ev.parse(n)
	if e == nil {
		return nil, false
	}
	v, d := ev.eval(e, at)
	ev.fail(ev.withValues(d, e, at))
	return v, d == nil
}

// eval computes an expression. A list of the config that it indexes by the layer
// must have an entry for each.
func (ev *evaluator) eval(e *expr.Expr, at place) (expr.Value, *diag.Diagnostic) {
	if d := ev.oneForEachLayer(e, at); d != nil {
		return nil, d
	}
	return expr.Eval(e, &environment{ev, at})
}

// withValues adds to an expression that has no value what the names in it stand
// for: the spec is where it fails, and the config is what to look at.
func (ev *evaluator) withValues(d *diag.Diagnostic, e *expr.Expr, at place) *diag.Diagnostic {
	if !fault.IsEvaluation(d) || ev.explaining || d.Hint != "" {
		return d // a named expression inside has said it already
	}
	ev.explaining = true
	defer func() { ev.explaining = false }()
	values, notes := ev.valuesIn(e, at)
	return fault.WithValues(d, values, notes)
}

// explain adds to the findings from the i-th on, which are about the value of an
// option, what the names in its expressions stand for. A literal is a nil one.
func (ev *evaluator) explain(i int, at place, parts ...*expr.Expr) {
	if i == len(ev.errs) {
		return
	}
	at.words, at.owner = nil, nil
	var values []string
	var notes []diag.Related
	for _, e := range parts {
		if e != nil {
			v, n := ev.valuesIn(e, at)
			values, notes = append(values, v...), append(notes, n...)
		}
	}
	for ; i < len(ev.errs); i++ {
		if d := &ev.errs[i]; d.Hint == "" && len(d.Notes) == 0 {
			fault.WithValues(d, values, notes)
		}
	}
}

// madeOf returns the expression of a named expression, or of a config key that has
// its default, or nil.
func (ev *evaluator) madeOf(path string, at place) *expr.Expr {
	if n := at.lets.Get(path); n != nil {
		return ev.expression(n)
	}
	if v := ev.config.values[path]; v != nil && v.source == "" {
		return v.key.defExpr
	}
	return nil
}

// expression returns the expression that a node is, or nil.
func (ev *evaluator) expression(n *tree.Node) *expr.Expr {
	if n.Kind != tree.String {
		return nil
	}
	return ev.parse(n)
}

// longList is how many entries a list has that is not worth printing.
const longList = 12

// manyValues is how many names are followed in all to what they are made of.
const manyValues = 8

// valuesIn says what each name in an expression stands for, and where the config
// states it. A named expression and a default lead to the names that they mention.
func (ev *evaluator) valuesIn(e *expr.Expr, at place) (values []string, notes []diag.Related) {
	paths := expr.Paths(e.Root)
	for i := 0; i < len(paths); i++ {
		p := paths[i]
		if slices.Contains(paths[:i], p) {
			continue
		}
		if inner := ev.madeOf(p, at); inner != nil && len(paths) < manyValues {
			paths = append(paths, expr.Paths(inner.Root)...)
		}
		part, bad := expr.Parse(p, func(int, int) diag.Range { return diag.Range{} })
		if bad != nil {
			continue
		}
		v, d := expr.Eval(part, &environment{ev, at})
		if d != nil {
			continue
		}
		text := " is " + expr.Format(v)
		if list, ok := v.([]expr.Value); ok && len(list) >= longList {
			text = fmt.Sprintf(" has %d entries", len(list))
		}
		values = append(values, p+text)
		if cv := ev.config.values[p]; cv != nil && cv.source != "" {
			notes = append(notes, diag.Related{Range: cv.at, Message: cv.source})
		}
	}
	return values, notes
}

// truth evaluates a condition; a missing one holds.
func (ev *evaluator) truth(n *tree.Node, at place) (holds, ok bool) {
	if n == nil {
		return true, true
	}
	v, ok := ev.value(n, condition, at)
	return expr.Truth(v), ok
}
