package spec

import (
	"slices"
	"strings"
	"testing"
)

// layered is base with layers of which each reads the list `sizes` of the config.
const layered = `spec: v1
name: x
summary: A test.
model_types: [x]
dtype: dtype
config:
  dtype: {type: dtype, default: float32}
  width: int
  depth: int
  sizes: SIZES
let: {size: "sizes[layer] if sizes else 4"}
components:
  model:
    inputs: {x: "model[batch, width]"}
    body:
      - {use: x}
      - layers:
          count: depth
          name: layers
          each: [{linear: {name: out, out: size}}, {linear: {name: back, out: width}}]
    outputs: {y: result}
`

func layeredWith(sizes string) string { return strings.Replace(layered, "SIZES", sizes, 1) }

// unnamed is layered with a list, and a linear layer that reads it without a named
// expression.
func unnamed(options string) string {
	return strings.NewReplacer("let: {size: \"sizes[layer] if sizes else 4\"}\n", "", "name: out, out: size", options).Replace(layeredWith("list<int>"))
}

// Lists of the config with one entry for each layer, wherever an expression reads
// them.
func init() {
	const config = `{"model_type": "x", "width": 8, "depth": 2, "sizes": `
	const twoLayers = "and there are 2 layers; it needs one entry for each layer"
	faultCases = append(faultCases, []faultCase{
		{
			name: "list read in a named expression is longer than the layers", spec: layeredWith("optional list<int>"), config: config + `«[3, 4, 5]»}`,
			want: "MB0502 bad-schedule: sizes has 3 entries, " + twoLayers,
		},
		{
			name: "list read in a named expression is shorter than the layers", spec: layeredWith("optional list<int>"), config: config + `«[3]»}`,
			want: "MB0502 bad-schedule: sizes has 1 entry, " + twoLayers,
		},
		{
			name: "list read in a named expression is empty", spec: layeredWith("optional list<int>"), config: config + `«[]»}`,
			want: "MB0502 bad-schedule: sizes has 0 entries, " + twoLayers,
		},
		{
			name: "list read in an option is longer than the layers", spec: unnamed(`name: out, out: "sizes[layer]"`), config: config + `«[3, 4, 5]»}`,
			want: "MB0502 bad-schedule: sizes has 3 entries, " + twoLayers,
		},
		{
			name: "list read in a name is longer than the layers", spec: unnamed(`out: width, name: "out{sizes[layer]}"`), config: config + `«[3, 4, 5]»}`,
			want: "MB0502 bad-schedule: sizes has 3 entries, " + twoLayers,
		},
		{
			name: "list of a default is longer than the layers", spec: layeredWith("{type: list<int>, default: «[3, 4, 5]»}"), config: config[:len(config)-len(`, "sizes": `)] + "}",
			want: "MB0502 bad-schedule: sizes has 3 entries, " + twoLayers,
		},
		{
			name: "empty list of kinds", spec: vlChild, config: vl(`"vocab_size"`, `"layer_types": «[]», "vocab_size"`),
			want: "MB0502 bad-schedule: text_config.layer_types has 0 entries, and there are 4 layers; it needs one entry for each layer",
		},
	}...)
}

// TestEmptyByDefault binds a list without entries whose default is the same.
func TestEmptyByDefault(t *testing.T) {
	s, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": layeredWith("{type: list<int>, default: []}")}))
	if len(found) > 0 {
		t.Fatal(found)
	}
	for _, config := range []string{`{"model_type": "x", "width": 8, "depth": 2, "sizes": []}`, `{"model_type": "x", "width": 8, "depth": 2}`} {
		if _, found := s.Bind(parseConfigText(t, "config.json", config), Options{}); len(found) > 0 {
			t.Errorf("%s: %v", config, found)
		}
	}
}

// convolved is base with a convolution, whose options follow.
func convolved(options string) string {
	return strings.NewReplacer(`"model[batch, width]"`, `"model[batch, width, 8]"`, "{linear: {name: out, out: width * heads}}", "{conv: {name: out, out: heads, "+options+"}}",
		"  width: int\n", "  width: int\n  step: optional int\n").Replace(base) + "checks: {a: not step or width}\n"
}

// A null in a list deletes nothing and is no entry.
func init() {
	const null = ", not null"
	const text = "MB0203 wrong-type: text is expected here" + null
	faultCases = append(faultCases, []faultCase{
		{name: "null among numbers", spec: convolved("kernel: [«null»]"), want: "MB0203 wrong-type: a whole number or an expression is expected here" + null},
		{name: "null among blocks", spec: edit("[{use: x}, ", "[{use: x}, «null», "), want: "MB0203 wrong-type: a block, the name of a block, or a list of them is expected here" + null},
		{name: "null among branches", spec: child + "blocks: {final_norm: {parallel: [{rms_norm: model.norm}, «null»]}}\n",
			want: "MB0203 wrong-type: a block, the name of a block, or a list of them is expected here" + null},
		{name: "null among texts", spec: child + "model_types: [llama, «null»]\n", want: text},
		{name: "null among names of a key", spec: child + "config: {head_dim: {from: [head_dim, «~»]}}\n", want: text},
		{name: "null among axes of a transform", spec: child + "weights: {transform: [{match: a, transpose: [1, «null»]}]}\n", want: "MB0203 wrong-type: a whole number is expected here" + null},
		{name: "none among numbers", spec: convolved("kernel: [«step»]"), config: baseConfig, want: "MB0305 evaluation-failed: an entry of kernel needs a value, and this is none"},
		{name: "number of a list that a named expression is made of", spec: strings.Replace(convolved("kernel: «[1, half]»"), "config:", "let: {half: step // 9}\nconfig:", 1), config: baseConfig[:len(baseConfig)-1] + `, "step": 7}`,
			want: "MB0507 value-out-of-range: kernel must be whole numbers above 0, and is 0; in this config half is 0, step is 7"},
		{name: "none for required numbers", spec: convolved("kernel: «step»"), config: baseConfig, want: "MB0205 missing-key: conv needs `kernel`, and this is none"},
	}...)
}

// TestNoneForNumbers evaluates an option of several numbers that is none: it is as
// if it were not written.
func TestNoneForNumbers(t *testing.T) {
	s, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": convolved("kernel: 3, stride: step")}))
	if len(found) > 0 {
		t.Fatal(found)
	}
	for config, want := range map[string][]int64{`{"model_type": "x", "width": 8}`: nil, `{"model_type": "x", "width": 8, "step": 2}`: {2}} {
		r, found := s.Bind(parseConfigText(t, "config.json", config), Options{})
		if len(found) > 0 {
			t.Fatal(found)
		}
		opts := r.Model.Components[0].Body[1].Opts
		if opts.Has("stride") != (want != nil) || want != nil && !slices.Equal(opts.Ints("stride"), want) {
			t.Errorf("%s: stride is %v", config, opts["stride"])
		}
	}
}

// TestOutOfRange binds configs with numbers that options cannot take: the finding
// stands in the spec, and leads to the config. What is taken from such a number by
// default is not reported again.
func TestOutOfRange(t *testing.T) {
	text := strings.NewReplacer("{linear: {name: out, out: width * heads}}", "{layers: {count: heads, name: l, each: [{attention: {name: a, heads: width, head_dim: 4, mask: causal, padding: none}}]}}",
		`"model[batch, width]"`, `"model[batch, sequence, 2 * width]"`).Replace(base)
	s, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": text}))
	if len(found) > 0 {
		t.Fatal(found)
	}
	for config, want := range map[string][]string{
		`{"model_type": "x", "width": -8}`: {
			"x.yaml:12:41 a dim must be 0 or more, and is -16; config.json:1:30 width",
			"x.yaml:13:91 heads must be a whole number above 0, and is -8; config.json:1:30 width",
		},
		`{"model_type": "x", "width": 8, "heads": -1}`: {"x.yaml:13:39 count must be a whole number of layers, and is -1; config.json:1:42 heads"},
	} {
		_, found := s.Bind(parseConfigText(t, "config.json", config), Options{})
		if got := places(found); !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", config, got, want)
		}
	}
}
