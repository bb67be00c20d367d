package lowering

import (
	"mobiusc/ir"
)

var attentionDecl = &Decl{
	Name: "attention",
	Doc: "Scaled dot-product attention: the stream to heads and back. Softmax is float32. With a growing cache it carries the states " +
		"`key` and `value`, [batch, kv_heads, past → past + sequence, head_dim], after norm and rotation.",
	Short: "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Doc: "module path"},
		{Name: "heads", Kind: IntOption, Required: true, Doc: "query heads"},
		{Name: "kv_heads", Kind: IntOption, Default: "heads", Doc: "key and value heads; query head h reads head h // (heads / kv_heads)"},
		{Name: "head_dim", Kind: IntOption, Required: true, Doc: "width of a head"},
		headProjection("query", "q_proj"), headProjection("key", "k_proj"),
		headProjection("value", "v_proj", Option{Name: "same_as_key", Kind: BoolOption, Default: "false",
			Doc: "whether the values are what the key projection gives, before its norm and rotation; there is no value projection then"}),
		projection("output", "o_proj", "the projection back to the stream"),
		{Name: "bias", Kind: RecordOption, Short: "all", Doc: "which projections have a bias: one for all, or each", Fields: []Option{
			{Name: "all", Kind: BoolOption, Doc: "every projection"},
			{Name: "query", Kind: BoolOption, Doc: "the query projection"}, {Name: "key", Kind: BoolOption, Doc: "the key projection"},
			{Name: "value", Kind: BoolOption, Doc: "the value projection"}, {Name: "output", Kind: BoolOption, Doc: "the output projection"},
		}},
		{Name: "qkv", Kind: RecordOption, Of: "linear", Short: "name", Doc: "one projection that holds query, key and value",
			Fields: projectionOptions(Option{Name: "layout", Kind: WordOption, Words: []string{"concatenated", "grouped"}, Default: "concatenated",
				Doc: "concatenated: all queries, all keys, all values; grouped: for each key/value head its queries, its key, its value"})},
		{Name: "clip", Kind: FloatOption, Bound: AboveZero, Doc: "largest absolute value of queries, keys and values, after their norms and before the rotation: what is beyond is set to it"},
		{Name: "rope", Kind: RopeOption, Doc: "rotary position embedding of queries and keys"},
		{Name: "mask", Kind: WordOption, Words: []string{"causal", "bidirectional"}, Default: "bidirectional", Doc: "which positions a query sees"},
		{Name: "window", Kind: IntOption, Doc: "width of the sliding window: a query sees itself and the window − 1 positions before it"},
		{Name: "bidirectional_spans", Kind: ValueOption, Doc: "value that is not 0 where a token belongs to a span, int64 [batch, sequence]: the tokens of a run of them, of this call, see the later ones of it, too, under a causal mask"},
		{Name: "padding", Kind: ValueOption, Default: "attention_mask", Doc: "value that is 0 where a position is padding, int64 [batch, past + sequence]; none: nothing is"},
		{Name: "segments", Kind: ValueOption, Doc: "ids of contiguous segments; a query sees its own segment only"},
		{Name: "scale", Kind: FloatOption, Bound: AboveZero, Default: "head_dim ** -0.5", Doc: "factor of the scores"},
		{Name: "softcap", Kind: FloatOption, Bound: AboveZero, Doc: "softcap·tanh(score / softcap) before the softmax"},
		positionBiasOption,
		{Name: "memory", Kind: ValueOption, Doc: "value [batch, source, width] that keys and values come from instead of the stream; `padding` is then of its positions"},
		{Name: "gate", Kind: RecordOption, Doc: "a gate on the heads' result, before the output projection", Fields: []Option{
			{Name: "activation", Kind: WordOption, Words: activations, Required: true, Doc: "applied to the gate"},
			{Name: "in", Kind: WordOption, Words: []string{"query"}, Default: "query", Doc: "where the gate comes from: the second half of each query head's projection"},
			{Name: "when", Kind: BoolOption, Default: "true", Doc: "whether there is a gate"},
		}},
		{Name: "cache", Kind: WordOption, Words: []string{"growing", "none"}, Doc: "growing unless the mask is bidirectional; with `memory`, its keys and values are kept unless none"},
		{Name: "state", Kind: NameOption, Doc: "prefix of the state names, where a layer has two attentions"},
	},
	Lower: lowerAttention,
}

// headProjection declares a projection whose heads may be normalised.
func headProjection(name, module string, more ...Option) Option {
	norm := Option{Name: "norm", Kind: BodyOption, Doc: "a norm over each head; its name is relative to the attention"}
	return projection(name, module, "the "+name+" projection", append([]Option{norm}, more...)...)
}

func lowerAttention(b *Builder, blk *Block, x Tensor) (y Tensor) {
	b.Within(blk.Opts.Text("name"), func() {
		a := &attention{
			Builder: b, o: blk.Opts,
			heads: blk.Opts.Int("heads"), kvHeads: blk.Opts.Int("kv_heads"), dim: blk.Opts.Int("head_dim"),
		}
		if a.kvHeads < 1 || a.heads%a.kvHeads != 0 {
			b.Fail("%d query heads do not divide among %d key/value heads", a.heads, a.kvHeads)
		}
		y = a.lower(x)
	})
	return y
}

// attention is one attention block while it is lowered.
type attention struct {
	*Builder
	o                   Record
	heads, kvHeads, dim int64
}

func (a *attention) lower(x Tensor) Tensor {
	if a.o.Has("bidirectional_spans") && (a.o.Has("memory") || a.o.Has("segments")) {
		a.Fail("bidirectional spans are of attention over the stream itself, without segments")
	}
	if a.o.Has("memory") {
		return a.Linear(a.overMemory(x), a.projection("output"), a.static(x.Last(), "the width of the stream"))
	}
	q, k, v, gate := a.project(x)
	q, k, v = a.clipped(a.norm("query", q)), a.clipped(a.norm("key", k)), a.clipped(a.norm("value", v))
	if rope := a.o.Rope("rope"); rope != nil {
		q, k = a.rotate(rope, q, a.heads), a.rotate(rope, k, a.kvHeads)
	}
	var y Tensor
	if a.o.Has("segments") {
		y = a.withinSegments(q, k, v)
	} else {
		y = a.scores(q, k, v)
	}
	if gate != nil {
		y = y.with(a.gated(a.o.Record("gate").Text("activation"), gate, a.Flat(y)))
	}
	return a.Linear(y, a.projection("output"), a.static(x.Last(), "the width of the stream"))
}

// project returns query [..., heads·head_dim], key and value [...,
// kv_heads·head_dim], and the gate as a matrix, or nil.
func (a *attention) project(x Tensor) (q, k, v Tensor, gate *ir.Value) {
	qw, kw := a.heads*a.dim, a.kvHeads*a.dim
	if a.o.Has("qkv") {
		if a.hasGate() {
			a.Fail("a gate in the query projection needs a query projection of its own, not `qkv`")
		}
		if a.valuesAreKeys() {
			a.Fail("values that are the same as keys need a key projection of its own, not `qkv`")
		}
		all := a.Linear(x, a.projection("qkv"), qw+2*kw)
		if a.o.Record("qkv").Text("layout") == "grouped" {
			parts := a.ungroup(all, a.kvHeads, qw/a.kvHeads, a.dim, a.dim)
			return all.with(parts[0]), all.with(parts[1]), all.with(parts[2]), nil
		}
		parts := a.Split(all.v, qw, kw, kw)
		return all.with(parts[0]), all.with(parts[1]), all.with(parts[2]), nil
	}
	k, v = a.keysAndValues(x)
	if !a.hasGate() {
		return a.Linear(x, a.projection("query"), qw), k, v, nil
	}
	both := a.Linear(x, a.projection("query"), 2*qw)
	rows := a.Op("Reshape", []*ir.Value{both.v, a.Ints(-1, 2*a.dim)})
	parts := a.Split(rows, a.dim, a.dim)
	gate = a.Op("Reshape", []*ir.Value{parts[1], a.Ints(-1, qw)})
	return both.with(a.Op("Reshape", []*ir.Value{parts[0], a.Ints(-1, qw)})), k, v, gate
}

// keysAndValues projects what keys and values come from: [..., kv_heads·head_dim]
// each, before any norm.
func (a *attention) keysAndValues(x Tensor) (k, v Tensor) {
	width := a.kvHeads * a.dim
	k = a.Linear(x, a.projection("key"), width)
	if a.valuesAreKeys() {
		return k, k
	}
	return k, a.Linear(x, a.projection("value"), width)
}

func (a *attention) valuesAreKeys() bool { return a.o.Record("value").Bool("same_as_key") }

func (a *attention) hasGate() bool { return a.o.Has("gate") }

// projection returns the options of a projection with the attention's bias
// where it does not state its own.
func (a *attention) projection(name string) Record {
	bias := a.o.Record("bias")
	which := name
	if name == "qkv" {
		which = "query"
	}
	own := bias.Opt(which)
	if own.Value == nil {
		own = bias.Opt("all")
	}
	return a.o.Record(name).or("bias", own)
}

// norm normalises each head of a projection, or all heads together, if the
// projection has a norm.
func (a *attention) norm(name string, t Tensor) Tensor {
	body := a.o.Record(name).Body("norm")
	if len(body) == 0 {
		return t
	}
	if body[0].Opts.Text("over") == "heads" {
		return a.Body(body, t)
	}
	width := a.static(t.Last(), "the width of the projection")
	shape := a.Ints(-1, a.dim)
	if body[0].Opts.Text("weights") == "each_head" {
		shape = a.Ints(-1, width/a.dim, a.dim)
	}
	heads := a.Op("Reshape", []*ir.Value{t.v, shape})
	normed := a.Body(body, tensorOf(heads))
	return t.with(a.Op("Reshape", []*ir.Value{normed.v, a.Ints(-1, width)}))
}

// clipped bounds the absolute values of a projection, if the attention says so.
func (a *attention) clipped(t Tensor) Tensor {
	if !a.o.Has("clip") {
		return t
	}
	bound := a.o.Float("clip")
	return t.with(a.Op("Clip", []*ir.Value{t.v, a.Scalar(t.DType(), -bound), a.Scalar(t.DType(), bound)}))
}

// scores attends over the whole sequence and, with a cache, over what came
// before it: [batch, sequence, heads·head_dim].
func (a *attention) scores(q, k, v Tensor) Tensor {
	if len(q.Lead()) != 2 {
		a.Fail("attention without segments needs a stream [batch, sequence, width], not %s", ir.Shape(q.Dims()))
	}
	batch, sequence := q.Lead()[0], q.Lead()[1]
	inputs := []*ir.Value{a.Full(q), a.Full(k), a.Full(v)}
	causal := a.o.Text("mask") == "causal"
	cached := a.o.Text("cache") == "growing" || !a.o.Has("cache") && causal

	total := sequence
	var setKey, setValue func(*ir.Value)
	var pastKey, pastValue *ir.Value
	if cached {
		past := ir.Sym("past")
		total = past.Add(sequence)
		before := []ir.Dim{batch, ir.Int(a.kvHeads), past, ir.Int(a.dim)}
		after := []ir.Dim{batch, ir.Int(a.kvHeads), total, ir.Int(a.dim)}
		pastKey, setKey = a.State(a.o.Text("state"), "key", q.DType(), before, after)
		pastValue, setValue = a.State(a.o.Text("state"), "value", q.DType(), before, after)
	}
	rule := maskSpec{
		padding: a.o.Text("padding"), spans: a.o.Text("bidirectional_spans"), window: a.o.Int("window"), causal: causal,
		batch: batch, sequence: sequence, total: total,
	}
	a.checkSpans(rule)
	mask := a.mask(rule)
	if a.o.Has("position_bias") {
		mask = a.biasedMask(rule, mask)
	}
	inputs = append(inputs, mask, pastKey, pastValue)
	attrs := append([]*ir.Attr{ir.IntAttr("q_num_heads", a.heads), ir.IntAttr("kv_num_heads", a.kvHeads)}, a.scoreAttrs(q.DType())...)
	if causal && rule.spans == "" {
		attrs = append(attrs, ir.IntAttr("is_causal", 1))
	}
	for len(inputs) > 3 && inputs[len(inputs)-1] == nil {
		inputs = inputs[:len(inputs)-1]
	}
	if !cached {
		return q.with(a.Node("", "Attention", inputs, 1, attrs...)[0])
	}
	outs := a.Node("", "Attention", inputs, 3, attrs...)
	setKey(outs[1])
	setValue(outs[2])
	return q.with(outs[0])
}

// checkSpans fails where spans would say nothing, or are not what is read there.
func (a *attention) checkSpans(m maskSpec) {
	switch {
	case m.spans == "":
	case !m.causal:
		a.Fail("bidirectional spans change a causal mask only")
	case a.o.Has("position_bias"):
		a.Fail("attention with a position bias takes no bidirectional spans yet")
	default:
		if t := a.Value(m.spans).v.Type; t.Elem != ir.Int64 || !t.Shape.Equal(ir.Shape{m.batch, m.sequence}) {
			a.Fail("bidirectional spans need a value int64 [%s, %s], and %s is %s", m.batch, m.sequence, m.spans, t)
		}
	}
}

// scoreAttrs returns the attributes of the operator that say how scores are made.
func (a *attention) scoreAttrs(t ir.DataType) []*ir.Attr {
	attrs := []*ir.Attr{a.floatAttr("scale", a.o.Float("scale"))}
	if a.o.Has("softcap") {
		attrs = append(attrs, a.floatAttr("softcap", a.o.Float("softcap")))
	}
	if t != ir.Float32 {
		attrs = append(attrs, ir.IntAttr("softmax_precision", int64(ir.Float32)))
	}
	return attrs
}

// withinSegments attends inside contiguous segments of packed rows
// [rows, heads·head_dim], without a mask of rows × rows.
func (a *attention) withinSegments(q, k, v Tensor) Tensor {
	name := a.o.Text("segments")
	lengths := a.named(name).lengths
	if lengths == nil {
		a.Fail("the value %q does not hold ids of contiguous segments", name)
	}
	if a.o.Has("window") || a.o.Has("softcap") || a.o.Text("mask") == "causal" || a.kvHeads != a.heads {
		a.Fail("attention within segments takes no window, softcap, causal mask or grouped heads yet")
	}
	flat := a.Flat(q)
	y := a.Call("SegmentAttention", []*ir.Value{flat, a.Flat(k), a.Flat(v), lengths}, []*ir.Type{flat.Type},
		ir.IntAttr("num_heads", a.heads), a.floatAttr("scale", a.o.Float("scale")))
	return q.with(y[0])
}
