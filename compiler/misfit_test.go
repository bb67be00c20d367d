package compiler

import (
	"fmt"
	"strings"
	"testing"

	"mobiusc/internal/diag"
)

// TestMisfits lints specs of one block whose numbers no runtime could work with.
// What is refused here would load in no runtime, or compute NaN.
func TestMisfits(t *testing.T) {
	layer := func(block string) string { return "[{layers: {name: l, count: 1, each: " + block + "}}]" }
	attention := func(options string) string {
		return layer("{attention: {name: a, heads: 2, head_dim: 4, mask: causal, padding: none" + options + "}}")
	}
	conv := func(options string) string {
		return "[{zeros: [batch, 8, 6]}, {conv: {name: c, out: 4, " + options + "}}]"
	}
	lets := func(each string) string {
		text := "let:\n"
		for i := range 60 {
			text += "  " + fmt.Sprintf(each, i, i+1, i+1) + "\n"
		}
		if strings.Contains(each, "- a") {
			return text + "  a60: 1\n"
		}
		return text + "  a60: \"'a'\"\n"
	}
	function := "functions:\n  f: |\n    <opset_import: [\"\": 21]>\n    f (x) => (y) { k = Constant<value_ints=[99]>()  y, i = TopK (x, k) }\n"
	for _, c := range []struct{ name, body, more, want string }{
		{"a collected value is read", "[{collect: v}, {add: {value: v, axis: 0, index: 0}}]", "", ""},
		{"no such index", "[{collect: v}, {add: {value: v, axis: 0, index: 5}}]", "", "axis 0 of the value v has no index 5: its shape is [1, batch, sequence, 8]"},
		{"no such index from the end", "[{collect: v}, {add: {value: v, axis: 0, index: -2}}]", "", "axis 0 of the value v has no index -2"},
		{"no such axis", "[{save: v}, {add: {value: v, axis: 3, index: 0}}]", "", "the value v of shape [batch, sequence, 8] has no axis 3"},
		{"an axis without an index", "[{save: v}, {multiply: {value: v, axis: 2}}]", "", "axis and index belong together"},
		{"an index without an axis", "[{save: v}, {add: {value: v, index: 0}}]", "", "axis and index belong together"},
		{"a sequence longer than a table", "[{zeros: [batch, 9, 8]}, {position_embedding: {name: p, size: 10, offset: 2}}]", "", "the table has rows for 8 tokens, and a sequence has 9"},
		{"a sequence as long as a table", "[{zeros: [batch, 8, 8]}, {position_embedding: {name: p, size: 10, offset: 2}}]", "", ""},
		{"axes from the end", "[{transpose: [-2, 0, -1]}]", "", ""},
		{"an axis twice", "[{transpose: [0, 0, 2]}]", "", "axes [0 0 2] do not name each of the 3 dims of the stream [batch, sequence, 8] once"},
		{"an axis too few", "[{transpose: [0, 1]}]", "", "axes [0 1] do not name each"},
		{"more bytes than there are", "[{linear: {name: x, out: 2**60}}]", "", "parameter x.weight of shape [1152921504606846976 8] has more bytes than can be counted"},
		{"beyond float32", "[{scale: 1e39}]", "", "the number 1e+39 does not fit in float, whose largest is 3.4028234663852886e+38"},
		{"epsilon beyond float32", "[{rms_norm: {name: n, epsilon: 1e39}}]", "", "the number 1e+39 does not fit in float, whose largest is 3.4028234663852886e+38"},
		{"epsilon of a layer norm beyond float32", "[{layer_norm: {name: n, epsilon: 1e39}}]", "", "the number 1e+39 does not fit in float"},
		{"scores times more than float32 has", attention(", scale: 1e39"), "", "the number 1e+39 does not fit in float"},
		{"a cap on scores beyond float32", attention(", softcap: 1e39"), "", "the number 1e+39 does not fit in float"},
		{"epsilon below 0", "[{rms_norm: {name: n, epsilon: -1e-6}}]", "", "epsilon must be a number from 0 on, and is -1e-06"},
		{"epsilon 0", "[{rms_norm: {name: n, epsilon: 0}}]", "", ""},
		{"a cap of 0", "[{softcap: 0}]", "", "limit must be a number above 0, and is 0"},
		{"a cap of 0 on scores", attention(", softcap: 0"), "", "softcap must be a number above 0, and is 0"},
		{"scores times 0", attention(", scale: 0"), "", "scale must be a number above 0, and is 0"},
		{"more than there are", "[{call: f}]", function, "TopK: k is 99, and axis 2 of [batch, sequence, 8] has 8 elements"},
		{"expressions that use others twice", "[{scale: a0}]", lets("a%d: a%d - a%d + 1"), ""},
		{"expressions without a value that use others twice", "[{scale: a0}]", strings.Replace(lets("a%d: a%d - a%d"), "a60: 1\n", "a60: 1 // 0\n", 1), "division by zero"},
		{"text that doubles", "[{linear: {name: \"{a0}\", out: 8}}]", lets("a%d: a%d + a%d"), "the result is longer than 65536, the most that a text or list may be"},
		{"a convolution", conv("kernel: 3"), "", ""},
		{"unknown channels", "[{conv: {name: c, out: 4, kernel: 3}}]", "", "the number of channels must be a known number, but is sequence"},
		{"a kernel of more dims", conv("kernel: [3, 3]"), "", "a kernel [3 3] needs a stream [batch, channels, …] with 2 dims after the channels, not [batch, 8, 6]"},
		{"a kernel that is too long", conv("kernel: 9, padding: 1"), "", "a kernel of 9 is longer than the 6 places of the stream, with padding 1 at both ends"},
		{"groups that do not divide", conv("kernel: 3, groups: 3"), "", "8 channels and 4 of the result do not divide among 3 groups"},
		{"a stride too many", conv("kernel: 3, stride: [2, 2]"), "", "stride [2 2] and kernel [3] are not along the same number of dims"},
		{"padding beyond all numbers", conv("kernel: 3, padding: 2**62"), "", "the size of the result along dim 2 of [batch, 8, 6] cannot be computed with padding 4611686018427387904"},
		{"padding below 0", conv("kernel: 3, padding: -1"), "", "padding [-1] must not be below 0"},
		{"padding beyond counting", "[{use: x}, {transpose: [0, 2, 1]}, {conv: {name: c, out: 4, kernel: 3, padding: 2**62}}]", "", "the size of the result along dim 2 of [batch, 8, sequence] cannot be computed with padding 4611686018427387904"},
		{"a mean", "[{zeros: [batch, 8, 6]}, {average_pool: 6}]", "", ""},
		{"a mean over more dims", "[{zeros: [batch, 8, 6]}, {average_pool: [2, 2]}]", "", "a kernel [2 2] needs a stream [batch, channels, …] with 2 dims after the channels, not [batch, 8, 6]"},
		{"a mean over more places than there are", "[{zeros: [batch, 8, 6]}, {average_pool: 7}]", "", "a kernel of 7 is longer than the 6 places of the stream"},
		{"strides too many of a mean", "[{zeros: [batch, 8, 6]}, {average_pool: {kernel: 2, stride: [2, 2]}}]", "", "stride [2 2] and kernel [2] are not along the same number of dims"},
		{"spans", attention(", bidirectional_spans: position_ids"), "", ""},
		{"spans of another shape", attention(", bidirectional_spans: x"), "", "bidirectional spans need a value int64 [batch, sequence], and x is float[batch,sequence,8]"},
		{"spans of what sees everything", layer("{attention: {name: a, heads: 2, head_dim: 4, padding: none, bidirectional_spans: position_ids}}"), "", "bidirectional spans change a causal mask only"},
		{"spans over a memory", layer("{attention: {name: a, heads: 2, head_dim: 4, padding: none, memory: x, bidirectional_spans: position_ids}}"), "", "bidirectional spans are of attention over the stream itself, without segments"},
		{"spans beside a bias", attention(", bidirectional_spans: position_ids, position_bias: {relative_bias: {name: /b, buckets: 8, max_distance: 20}}"), "", "attention with a position bias takes no bidirectional spans yet"},
		{"experts without end", "[{moe: {name: m, experts: 2**34, top_k: 2, width: 4, activation: silu}}]", "", "there are 17179869184 experts, and at most 10000 can be named"},
		{"a head wider than memory", layer("{attention: {name: a, heads: 2, head_dim: 2**62, mask: causal, padding: none, rope: {theta: 1e4}, query: {norm: {rms_norm: {scale: false, epsilon: 0}}}}}"), "", "wide, and at most 16777216 can be computed with"},
		{"a stream wider than memory", "[{zeros: [batch, sequence, 2, 2**40]}, {rms_norm: {scale: false, epsilon: 0}}]", "", "the stream is 1099511627776 wide, and at most 16777216 can be computed with"},
		{"theta 0", attention(", rope: {theta: 0}"), "", "with theta 0 and factor 0, pair 1 turns by +Inf a position"},
		{"theta below 0", attention(", rope: {theta: -1}"), "", "pair 1 turns by NaN a position"},
		{"proportional beyond the head", attention(", rope: {theta: 10, type: proportional, fraction: 1.5}"), "", "type proportional cannot turn 1.5 of"},
		{"proportional that turns nothing", attention(", rope: {theta: 10, type: proportional, fraction: 0.01}"), "", "pair 0 turns by 0 a position"},
		{"proportional with a factor below 0", attention(", rope: {theta: 10, type: proportional, factor: -2}"), "", "type proportional needs a factor above 0, not -2"},
		{"values of a fused projection", attention(", qkv: qkv, value: {same_as_key: true}"), "", "values that are the same as keys need a key projection of its own"},
		{"no factor", attention(", rope: {theta: 10, type: linear}"), "", "a rotary embedding of type linear needs a factor above 0, not 0"},
		{"a factor below 0", attention(", rope: {theta: 10, type: dynamic, factor: -2}"), "", "type dynamic needs a factor above 0, not -2"},
		{"no trained length", attention(", rope: {theta: 10, type: yarn, factor: 2}"), "", "type yarn needs the trained length, original_max_position_embeddings"},
		{"no thresholds", attention(", rope: {theta: 10, type: llama3, factor: 2}"), "", "needs a high_freq_factor above low_freq_factor"},
		{"axes of positions that have one", attention(", rope: {theta: 10, axes: chunked}"), "", `positions "position_ids" of a rotary embedding with axes must be [axes, batch, sequence], but are [batch, sequence]`},
		{"split axes of no rows", attention(", rope: {theta: 10, axes: split}"), "", `positions "position_ids" of a rotary embedding with split axes must be [rows], but are [batch, sequence]`},
		{"a rotation of integers", attention(", rope: {theta: 10, dtype: int64}"), "", "dtype cannot be `int64`"},
		{"counted positions", "[{position_embedding: {name: e, size: 4, count: {tokens: position_ids, padding: 2}}}]", "", ""},
		{"padding below 0", "[{position_embedding: {name: e, size: 4, count: {tokens: position_ids, padding: -1}}}]", "", "padding -1 leaves a table of 4 rows no row for a token"},
		{"padding in the last row", "[{position_embedding: {name: e, size: 4, count: {tokens: position_ids, padding: 3}}}]", "", "padding 3 leaves a table of 4 rows no row for a token"},
		{"positions given and counted", "[{position_embedding: {name: e, size: 4, of: position_ids, count: {tokens: position_ids, padding: 2}}}]", "", "positions are given as `of` or counted by `count`, not both"},
		{"positions counted over no tokens", "[{position_embedding: {name: e, size: 4, count: {tokens: x, padding: 2}}}]", "", "positions are counted over tokens [batch, sequence], not [batch, sequence, 8]"},
		{"positions counted beside a cache", "[{position_embedding: {name: e, size: 4, count: {tokens: position_ids, padding: 2}}}, " + attention("")[1:], "", "would begin anew in every call, but layer 0 has a cache"},
		{"positions by index beside a cache", "[{position_embedding: {name: e, size: 4}}, " + attention("")[1:], "", "would begin anew in every call, but layer 0 has a cache"},
		{"positions with an offset", "[{position_embedding: {name: e, size: 4, of: position_ids, offset: 2}}]", "", ""},
		{"positions by index with an offset", "[{position_embedding: {name: e, size: 4, offset: 2}}]", "", ""},
		{"an offset beyond the table", "[{position_embedding: {name: e, size: 4, of: position_ids, offset: 4}}]", "", "offset 4 leaves a table of 4 rows no row for a token"},
		{"counted positions with an offset", "[{position_embedding: {name: e, size: 4, offset: 1, count: {tokens: position_ids, padding: 2}}}]", "", "counted positions begin after the row of padding"},
		{"weights of each head of no heads", "[{layer_norm: {name: n, epsilon: 1, weights: each_head}}]", "", "`weights: each_head` is for the norm of an attention's query or key"},
		{"sines of positions", "[{sinusoidal_embedding: position_ids}]", "", ""},
		{"sines of positions of other tokens", "[{reshape: [batch * sequence, 8]}, {sinusoidal_embedding: position_ids}]", "", "positions of a stream [batch*sequence, 8] must be int64 [batch*sequence], and position_ids is int64[batch,sequence]"},
		{"sines of no positions", "[{sinusoidal_embedding: x}]", "", "positions of a stream [batch, sequence, 8] must be int64 [batch, sequence], and x is float[batch,sequence,8]"},
		{"positions of other tokens", "[{transpose: [1, 0, 2]}, {position_embedding: {name: e, size: 4, of: position_ids}}]", "", "positions of a stream [sequence, batch, 8] must be int64 [sequence, batch]"},
		{"sines of an odd width", "[{linear: {name: x, out: 7}}, {sinusoidal_embedding: {}}]", "", "sines and cosines need an even width, not 7"},
		{"sines wider than memory", "[{linear: {name: x, out: 2**40}}, {sinusoidal_embedding: {}}]", "", "the stream is 1099511627776 wide, and at most 16777216 can be computed with"},
		{"sines by index beside a cache", "[{sinusoidal_embedding: {}}, " + attention("")[1:], "", "would begin anew in every call, but layer 0 has a cache"},
		{"a stream of integers", "[{residual: {dtype: bool, body: {linear: {name: x, out: 8}}}}]", "", "dtype cannot be `bool`"},
	} {
		text := "spec: v1\nname: x\nsummary: A test.\ndtype: float32\n" + c.more + `components:
  model:
    inputs: {x: "float32[batch, sequence, 8]", position_ids: "int64[batch, sequence]"}
    body: [{use: x}, {branch: [{use: position_ids}, {save: p}]}, ` + c.body[1:len(c.body)-1] + `]
    outputs: {y: result, p: p}
`
		o := Options{Spec: "x.yaml", Config: "c.json", Read: func(path string) ([]byte, error) {
			if path == "c.json" {
				return []byte("{}"), nil
			}
			return []byte(text), nil
		}}
		var errors diag.List
		for _, d := range Lint(o) {
			if d.Severity == diag.Error {
				errors = append(errors, d)
			}
		}
		switch {
		case c.want == "" && len(errors) > 0:
			t.Errorf("%s: found %v", c.name, errors)
		case c.want != "" && (len(errors) != 1 || !strings.Contains(errors[0].Message, c.want) || errors[0].Range.Start.Line < 5):
			t.Errorf("%s: found %v, want %s", c.name, errors, c.want)
		}
	}
}
