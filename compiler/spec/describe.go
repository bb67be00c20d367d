package spec

import (
	"fmt"
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// Info is what the language says about a place, in Markdown.
type Info struct {
	Title    string // what it is: block `attention`, option `heads` of block attention
	Doc      string
	Takes    string // what may stand there
	Default  string
	Required bool
	Short    string // the option that a plain value sets
}

// Info returns what the language says about a place; ok is false where that is
// nothing: a name that the spec chose.
func (o *Outline) Info(p Place) (info Info, ok bool) {
	if !p.IsKey { // a value is described by its key
		i := slices.IndexFunc(o.Places, func(k Place) bool { return k.IsKey && slices.Equal(k.Path, p.Path) })
		if i < 0 {
			return Info{}, false
		}
		p = o.Places[i]
	}
	if len(p.Path) == 0 || p.form == nil {
		return Info{}, false
	}
	key := p.Path[len(p.Path)-1]
	if p.field == nil {
		if p.form.decl == nil || p.form.decl.Name != key {
			return Info{}, false
		}
		return blockInfo(p.form.decl), true
	}
	return fieldInfo(p.field, p.owner), true
}

func blockInfo(d *lowering.Decl) Info {
	return Info{Title: "block `" + d.Name + "`", Doc: d.Doc, Short: d.Short}
}

func fieldInfo(f *field, owner *form) Info {
	info := Info{Title: "`" + f.name + "` of " + owner.title, Doc: f.doc, Required: f.required}
	if owner.title == "a spec" {
		info.Title = "section `" + f.name + "`"
	}
	if o := f.form.opt; o != nil {
		info.Takes = takes(o)
		if info.Default = o.Default; info.Default == "{}" {
			info.Default = ""
		}
		info.Short = o.Short
		return info
	}
	info.Takes = language().expects(f.form)
	return info
}

// KeyInfo is what a spec's files together say about a config key.
type KeyInfo struct {
	Type, Default string
	From          []string
	Values        string
	Unsupported   string
	Section       bool
}

// Key returns what the files say about a config key, a child's word before its
// parent's.
func (s *Sources) Key(name string) (info KeyInfo) {
	for _, o := range s.Files {
		for _, n := range o.names {
			if n.Kind != ConfigSymbol || !n.Defines || n.Name != name {
				continue
			}
			v := n.value
			if v.Kind == tree.String {
				info.Type = v.Text
			}
			text := func(into *string, key string) {
				if f := v.Get(key); f != nil {
					*into = flow(f, false)
				}
			}
			text(&info.Type, "type")
			text(&info.Default, "default")
			text(&info.Values, "values")
			text(&info.Unsupported, "unsupported")
			if from := v.Get("from"); from != nil {
				info.From = textsOf(from)
			}
			info.Section = info.Section || v.Get("keys") != nil
		}
	}
	return info
}

// String writes the type of a key and what else is said about it.
func (k KeyInfo) String() string {
	t := k.Type
	switch {
	case k.Unsupported != "":
		return "not supported: " + k.Unsupported
	case k.Section:
		t = "a section of the config"
	case t == "":
		t = "any type"
	}
	if k.Default != "" {
		t += ", default " + k.Default
	}
	return t
}

// Let returns the text of a named expression where the file itself, or else its
// nearest parent, states it.
func (s *Sources) Let(name string) string {
	for i := len(s.Files) - 1; i >= 0; i-- {
		if e := s.Files[i].Root.Get("let").Entry(name); e != nil {
			return flow(e.Value, false)
		}
	}
	return ""
}

// FunctionDoc describes a function of expressions; ok is false if there is none
// of the name.
func FunctionDoc(name string) (doc string, ok bool) {
	f := expr.Functions[name]
	if f == nil {
		return "", false
	}
	return fmt.Sprintf("%s(…) takes %s: %s", name, f.Takes, f.Doc), true
}

// OptionValue is the value of an option in one layer of a bound spec.
type OptionValue struct {
	Layer int // −1 outside layers
	Value any
}

// Blocks calls visit for every block of a bound model, those inside others too,
// in order.
func (r *Result) Blocks(visit func(component string, b *lowering.Block)) {
	for _, c := range r.Model.Components {
		walkBody(c.Body, func(b *lowering.Block) { visit(c.Name, b) })
	}
}

func walkBody(body lowering.Body, visit func(*lowering.Block)) {
	for _, b := range body {
		visit(b)
		walkRecord(b.Opts, func(o lowering.Opt) {
			switch v := o.Value.(type) {
			case lowering.Body:
				walkBody(v, visit)
			case []lowering.Body:
				for _, inner := range v {
					walkBody(inner, visit)
				}
			}
		})
	}
}

// walkRecord calls visit for every option, in an order that does not change,
// and for those inside options.
func walkRecord(r lowering.Record, visit func(lowering.Opt)) {
	names := make([]string, 0, len(r))
	for name := range r {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		visit(r[name])
		if inner, ok := r[name].Value.(lowering.Record); ok {
			walkRecord(inner, visit)
		}
	}
}

// Options returns the values that the option at a place has, a layer each.
func (r *Result) Options(at diag.Range) []OptionValue {
	var out []OptionValue
	r.Blocks(func(_ string, b *lowering.Block) {
		walkRecord(b.Opts, func(o lowering.Opt) {
			if o.Range == at {
				out = append(out, OptionValue{b.Layer, o.Value})
			}
		})
	})
	return out
}

// Eval evaluates an expression for the config, outside of layers. ok is false
// where it has no value there.
func (r *Result) Eval(text string) (v any, ok bool) {
	e, bad := expr.Parse(text, func(int, int) diag.Range { return diag.Range{} })
	if bad != nil || r.at == nil {
		return nil, false
	}
	v, bad = expr.Eval(e, r.at)
	return v, bad == nil
}

// ConfigPath returns the path of the config that the spec is bound to.
func (r *Result) ConfigPath() string {
	if r.at == nil {
		return ""
	}
	return r.at.ev.config.config.Path
}

// Format writes a value as the language does.
func Format(v any) string {
	switch v := v.(type) {
	case *lowering.Rope:
		s := fmt.Sprintf("a rope record: type %s, theta %s", v.Type, expr.Format(v.Theta))
		if v.Fraction != 1 {
			s += ", fraction " + expr.Format(v.Fraction)
		}
		if v.Factor != 0 {
			s += ", factor " + expr.Format(v.Factor)
		}
		return s
	case []int64:
		return strings.ReplaceAll(fmt.Sprint(v), " ", ", ")
	case []string:
		return strings.Join(v, ", ")
	}
	if s := fmt.Sprint(v); len(s) <= 200 {
		return expr.Format(v)
	}
	return "…"
}
