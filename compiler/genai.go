package compiler

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mobiusc/compiler/emit"
	"mobiusc/compiler/spec"
	"mobiusc/compiler/spec/expr"
	"mobiusc/internal/diag"
	"mobiusc/ir"
	"mobiusc/lowering"
)

// genaiName is the file from which onnxruntime-genai loads a model. Its keys, and
// the names of inputs and outputs that it knows, are those of version 0.18
// (src/config.h of microsoft/onnxruntime-genai): it refuses a file with others.
const genaiName = "genai_config.json"

type object = map[string]any

// The values that onnxruntime-genai feeds to a graph and takes from it. They have
// its own names in our graphs, too.
var (
	genaiDecoderInputs    = []string{"input_ids", "inputs_embeds", "attention_mask", "position_ids"}
	genaiEmbeddingInputs  = []string{"input_ids", "image_features", "audio_features"}
	genaiVisionInputs     = []string{"pixel_values", "image_grid_thw"}
	genaiEmbeddingOutputs = []string{"inputs_embeds"}
	genaiVisionOutputs    = []string{"image_features"}
)

// genaiStates maps the last part of a state's name to what onnxruntime-genai calls
// such states. It takes the shape of a conv or a recurrent state from the graph.
var genaiStates = map[string]string{
	"key": "key", "value": "value", "conv_state": "conv", "recurrent_state": "recurrent", "ssm_state": "recurrent",
}

// streamSizes are what a graph's interface does not say about its layers.
type streamSizes struct{ layers, width, heads int64 }

// traceSizes makes lowering report the sizes of every component's layers: their
// number, the width of the stream that enters them, the query heads of the first
// attention.
func traceSizes(o *lowering.Options) map[string]*streamSizes {
	sizes := map[string]*streamSizes{}
	o.Trace = func(component string, blk *lowering.Block, before, _ lowering.Tensor) {
		s := sizes[component]
		if s == nil {
			s = &streamSizes{}
			sizes[component] = s
		}
		if blk.Layer < 0 {
			return
		}
		s.layers = max(s.layers, int64(blk.Layer)+1)
		if s.width == 0 && !before.IsZero() {
			s.width, _ = lastDim(before.Dims())
		}
		if s.heads == 0 && blk.Opts.Has("kv_heads") {
			s.heads = blk.Opts.Int("heads")
		}
	}
	return sizes
}

// lastDim returns the size of the last dim: 0 and false where there is none, or
// no number of it.
func lastDim(dims []ir.Dim) (int64, bool) {
	if len(dims) == 0 {
		return 0, false
	}
	return dims[len(dims)-1].Int()
}

// genai makes genai_config.json of a package whose spec has metadata for
// onnxruntime-genai, and adds what keeps the package from being run by it.
type genai struct {
	spec       *spec.GenAI
	generation *spec.Generation
	tokens     spec.Runtime
	components []*component
	file       func(component string) string
	reasons    []string
}

// genaiConfig returns the content of genai_config.json, or nil where the spec has
// no metadata for it. It returns nil as well, with a note for each reason, if
// onnxruntime-genai could not run the package: no file says so at once, a file
// would fail when it is loaded, or worse, run wrongly.
func (o Options) genaiConfig(b *bound, components []*component) ([]byte, diag.List, error) {
	r := b.result.Runtime
	if r.GenAI == nil {
		return nil, nil, nil
	}
	generation, found := b.config.Generation()
	if found.HasErrors() {
		return nil, found, nil
	}
	if generation == nil {
		generation = &spec.Generation{}
	}
	g := &genai{spec: r.GenAI, generation: generation, tokens: r, components: components}
	g.file = func(name string) string { return emit.ModelFile(name, len(components), o.Weights.Mode == InPlace) }
	config := g.config()
	for _, reason := range g.reasons {
		found.Add(*noGenAI.At(r.GenAI.Range, "no %s is written: %s", genaiName, reason))
	}
	if len(g.reasons) > 0 {
		return nil, found, nil
	}
	text, err := emit.AppendJSON(nil, config)
	return text, found, err
}

func (g *genai) fail(format string, args ...any) {
	g.reasons = append(g.reasons, fmt.Sprintf(format, args...))
}

func (g *genai) config() object {
	decoder := g.producer("logits")
	if decoder == nil {
		g.fail("no component puts out logits")
		return nil
	}
	model := object{"type": g.spec.Type, "decoder": g.decoder(decoder)}
	for _, v := range g.spec.Values {
		model[v.Name] = v.Value
	}
	vocabulary, ok := lastDim(output(decoder, "logits").Type.Shape)
	if !ok {
		g.fail("the size of the vocabulary is not known")
	}
	model["vocab_size"] = vocabulary
	g.addTokens(model, vocabulary)
	placed := []*component{decoder}
	if embedding := g.feeder(decoder, "inputs_embeds"); embedding != nil {
		model["embedding"] = g.section(embedding, "embedding", genaiEmbeddingInputs, genaiEmbeddingOutputs)
		placed = append(placed, embedding)
		if vision := g.feeder(embedding, "image_features"); vision != nil {
			model["vision"] = g.section(vision, "vision", genaiVisionInputs, genaiVisionOutputs)
			placed = append(placed, vision)
		}
	}
	for _, c := range g.components {
		if !slices.Contains(placed, c) {
			g.fail("onnxruntime-genai has no use for component %s", c.Component.Name)
		}
	}
	// With a length of 0 it takes context_length. Buffers for past and present
	// keys that are one are of its own attention operator.
	search := object{"past_present_share_buffer": false}
	for name, v := range g.generation.Search {
		search[name] = v
	}
	g.checkSearch(search, vocabulary)
	if n, ok := model["context_length"].(int64); !ok || n <= 0 {
		g.fail("context_length is %s, and must be a whole number above 0", expr.Format(model["context_length"]))
	}
	g.checkWhole("model", model)
	g.checkWhole("search", search)
	return object{"model": model, "search": search}
}

// checkSearch finds what onnxruntime-genai refuses when it begins to generate.
func (g *genai) checkSearch(search object, vocabulary int64) {
	if k, ok := search["top_k"].(int64); ok && k > vocabulary {
		search["top_k"] = vocabulary // it takes no more, and more choose nothing else
	}
	for _, limit := range []struct {
		name     string
		min, max float64
	}{{"top_k", 0, math.MaxInt32}, {"top_p", 0, 1}, {"num_beams", 1, 32}} {
		var n float64
		switch v := search[limit.name].(type) {
		case int64:
			n = float64(v)
		case float64:
			n = v
		default:
			continue
		}
		if n < limit.min || n > limit.max {
			g.fail("%s of generation_config.json is %v, and must be from %.f to %.f", limit.name, search[limit.name], limit.min, limit.max)
		}
	}
	if beams, _ := search["num_beams"].(int64); beams > 1 && search["do_sample"] == true {
		g.fail("generation_config.json asks for samples of %d beams, and onnxruntime-genai has no beams when it samples", beams)
	}
}

// checkWhole finds whole numbers of more bits than onnxruntime-genai reads.
func (g *genai) checkWhole(name string, v any) {
	switch v := v.(type) {
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			g.checkWhole(name+"."+key, v[key])
		}
	case []expr.Value:
		for _, item := range v {
			g.checkWhole(name, item)
		}
	case int64:
		if v != int64(int32(v)) {
			g.fail("%s is %d, which does not fit in 32 bits", name, v)
		}
	}
}

// addTokens adds the ids of special tokens: those of generation_config.json, else
// those of config.json. Published models that chat end a turn with a token that
// only the former names. An id that the vocabulary lacks, such as -1, names no token
// to begin or to pad with.
func (g *genai) addTokens(model object, vocabulary int64) {
	first := func(name string, lists ...[]int64) {
		for _, ids := range lists {
			if len(ids) > 0 && ids[0] >= 0 && ids[0] < vocabulary {
				model[name] = ids[0]
				return
			}
		}
	}
	eos := g.generation.EOS
	if len(eos) == 0 {
		eos = g.tokens.EOS
	}
	first("bos_token_id", g.generation.BOS, g.tokens.BOS)
	first("pad_token_id", g.generation.PAD, g.tokens.PAD, eos)
	if len(eos) == 0 {
		g.fail("neither config.json nor generation_config.json names the token that ends a text, without which onnxruntime-genai takes token 0")
		return
	}
	model["eos_token_id"] = eos
	for _, id := range eos {
		if id < 0 || id >= vocabulary {
			g.fail("the token %d that ends a text is not in the vocabulary of %d", id, vocabulary)
		}
	}
}

func (g *genai) decoder(c *component) object {
	d := g.section(c, "decoder", genaiDecoderInputs, []string{"logits"})
	d["session_options"] = object{"log_id": "onnxruntime-genai", "provider_options": []any{}}
	d["num_hidden_layers"] = c.sizes.layers
	positive := func(name string, n int64) {
		if n > 0 {
			d[name] = n
		}
	}
	positive("hidden_size", c.sizes.width)
	positive("num_attention_heads", c.sizes.heads)
	inputs, outputs := d["inputs"].(object), d["outputs"].(object)
	seen := map[string]bool{}
	for _, s := range c.States {
		if seen[s.Name] {
			continue // of a further layer
		}
		seen[s.Name] = true
		kind := genaiStates[s.Name]
		past, present := "past_"+kind+"_names", "present_"+kind+"_names"
		if kind == "" || inputs[past] != nil {
			g.fail("onnxruntime-genai keeps no state like %s", s.Input.Name)
			continue
		}
		if shape := s.InType.Shape; kind == "key" {
			heads, _ := shape[1].Int()
			dim, _ := shape[3].Int()
			positive("num_key_value_heads", heads)
			positive("head_size", dim)
		}
		inputs[past], outputs[present] = template(c.Component.StateInput, s.Name), template(c.Component.StateOutput, s.Name)
	}
	return d
}

// template returns the name of a state with %d for its layer.
func template(name, state string) string {
	return strings.NewReplacer("{layer}", "%d", "{state}", state).Replace(name)
}

// section describes a component: its file, the inputs and outputs that
// onnxruntime-genai knows, and what the spec adds.
func (g *genai) section(c *component, name string, inputs, outputs []string) object {
	s := object{"filename": g.file(c.Component.Name)}
	for _, v := range g.spec.Sections[name] {
		s[v.Name] = v.Value
	}
	in, out := object{}, object{}
	for _, i := range c.Component.Inputs {
		if !slices.Contains(inputs, i.Name) {
			g.fail("onnxruntime-genai has no value for input %s of component %s", i.Name, c.Component.Name)
		}
		in[i.Name] = i.Name
	}
	for _, o := range c.Component.Outputs {
		if slices.Contains(outputs, o.Name) {
			out[o.Name] = o.Name
		}
	}
	s["inputs"], s["outputs"] = in, out
	return s
}

// producer returns the component that has an output, or nil.
func (g *genai) producer(name string) *component {
	for _, c := range g.components {
		if output(c, name) != nil {
			return c
		}
	}
	return nil
}

// feeder returns the component that feeds an input in the package, or nil.
func (g *genai) feeder(of *component, input string) *component {
	for _, in := range of.Component.Inputs {
		from, _, _ := strings.Cut(in.From, ".")
		for _, c := range g.components {
			if in.Name == input && c.Component.Name == from {
				return c
			}
		}
	}
	return nil
}

func output(c *component, name string) *ir.Value {
	for _, v := range c.model.Graph.Outputs {
		if v.Name == name {
			return v
		}
	}
	return nil
}
