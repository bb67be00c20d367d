package spec

import (
	"fmt"
	"strings"
)

// dos is a spec with the line ends of DOS.
func dos(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// chain is base with blocks b0, b1 .. so many, each of which is made of the NEXT
// one. The component begins with b0.
func chain(length int, each string) string {
	var blocks strings.Builder
	for i := range length {
		fmt.Fprintf(&blocks, "  b%d: %s\n", i, strings.ReplaceAll(each, "NEXT", fmt.Sprintf("b%d", i+1)))
	}
	return strings.NewReplacer("components:", fmt.Sprintf("blocks:\n%s  b%d: {use: x}\ncomponents:", &blocks, length), "{use: x}, ", "b0, ").Replace(base)
}

const tooManyBlocks = "MB0111 limit-exceeded: component model has more than 200000 blocks when its layers and named blocks are written out; " +
	"look for blocks that name the next one twice, and for `layers` inside `layers`"

// Mistakes in texts of every layout: the place must be exact behind tabs, wide
// characters, a byte order mark and other line ends, through quotes, block
// scalars, anchors and merge keys.
func init() {
	faultCases = append(faultCases, []faultCase{
		// Tabs.
		{
			name: "tab in a nested indentation", spec: child + "config:\n  head_dim:\n  «\t»type: int\n",
			want: `MB0101 malformed-yaml: a tab in the indentation; indent with spaces`,
		},
		{
			name: "tab before a list", spec: child + "model_types:\n«\t»- llama\n",
			want: `MB0101 malformed-yaml: a tab in the indentation; indent with spaces`,
		},
		{
			name: "behind tabs that separate", spec: child + "task:\ta\t# a comment\n«taks»:\tb\n",
			want: "MB0201 unknown-key: a spec has no key `taks`; did you mean `task`?",
		},
		{
			name: "behind a tab in braces", spec: child + "blocks: {final_norm:\t{«rms_nrom»: model.norm}}\n",
			want: "MB0202 unknown-block: there is no block type `rms_nrom`; did you mean `rms_norm`?",
		},
		{
			name: "behind a tab in quotes", spec: child + "blocks: {head: {linear: {name: h, out: \"\tvocab_size + «hiden_size»\"}}}\n",
			want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
		},

		// A few lines that ask for more than any model is.
		{
			name: "blocks that double", spec: strings.Replace(chain(50, "[NEXT, NEXT]"), "body:", "«body»:", 1), config: baseConfig,
			want: tooManyBlocks,
		},
		{
			name: "conditions that double", spec: strings.Replace(chain(50, "{if: heads > 1, then: [NEXT, NEXT], else: NEXT}"), "body:", "«body»:", 1), config: baseConfig,
			want: tooManyBlocks,
		},
		{
			name: "layers in layers", spec: edit("body: [{use: x}, ", "«body»: [{layers: {count: 1000, each: [{layers: {count: 1000, each: [{use: x}]}}]}}, "), config: baseConfig,
			want: tooManyBlocks,
		},
		{
			name: "blocks deep in one another", spec: strings.Replace(chain(2000, "[NEXT]"), "[b100]", "[«b100»]", 1),
			want: "MB0111 limit-exceeded: more than 100 blocks stand in one another; write the innermost out where they are used",
		},

		// Line ends.
		{
			name: "CRLF and a tab", spec: dos(child) + "config:\r\n«\t»bias: int\r\n",
			want: `MB0101 malformed-yaml: a tab in the indentation; indent with spaces`,
		},
		{
			name: "CRLF and an unclosed quote", spec: dos(child) + "«task: \"text»\r\n",
			want: `MB0101 malformed-yaml: this is not YAML: a quote is not closed`,
		},
		{
			name: "CRLF in a folded block", spec: dos(child + "blocks:\n  head:\n    linear:\n      name: h\n      out: >-\n        vocab_size +\n        «hiden_size» * 2\n"),
			want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
		},
		{
			name: "CRLF and a duplicate key", spec: dos(child + "task: a\n«task»: b\n"),
			want: "MB0105 duplicate-key: `task` stands here a second time",
		},
		{
			name: "CRLF and a second document", spec: dos(child + "«---»\nspec: v1\n"),
			want: `MB0104 second-document: a second document begins here, and a spec is one; put it in a file of its own`,
		},
		{
			name: "CRLF in quotes over two lines", spec: dos(child + "blocks: {head: {linear: {name: h, out: \"vocab_size\n  + «hiden_size»\"}}}\n"),
			want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
		},

		// A byte order mark.
		{
			name: "byte order mark and a fault in the first line", spec: "\ufeff" + strings.Replace(child, "v1", "«v2»", 1),
			want: "MB0204 unknown-word: spec cannot be `v2`; did you mean `v1`?",
		},
		{
			name: "byte order mark and a tab", spec: "\ufeff" + child + "config:\n«\t»bias: int\n",
			want: `MB0101 malformed-yaml: a tab in the indentation; indent with spaces`,
		},
		{
			name: "byte order mark and CRLF", spec: "\ufeff" + dos(child+"blocks: {final_norm: {«rms_nrom»: model.norm}}\n"),
			want: "MB0202 unknown-block: there is no block type `rms_nrom`; did you mean `rms_norm`?",
		},

		// Anchors, aliases and merge keys.
		{
			name: "misspelt alias", spec: child + "defaults: {rms_norm: &norm {epsilon: rms_norm_eps}, layer_norm: «*nrom»}\n",
			want: `MB0109 bad-alias: no anchor &nrom stands above`,
		},
		{
			name: "alias before its anchor", spec: child + "blocks: {self_attention: {attention: {query: {norm: «*n»}, key: {norm: &n {rms_norm: k_norm}}}}}\n",
			want: `MB0109 bad-alias: no anchor &n stands above`,
		},
		{
			name: "fault in an anchored value, used twice", spec: child + "blocks: {self_attention: {attention: {query: &q {«nrm»: {rms_norm: q_norm}}, key: *q}}}\n",
			want: "MB0201 unknown-key: option key of attention has no key `nrm`; did you mean `norm`?",
		},
		{
			name: "fault in a merged mapping", spec: child + "blocks: {self_attention: {attention: {query: {<<: &q {«nrm»: {rms_norm: q_norm}}}}}}\n",
			want: "MB0201 unknown-key: option query of attention has no key `nrm`; did you mean `norm`?",
		},
		{
			name: "expression in a merged mapping", spec: child + "blocks: {head: {linear: {<<: {out: «vocab_sise»}, name: h}}}\n",
			want: "MB0302 unknown-name: `vocab_sise` is neither a config key nor a named expression; did you mean `vocab_size`?",
		},
		{
			name: "merge key of a list of text", spec: child + "blocks: {<<: [«text»]}\n",
			want: `MB0109 bad-alias: << takes an alias of a mapping, or a list of them`,
		},
		{
			name: "key beside a merge key, twice", spec: child + "config: {head_dim: {<<: {default: 4}, default: 5, «default»: 6}}\n",
			want: "MB0105 duplicate-key: `default` stands here a second time",
		},
		{
			name: "misspelt key beside a merge key", spec: child + "blocks: {self_attention: {attention: {<<: {mask: causal}, «windw»: 3}}}\n",
			want: "MB0201 unknown-key: block attention has no key `windw`; did you mean `window`?",
		},
		{
			name: "anchor without a value", spec: child + "blocks:\n  «head»: &h\n  final_norm: {rms_norm: model.norm}\n",
			want: "MB0107 missing-value: nothing follows `head:`; write null to delete what the parent states",
		},

		// Documents.
		{
			name: "second document behind an end marker", spec: child + "...\n«---»\ntask: a\n",
			want: `MB0104 second-document: a second document begins here, and a spec is one; put it in a file of its own`,
		},
		{
			name: "empty second document", spec: child + "«---»\n",
			want: `MB0104 second-document: a second document begins here, and a spec is one; put it in a file of its own`,
		},
		{
			name: "only a comment", spec: "«»# nothing yet\n",
			want: `MB0103 empty-file: the file is empty`,
		},
		{
			name: "fault behind a document marker", spec: "---\n" + child + "«taks»: a\n",
			want: "MB0201 unknown-key: a spec has no key `taks`; did you mean `task`?",
		},

		// Characters that are wide, astral or joined.
		{
			name: "behind Chinese characters", spec: child + "checks: {\"头数\": \"num_attention_heads % «kv_head» == 0\"}\n",
			want: "MB0302 unknown-name: `kv_head` is neither a config key nor a named expression",
		},
		{
			name: "behind characters of four bytes", spec: child + "checks: {\"🙂🙂\": \"«hiden_size» > 0\"}\n",
			want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
		},
		{
			name: "behind a joining accent", spec: child + "checks: {\"e\u0301\": \"«hiden_size» > 0\"}\n",
			want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
		},
		{
			name: "wide characters in the expression", spec: child + "checks: {a: \"'größe' == hidden_act and «hiden_act» == 'b'\"}\n",
			want: "MB0302 unknown-name: `hiden_act` is neither a config key nor a named expression; did you mean `hidden_act`?",
		},
		{
			name: "a wide key that is misspelt", spec: child + "blocks: {self_attention: {attention: {«höhe»: 3}}}\n",
			want: "MB0201 unknown-key: block attention has no key `höhe`",
		},

		// Quoted and block text.
		{
			name: "behind doubled quotes", spec: child + "checks: {a: 'hidden_act == ''silu'' or «hiden_act» == ''relu'''}\n",
			want: "MB0302 unknown-name: `hiden_act` is neither a config key nor a named expression; did you mean `hidden_act`?",
		},
		{
			name: "behind an escaped line break", spec: child + "blocks: {head: {linear: {name: h, out: \"vocab_size \\\n    + «hiden_size»\"}}}\n",
			want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
		},
		{
			name: "in a literal block", spec: child + "blocks:\n  head:\n    linear:\n      name: h\n      out: |\n        vocab_size\n          + «hiden_size»\n",
			want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
		},
		{
			name: "in a literal block with its own indentation", spec: child + "blocks:\n  head:\n    linear:\n      name: h\n      out: |1-\n         vocab_size + «hiden_size»\n",
			want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
		},
		{
			name: "in a folded block after blank lines", spec: child + "blocks:\n  head:\n    linear:\n      name: h\n      out: >\n\n        vocab_size\n\n        + «hiden_size»\n",
			want: "MB0302 unknown-name: `hiden_size` is neither a config key nor a named expression; did you mean `hidden_size`?",
		},
		{
			name: "a quoted key that is misspelt", spec: child + "«'taks'»: a\n",
			want: "MB0201 unknown-key: a spec has no key `taks`; did you mean `task`?",
		},
		{
			name: "a name in double quotes with a hole", spec: child + "blocks: {final_norm: {rms_norm: \"\\u006dodel.{«lyers»}.n\"}}\n",
			want: "MB0302 unknown-name: `lyers` is neither a config key nor a named expression",
		},
		{
			name: "an explicit key that is misspelt", spec: child + "? «taks»\n: a\n",
			want: "MB0201 unknown-key: a spec has no key `taks`; did you mean `task`?",
		},
		{
			name: "a dim behind wide text", spec: edit("inputs: {x: \"model[batch, width]\"}", "inputs: {größe: \"int64[batch]\", x: \"model[batch, «widht»]\", z: \"int64[batch, widths]\", w: \"int64[widths]\"}"),
			want: "MB0509 suspicious-dim: the symbol `widht` stands in no other dim, and `width` does; did you mean `width`?",
		},
	}...)
}
