package spec

import (
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// Runtime is metadata for runtimes, evaluated.
type Runtime struct {
	BOS, EOS, PAD []int64 // token ids; none if the config states none
	GenAI         *GenAI
}

// GenAI is metadata for onnxruntime-genai. Values are as in ConfigValue.
type GenAI struct {
	Type     string
	Values   []GenAIValue            // context_length, image_token_id, …
	Sections map[string][]GenAIValue // vision, embedding; present if stated
	Range    diag.Range              // of Type
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

// checkRuntime checks the expressions of section runtime.
func (c *checked) checkRuntime(ctx context) {
	for _, e := range entries(c.s.root.At("runtime", "tokens")) {
		if t := c.expression(e.Value, anyResult, ctx); !t.Fits(expr.ListOfT(expr.IntT)) && !t.Fits(expr.IntT) {
			c.report(fault.TypeMismatch(e.Value.Range, "a token id or a list of them", t.String()))
		}
	}
	if e := c.s.root.Get("runtime").Entry("genai"); e != nil && e.Value.Kind == tree.Map {
		for _, key := range []string{"type", "context_length"} { // it loads no model without
			if n := e.Value.Get(key); n == nil || n.Kind == tree.Null {
				c.report(c.lacking(fault.MissingKey(e.Key.Range, "genai", key), "runtime.genai."+key))
			}
		}
	}
	number := func(n *tree.Node) {
		if t := c.expression(n, anyResult, ctx); !t.Fits(expr.IntT) {
			c.report(fault.TypeMismatch(n.Range, "a whole number", t.String()))
		}
	}
	for _, e := range entries(c.s.root.At("runtime", "genai")) {
		switch {
		case e.Key.Text == "type":
		case e.Value.Kind == tree.Map:
			for _, inner := range e.Value.Entries {
				number(inner.Value)
			}
		default:
			number(e.Value)
		}
	}
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
	r.GenAI = &GenAI{Type: textOf(genai.Get("type")), Range: genai.Get("type").Range, Sections: map[string][]GenAIValue{}}
	for _, e := range genai.Entries {
		switch {
		case e.Key.Text == "type" || e.Value.Kind == tree.Null:
		case e.Value.Kind == tree.Map:
			r.GenAI.Sections[e.Key.Text] = ev.genaiValues(e.Value.Entries, at)
		default:
			values := ev.genaiValues([]tree.Entry{e}, at)
			if len(values) == 0 && e.Key.Text == "context_length" {
				ev.fail(fault.NoneOption(e.Value.Range, "genai", e.Key.Text))
			}
			r.GenAI.Values = append(r.GenAI.Values, values...)
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
