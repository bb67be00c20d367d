package lowering

import (
	"fmt"

	"mobiusc/ir"
)

// expertActivations are those that the function RoutedExperts knows.
var expertActivations = []string{"silu", "gelu", "gelu_tanh", "relu"}

var moeDecl = &Decl{
	Name: "moe",
	Doc: "A mixture of experts: a router chooses `top_k` of the gated MLPs for every token, whose results are weighted and summed; " +
		"the others do not run on the token. Parameters `gate_up` [experts, 2·width, hidden] (gate first) and `down` [experts, hidden, width].",
	Short: "name",
	Options: []Option{
		{Name: "name", Kind: NameOption, Doc: "module path of the whole block"},
		{Name: "experts", Kind: IntOption, Required: true, Doc: "how many experts there are"},
		{Name: "top_k", Kind: IntOption, Required: true, Doc: "how many of them a token runs through"},
		{Name: "width", Kind: IntOption, Required: true, Doc: "width between an expert's projections"},
		{Name: "activation", Kind: WordOption, Words: expertActivations, Required: true, Doc: "applied to the gate of an expert"},
		{Name: "router", Kind: RecordOption, Default: "{}", Short: "name", Doc: "the linear layer that scores the experts, in float32", Fields: []Option{
			{Name: "name", Kind: NameOption, Default: "gate", Doc: "module path, relative to the block"},
			{Name: "score", Kind: WordOption, Words: []string{"softmax", "sigmoid"}, Default: "softmax", Doc: "what makes weights of the scores: softmax over all experts, or sigmoid"},
			{Name: "renormalise", Kind: BoolOption, Default: "false", Doc: "whether the weights of the chosen experts are divided by their sum"},
			{Name: "scale", Kind: FloatOption, Default: "1", Doc: "factor of the weights"},
		}},
		{Name: "expert", Kind: RecordOption, Default: "{}", Short: "name", Doc: "the experts", Fields: []Option{
			{Name: "name", Kind: NameOption, Default: "experts", Doc: "module path, relative to the block"},
			{Name: "stored", Kind: WordOption, Words: []string{"separate", "stacked"}, Default: "separate",
				Doc: "how the checkpoint stores the weights: one tensor an expert and projection, `name.0.gate.weight` [width, hidden], …; or as the parameters themselves"},
			{Name: "gate", Kind: NameOption, Default: "gate_proj", Doc: "stored separately: the projection that the activation is applied to"},
			{Name: "up", Kind: NameOption, Default: "up_proj", Doc: "stored separately: the projection beside it"},
			{Name: "gate_up", Kind: NameOption, Default: "gate_up_proj", Doc: "the parameter that holds gate and up of every expert"},
			{Name: "down", Kind: NameOption, Default: "down_proj", Doc: "the projection back, or the parameter that holds it of every expert"},
		}},
		{Name: "shared", Kind: RecordOption, Doc: "what every token runs through besides", Fields: []Option{
			{Name: "body", Kind: BodyOption, Required: true, Doc: "the body; its result is added to that of the experts"},
			{Name: "gate", Kind: RecordOption, Of: "linear", Short: "name", Doc: "a projection to one feature, whose sigmoid multiplies the body's result", Fields: projectionOptions()},
		}},
	},
	Lower: func(b *Builder, blk *Block, x Tensor) (y Tensor) {
		m := &moe{Builder: b, o: blk.Opts, experts: blk.Opts.Int("experts"), topK: blk.Opts.Int("top_k"), width: blk.Opts.Int("width")}
		if m.experts > maxExperts {
			b.Fail("there are %d experts, and at most %d can be named", m.experts, maxExperts)
		}
		if m.topK < 1 || m.topK > m.experts {
			b.Fail("a token cannot run through %d of %d experts", m.topK, m.experts)
		}
		b.Within(blk.Opts.Text("name"), func() { y = m.lower(x) })
		return y
	},
}

// maxExperts bounds what a config can ask for: a checkpoint may store every expert
// under a name of its own.
const maxExperts = 10_000

// moe is one mixture of experts while it is lowered.
type moe struct {
	*Builder
	o                    Record
	experts, topK, width int64
}

func (m *moe) lower(x Tensor) Tensor {
	chosen, weights := m.route(x)
	gateUp, down := m.weights(m.static(x.Last(), "the width of the stream"))
	flat := m.Flat(x)
	y := x.with(m.Call("RoutedExperts", []*ir.Value{flat, chosen, weights, gateUp, down}, []*ir.Type{flat.Type},
		ir.StringAttr("activation", m.o.Text("activation")))[0])
	if !m.o.Has("shared") {
		return y
	}
	return m.Add(y, m.shared(x))
}

// route returns the experts of each token, int64 [tokens, top_k], and their
// weights, float32 of the same shape. Everything is float32: a choice between
// near scores should not depend on the compute dtype.
func (m *moe) route(x Tensor) (chosen, weights *ir.Value) {
	r := m.o.Record("router")
	scores := m.Linear(x.with(m.Cast(x.v, ir.Float32)), Record{"name": r.Opt("name")}, m.experts).v
	softmax := func(v *ir.Value) *ir.Value { return m.Op("Softmax", []*ir.Value{v}, ir.IntAttr("axis", -1)) }
	topK := func(v *ir.Value) (values, indices *ir.Value) {
		outs := m.Node("", "TopK", []*ir.Value{v, m.Ints(m.topK)}, 2, ir.IntAttr("axis", -1))
		return outs[0], outs[1]
	}
	renormalise := r.Bool("renormalise")
	switch {
	case r.Text("score") == "sigmoid":
		weights, chosen = topK(m.Unary("Sigmoid", scores))
		if renormalise {
			weights = m.Binary("Div", weights, m.Op("ReduceSum", []*ir.Value{weights, m.Ints(-1)}, ir.IntAttr("keepdims", 1)))
		}
	case renormalise: // a softmax over all, renormalised over the chosen, is the softmax over the chosen
		weights, chosen = topK(scores)
		weights = softmax(weights)
	default:
		weights, chosen = topK(softmax(scores))
	}
	if s := r.Float("scale"); s != 1 {
		weights = m.Binary("Mul", weights, m.Scalar(ir.Float32, s))
	}
	return chosen, weights
}

// weights returns the parameters of all experts in the storage dtype. The
// function casts those of an expert that runs: a cast here would be folded by
// the runtime into a second copy of all of them.
func (m *moe) weights(hidden int64) (gateUp, down *ir.Value) {
	e := m.o.Record("expert")
	separate := e.Text("stored") == "separate"
	m.Within(e.Text("name"), func() {
		param := func(name string, features int64, projections []string, dims ...int64) *ir.Value {
			if !separate {
				return m.Param(name, m.options.Storage, fanIn(features), dims...)
			}
			return m.assembled(name, m.expertTensors(projections), fanIn(features), dims...)
		}
		gateUp = param(e.Text("gate_up"), hidden, []string{e.Text("gate"), e.Text("up")}, m.experts, 2*m.width, hidden)
		down = param(e.Text("down"), m.width, []string{e.Text("down")}, m.experts, hidden, m.width)
	})
	return gateUp, down
}

// expertTensors lists the checkpoint's tensors of some projections, expert after
// expert.
func (m *moe) expertTensors(projections []string) []string {
	var names []string
	for e := range m.experts {
		for _, p := range projections {
			names = append(names, m.Join(fmt.Sprintf("%d.%s.weight", e, p)))
		}
	}
	return names
}

// shared returns what every token gets besides its experts.
func (m *moe) shared(x Tensor) Tensor {
	s := m.o.Record("shared")
	y := m.Body(s.Body("body"), x)
	if !s.Has("gate") {
		return y
	}
	gate := m.Unary("Sigmoid", m.Linear(x, s.Record("gate"), 1).v)
	return y.with(m.Binary("Mul", m.Flat(y), gate))
}
