package spec

import (
	"slices"
	"strconv"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// components checks every component: its inputs, its body, its outputs, and the
// wires between components.
func (c *checked) components(ctx context) {
	all := c.s.root.Get("components")
	if all == nil {
		if !c.s.Abstract {
			c.report(fault.MissingKey(start(c.s.root), "a spec", "components"))
		}
		return
	}
	if len(all.Entries) == 0 && !c.s.Abstract {
		c.report(fault.NoComponent(c.s.lastStated("components")))
	}
	for _, e := range all.Entries {
		if e.Value.Kind == tree.Map {
			c.component(e, ctx)
		}
	}
	c.wires(all)
}

// lastStated returns where a section is stated last: by the variant, the leaf
// file, or a parent.
func (s *Spec) lastStated(section string) diag.Range {
	for _, n := range []*tree.Node{s.root.At("variants", s.VariantName), s.leaf().root} {
		if e := n.Entry(section); e != nil {
			return e.Key.Range
		}
	}
	return s.root.Entry(section).Key.Range
}

func (c *checked) component(e tree.Entry, ctx context) {
	n := e.Value
	ctx.component = e.Key.Text
	ctx.defaults = c.componentDefaults(ctx.defaults, n.Get("defaults"))
	ctx.values = c.componentValues(n, ctx)
	if inputs := n.Get("inputs"); inputs != nil {
		for _, in := range inputs.Entries {
			c.input(in, ctx)
		}
	}
	switch body := n.Get("body"); {
	case body == nil:
		c.report(c.lacking(fault.MissingKey(e.Key.Range, "component "+e.Key.Text, "body"), "components."+e.Key.Text+".body"))
	default:
		c.body(body, ctx)
	}
	if name := e.Key.Text; name == "" || strings.HasPrefix(name, ".") || name == manifestName || strings.ContainsFunc(name, notInFileName) {
		c.report(fault.BadNumber(e.Key.Range, "the name of a component", "fit to name a directory of the package", strconv.Quote(name)))
	}
	for _, section := range []string{"inputs", "outputs"} {
		for _, v := range entries(n.Get(section)) {
			if v.Key.Text == "" {
				c.report(fault.BadNumber(v.Key.Range, "a name among the "+section, "some text", `""`))
			}
		}
	}
	if n.Get("outputs") == nil {
		c.report(c.lacking(fault.MissingKey(e.Key.Range, "component "+e.Key.Text, "outputs"), "components."+e.Key.Text+".outputs"))
		return
	}
	for _, out := range n.Get("outputs").Entries {
		c.output(out, ctx)
	}
}

func (c *checked) input(e tree.Entry, ctx context) {
	switch t := e.Value.Get("type"); {
	case e.Value.Kind != tree.Map:
	case t == nil:
		c.report(c.lacking(fault.MissingKey(e.Key.Range, "input "+e.Key.Text, "type"), "components."+ctx.component+".inputs."+e.Key.Text+".type"))
	default:
		if parsed := c.tensorType(t); parsed != nil {
			for _, d := range parsed.dims {
				c.dim(d, ctx)
			}
		}
	}
	if when := e.Value.Get("when"); when != nil {
		c.expression(when, condition, ctx)
	}
}

func (c *checked) output(e tree.Entry, ctx context) {
	value := e.Value.Get("value")
	switch {
	case e.Value.Kind != tree.Map:
	case value == nil:
		c.report(c.lacking(fault.MissingKey(e.Key.Range, "output "+e.Key.Text, "value"), "components."+ctx.component+".outputs."+e.Key.Text+".value"))
	case value.Text != "result" && !slices.Contains(ctx.values, value.Text):
		known := append([]string{"result"}, ctx.values...)
		c.report(c.lacking(fault.UnknownValue(value.Range, value.Text, ctx.component, known), "components."+ctx.component+".inputs."+value.Text))
	}
	if when := e.Value.Get("when"); when != nil {
		c.expression(when, condition, ctx)
	}
}

// componentDefaults lays a component's defaults over the spec's, once.
func (c *checked) componentDefaults(base, over *tree.Node) *tree.Node {
	if over == nil {
		return base
	}
	if merged := c.patched[over]; merged != nil {
		return merged
	}
	m := &merger{g: c.g, deleted: map[string]diag.Range{}}
	merged := m.merge(base, over, c.g.document.child("defaults"), false, nil)
	c.found = append(c.found, m.found...)
	c.patched[over] = merged
	return merged
}

// componentValues lists the values that a component can have: its inputs, and
// what its blocks name.
func (c *checked) componentValues(n *tree.Node, ctx context) []string {
	names := append([]string(nil), n.Get("inputs").Keys()...)
	seen := map[*tree.Node]bool{}
	var walk func(n *tree.Node, blocks *tree.Node)
	walk = func(n, blocks *tree.Node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		if n.Kind == tree.String {
			walk(blocks.Get(n.Text), blocks)
		}
		for _, item := range n.Items {
			walk(item, blocks)
		}
		for _, e := range n.Entries {
			if d := c.g.blocks[e.Key.Text]; d != nil {
				for _, v := range d.decl.Values {
					names = append(names, valueName(v, e.Value))
				}
			}
			walk(e.Value, blocks)
		}
	}
	walk(n.Get("body"), ctx.blocks)
	return names
}

// valueName fills a block's options into the name of a value that it adds.
func valueName(template string, options *tree.Node) string {
	for _, e := range options.Entries {
		template = strings.ReplaceAll(template, "{"+e.Key.Text+"}", e.Value.Text)
	}
	return template
}

// body checks a body wherever it stands, once: bodies that name the next one
// twice would otherwise take time exponential in their depth. A body that has
// been left before leads to no open one, so that no cycle is missed.
func (c *checked) body(n *tree.Node, ctx context) {
	if n.Kind == tree.String {
		c.reference(n, ctx)
		return
	}
	v := visit{n, ctx.blocks, ctx.lets, ctx.defaults, ctx.component, ctx.layers, ctx.kind}
	if c.visited[v] {
		return
	}
	c.visited[v] = true
	switch {
	case n.Kind == tree.List:
		for _, item := range n.Items {
			c.body(item, ctx)
		}
	case n.Kind != tree.Map:
	case isConditional(n):
		c.conditional(n, ctx)
	default:
		for _, e := range n.Entries {
			c.block(e, ctx)
		}
	}
}

// maxOpenBodies bounds the named bodies inside one another.
const maxOpenBodies = 100

// reference checks the name of a body and the body.
func (c *checked) reference(n *tree.Node, ctx context) {
	target := ctx.blocks.Get(n.Text)
	switch {
	case target == nil:
		c.report(c.lacking(fault.UnknownBody(n.Range, n.Text, slices.Concat(ctx.blocks.Keys(), c.g.types)), "blocks."+n.Text))
	case slices.Contains(ctx.stack, n.Text):
		c.report(fault.BlockCycle(n.Range, append(ctx.stack[slices.Index(ctx.stack, n.Text):], n.Text)))
	case len(ctx.stack) == maxOpenBodies:
		c.report(fault.BodiesTooDeep(n.Range, maxOpenBodies))
	default:
		c.uses.blocks[n.Text] = true
		ctx.stack = append(ctx.stack[:len(ctx.stack):len(ctx.stack)], n.Text)
		c.body(target, ctx)
	}
}

func (c *checked) conditional(n *tree.Node, ctx context) {
	c.expression(n.Get("if"), condition, ctx)
	then := n.Get("then")
	if then == nil {
		c.report(fault.MissingKey(start(n), "if", "then"))
		return
	}
	c.body(then, ctx)
	if otherwise := n.Get("else"); otherwise != nil {
		c.body(otherwise, ctx)
	}
}

func (c *checked) block(e tree.Entry, ctx context) {
	f := c.g.blocks[e.Key.Text]
	if f == nil || e.Value.Kind == tree.Null {
		return
	}
	if e.Key.Text == "layers" {
		c.layers(e, f, ctx)
		return
	}
	c.uses.defaults[e.Key.Text] = true
	n := c.effective(e.Value, f, ctx.defaults)
	c.record(n, f, "block "+e.Key.Text, e.Key.Range, ctx)
}

// layers checks the schedule, and the body of a layer once for every kind.
func (c *checked) layers(e tree.Entry, f *form, ctx context) {
	n := e.Value
	inner := ctx
	inner.layers = true
	for _, name := range []string{"count", "each"} {
		if n.Get(name) == nil {
			c.report(c.lackingOption(fault.MissingKey(e.Key.Range, "block layers", name), n, f, name))
			return
		}
	}
	if name := n.Get("name"); name != nil {
		c.holes(name, ctx)
	}
	c.expression(n.Get("count"), f.field("count").form.opt, ctx)
	if n.Get("kind") == nil {
		c.body(n.Get("each"), inner)
		return
	}
	c.expression(n.Get("kind"), f.field("kind").form.opt, inner)
	inner.kind = true
	kinds := n.Get("kinds")
	if kinds == nil || len(kinds.Entries) == 0 {
		c.body(n.Get("each"), inner)
		return
	}
	for _, k := range kinds.Entries {
		patched := inner
		patched.blocks, patched.lets = c.kindPatch(k, ctx)
		c.inKinds = append(c.inKinds, deletions{c.kindDeleted[k.Value], tree.NewMap(k.Value.Range,
			tree.Entry{Key: tree.NewText("blocks", k.Value.Range), Value: patched.blocks})})
		c.body(n.Get("each"), patched)
		c.inKinds = c.inKinds[:len(c.inKinds)-1]
	}
}

// kindPatch returns the blocks and the named expressions of the layers of one
// kind.
func (c *checked) kindPatch(kind tree.Entry, ctx context) (blocks, lets *tree.Node) {
	blocks, lets = ctx.blocks, ctx.lets
	if c.kindDeleted[kind.Value] == nil {
		c.kindDeleted[kind.Value] = map[string]diag.Range{}
	}
	m := &merger{g: c.g, deleted: c.kindDeleted[kind.Value]}
	if over := kind.Value.Get("blocks"); over != nil {
		if c.patched[over] == nil {
			c.patched[over] = m.merge(blocks, over, c.g.document.child("blocks"), false, []string{"blocks"})
			if tree.Equal(c.patched[over], blocks) {
				m.found.Add(*fault.NothingChanged(start(over), "the patch of kind "+kind.Key.Text))
			}
		}
		blocks = c.patched[over]
	}
	if over := kind.Value.Get("let"); over != nil {
		if c.patched[over] == nil {
			c.patched[over] = m.merge(lets, over, c.g.document.child("let"), false, []string{"let"})
			c.checkLets(c.patched[over])
		}
		lets = c.patched[over]
	}
	c.found = append(c.found, m.found...)
	return blocks, lets
}

// effective returns the options of a block with the defaults for its type under
// them.
func (c *checked) effective(n *tree.Node, f *form, defaults *tree.Node) *tree.Node {
	key := optionsKey{n, defaults}
	if out := c.options[key]; out != nil {
		return out
	}
	out := n
	if d := defaults.Get(f.decl.Name); d != nil {
		out = c.under(d, n, f)
	}
	if out.Kind == tree.Map {
		for _, fd := range f.fields { // projections and the like take the defaults of what they are
			o := fd.form.opt
			if o == nil || o.Of == "" || defaults.Get(o.Of) == nil || out.Get(fd.name) == nil && o.Default == "" {
				continue
			}
			c.uses.defaults[o.Of] = true
			base := knownTo(defaults.Get(o.Of), fd.form)
			own := out.Get(fd.name)
			if own == nil {
				own = &tree.Node{Kind: tree.Map, Range: base.Range}
			}
			if len(base.Entries) > 0 {
				out = out.With(tree.NewText(fd.name, own.Range), c.under(base, own, fd.form))
			}
		}
	}
	c.options[key] = out
	return out
}

// knownTo keeps the entries of defaults that a form has.
func knownTo(n *tree.Node, f *form) *tree.Node {
	out := &tree.Node{Kind: tree.Map, Range: n.Range}
	for _, e := range n.Entries {
		if f.field(e.Key.Text) != nil {
			out.Entries = append(out.Entries, e)
		}
	}
	return out
}

// under lays options over defaults.
func (c *checked) under(defaults, n *tree.Node, f *form) *tree.Node {
	m := &merger{g: c.g, deleted: map[string]diag.Range{}}
	out := m.merge(defaults, n, f, true, nil)
	if out.Kind == tree.Map && n.Kind == tree.Map {
		out.Range = n.Range
	}
	return out
}

// record checks the options of a block, or the fields of an option.
func (c *checked) record(n *tree.Node, f *form, title string, at diag.Range, ctx context) {
	if n.Kind != tree.Map {
		if short := f.field(f.short); short != nil {
			c.option(n, short.form, ctx)
		} else {
			c.report(fault.WrongType(n.Range, c.g.expects(f), n.Describe()))
		}
		return
	}
	for i := range f.fields {
		fd := &f.fields[i]
		switch value := n.Get(fd.name); {
		case value != nil && value.Kind != tree.Null:
			c.option(value, fd.form, ctx)
		case fd.required:
			c.report(c.lackingOption(fault.MissingOption(at, title, fd.name, fd.doc), n, f, fd.name))
		default:
			c.defaultValue(fd, title, at, ctx)
		}
	}
}

// defaultValue checks that a value which an option reads by default exists.
func (c *checked) defaultValue(fd *field, title string, at diag.Range, ctx context) {
	o := fd.form.opt
	if fd.form.kind == formValue && o.Default != "" && !slices.Contains(ctx.values, o.Default) {
		c.report(c.lacking(fault.MissingDefaultValue(at, title, fd.name, o.Default, ctx.component), "components."+ctx.component+".inputs."+o.Default))
	}
}

// option checks the value of one option.
func (c *checked) option(n *tree.Node, f *form, ctx context) {
	switch f.kind {
	case formBody:
		c.body(n, ctx)
	case formName:
		c.holes(n, ctx)
	case formValue:
		if n.Text != "none" && !slices.Contains(ctx.values, n.Text) {
			c.report(c.lacking(fault.UnknownValue(n.Range, n.Text, ctx.component, ctx.values), "components."+ctx.component+".inputs."+n.Text))
		}
	case formFunction:
		c.uses.functions[n.Text] = true
		if known := c.s.root.Get("functions").Keys(); !slices.Contains(known, n.Text) {
			c.report(c.lacking(fault.UnknownFunctionBody(n.Range, n.Text, known), "functions."+n.Text))
		}
	case formRecord:
		c.record(n, f, f.title, n.Range, ctx)
	case formMap:
		for _, e := range n.Entries {
			c.option(e.Value, f.each, ctx)
		}
	case formList:
		c.list(n, f, ctx)
	case formExpr:
		if f.opt.Kind == lowering.DimsOption {
			if e := c.dimExpr(n); e != nil {
				c.dim(e, ctx)
			}
			return
		}
		c.expression(n, f.opt, ctx)
	}
}

// list checks a list, or an expression that yields one.
func (c *checked) list(n *tree.Node, f *form, ctx context) {
	if n.Kind == tree.List {
		for _, item := range n.Items {
			c.option(item, f.each, ctx)
		}
		return
	}
	if f.each.kind != formExpr || n.Kind != tree.String {
		c.option(n, f.each, ctx)
		return
	}
	if e := c.parse(n); e != nil {
		want := expr.ListOfT(typeOfOption(f.opt))
		if t, _ := expr.Check(e, &scope{c.aside(), ctx}); t.Kind != expr.ListType {
			want = typeOfOption(f.opt) // one value stands for a list of one
		}
		c.typed(e, want, ctx)
	}
}

// manifestName is taken in every package.
const manifestName = "mobiusc.json"

// notInFileName reports the characters that cannot stand in the name of a file
// on every system.
func notInFileName(r rune) bool { return r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) }
