package spec

import (
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
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

// Transform says how the checkpoint stores something; what is zero does not apply.
type Transform struct {
	Match     string
	Transpose []int64
	Heads     int64  // permute_heads
	HeadsFrom string // adjacent
	Stack     string
	SplitInto []string
	SplitSize []int64
	Add       float64
	Range     diag.Range
}

// Runtime is metadata for runtimes, evaluated.
type Runtime struct {
	BOS, EOS, PAD []int64 // token ids; none if the config states none
	GenAI         *GenAI
}

// GenAI is metadata for onnxruntime-genai. Values are as in ConfigValue.
type GenAI struct {
	Type     string
	Values   []GenAIValue            // context_length, image_token_id, …
	Sections map[string][]GenAIValue // vision, embedding, speech; present if stated
	Range    diag.Range
}

// GenAIValue is one evaluated entry; none has no entry.
type GenAIValue struct {
	Name  string
	Value any
}

// Pins is one published model. Paths are as they can be opened.
type Pins struct {
	Repository, Revision string
	Config, ConfigSHA256 string
	Tensors, Bytes       int64 // of the checkpoint; 0 if not stated
	HostFiles            []string
}

// pins returns what the spec pins, or nil.
func (s *Spec) pins() *Pins {
	n := s.root.Get("pins")
	if n == nil || n.Kind != tree.Map {
		return nil
	}
	p := &Pins{Repository: textOf(n.Get("repository")), Revision: textOf(n.Get("revision"))}
	if file := n.At("config", "file"); file != nil {
		p.Config, p.ConfigSHA256 = beside(file.Range.File, file.Text), textOf(n.At("config", "sha256"))
	}
	if t := n.At("checkpoint", "tensors"); t != nil {
		p.Tensors = t.Int
	}
	if b := n.At("checkpoint", "bytes"); b != nil {
		p.Bytes = b.Int
	}
	if files := n.Get("host_files"); files != nil {
		for _, f := range files.Items {
			p.HostFiles = append(p.HostFiles, beside(f.Range.File, f.Text))
		}
	}
	return p
}

// checkRuntime checks the expressions of sections runtime and weights.
func (c *checked) checkRuntime(ctx context) {
	for _, e := range entries(c.s.root.At("runtime", "tokens")) {
		if t := c.expression(e.Value, anyResult, ctx); !t.Fits(expr.ListOfT(expr.IntT)) && !t.Fits(expr.IntT) {
			c.report(fault.TypeMismatch(e.Value.Range, "a token id or a list of them", t.String()))
		}
	}
	for _, e := range entries(c.s.root.At("runtime", "genai")) {
		if e.Key.Text == "type" {
			continue
		}
		if e.Value.Kind != tree.Map {
			c.expression(e.Value, anyResult, ctx)
			continue
		}
		for _, inner := range e.Value.Entries {
			c.expression(inner.Value, anyResult, ctx)
		}
	}
	rules := c.s.root.At("weights", "transform")
	if rules == nil {
		return
	}
	form := c.g.document.child("weights").child("transform").each
	for _, rule := range rules.Items {
		for _, e := range rule.Entries {
			c.transformField(e.Value, form.child(e.Key.Text), ctx)
		}
	}
}

func (c *checked) transformField(n *tree.Node, f *form, ctx context) {
	switch {
	case f == nil:
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
		for _, rule := range rules.Items {
			w.Transform = append(w.Transform, ev.transform(rule, at))
		}
	}
	return w
}

func (ev *evaluator) transform(n *tree.Node, at place) Transform {
	t := Transform{Match: textOf(n.Get("match")), Stack: textOf(n.Get("stack")), Range: n.Range}
	number := func(n *tree.Node, kind lowering.OptionKind) expr.Value {
		if n == nil {
			return nil
		}
		o := &lowering.Option{Name: "number", Kind: kind}
		v, ok := ev.value(n, o, at)
		if !ok || v == nil {
			return nil
		}
		out, _ := ev.typedValue(v, o, n.Range)
		return out
	}
	if n.Get("transpose") != nil {
		for _, item := range n.Get("transpose").Items {
			t.Transpose = append(t.Transpose, item.Int)
		}
	}
	if p := n.Get("permute_heads"); p != nil {
		t.Heads, _ = number(p.Get("heads"), lowering.IntOption).(int64)
		t.HeadsFrom = textOf(p.Get("from"))
	}
	if s := n.Get("split"); s != nil {
		t.SplitInto = textsOf(s.Get("into"))
		if sizes := s.Get("sizes"); sizes != nil {
			for _, item := range sizes.Items {
				size, _ := number(item, lowering.IntOption).(int64)
				t.SplitSize = append(t.SplitSize, size)
			}
		}
	}
	t.Add, _ = number(n.Get("add"), lowering.FloatOption).(float64)
	return t
}

func (ev *evaluator) runtime(at place) (r Runtime) {
	n := ev.s.root.Get("runtime")
	for name, into := range map[string]*[]int64{"bos": &r.BOS, "eos": &r.EOS, "pad": &r.PAD} {
		if t := n.At("tokens", name); t != nil {
			*into = ev.tokens(t, at)
		}
	}
	genai := n.Get("genai")
	if genai == nil || genai.Kind != tree.Map {
		return r
	}
	r.GenAI = &GenAI{Type: textOf(genai.Get("type")), Range: genai.Range, Sections: map[string][]GenAIValue{}}
	for _, e := range genai.Entries {
		switch {
		case e.Key.Text == "type" || e.Value.Kind == tree.Null:
		case e.Value.Kind == tree.Map:
			r.GenAI.Sections[e.Key.Text] = ev.genaiValues(e.Value.Entries, at)
		default:
			r.GenAI.Values = append(r.GenAI.Values, ev.genaiValues([]tree.Entry{e}, at)...)
		}
	}
	return r
}

func (ev *evaluator) genaiValues(list []tree.Entry, at place) []GenAIValue {
	out := []GenAIValue{}
	for _, e := range list {
		if v, ok := ev.value(e.Value, anyResult, at); ok && v != nil {
			out = append(out, GenAIValue{e.Key.Text, v})
		}
	}
	return out
}

func (ev *evaluator) tokens(n *tree.Node, at place) []int64 {
	v, ok := ev.value(n, anyResult, at)
	switch v := v.(type) {
	case int64:
		return []int64{v}
	case []expr.Value:
		return ev.ints(v, anyResult, n.Range)
	}
	if ok && v != nil {
		ev.fail(fault.TypeMismatch(n.Range, "a token id or a list of them", strings.Trim(expr.Format(v), "'")))
	}
	return nil
}
