package spec

import "strings"

// edit replaces text in the base spec.
func edit(old, new string) string {
	if !strings.Contains(base, old) {
		panic("the base spec has no " + old)
	}
	return strings.Replace(base, old, new, 1)
}

// conf replaces text in the config.
func conf(old, new string) string {
	if !strings.Contains(llamaConfig, old) {
		panic("the config has no " + old)
	}
	return strings.Replace(llamaConfig, old, new, 1)
}

const baseConfig = `{"model_type": "x", "width": 8}`

var faultCases = []faultCase{
	// The text of a spec.
	{
		name: "tab in the indentation", spec: child + "config:\n«\t»bias: int\n",
		want: `MB0101 malformed-yaml: a tab in the indentation; indent with spaces`,
	},
	{
		name: "unclosed bracket", spec: child + "«model_types: [a, b»",
		want: `MB0101 malformed-yaml: this is not YAML: a list in brackets is not closed, or a comma is missing`,
	},
	{
		name: "unclosed quote", spec: child + "«task: \"text»",
		want: `MB0101 malformed-yaml: this is not YAML: a quote is not closed`,
	},
	{
		name: "second colon", spec: child + "«task: a: b»\n",
		want: `MB0101 malformed-yaml: this is not YAML: a second colon: quote the text, or put the mapping on a line of its own`,
	},
	{
		name: "second document", spec: child + "«---»\nspec: v1\n",
		want: `MB0104 second-document: a second document begins here, and a spec is one; put it in a file of its own`,
	},
	{
		name: "duplicate key", spec: child + "task: a\n«task»: b\n",
		want: "MB0105 duplicate-key: `task` stands here a second time",
	},
	{
		name: "duplicate key in braces", spec: child + "blocks: {head: [], «head»: []}\n",
		want: "MB0105 duplicate-key: `head` stands here a second time",
	},
	{
		name: "missing value", spec: child + "blocks:\n  self_attention:\n    attention:\n      «window»:\n      mask: causal\n",
		want: "MB0107 missing-value: nothing follows `window:`; write null to delete what the parent states",
	},
	{
		name: "leading zero", spec: child + "config: {head_dim: {default: «017»}}\n",
		want: `MB0108 ambiguous-scalar: some readers take 017 for an octal number; drop the leading zero, or quote it`,
	},
	{
		name: "number too large", spec: child + "config: {head_dim: {default: «99999999999999999999»}}\n",
		want: `MB0108 ambiguous-scalar: 99999999999999999999 does not fit in 64 bits`,
	},
	{
		name: "unknown anchor", spec: child + "task: «*none»\n",
		want: `MB0109 bad-alias: no anchor &none stands above`,
	},
	{
		name: "alias inside its value", spec: child + "blocks: &a {head: «*a»}\n",
		want: `MB0109 bad-alias: *a stands inside the value that it names`,
	},
	{
		name: "merge key of text", spec: child + "blocks: {<<: «text»}\n",
		want: `MB0109 bad-alias: << takes an alias of a mapping, or a list of them`,
	},
	{
		name: "tag", spec: child + "task: !!set «a»\n",
		want: `MB0108 ambiguous-scalar: the tag !!set is not part of the language; quote the value to make it text`,
	},
	{
		name: "date where a list is expected", spec: child + "model_types: «2024-01-01»\n",
		want: `MB0203 wrong-type: a list is expected here, not "2024-01-01"`,
	},
	{
		name: "CRLF", spec: strings.ReplaceAll(child, "\n", "\r\n") + "«taks»: a\r\n",
		want: "MB0201 unknown-key: a spec has no key `taks`; did you mean `task`?",
	},
	{
		name: "byte order mark", spec: "\ufeff" + child + "«taks»: a\n",
		want: "MB0201 unknown-key: a spec has no key `taks`; did you mean `task`?",
	},
	{
		name: "wide characters before", spec: child + "config: {größe: {type: «itn»}}\n",
		want: "MB0204 unknown-word: the type of a config key cannot be `itn`; did you mean `int`?",
	},
	{
		name: "list as key", spec: child + "blocks: {? «[a]» : []}\n",
		want: `MB0106 key-not-text: a key must be a word`,
	},
	{
		name: "empty file", spec: "«»",
		want: `MB0103 empty-file: the file is empty`,
	},

	{
		name: "config of a known model", spec: `{"architectures": ["A"], «"model_type"»: "llama", "hidden_size": 64}`,
		want: "MB0115 wrong-file: this looks like a config.json, and a spec is expected: it has `model_type`, and no `spec`; name the spec and give this file with --config: llama --config x.yaml",
	},
	{
		name: "config of an unknown model, indented with tabs", spec: "{\n\t«\"model_type\"»: \"lamma\",\n\t\"dtype\": \"float32\"\n}",
		want: "MB0115 wrong-file: this looks like a config.json, and a spec is expected: it has `model_type`, and no `spec`; name a spec and give this file with --config; `mobiusc init x.yaml` drafts a spec for it",
	},
	{
		name: "config without a model type", spec: `{«"architectures"»: ["A"], "task": "x", "hidden_size": 64}`,
		want: "MB0115 wrong-file: this looks like a config.json, and a spec is expected: it has `architectures`, and no `spec`; name a spec and give this file with --config; `mobiusc init x.yaml` drafts a spec for it",
	},
	{
		name: "file of another program", spec: "«services»:\n  web: {image: x}\nvolumes: {}\n",
		want: "MB0115 wrong-file: this is no spec: it has none of the sections of one; a spec begins with `spec: v1`",
	},
	{
		name: "empty mapping", spec: "«{}»\n",
		want: "MB0115 wrong-file: this is no spec: it has none of the sections of one; a spec begins with `spec: v1`",
	},
	{
		name: "spec for a config", config: "# a comment\n«spec»: v1\nname: x\n",
		want: "MB0115 wrong-file: this is a spec, and a config.json is expected; give the spec as the argument, and with --config the config.json of a model",
	},
	{
		name: "wrong indentation", spec: child + "config:\n  head_dim: int\n «rope: rope»\ntask: a\n",
		want: `MB0101 malformed-yaml: this is not YAML: the indentation does not fit, or a colon is missing`,
	},
	{
		name: "unclosed brace", spec: child + "«config: {head_dim: int»\ntask: a\n",
		want: `MB0101 malformed-yaml: this is not YAML: a mapping in braces is not closed, or a comma is missing`,
	},

	// Structure.
	{
		name: "misspelt section", spec: child + "«compnents»: {}\n",
		want: "MB0201 unknown-key: a spec has no key `compnents`; did you mean `components`?",
	},
	{
		name: "misspelt block", spec: child + "blocks:\n  final_norm: {«rms_nrom»: model.norm}\n",
		want: "MB0202 unknown-block: there is no block type `rms_nrom`; did you mean `rms_norm`?",
	},
	{
		name: "misspelt option", spec: child + "blocks:\n  self_attention:\n    attention: {«kv_head»: 2}\n",
		want: "MB0201 unknown-key: block attention has no key `kv_head`; did you mean `kv_heads`?",
	},
	{
		name: "misspelt nested option", spec: child + "blocks: {self_attention: {attention: {query: {«nrm»: {rms_norm: q_norm}}}}}\n",
		want: "MB0201 unknown-key: option query of attention has no key `nrm`; did you mean `norm`?",
	},
	{
		name: "misspelt config field", spec: child + "config: {head_dim: {«defualt»: 4}}\n",
		want: "MB0201 unknown-key: a config key has no key `defualt`; did you mean `default`?",
	},
	{
		name: "unknown config type", spec: child + "config: {head_dim: {type: «itn»}}\n",
		want: "MB0204 unknown-word: the type of a config key cannot be `itn`; did you mean `int`?",
	},
	{
		name: "optional of nothing", spec: child + "config: {head_dim: «optional»}\n",
		want: "MB0204 unknown-word: the type of a config key cannot be `optional`; it is one of int, float, bool, string, activation, dtype, token, rope, object",
	},
	{
		name: "missing section", spec: "«spec»: v1\nname: x\nextends: llama\n",
		want: "MB0205 missing-key: a spec needs `summary`",
	},
	{
		name: "misspelt section that is needed", spec: "spec: v1\nname: x\nextends: llama\n«sumary»: Words.\n",
		want: "MB0201 unknown-key: a spec has no key `sumary`; did you mean `summary`?",
	},
	{
		name: "another version", spec: strings.Replace(child, "v1", "«v2»", 1),
		want: "MB0204 unknown-word: spec cannot be `v2`; did you mean `v1`?",
	},
	{
		name: "list where a mapping is expected", spec: child + "config: «[a, b]»\n",
		want: `MB0203 wrong-type: a mapping is expected here, not a list`,
	},
	{
		name: "text where a list is expected", spec: child + "model_types: «llama»\n",
		want: `MB0203 wrong-type: a list is expected here, not "llama"`,
	},
	{
		name: "number as name", spec: child + "blocks: {final_norm: {rms_norm: «5»}}\n",
		want: `MB0203 wrong-type: a mapping, or for short text is expected here, not 5`,
	},
	{
		name: "two blocks in one mapping", spec: child + "blocks:\n  final_norm:\n    rms_norm: model.norm\n    «softcap»: 30\n",
		want: "MB0211 one-block-expected: a block is a mapping with one key, and `softcap` is a second one; an option stands deeper than its block; blocks in sequence are a list",
	},
	{
		name: "empty block", spec: child + "blocks: {final_norm: «{}»}\n",
		want: `MB0211 one-block-expected: a block is a mapping with one key, its type; write [] for a body that does nothing`,
	},
	{
		name: "else without if", spec: child + "blocks: {final_norm: {«then»: []}}\n",
		want: "MB0202 unknown-block: `then` stands without an `if` beside it",
	},
	{
		name: "unknown key in an if", spec: child + "blocks: {final_norm: {if: true, then: [], «esle»: []}}\n",
		want: "MB0201 unknown-key: block if has no key `esle`; did you mean `else`?",
	},
	{
		name: "transform without a step", spec: child + "weights: {transform: [{«match»: a}]}\n",
		want: "MB0214 one-step-expected: a transform needs a step: one of cast, reshape, transpose, permute_heads, split, concat, stack, unstack, add, scale",
	},
	{
		name: "transform with two steps", spec: child + "weights: {transform: [{match: a, scale: 2, «add»: 1}]}\n",
		want: "MB0214 one-step-expected: a transform has one step, and `add` is a second one; write a rule for each: they are applied in the order written",
	},
	{
		name: "unknown step", spec: child + "weights: {transform: [{match: a, «sale»: 2}]}\n",
		want: "MB0201 unknown-key: a transform has no key `sale`; did you mean `scale`?",
	},
	{
		name: "transform without a pattern", spec: child + "weights: {transform: [{«scale»: 2}]}\n",
		want: "MB0205 missing-key: a transform needs `match`",
	},
	{
		name: "permute_heads without an order", spec: child + "weights: {transform: [{match: a, permute_heads: {«heads»: 2}}]}\n",
		want: "MB0205 missing-key: permute_heads needs `from`",
	},
	{
		name: "null in a transform", spec: child + "weights: {transform: [{match: a, concat: {into: «null»}}]}\n",
		want: "MB0203 wrong-type: text is expected here, not null",
	},
	{
		name: "null for a transform", spec: child + "weights: {transform: [«null»]}\n",
		want: "MB0203 wrong-type: a mapping is expected here, not null",
	},
	{
		name: "malformed pattern", spec: child + "weights: {ignore: {«\"a{b\"»: a reason}}\n",
		want: `MB0215 bad-pattern: "a{b": a { without }`,
	},
	{
		name: "malformed pattern of config keys", spec: child + "config: {ignore: {«\"a{b\"»: a reason}}\n",
		want: `MB0215 bad-pattern: "a{b": a { without }`,
	},
	{
		name: "name that the pattern does not give", spec: child + "weights: {rename: {\"a.*\": «\"b.{1}\"»}}\n",
		want: `MB0215 bad-pattern: "b.{1}": {1}: the pattern has no alternatives`,
	},
	{
		name: "part that the pattern does not give", spec: child + "weights: {transform: [{match: a, split: {into: [«\"*\"»]}}]}\n",
		want: `MB0215 bad-pattern: "*" has more * than the pattern`,
	},
	{
		name: "number of a transform that is none", spec: child + "config: {extra: optional float}\nweights: {transform: [{match: a, scale: «extra»}]}\n",
		config: llamaConfig, want: "MB0205 missing-key: a transform needs `scale`, and this is none",
	},
	{
		name: "if without then", spec: child + "blocks: {final_norm: {«if»: true}}\n",
		want: "MB0205 missing-key: if needs `then`",
	},
	{
		name: "name of another file", spec: strings.Replace(child, "name: x", "name: «y»", 1),
		want: "MB0209 wrong-name: the spec is named `y`, and its file x.yaml",
	},
	{
		name: "unknown parent", spec: strings.Replace(child, "llama", "«lama»", 1),
		want: "MB0206 bad-extends: no spec `lama` stands beside this one or is carried by the program; did you mean `llama`?",
	},
	{
		name: "parent by path", spec: strings.Replace(child, "llama", "«./llama.yaml»", 1),
		want: "MB0206 bad-extends: a parent is named, and `./llama.yaml` is no name; write the name of the spec, without path and .yaml",
	},
	{
		name: "extends itself", spec: strings.Replace(child, "llama", "«x»", 1),
		want: `MB0206 bad-extends: a spec extends itself: x → x`,
	},
	{
		name: "delete of nothing", spec: child + "config: {«hidden_sise»: null}\n",
		want: "MB0207 nothing-to-change: null deletes `hidden_sise`, and there is none; did you mean `hidden_size`?",
	},
	{
		name: "delete of nothing in new text", spec: child + "config: {extra: {type: int, values: [1], «default»: null}}\n",
		want: "MB0207 nothing-to-change: null deletes `default`, and there is none",
	},
	{
		name: "variant that changes nothing", spec: base + "variants: {«same»: {dtype: dtype}}\n",
		want: `MB0207 nothing-to-change: variant same changes nothing`,
	},
	{
		name: "misspelt key in a variant", spec: base + "variants: {v: {«dtyp»: dtype}}\n",
		want: "MB0201 unknown-key: a variant has no key `dtyp`; did you mean `dtype`?",
	},
	{
		name: "block in a cycle", spec: child + "blocks: {feed_forward: [final_norm, «feed_forward»]}\n",
		want: `MB0212 block-cycle: a block contains itself: feed_forward → feed_forward`,
	},
	{
		name: "unknown body", spec: child + "blocks: {decoder_layer: [self_attention, «feed_foward»]}\n",
		want: "MB0202 unknown-block: section blocks has no `feed_foward`; did you mean `feed_forward`?",
	},
	{
		name: "unused block", spec: child + "blocks: {«extra»: []}\n",
		want: "MB0213 unused-block: the block `extra` is used by nothing",
	},
	{
		name: "unused let", spec: child + "let: {«extra»: 1}\n",
		want: "MB0213 unused-block: the named expression `extra` is used by nothing",
	},
	{
		name: "unused default", spec: child + "defaults: {«softcap»: {limit: 3}}\n",
		want: "MB0213 unused-block: the default for `softcap` is used by nothing",
	},
	{
		name: "option of a missing block", spec: child + "blocks: {head: {linear: {tie: {«too»: a}}}}\n",
		want: "MB0201 unknown-key: option tie of linear has no key `too`; did you mean `to`?",
	},

	// Expressions.
	{
		name: "unknown name", spec: child + "blocks: {head: {linear: {name: h, out: «vocab_sise»}}}\n",
		want: "MB0302 unknown-name: `vocab_sise` is neither a config key nor a named expression; did you mean `vocab_size`?",
	},
	{
		name: "unknown name in a sum", spec: child + "blocks: {head: {linear: {name: h, out: 2 * (vocab_size + «hiden_size»)}}}\n",
		want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
	},
	{
		name: "in double quotes", spec: child + "blocks: {head: {linear: {name: h, out: \"vocab_size + «hiden_size»\"}}}\n",
		want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
	},
	{
		name: "in single quotes", spec: child + "blocks: {head: {linear: {name: h, out: 'vocab_size + «hiden_size»'}}}\n",
		want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
	},
	{
		name: "in a folded block", spec: child + "blocks:\n  head:\n    linear:\n      name: h\n      out: >-\n        vocab_size +\n        «hiden_size» * 2\n",
		want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
	},
	{
		name: "in a plain scalar of two lines", spec: child + "blocks:\n  head:\n    linear:\n      name: h\n      out: vocab_size\n        + «hiden_size»\n",
		want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
	},
	{
		name: "after escaped characters", spec: child + "blocks: {head: {linear: {name: h, out: \"\\u0076ocab_size + «hiden_size»\"}}}\n",
		want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
	},
	{
		name: "unknown name in a name", spec: child + "blocks: {final_norm: {rms_norm: \"model.{«lyer»}\"}}\n",
		want: "MB0302 unknown-name: `lyer` is neither a config key nor a named expression",
	},
	{
		name: "brace not closed", spec: child + "blocks: {final_norm: {rms_norm: \"model.«{»layer\"}}\n",
		want: `MB0301 malformed-expression: the brace is not closed`,
	},
	{
		name: "layer outside layers", spec: child + "blocks: {head: {linear: {name: h, out: vocab_size + «layer»}}}\n",
		want: "MB0302 unknown-name: `layer` has a value only inside layers",
	},
	{
		name: "kind without kinds", spec: child + "blocks: {self_attention: {attention: {window: 3 if «kind» == 'a'}}}\n",
		want: "MB0302 unknown-name: `kind` has a value only inside layers that state a kind",
	},
	{
		name: "malformed expression", spec: child + "blocks: {head: {linear: {name: h, out: vocab_size «)»}}}\n",
		want: "MB0301 malformed-expression: the expression ends before `)`",
	},
	{
		name: "expression ends early", spec: child + "blocks: {head: {linear: {name: h, out: vocab_size «+»}}}\n",
		want: `MB0301 malformed-expression: the expression ends too early`,
	},
	{
		name: "assignment for comparison", spec: child + "checks: {a: hidden_size «=» 3}\n",
		want: `MB0301 malformed-expression: one = has no meaning in an expression: == compares`,
	},
	{
		name: "and in another language", spec: child + "checks: {a: hidden_size «&»& vocab_size}\n",
		want: "MB0301 malformed-expression: conditions are joined by `and`, `or` and `not`",
	},
	{
		name: "chained comparison", spec: child + "checks: {a: 1 < hidden_size < «3»}\n",
		want: "MB0301 malformed-expression: comparisons are joined by `and`",
	},
	{
		name: "fraction for a whole number", spec: child + "blocks: {head: {linear: {name: h, out: «vocab_size / 2»}}}\n",
		want: `MB0303 type-mismatch: a whole number is needed here, and this is a fraction; // divides whole numbers`,
	},
	{
		name: "text in a sum", spec: child + "blocks: {head: {linear: {name: h, out: vocab_size + «hidden_act»}}}\n",
		want: `MB0303 type-mismatch: a number is needed here, and this is text`,
	},
	{
		name: "never equal", spec: child + "checks: {a: «hidden_size == 'a'»}\n",
		want: `MB0303 type-mismatch: a whole number and text are never equal`,
	},
	{
		name: "unknown function", spec: child + "blocks: {head: {linear: {name: h, out: «ciel»(3.5)}}}\n",
		want: "MB0304 bad-call: there is no function `ciel`; did you mean `ceil`?",
	},
	{
		name: "wrong number of arguments", spec: child + "blocks: {head: {linear: {name: h, out: «len()»}}}\n",
		want: `MB0304 bad-call: len takes one list or text, not 0`,
	},
	{
		name: "index of a number", spec: child + "blocks: {head: {linear: {name: h, out: '«vocab_size»[0]'}}}\n",
		want: `MB0303 type-mismatch: a list is needed here, and this is a whole number`,
	},
	{
		name: "unknown word", spec: child + "blocks: {self_attention: {attention: {mask: «casual»}}}\n",
		want: "MB0204 unknown-word: option mask cannot be `casual`; did you mean `causal`?",
	},
	{
		name: "unknown word in a choice", spec: child + "blocks: {self_attention: {attention: {mask: causal if layer else «casual»}}}\n",
		want: "MB0302 unknown-name: `casual` is neither a config key nor a named expression; did you mean `causal`?",
	},
	{
		name: "number for a word", spec: child + "blocks: {self_attention: {attention: {mask: «3»}}}\n",
		want: `MB0203 wrong-type: one of causal, bidirectional is expected here, not 3`,
	},
	{
		name: "text for a condition", spec: child + "blocks: {self_attention: {attention: {heads: «true»}}}\n",
		want: `MB0203 wrong-type: a whole number or an expression is expected here, not true`,
	},
	{
		name: "word that is a config key", spec: child + "config: {silu: {type: int, values: [1]}}\nblocks: {feed_forward: {gated_mlp: {activation: «silu»}}}\n",
		want: "MB0309 ambiguous-word: `silu` is a word of this option and the name of a value of the spec; rename the value, or quote the word in an expression: 'silu'",
	},
	{
		name: "named expression in a cycle", spec: base + "let: {a: b + 1, b: «a» * 2}\nchecks: {c: a > 0}\n",
		want: "MB0307 expression-cycle: `a` depends on itself: a → b → a",
	},
	{
		name: "reserved name", spec: child + "config: {«layer»: int}\n",
		want: "MB0209 wrong-name: `layer` has a meaning of its own in expressions: choose another name, and state the key's own under `from`",
	},
	{
		name: "name that is no name", spec: child + "config: {«a-b»: int}\n",
		want: "MB0209 wrong-name: `a-b` cannot be a name in expressions; choose a name of letters, digits and _, and state the key's own under `from`",
	},
	{
		name: "named expression and config key", spec: child + "let: {«hidden_size»: 3}\n",
		want: "MB0209 wrong-name: `hidden_size` is a config key too",
	},
	{
		name: "dim that is text", spec: edit("model[batch, width]", "model[batch, «'a'»]"),
		want: `MB0303 type-mismatch: a number is needed here, and this is text`,
	},
	{
		name: "dim with a power of a symbol", spec: edit("model[batch, width]", "model[«batch ** 2», width]"),
		want: `MB0308 bad-dim: a dim is a sum, difference, product or quotient of numbers and symbols`,
	},
	{
		name: "unknown dtype of an input", spec: edit("model[batch, width]", "«flaot32»[batch, width]"),
		want: "MB0308 bad-dim: there is no dtype `flaot32`; did you mean `float32`?",
	},
	{
		name: "type without brackets", spec: edit("\"model[batch, width]\"", "«model»"),
		want: `MB0308 bad-dim: a tensor type is written dtype[dim, …], such as int64[batch, sequence]`,
	},
	{
		name: "misspelt symbol", spec: edit("inputs: {x: \"model[batch, width]\"}", "inputs: {x: \"model[batch, width]\", z: \"model[«bacth», width]\", w: \"model[batch]\"}"),
		want: "MB0509 suspicious-dim: the symbol `bacth` stands in no other dim, and `batch` does; did you mean `batch`?",
	},
	{
		name: "missing required option", spec: edit("{linear: {name: out, out: width * heads}}", "{«linear»: {name: out}}"),
		want: "MB0205 missing-key: block linear needs `out`: width of the result; write it here or under defaults",
	},
	{
		name: "no epsilon", spec: edit("{linear: {name: out, out: width * heads}}", "{linear: {name: out, out: width * heads}}, {«rms_norm»: n}"),
		want: "MB0205 missing-key: block rms_norm needs `epsilon`: added to the mean of the squares; write it here or under defaults",
	},
	{
		name: "unknown rope type", spec: child + "blocks: {self_attention: {attention: {rope: {type: «yran»}}}}\n",
		want: "MB0204 unknown-word: option type cannot be `yran`; did you mean `yarn`?",
	},
	{
		name: "rope from a number", spec: child + "blocks: {self_attention: {attention: {rope: «hidden_size»}}}\n",
		want: `MB0303 type-mismatch: a rope record is needed here, and this is a whole number`,
	},

	// References.
	{
		name: "unknown value", spec: edit("{use: x}", "{use: «xx»}"),
		want: "MB0504 unknown-reference: component model has no value `xx`; did you mean `x`?",
	},
	{
		name: "value by default", spec: edit("{use: x}", "{use: x}, {«attention»: {heads: 1, head_dim: 2, rope: none}}"),
		want: "MB0504 unknown-reference: the padding of block attention is `attention_mask` by default, and component model has no such value; add the input, or write `padding: none`",
	},
	{
		name: "unknown output value", spec: edit("{y: result}", "{y: «reslut»}"),
		want: "MB0504 unknown-reference: component model has no value `reslut`; did you mean `result`?",
	},
	{
		name: "two values of one name", spec: edit("{use: x}", "{use: x}, {«save»: x}"), config: baseConfig,
		want: "MB0505 duplicate-name: component model has a value `x` already",
	},
	{
		name: "value before it is named", spec: edit("{use: x}", "{use: «z»}, {save: z}"), config: baseConfig,
		want: "MB0504 unknown-reference: `z` has no value here: what names it comes later, or is not built for this config",
	},
	{
		name: "two blocks of one name", spec: edit("{linear: {name: out, out: width * heads}}", "{linear: {name: out, out: width * heads}}, {«linear»: {name: out, out: 3}}"), config: baseConfig,
		want: "MB0505 duplicate-name: `out` is the name of two blocks; a shared parameter is named absolutely: /out",
	},
	{
		name: "component that is no file", spec: edit("  model:\n", "  «../model»:\n"),
		want: `MB0507 value-out-of-range: the name of a component must be fit to name a directory of the package, and is "../model"`,
	},
	{
		name: "component named as the manifest", spec: edit("  model:\n", "  «mobiusc.json»:\n"),
		want: `MB0507 value-out-of-range: the name of a component must be fit to name a directory of the package, and is "mobiusc.json"`,
	},
	{
		name: "output without a name", spec: edit("{y: result}", "{«\"\"»: result}"),
		want: `MB0507 value-out-of-range: a name among the outputs must be some text, and is ""`,
	},
	{
		name: "width below 1", spec: edit("out: width * heads", "out: «width * heads - 40»"), config: baseConfig,
		want: "MB0507 value-out-of-range: out must be a whole number above 0, and is -8; in this config width is 8, heads is 4",
	},
	{
		name: "unknown wire", spec: edit("x: \"model[batch, width]\"", "x: {type: \"model[batch, width]\", from: «other.y»}"),
		want: "MB0504 unknown-reference: there is no output `other.y`; it is one of model.y",
	},
	{
		name: "component without a body", spec: strings.Replace(edit("    body: [{use: x}, {linear: {name: out, out: width * heads}}]\n", ""), "  model:", "  «model»:", 1),
		want: "MB0205 missing-key: component model needs `body`",
	},

	// Config.
	{
		name: "config key that nothing uses", spec: child + "config: {«extra»: int}\n",
		want: "MB0402 unused-config-key: config key `extra` is declared, and nothing uses it; use it, limit it with `values`, or list it under `ignore` with a reason",
	},
	{
		name: "config key without a type", spec: child + "config: {«extra»: {default: 3}}\n",
		want: "MB0205 missing-key: config key extra needs `type`",
	},
	{
		name: "numbers of a key that is no rope", spec: child + "config: {head_dim: {«numbers»: {rope_theta: {default: 3}}}}\n",
		want: "MB0201 unknown-key: a config key that is no rope has no key `numbers`",
	},
	{
		name: "unknown number of a rope", spec: child + "config: {rope: {numbers: {«rope_teta»: {default: 3}}}}\n",
		want: "MB0201 unknown-key: numbers has no key `rope_teta`; did you mean `rope_theta`?",
	},
	{
		name: "default of a rope that is no number", spec: child + "config: {rope: {numbers: {rope_theta: {default: «hidden_size»}}}}\n",
		want: "MB0203 wrong-type: a number is expected here, not \"hidden_size\"",
	},
	{
		name: "default of another type", spec: child + "config: {head_dim: {default: «hidden_act»}}\n",
		want: `MB0303 type-mismatch: a whole number is needed here, and this is text`,
	},
	{
		name: "default with an unknown name", spec: child + "config: {head_dim: {default: «hiden_size» // 4}}\n",
		want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
	},
	{
		name: "malformed JSON", config: conf(`"vocab_size"`, `«v»ocab_size`),
		want: `MB0102 malformed-json: this is not JSON: a key in double quotes is expected here`,
	},
	{
		name: "missing comma in JSON", config: conf("64,\n  \"inter", "64\n  «\"»inter"),
		want: `MB0102 malformed-json: this is not JSON: a comma or } is expected after a value`,
	},
	{
		name: "comma before a brace", config: conf("256\n}", "256,\n«}»"),
		want: `MB0102 malformed-json: this is not JSON: a comma before } is not allowed in JSON`,
	},
	{
		name: "truncated JSON", config: conf("256\n}\n", "256") + "«»",
		want: `MB0102 malformed-json: this is not JSON: the document ends inside an object`,
	},
	{
		name: "duplicate JSON key", config: conf(`"intermediate_size"`, `«"hidden_size"»: 65, "intermediate_size"`),
		want: "MB0105 duplicate-key: `hidden_size` stands here a second time",
	},
	{
		name: "missing config key", config: strings.Replace(conf("  \"hidden_size\": 64,\n", ""), `"model_type"`, `«"model_type"»`, 1),
		want: "MB0403 missing-config-key: the config has no `hidden_size`",
	},
	{
		name: "text for a number", config: conf("64", `«"64"»`),
		want: `MB0404 bad-config-value: hidden_size must be a whole number, not "64"; write it without quotes`,
	},
	{
		name: "fraction in the config", config: conf("64", `«64.5»`),
		want: `MB0404 bad-config-value: hidden_size must be a whole number, not 64.5`,
	},
	{
		name: "division by a number of the config", config: conf(`"vocab_size"`, `"ratio": 0, "vocab_size"`),
		spec: child + "config: {ratio: int}\nblocks: {self_attention: {attention: {window: hidden_size // «ratio»}}}\n",
		want: `MB0305 evaluation-failed: division by zero; in this config hidden_size is 64, ratio is 0`,
	},
	{
		name: "division by a number of the config in a default", config: conf(`"vocab_size"`, `"ratio": 0, "vocab_size"`),
		spec: child + "config: {ratio: int, wide: {type: int, default: hidden_size // «ratio»}}\nblocks: {self_attention: {attention: {window: wide}}}\n",
		want: `MB0305 evaluation-failed: division by zero; in this config hidden_size is 64, ratio is 0`,
	},
	{
		name: "named expression that divides by a number of the config", config: conf(`"vocab_size"`, `"ratio": 0, "vocab_size"`),
		spec: child + "config: {ratio: int}\nlet: {wide: hidden_size // «ratio»}\nblocks: {self_attention: {attention: {window: wide + layer}}}\n",
		want: `MB0305 evaluation-failed: division by zero; in this config hidden_size is 64, ratio is 0`,
	},
	{
		name: "index beyond a long list of the config", config: conf(`"vocab_size"`, `"windows": [1,2,3,4,5,6,7,8,9,10,11,12,13], "vocab_size"`),
		spec: child + "config: {windows: list<int>}\nblocks:\n  self_attention:\n    attention:\n      window: «windows[13 + layer]»\n",
		want: `MB0305 evaluation-failed: index 13 is outside the list, which has 13 entries; in this config windows has 13 entries, layer is 0`,
	},
	{
		name: "unknown activation", config: conf(`"vocab_size"`, `"hidden_act": «"sliu"», "vocab_size"`),
		want: "MB0404 bad-config-value: hidden_act must be an activation, one of gelu, gelu_tanh, relu, sigmoid, silu, tanh, not \"sliu\"; did you mean `silu`?",
	},
	{
		name: "another model type", config: conf(`"llama"`, `«"bert"»`),
		want: "MB0407 wrong-model-type: the config is of model type `bert`, and x answers to llama; compile it with bert, which answers to it",
	},
	{
		name: "no model type", config: strings.Replace(conf("  \"model_type\": \"llama\",\n", ""), `"hidden_size"`, `«"hidden_size"»`, 1),
		want: `MB0407 wrong-model-type: the config states no model type, and x answers to llama`,
	},
	{
		name: "heads that do not divide", spec: "", config: conf(`_heads": 2`, `_heads": 3`), place: "llama.yaml: num_attention_heads % num_key_value_heads == 0",
		want: `MB0501 failed-check: query heads must be a multiple of key/value heads; in this config num_attention_heads is 4, num_key_value_heads is 3`,
	},
	{
		name: "unread key", config: conf(`"vocab_size"`, `«"hidden_sizes"»: [1], "vocab_size"`),
		want: "MB0401 unread-config-key: the spec neither reads hidden_sizes nor ignores it with a reason; did you mean `hidden_size`?",
	},
	{
		name: "value that is not covered", config: conf(`"vocab_size"`, `"rope_interleaved": «true», "vocab_size"`),
		want: `MB0405 unsupported-config-value: rope_interleaved is true, and the spec covers false`,
	},
	{
		name: "refused key", spec: child + "config: {audio: {unsupported: not written yet}}\n", config: conf(`"vocab_size"`, `«"audio"»: {}, "vocab_size"`),
		want: `MB0405 unsupported-config-value: audio is not supported: not written yet`,
	},
	{
		name: "part left out", spec: child + "config: {left_out: {audio: not written yet}}\n", config: conf(`"vocab_size"`, `«"audio"»: {"depth": 2}, "vocab_size"`),
		want: `MB0411 part-left-out: audio describes a part of the model that the package leaves out: not written yet; if the rest alone is meant, a copy of the config without this key says so`,
	},
	{
		name: "aliases disagree", spec: child + "config: {hidden_act: {from: [act, hidden_act]}}\n", config: conf(`"vocab_size"`, `"act": "gelu", "hidden_act": «"silu"», "vocab_size"`),
		want: `MB0406 aliases-disagree: hidden_act is "silu", and act, which means the same, is "gelu"`,
	},
	{
		name: "unknown dtype", config: conf(`"vocab_size"`, `"torch_dtype": «"float17"», "vocab_size"`),
		want: `MB0404 bad-config-value: torch_dtype must be a dtype, one of float32, float16, bfloat16, float64, int64, int32, int8, uint8, bool, auto, not "float17"`,
	},
	{
		name: "misspelt dtype", config: conf(`"vocab_size"`, `"torch_dtype": «"flot16"», "vocab_size"`),
		want: "MB0404 bad-config-value: torch_dtype must be a dtype, one of float32, float16, bfloat16, float64, int64, int32, int8, uint8, bool, auto, not \"flot16\"; did you mean `float16`?",
	},
	{
		name: "misspelt dtype as torch writes it", config: conf(`"vocab_size"`, `"torch_dtype": «"torch.bflaot16"», "vocab_size"`),
		want: "MB0404 bad-config-value: torch_dtype must be a dtype, one of float32, float16, bfloat16, float64, int64, int32, int8, uint8, bool, auto, not \"torch.bflaot16\"; did you mean `torch.bfloat16`?",
	},
	{
		name: "misspelt dtype of a default", spec: child + "config: {new: {type: dtype, default: «flot32», values: [float32]}}\n",
		want: "MB0404 bad-config-value: the default of new must be a dtype, one of float32, float16, bfloat16, float64, int64, int32, int8, uint8, bool, auto, not \"flot32\"; did you mean `float32`?",
	},
	{
		name: "misspelt dtype in a branch", spec: child + "dtype: \"dtype if vocab_size else «'flot16'»\"\n",
		want: "MB0204 unknown-word: option dtype cannot be `flot16`; did you mean `float16`?",
	},
	{
		name: "misspelt word after or", spec: child + "blocks: {decoder_layer: {parallel: {of: [[], []], join: \"hidden_act or «'sums'»\"}}}\n",
		want: "MB0204 unknown-word: option join cannot be `sums`; did you mean `sum`?",
	},
	{
		name: "dtype in which nothing computes", config: conf(`"vocab_size"`, `"torch_dtype": «"int8"», "vocab_size"`),
		want: `MB0507 value-out-of-range: the compute dtype must be one of float32, float16, bfloat16, and is int8`,
	},
	{
		name: "unknown scaling", config: conf(`"vocab_size"`, `"rope_scaling": {"rope_type": «"lama3"»}, "vocab_size"`),
		want: "MB0404 bad-config-value: rope_scaling.rope_type is `lama3`, which is no known scaling; did you mean `llama3`?",
	},
	{
		name: "scaling without a factor", config: conf(`"vocab_size"`, `"rope_scaling": {«"rope_type"»: "linear"}, "vocab_size"`),
		want: "MB0403 missing-config-key: rope_scaling of type linear needs `factor`",
	},
	{
		name: "rope fractions disagree", config: conf(`"vocab_size"`, `"partial_rotary_factor": «0.5», "rope_parameters": {"partial_rotary_factor": 0.25, "rope_theta": 1}, "vocab_size"`),
		want: `MB0406 aliases-disagree: partial_rotary_factor is 0.5, and rope_parameters.partial_rotary_factor, which means the same, is 0.25`,
	},
	{
		name: "unread key of a rope", config: conf(`"vocab_size"`, `"rope_parameters": {"rope_theta": 1, «"new"»: 2}, "vocab_size"`),
		want: `MB0401 unread-config-key: the spec neither reads rope_parameters.new nor ignores it with a reason`,
	},

	// Models of two kinds of layers, and of several components.
	{
		name: "schedule shorter than the layer count", spec: vlChild, config: vl(`"vocab_size"`, `"layer_types": «["full_attention"]», "vocab_size"`),
		want: `MB0502 bad-schedule: text_config.layer_types has 1 entry, and there are 4 layers; it needs one entry for each layer`,
	},
	{
		name: "schedule longer than the layer count", spec: vlChild, config: vl(`"vocab_size"`, `"layer_types": «["full_attention", "full_attention", "full_attention", "full_attention", "full_attention"]», "vocab_size"`),
		want: `MB0502 bad-schedule: text_config.layer_types has 5 entries, and there are 4 layers; it needs one entry for each layer`,
	},
	{
		name: "unknown kind of layer", spec: vlChild, config: vl(`"vocab_size"`, `"layer_types": ["full_attention", "full_attention", «"sliding_attention"», "full_attention"], "vocab_size"`),
		want: "MB0503 unknown-layer-kind: layer 2 is of kind `sliding_attention`, and the spec has no such kind; it is one of full_attention, linear_attention",
	},
	{
		name: "unknown state dtype", spec: vlChild, config: vl(`"vocab_size"`, `"mamba_ssm_dtype": «"float8"», "vocab_size"`),
		want: `MB0404 bad-config-value: text_config.mamba_ssm_dtype must be a dtype, one of float32, float16, bfloat16, float64, int64, int32, int8, uint8, bool, auto, not "float8"`,
	},
	{
		name: "state dtype that is no float", spec: vlChild, config: vl(`"vocab_size"`, `"mamba_ssm_dtype": «"int8"», "vocab_size"`),
		want: `MB0405 unsupported-config-value: text_config.mamba_ssm_dtype is "int8", and the spec covers auto, float32, float16, bfloat16`,
	},
	{
		name: "tap of a missing layer", spec: vlChild, config: vl(`[0, 2]`, `[0, 3]`), place: "qwen3_vl.yaml: not vision.deepstack_visual_indexes or max(vision.deepstack_visual_indexes) < vision.depth",
		want: `MB0501 failed-check: a feature tap must be a layer of the vision encoder; in this config vision.deepstack_visual_indexes is [0, 3], vision.depth is 3`,
	},
	{
		name: "vision without a section", spec: vlChild, config: strings.Split(smallVL, ",\n  \"vision_config\"")[0] + "\n}\n", place: "qwen3_vl.yaml: vision.deepstack_visual_indexes",
		want: `MB0306 absent-section: vision is read here, and the config does not have it; a variant may do without it: text_only`,
	},
	{
		name: "unfed input", spec: vlChild + "components: {decoder: {inputs: {inputs_embeds: {from: null}}}}\n", place: "qwen3_vl.yaml: inputs_embeds",
		want: "MB0506 unfed-input: input `inputs_embeds` of decoder has the name of an output of another component, and nothing feeds it; write `from: embedding.inputs_embeds`",
	},
	{
		name: "components in a circle", spec: vlChild + "components: {embedding: {inputs: {loop: {type: \"int64[batch]\", from: decoder.logits}}}}\n", place: "qwen3_vl.yaml: decoder",
		want: `MB0504 unknown-reference: components feed each other: decoder → embedding → decoder`,
	},
	{
		name: "misspelt kind in a comparison", spec: vlChild + "blocks: {self_attention: {attention: {window: 3 if «kin» == 'full_attention'}}}\n",
		want: "MB0302 unknown-name: `kin` is neither a config key nor a named expression; did you mean `kind`?",
	},
	{
		name: "patch of a kind that changes nothing", spec: vlChild + "blocks: {decoder_layers: {layers: {kinds: {full_attention: {blocks: {«mixer»: self_attention}}}}}}\n",
		want: `MB0207 nothing-to-change: the patch of kind full_attention changes nothing`,
	},
}

// vlChild is a relative of a family of three components and two kinds of layers.
const vlChild = "spec: v1\nname: x\nextends: qwen3_5\nsummary: A test.\n"

// vl replaces text in the small config of that family.
func vl(old, new string) string {
	if !strings.Contains(smallVL, old) {
		panic("the config has no " + old)
	}
	return strings.Replace(smallVL, old, new, 1)
}
