package spec

import (
	"slices"
	"strings"
	"testing"
)

// What depends on itself, and what nothing uses.
func init() {
	faultCases = append(faultCases, []faultCase{
		{
			name: "named expressions in a cycle that nothing uses", spec: base + "let: {a: b + 1, b: 1 + c, c: 2 * «a»}\n",
			want: "MB0307 expression-cycle: `a` depends on itself: a → b → c → a",
		},
		{
			name: "cycle that is reached from outside and used twice", spec: base + "let: {o: a, a: b + b, b: «a» * a}\nchecks: {c: o > 0, d: b > 0}\n",
			want: "MB0307 expression-cycle: `a` depends on itself: a → b → a",
		},
		{
			name: "named expression of itself", spec: base + "let: {a: «a» + 1}\n",
			want: "MB0307 expression-cycle: `a` depends on itself",
		},
		{
			name: "cycle in an abstract spec", spec: child + "abstract: true\nlet: {a: b, b: «a»}\n",
			want: "MB0307 expression-cycle: `a` depends on itself: a → b → a",
		},
		{
			name: "cycle by a variant", spec: base + "let: {a: b + 1, b: 1}\nvariants: {v: {let: {b: «a»}}}\n",
			want: "MB0307 expression-cycle: `a` depends on itself: a → b → a",
		},
		{
			name: "cycle by a kind of layer", spec: vlChild + "let: {a: b, b: 1}\nblocks: {decoder_layers: {layers: {kinds: {full_attention: {let: {b: «a»}}}}}}\n",
			want: "MB0307 expression-cycle: `a` depends on itself: a → b → a",
		},
		{
			name: "default that is itself", spec: child + "config: {head_dim: {default: «head_dim»}}\n",
			want: "MB0307 expression-cycle: `head_dim` depends on itself",
		},
		{
			name: "unused named expression that cannot be read", spec: base + "let: {a: 1 «+»}\n",
			want: "MB0301 malformed-expression: the expression ends too early",
		},
		{
			name: "chain of unused named expressions", spec: base + "let: {c: 1, b: c + 1, «a»: b + c}\n",
			want: "MB0213 unused-block: the named expression `a` is used by nothing",
		},
		{
			name: "chain of unused blocks with what only they use", spec: edit("  width: int\n", "  width: int\n  depth: {type: int, default: more}\n  more: int\n") +
				"blocks: {«x»: [y], y: {parallel: [z, z]}, z: {linear: {name: \"l{a}\", out: depth}}}\nlet: {a: b, b: 1}\n",
			want: "MB0213 unused-block: the block `x` is used by nothing",
		},
		{
			name: "unused blocks in a circle", spec: base + "blocks: {«x»: [y], y: [x]}\n",
			want: "MB0213 unused-block: the block `x` is used by nothing",
		},
		{
			name: "chain of unused functions", spec: base + "functions:\n  a: |\n    <opset_import: [\"\": 21]>\n    a (x) => (y) { y = Neg (x) }\n  «b»: |\n    <opset_import: [\"\": 21]>\n    b (x) => (y) { y = a (x) }\n",
			want: "MB0213 unused-block: the function `b` is used by nothing",
		},
		{
			name: "chain of unused config keys", spec: edit("  width: int\n", "  width: int\n  «depth»: {type: int, default: more // 2}\n  more: int\n"),
			want: "MB0402 unused-config-key: config key `depth` is declared, and nothing uses it; use it, limit it with `values`, or list it under `ignore` with a reason",
		},
		{
			name: "no component", spec: strings.Split(base, "components:")[0] + "let: {a: b, b: 1}\nblocks: {x: []}\n«components»: {}\n",
			want: "MB0205 missing-key: a spec needs a component; a component is one graph: its inputs, body and outputs",
		},
		{
			name: "child that deletes the only component", spec: child + "«components»: {model: null}\n",
			want: "MB0205 missing-key: a spec needs a component; a component is one graph: its inputs, body and outputs",
		},
		{
			name: "variant without a component", spec: base + "variants: {v: {«components»: {model: null}}}\n",
			want: "MB0205 missing-key: a spec needs a component; a component is one graph: its inputs, body and outputs",
		},
	}...)
}

// TestUnusedNotes lists what goes with a thing that nothing uses.
func TestUnusedNotes(t *testing.T) {
	spec := base + "let: {a: b + c, b: c, c: 1, d: 2}\n"
	_, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": spec}))
	var got []string
	for _, d := range found {
		got = append(got, d.Range.String()+" "+d.Message)
		for _, n := range d.Notes {
			got = append(got, n.Range.String()+" "+n.Message)
		}
	}
	want := []string{
		"x.yaml:15:7 the named expression `a` is used by nothing", "x.yaml:15:17 used by that alone", "x.yaml:15:23 used by that alone",
		"x.yaml:15:29 the named expression `d` is used by nothing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
