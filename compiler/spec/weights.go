package spec

import (
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/internal/glob"
	"mobiusc/ir"
	"mobiusc/lowering"
)

// Weights says how a checkpoint's names and layouts differ from the spec's.
// Rules stand in the order in which they apply: a parent's first.
type Weights struct {
	Rename    []Rename
	Ignore    []WeightIgnore
	Transform []Transform
}

// Rename maps checkpoint names to names of the spec: * is any text, {a,b}
// alternatives, {1} the first of them.
type Rename struct {
	From, To string
	Range    diag.Range
}

// WeightIgnore names checkpoint tensors that are not bound, and why.
type WeightIgnore struct {
	Glob, Reason string
	Range        diag.Range
}

// Transform says how the checkpoint stores the tensors that match: Step names
// the one step that it states, and with it the fields that count.
type Transform struct {
	Match string
	Step  string // cast, reshape, transpose, permute_heads, split, concat, stack, unstack, add, scale
	Range diag.Range

	DType   ir.DataType // cast
	Ints    []int64     // reshape: dims; transpose: axes; split: sizes, or none for equal parts
	Number  float64     // add, scale
	Heads   int64       // permute_heads
	From    string      // permute_heads: adjacent or half
	Segment string      // stack, unstack
	Into    []string    // split: names; concat: one name
	Axis    int64       // split, concat
}

// castDTypes are those that weights are converted between.
var castDTypes = []string{"float32", "float16", "bfloat16", "float64"}

// weights is the form of the section weights.
func weights() *form {
	literal := func(name string) *form { return &form{kind: formInt, title: name} }
	number := func(name string, kind lowering.OptionKind) *form {
		return &form{kind: formExpr, title: name, opt: &lowering.Option{Name: name, Kind: kind}}
	}
	list := func(name string, each *form) *form {
		return &form{kind: formList, title: name, each: each, strict: true}
	}
	record := func(name string, fields ...field) *form {
		return &form{kind: formRecord, title: name, fields: fields}
	}
	dim := &form{kind: formExpr, title: "reshape", opt: &lowering.Option{Name: "reshape", Kind: lowering.IntOption, Signed: true}}
	axis := field{name: "axis", form: literal("axis"), doc: "axis of the checkpoint's tensors; by default 0"}
	rule := &form{kind: formRecord, title: "a transform", oneStep: true, fields: []field{
		{name: "match", form: text("match"), required: true, doc: "glob of names, after renaming and the rules before"},
		{name: "cast", form: &form{kind: formWord, title: "cast", words: castDTypes}, doc: "rounded to this type before what follows; the parameter's own needs no rule"},
		{name: "reshape", form: list("reshape", dim), doc: "stored with other dims: those of the parameter, of which one may be -1"},
		{name: "transpose", form: list("transpose", literal("transpose")), doc: "stored with its axes in another order: for each axis of the parameter, that of the checkpoint"},
		{name: "permute_heads", form: record("permute_heads",
			field{name: "heads", form: number("heads", lowering.IntOption), required: true, doc: "number of heads that share the rows"},
			field{name: "from", form: &form{kind: formWord, title: "from", words: []string{"adjacent", "half"}}, required: true, doc: "rows that turn together are stored as 2i and 2i + 1, or as i and i + half; they become the other"},
		), doc: "rows of each head are stored in another order"},
		{name: "split", form: record("split",
			field{name: "into", form: list("into", text("into")), required: true, doc: "names of the parts; * and {1} as in rename"},
			field{name: "sizes", form: list("sizes", number("sizes", lowering.IntOption)), doc: "their sizes along the axis; by default equal"},
			axis,
		), doc: "one tensor holds several parameters"},
		{name: "concat", form: record("concat",
			field{name: "into", form: text("into"), required: true, doc: "name of the parameter; * and {1} as in rename"},
			axis,
		), doc: "a parameter is stored in parts, one for each word of the braces in match, in their order"},
		{name: "stack", form: text("stack"), doc: "a parameter is stored in parts that are numbered after this segment of the name: experts.0.w, … become experts.w with a new axis 0"},
		{name: "unstack", form: text("unstack"), doc: "parameters numbered after this segment of the name are stored as one tensor: experts.w becomes experts.0.w, …"},
		{name: "add", form: number("add", lowering.FloatOption), doc: "added to every element, in float32"},
		{name: "scale", form: number("scale", lowering.FloatOption), doc: "every element is multiplied by it, in float32"},
	}}
	return record("weights",
		field{name: "rename", form: &form{kind: formMap, title: "rename", each: text("a name")}, doc: "checkpoint name: name in the spec; * is any text, {a,b} alternatives, {1} the first of them"},
		field{name: "ignore", form: &form{kind: formMap, title: "ignore", each: text("a reason")}, doc: "glob of checkpoint names: reason"},
		field{name: "transform", form: list("transform", rule), doc: "how something is stored: one step a rule, applied in the order written"},
	)
}

// steps returns the entries of a mapping that are steps of a transform.
func (f *form) steps(n *tree.Node) (steps []tree.Entry) {
	for _, e := range n.Entries {
		if fd := f.field(e.Key.Text); fd != nil && !fd.required {
			steps = append(steps, e)
		}
	}
	return steps
}

// wrongSteps reports a transform with no step, or with several.
func (f *form) wrongSteps(n *tree.Node) diag.List {
	steps := f.steps(n)
	switch {
	case len(steps) == 0:
		var names []string
		for _, fd := range f.fields {
			if !fd.required {
				names = append(names, fd.name)
			}
		}
		return diag.List{*fault.NoStep(start(n), names)}
	case len(steps) > 1:
		return diag.List{*fault.SecondStep(steps[1].Key.Range, steps[1].Key.Text)}
	}
	return nil // match is missing, and is reported
}

// checkWeights checks the patterns and the expressions of section weights.
func (c *checked) checkWeights(ctx context) {
	n := c.s.root.Get("weights")
	for _, e := range entries(n.Get("rename")) {
		c.template(e.Value, c.pattern(e.Key))
	}
	for _, e := range entries(n.Get("ignore")) {
		c.pattern(e.Key)
	}
	rules := n.Get("transform")
	if rules == nil {
		return
	}
	c.transformField(rules, c.g.document.child("weights").child("transform"), ctx)
	for _, rule := range rules.Items {
		p := c.pattern(rule.Get("match"))
		if into := rule.At("split", "into"); into != nil {
			for _, name := range into.Items {
				c.template(name, p)
			}
		}
		c.template(rule.At("concat", "into"), p)
	}
}

// pattern checks a pattern of names; nil if it is malformed or absent.
func (c *checked) pattern(n *tree.Node) *glob.Pattern {
	if n == nil || n.Kind != tree.String {
		return nil
	}
	p, err := glob.Parse(n.Text)
	if err != nil {
		c.report(fault.BadPattern(n.Range, err))
		return nil
	}
	return p
}

// template checks a name that is made of what a pattern matched.
func (c *checked) template(n *tree.Node, p *glob.Pattern) {
	if n == nil || n.Kind != tree.String || p == nil {
		return
	}
	if _, err := p.Template(n.Text); err != nil {
		c.report(fault.BadPattern(n.Range, err))
	}
}

// transformField checks the expressions of a transform. Rules are not merged, so
// that null has no meaning in them.
func (c *checked) transformField(n *tree.Node, f *form, ctx context) {
	switch {
	case n.Kind == tree.Null:
		c.report(fault.WrongType(n.Range, c.g.expects(f), n.Describe()))
	case f.kind == formExpr:
		c.expression(n, f.opt, ctx)
	case n.Kind == tree.List:
		for _, item := range n.Items {
			c.transformField(item, f.each, ctx)
		}
	case n.Kind == tree.Map:
		for _, e := range n.Entries {
			c.transformField(e.Value, f.child(e.Key.Text), ctx)
		}
	}
}

func (ev *evaluator) weights(at place) (w Weights) {
	n := ev.s.root.Get("weights")
	for _, e := range entries(n.Get("rename")) {
		w.Rename = append(w.Rename, Rename{e.Key.Text, e.Value.Text, e.Key.Range})
	}
	for _, e := range entries(n.Get("ignore")) {
		w.Ignore = append(w.Ignore, WeightIgnore{e.Key.Text, e.Value.Text, e.Key.Range})
	}
	if rules := n.Get("transform"); rules != nil {
		form := ev.g.document.child("weights").child("transform").each
		for _, rule := range rules.Items {
			w.Transform = append(w.Transform, ev.transform(rule, form, at))
		}
	}
	return w
}

// transform evaluates one rule.
func (ev *evaluator) transform(rule *tree.Node, f *form, at place) Transform {
	step := f.steps(rule)[0] // the structure is sound
	t := Transform{Match: textOf(rule.Get("match")), Step: step.Key.Text, Range: rule.Range}
	n := step.Value
	switch f = f.child(t.Step); t.Step {
	case "cast":
		t.DType = dtypeOf[n.Text]
	case "reshape", "transpose":
		t.Ints = ev.wholeNumbers(n, f, at)
	case "permute_heads":
		t.Heads, _ = ev.number(n.Get("heads"), f.child("heads"), at).(int64)
		t.From = textOf(n.Get("from"))
	case "split":
		t.Into, t.Ints = textsOf(n.Get("into")), ev.wholeNumbers(n.Get("sizes"), f.child("sizes"), at)
	case "concat":
		t.Into = textsOf(n.Get("into"))
	case "stack", "unstack":
		t.Segment = textOf(n)
	case "add", "scale":
		t.Number, _ = ev.number(n, f, at).(float64)
	}
	if axis := n.Get("axis"); axis != nil {
		t.Axis = axis.Int
	}
	return t
}

// number evaluates an expression that must not be none.
func (ev *evaluator) number(n *tree.Node, f *form, at place) any {
	v, ok := ev.value(n, f.opt, at)
	if ok && v == nil {
		ev.fail(fault.NoneOption(n.Range, "a transform", f.title))
	}
	if !ok || v == nil {
		return nil
	}
	before := len(ev.errs)
	out, _ := ev.typedValue(v, f.opt, n.Range)
	ev.explain(before, at, ev.expression(n))
	return out
}

// wholeNumbers evaluates a list of them, each a literal or an expression.
func (ev *evaluator) wholeNumbers(n *tree.Node, f *form, at place) []int64 {
	if n == nil {
		return nil
	}
	out := make([]int64, len(n.Items))
	for i, item := range n.Items {
		if f.each.kind == formInt {
			out[i] = item.Int
			continue
		}
		out[i], _ = ev.number(item, f.each, at).(int64)
	}
	return out
}
