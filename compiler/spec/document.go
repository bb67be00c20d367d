package spec

import (
	"strings"

	"mobiusc/lowering"
)

// Options that expressions outside blocks must yield.
var (
	anyResult   = &lowering.Option{Name: "value", Kind: anyKind}
	condition   = &lowering.Option{Name: "condition", Kind: lowering.BoolOption}
	dtypeResult = &lowering.Option{Name: "dtype", Kind: lowering.DTypeOption}
)

// anyKind marks an expression that may yield anything.
const anyKind lowering.OptionKind = 255

func text(title string) *form { return &form{kind: formText, title: title} }

func (g *grammar) lets() *form {
	return &form{kind: formMap, title: "let", defines: LetSymbol, each: &form{kind: formExpr, title: "a named expression", opt: anyResult}}
}

func (g *grammar) named() *form {
	return &form{kind: formMap, title: "blocks", defines: BlockSymbol, each: g.body}
}

// documentForm is the form of a whole spec.
func (g *grammar) documentForm() *form {
	sections := []field{
		{name: "spec", form: &form{kind: formWord, words: []string{"v1"}, title: "spec"}, required: true, doc: "version of the language"},
		{name: "name", form: text("name"), required: true, doc: "the file's own name, without .yaml"},
		{name: "summary", form: text("summary"), required: true, doc: "one sentence"},
		{name: "extends", form: &form{kind: formText, title: "extends", names: SpecSymbol}, doc: "name of the parent, which this spec is laid over"},
		{name: "abstract", form: &form{kind: formFlag, title: "abstract"}, doc: "true for a spec that is only extended"},
	}
	patch := g.sections()
	variant := &form{kind: formRecord, name: "variant", title: "a variant", late: true, fields: patch}
	fields := append(sections, patch...)
	fields = append(fields,
		field{name: "variants", form: &form{kind: formMap, title: "variants", defines: VariantSymbol, each: variant}, doc: "named patches, chosen with --variant or by their own model types"},
		field{name: "functions", form: &form{kind: formMap, title: "functions", defines: FunctionSymbol, each: text("a function")}, doc: "functions in ONNX's textual syntax, for block call"},
		field{name: "pins", form: pins(), doc: "one published model: its config, and what its checkpoint holds"},
	)
	return &form{kind: formRecord, name: "document", title: "a spec", fields: fields}
}

// sections are those that a variant may patch.
func (g *grammar) sections() []field {
	expr := func(title string) *form { return &form{kind: formExpr, title: title, opt: anyResult} }
	texts := func(title string) *form { return &form{kind: formList, title: title, each: text(title), strict: true} }
	return []field{
		{name: "model_types", form: texts("model_types"), doc: "values of model_type in config.json that this spec answers to"},
		{name: "task", form: text("task"), doc: "what the model does: text-generation, feature-extraction, …"},
		{name: "config", form: g.config(), doc: "keys read from config.json, and those ignored with a reason"},
		{name: "checks", form: &form{kind: formMap, title: "checks", each: &form{kind: formExpr, title: "a check", opt: condition}}, doc: "message: condition that must hold"},
		{name: "let", form: g.lets(), doc: "named expressions, evaluated where they are used"},
		{name: "dtype", form: &form{kind: formExpr, title: "dtype", opt: dtypeResult}, doc: "compute dtype of the package; --dtype overrides"},
		{name: "defaults", form: g.defaultsForm(), doc: "options of every block of a type, where the block does not say"},
		{name: "blocks", form: g.named(), doc: "named bodies"},
		{name: "components", form: g.components(), doc: "the graphs of the package"},
		{name: "weights", form: weights(), doc: "how checkpoint names and layouts differ from the spec's"},
		{name: "runtime", form: &form{kind: formRecord, title: "runtime", fields: []field{
			{name: "tokens", form: &form{kind: formRecord, title: "tokens", fields: []field{
				{name: "bos", form: expr("bos"), doc: "begin of sequence"}, {name: "eos", form: expr("eos"), doc: "end of sequence"},
				{name: "pad", form: expr("pad"), doc: "padding"},
			}}, doc: "special token ids"},
			{name: "genai", form: genai(), doc: "metadata for onnxruntime-genai"},
		}}, doc: "metadata for runtimes"},
	}
}

// config is the form of section config and, nested, of a section of it.
func (g *grammar) config() *form {
	key := &form{kind: formRecord, name: "config_key", title: "a config key", short: "type"}
	ignore := &form{kind: formMap, title: "ignore", each: text("a reason")}
	leftOut := &form{kind: formMap, title: "left_out", each: text("a reason")}
	key.fields = []field{
		{name: "type", form: &form{kind: formConfig, title: "the type of a config key"}, doc: "int, float, bool, string, activation, dtype, token, rope, list<T>, map<T> or object; optional T may be absent or null"},
		{name: "from", form: &form{kind: formList, title: "from", each: text("from")}, doc: "its names in the wild, or paths of names; default: the key's own"},
		{name: "default", form: &form{kind: formAny, title: "default"}, doc: "value where the key is absent: text for a word, else an expression over other keys"},
		{name: "values", form: &form{kind: formList, title: "values", each: &form{kind: formAny, title: "values"}, strict: true}, doc: "the values that the spec covers"},
		{name: "unsupported", form: text("unsupported"), doc: "why a config that sets the key is refused"},
		{name: "numbers", form: ropeNumbers(), doc: "of a rope: the names that its numbers have beside the record, and their defaults"},
		{name: "at", form: text("at"), doc: "the object of config.json that this section is"},
		{name: "optional", form: &form{kind: formFlag, title: "optional"}, doc: "whether the object may be absent"},
		{name: "keys", form: &form{kind: formMap, title: "keys", defines: ConfigSymbol, each: key}, doc: "the keys of the object"},
		{name: "ignore", form: ignore, doc: "glob: reason, of keys of the object that are not read"},
		{name: "left_out", form: leftOut, doc: "glob: reason, of keys of the object that describe a part of the model which the package leaves out, with a warning"},
	}
	config := &form{kind: formMap, name: "config", title: "section config", defines: ConfigSymbol, each: key}
	config.fields = []field{ // keys of config that are no config key
		{name: "at", form: &form{kind: formList, title: "at", each: text("at")}, doc: "objects searched for plain keys, first hit wins"},
		{name: "ignore", form: ignore, doc: "glob: reason, of keys that are not read"},
		{name: "left_out", form: leftOut, doc: "glob: reason, of keys that describe a part of the model which the package leaves out, with a warning"},
	}
	return config
}

// ropeNumbers is the form of what a spec says of the numbers that may stand beside
// a rope record.
func ropeNumbers() *form {
	f := &form{kind: formRecord, title: "numbers"}
	for _, n := range ropeNumberNames {
		f.fields = append(f.fields, field{name: n.name, doc: n.doc, form: &form{kind: formRecord, title: "a number of a rope", fields: []field{
			{name: "from", form: &form{kind: formList, title: "from", each: text("from")}, doc: "its names beside the record; default: " + strings.Join(n.beside, ", ")},
			{name: "default", form: &form{kind: formNumber, title: "default"}, doc: "what it is where no key states it"},
		}}})
	}
	return f
}

// defaultsForm is the form of a block type's default options, by type.
func (g *grammar) defaultsForm() *form {
	f := &form{kind: formRecord, name: "defaults", title: "section defaults"}
	for _, t := range g.types {
		f.fields = append(f.fields, field{name: t, form: g.blocks[t]})
	}
	return f
}

func (g *grammar) components() *form {
	input := &form{kind: formRecord, title: "an input", short: "type", fields: []field{
		{name: "type", form: &form{kind: formType, title: "type"}, doc: "dtype[dim, …]; dtype model is the compute dtype"},
		{name: "when", form: &form{kind: formExpr, title: "when", opt: condition}, doc: "whether there is such an input"},
		{name: "from", form: &form{kind: formText, title: "from", names: OutputSymbol}, doc: "the output that feeds it: component.output"},
	}}
	output := &form{kind: formRecord, title: "an output", short: "value", fields: []field{
		{name: "value", form: &form{kind: formValue, title: "value", opt: &lowering.Option{Name: "value", Kind: lowering.ValueOption}}, doc: "a value of the component, or result, the stream at the end"},
		{name: "when", form: &form{kind: formExpr, title: "when", opt: condition}, doc: "whether there is such an output"},
	}}
	component := &form{kind: formRecord, name: "component", title: "a component", fields: []field{
		{name: "prefix", form: text("prefix"), doc: "prefix of the names of parameters"},
		{name: "inputs", form: &form{kind: formMap, title: "inputs", defines: ValueSymbol, each: input}, doc: "inputs of the graph"},
		{name: "states", form: &form{kind: formRecord, title: "states", fields: []field{
			{name: "input", form: text("input"), doc: "template of a state's input, with {layer} and {state}"},
			{name: "output", form: text("output"), doc: "template of a state's output"},
		}}, doc: "names of states"},
		{name: "defaults", form: g.defaultsForm(), doc: "defaults in this component"},
		{name: "body", form: g.body, doc: "what the graph computes"},
		{name: "outputs", form: &form{kind: formMap, title: "outputs", defines: OutputSymbol, each: output}, doc: "outputs of the graph; states come by themselves"},
	}}
	return &form{kind: formMap, title: "components", defines: ComponentSymbol, each: component}
}

// genai is the form of metadata for onnxruntime-genai: its model type, numbers, and
// two sections of numbers. It refuses a file with keys that it does not know.
func genai() *form {
	expr := func(title string) *form { return &form{kind: formExpr, title: title, opt: anyResult} }
	numbers := func(names ...string) (fields []field) {
		for _, name := range names {
			fields = append(fields, field{name: name, form: expr(name)})
		}
		return fields
	}
	fields := []field{{name: "type", form: text("type"), doc: "model type as the runtime knows it"}}
	fields = append(fields, numbers("context_length", "image_token_id", "video_token_id", "audio_token_id", "vision_start_token_id")...)
	vision := &form{kind: formRecord, title: "vision", fields: numbers("spatial_merge_size", "patch_size")}
	embedding := &form{kind: formRecord, title: "embedding"}
	return &form{kind: formRecord, title: "genai", fields: append(fields, field{name: "vision", form: vision}, field{name: "embedding", form: embedding})}
}

func pins() *form {
	return &form{kind: formRecord, title: "pins", fields: []field{
		{name: "repository", form: text("repository"), required: true, doc: "where the model is published"},
		{name: "revision", form: text("revision"), required: true, doc: "commit of the repository"},
		{name: "config", form: &form{kind: formRecord, title: "config", fields: []field{
			{name: "file", form: text("file"), required: true, doc: "config.json, relative to the spec"},
			{name: "sha256", form: text("sha256"), required: true, doc: "hash of the file"},
		}}, required: true, doc: "the config that is used when none is given"},
		{name: "checkpoint", form: &form{kind: formRecord, title: "checkpoint", fields: []field{
			{name: "tensors", form: &form{kind: formInt, title: "tensors"}, doc: "how many tensors it holds"},
			{name: "bytes", form: &form{kind: formInt, title: "bytes"}, doc: "their size together"},
		}}, doc: "totals of the checkpoint"},
		{name: "host_files", form: &form{kind: formList, title: "host_files", each: text("a file"), strict: true}, doc: "files that the host needs, relative to the spec"},
	}}
}
