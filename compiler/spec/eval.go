package spec

import (
	"strconv"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// component is one component while it is evaluated.
type component struct {
	*lowering.Component
	values map[string]diag.Range // named so far
	names  map[string]diag.Range // absolute names of blocks
}

// maxBodies bounds what a few lines of a component can ask for that name each
// other twice, or that hold layers in layers.
const maxBodies = 200_000

// body evaluates a body: named bodies are written out, conditions decided,
// layers written one by one.
func (ev *evaluator) body(n *tree.Node, at place) lowering.Body {
	if ev.bodies++; ev.bodies > maxBodies {
		return nil // reported with the component
	}
	switch n.Kind {
	case tree.String:
		if target := at.blocks.Get(n.Text); target != nil {
			return ev.body(target, at)
		}
	case tree.List:
		var body lowering.Body
		for _, item := range n.Items {
			body = append(body, ev.body(item, at)...)
		}
		return body
	case tree.Map:
		if isConditional(n) {
			return ev.conditional(n, at)
		}
		e := n.Entries[0]
		if e.Key.Text == "layers" {
			return ev.layers(e, at)
		}
		if b := ev.block(e, at); b != nil {
			return lowering.Body{b}
		}
	}
	return nil
}

func (ev *evaluator) conditional(n *tree.Node, at place) lowering.Body {
	holds, ok := ev.truth(n.Get("if"), at)
	switch {
	case !ok:
		return nil
	case holds:
		return ev.body(n.Get("then"), at)
	case n.Get("else") != nil:
		return ev.body(n.Get("else"), at)
	}
	return nil
}

// layers writes the layers out: each is a scope with the layer's name.
func (ev *evaluator) layers(e tree.Entry, at place) lowering.Body {
	n, f := e.Value, ev.g.blocks["layers"]
	v, ok := ev.value(n.Get("count"), f.field("count").form.opt, at)
	count, isInt := v.(int64)
	if !ok {
		return nil
	}
	if !isInt || count < 0 || count > maxLayers {
		before := len(ev.errs)
		ev.fail(fault.BadNumber(n.Get("count").Range, "count", "a whole number of layers", expr.Format(v)))
		ev.explain(before, at, ev.expression(n.Get("count")))
		return nil
	}
	at.layers, at.countAt = count, ev.placeOf(n.Get("count"))
	prefix := ""
	if name := n.Get("name"); name != nil {
		if prefix, ok = ev.name(name, at); !ok {
			return nil
		}
	}
	var body lowering.Body
	for i := range count {
		before := len(ev.errs)
		if b := ev.layer(e, prefix, i, at); b != nil {
			body = append(body, b)
		}
		if len(ev.errs) > before {
			break // the next layers would say the same again
		}
	}
	return body
}

// maxLayers bounds what a config can make of a spec.
const maxLayers = 10_000

func (ev *evaluator) layer(e tree.Entry, prefix string, i int64, at place) *lowering.Block {
	n := e.Value
	at.layer = i
	if kind := n.Get("kind"); kind != nil && !ev.kindOf(kind, n.Get("kinds"), &at) {
		return nil
	}
	opts := lowering.Record{}
	if prefix != "" {
		name := prefix + "." + strconv.FormatInt(i, 10)
		opts["name"] = lowering.Opt{Value: name, Range: n.Get("name").Range}
		at.prefix = join(at.prefix, name)
	}
	opts["body"] = lowering.Opt{Value: ev.body(n.Get("each"), at), Range: n.Get("each").Range}
	return &lowering.Block{Decl: lowering.Lookup("scope"), Range: e.Key.Range, Layer: int(i), Opts: opts}
}

// kindOf evaluates the kind of the layer in hand and applies its patch.
func (ev *evaluator) kindOf(kind, kinds *tree.Node, at *place) bool {
	v, ok := ev.value(kind, ev.g.blocks["layers"].field("kind").form.opt, *at)
	if !ok {
		return false
	}
	word, isText := v.(string)
	if !isText || word == "" {
		ev.fail(fault.KindNotText(kind.Range, at.layer))
		return false
	}
	at.kind = word
	if kinds == nil || len(kinds.Entries) == 0 {
		return true
	}
	patch := kinds.Entry(word)
	if patch == nil {
		ev.fail(fault.UnknownKind(ev.placeOfKind(kind, at.layer), word, at.layer, kinds.Keys(), start(kinds)))
		return false
	}
	at.blocks, at.lets = ev.kindPatch(*patch, context{blocks: at.blocks, lets: at.lets})
	return true
}

// placeOf returns where the config states what an expression is.
func (ev *evaluator) placeOf(n *tree.Node) diag.Range {
	if e := ev.expression(n); e != nil {
		if path, ok := expr.Path(e.Root); ok {
			return ev.placeOfPath(path)
		}
	}
	return n.Range
}

func (ev *evaluator) placeOfPath(path string) diag.Range {
	if v := ev.config.values[path]; v != nil {
		return v.at
	}
	return diag.Range{}
}

// block evaluates one block and checks its name and its values.
func (ev *evaluator) block(e tree.Entry, at place) *lowering.Block {
	f := ev.g.blocks[e.Key.Text]
	if f == nil {
		return nil
	}
	n := ev.effective(e.Value, f, at.defaults)
	inner := at
	if name := n.Get("name"); name != nil && f.decl.Option("name") != nil && f.decl.Option("name").Kind == lowering.NameOption {
		if text, ok := ev.name(name, at); ok {
			inner.prefix = join(at.prefix, text)
			ev.nameBlock(e, text, inner.prefix, at)
		}
	}
	opts := ev.record(n, f, e.Key.Text, e.Key.Range, inner)
	b := &lowering.Block{Decl: f.decl, Range: e.Key.Range, Layer: int(at.layer), Opts: opts}
	for _, template := range f.decl.Values {
		ev.nameValue(valueNameOf(template, opts), e.Key.Range, at)
	}
	return b
}

// nameBlock records the absolute name of a block; two blocks of one component
// share a name only if one of them says so by naming it absolutely.
func (ev *evaluator) nameBlock(e tree.Entry, name, full string, at place) {
	if name == "" || name[0] == '/' || len(ev.g.blocks[e.Key.Text].decl.Values) > 0 || e.Key.Text == "scope" {
		return
	}
	if first, taken := at.component.names[full]; taken {
		ev.fail(fault.DuplicateName(e.Key.Range, full, first))
		return
	}
	at.component.names[full] = e.Key.Range
}

// nameValue records a value of the component. A block in many layers names its
// value again in each.
func (ev *evaluator) nameValue(name string, r diag.Range, at place) {
	if first, taken := at.component.values[name]; taken && first != r {
		ev.fail(fault.DuplicateValue(r, name, at.component.Name, first))
		return
	}
	at.component.values[name] = r
}

// join appends a name to a prefix; /x is absolute.
func join(prefix, name string) string {
	switch {
	case name == "":
		return prefix
	case name[0] == '/':
		return name[1:]
	case prefix == "":
		return name
	}
	return prefix + "." + name
}
