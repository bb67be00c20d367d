package spec

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// readKeys reads a config as a section config declares it.
func readKeys(t *testing.T, declared, config string, strict bool) *reading {
	t.Helper()
	node, found := tree.ParseYAML("x.yaml", []byte(declared))
	if len(found) > 0 {
		t.Fatal(found)
	}
	s := &Spec{g: language(), root: tree.NewMap(node.Range, tree.Entry{Key: tree.NewText("config", node.Range), Value: language().canon(node, language().document.child("config"))})}
	c := s.newChecked(newUses())
	if len(c.found) > 0 {
		t.Fatal(c.found)
	}
	return readConfig(c.config, parseConfigText(t, "config.json", config), strict)
}

// TestRopeLayouts reads a rotary embedding in every layout.
func TestRopeLayouts(t *testing.T) {
	plain := lowering.Rope{Type: "default", Theta: 10000, Fraction: 1, Truncate: true}
	with := func(change func(*lowering.Rope)) lowering.Rope {
		r := plain
		change(&r)
		return r
	}
	for _, c := range []struct {
		name, config string
		want         lowering.Rope
	}{
		{"nothing", `{"other": 1}`, plain},
		{"theta alone", `{"rope_theta": 500000.0, "rope_scaling": null}`, with(func(r *lowering.Rope) { r.Theta = 5e5 })},
		{"other names", `{"rotary_emb_base": 20000, "rotary_pct": 0.5}`, with(func(r *lowering.Rope) { r.Theta, r.Fraction = 2e4, 0.5 })},
		{"partial", `{"rope_theta": 10000, "partial_rotary_factor": 0.25, "max_position_embeddings": 4096}`, with(func(r *lowering.Rope) {
			r.Fraction, r.MaxPositions = 0.25, 4096
		})},
		{"scaling beside theta", `{"rope_theta": 500000.0, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
			"original_max_position_embeddings": 8192, "rope_type": "llama3"}}`, with(func(r *lowering.Rope) {
			r.Type, r.Theta, r.Factor, r.LowFreqFactor, r.HighFreqFactor, r.OriginalMaxPositions = "llama3", 5e5, 8, 1, 4, 8192
		})},
		{"old type, original length beside", `{"original_max_position_embeddings": 4096, "rope_scaling": {"type": "su", "short_factor": [1, 1.5], "long_factor": [2, 3]}}`,
			with(func(r *lowering.Rope) {
				r.Type, r.OriginalMaxPositions, r.ShortFactor, r.LongFactor = "longrope", 4096, []float64{1, 1.5}, []float64{2, 3}
			})},
		{"both names of the type", `{"rope_scaling": {"type": "linear", "rope_type": "linear", "factor": 2}}`, with(func(r *lowering.Rope) { r.Type, r.Factor = "linear", 2 })},
		{"yarn", `{"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 32, "beta_slow": 1, "mscale": 0.7, "mscale_all_dim": 0.8, "truncate": false, "attention_factor": 1.2}}`,
			with(func(r *lowering.Rope) {
				r.Type, r.Factor, r.BetaFast, r.BetaSlow, r.MScale, r.MScaleAllDim, r.Truncate, r.AttentionFactor = "yarn", 4, 32, 1, 0.7, 0.8, false, 1.2
			})},
		{"parameters", `{"partial_rotary_factor": 0.25, "rope_parameters": {"rope_type": "default", "rope_theta": 10000000, "partial_rotary_factor": 0.25,
			"mrope_section": [11, 11, 10], "mrope_interleaved": true}}`, with(func(r *lowering.Rope) {
			r.Theta, r.Fraction, r.Sections, r.Interleaved = 1e7, 0.25, []int64{11, 11, 10}, true
		})},
		{"sections by the old type", `{"rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}}`, with(func(r *lowering.Rope) { r.Sections = []int64{16, 24, 24} })},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := readKeys(t, "rope: rope\nignore: {other: a, max_position_embeddings: b}\n", c.config, true)
			if len(r.found) > 0 {
				t.Error(r.found)
			}
			if got := fmt.Sprintf("%+v", *r.values["rope"].value.(*lowering.Rope)); got != fmt.Sprintf("%+v", c.want) {
				t.Errorf("got  %s\nwant %+v", got, c.want)
			}
		})
	}
}

func TestRopesByKind(t *testing.T) {
	r := readKeys(t, "rope: {type: map<rope>, from: rope_parameters}\n", `{"rope_parameters": {
		"full": {"rope_theta": 1000000.0, "partial_rotary_factor": 0.25, "rope_type": "proportional"}, "sliding": {"rope_theta": 10000.0}}}`, true)
	if len(r.found) > 0 {
		t.Fatal(r.found)
	}
	full := r.values["rope"].value.(expr.Record)["full"].(*lowering.Rope)
	if full.Type != "proportional" || full.Theta != 1e6 || full.Fraction != 0.25 {
		t.Errorf("full is %+v", full)
	}
}

// TestRopeOfAKind reads the rotary embeddings of two kinds of layers, from records
// in an object and from keys beside one record.
func TestRopeOfAKind(t *testing.T) {
	const declared = `full: {type: rope, from: [rope_parameters.full, rope_scaling], numbers: {rope_theta: {default: 1000000}}}
local: {type: rope, from: rope_parameters.local, numbers: {rope_theta: {from: local_base}, partial_rotary_factor: {default: 0.5}}}
`
	for _, c := range []struct {
		name, config string
		full, local  string // type, theta, factor, fraction
		found        string
	}{
		{"nothing", `{}`, "default 1e+06 0 1", "default 10000 0 0.5", ""},
		{"beside", `{"rope_theta": 500, "rope_scaling": {"rope_type": "linear", "factor": 8}, "local_base": 20}`, "linear 500 8 1", "default 20 0 0.5", ""},
		{"nested", `{"rope_parameters": {"full": {"rope_type": "linear", "factor": 8, "rope_theta": 500}, "local": {"rope_theta": 20, "partial_rotary_factor": 1}}}`,
			"linear 500 8 1", "default 20 0 1", ""},
		{"nested without a base", `{"rope_parameters": {"full": {"rope_type": "default"}, "local": null}}`, "default 1e+06 0 1", "default 10000 0 0.5", ""},
		{"both places", `{"local_base": 20, "rope_parameters": {"local": {"rope_theta": 30}}}`, "default 1e+06 0 1", "default 30 0 0.5", "error aliases-disagree local_base"},
		{"another kind", `{"rope_parameters": {"full": {"rope_theta": 500}, "other": {"rope_theta": 30}}}`, "default 500 0 1", "default 10000 0 0.5", "error unread-config-key rope_parameters.other"},
		{"one record for all", `{"rope_parameters": {"rope_theta": 30}}`, "default 1e+06 0 1", "default 10000 0 0.5", "error unread-config-key rope_parameters"},
		{"no object", `{"rope_parameters": 30}`, "default 1e+06 0 1", "default 10000 0 0.5", "error unread-config-key rope_parameters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := readKeys(t, declared, c.config, true)
			var found []string
			for _, d := range r.found {
				found = append(found, d.Severity.String()+" "+d.Name)
				if !strings.Contains(d.Message, c.found[strings.LastIndexByte(c.found, ' ')+1:]+" ") {
					t.Errorf("the finding %q does not name the key", d.Message)
				}
			}
			if got := strings.Join(found, ", "); !strings.HasPrefix(c.found, got) || (got == "") != (c.found == "") {
				t.Errorf("found %q, want %q: %v", got, c.found, r.found)
			}
			for key, want := range map[string]string{"full": c.full, "local": c.local} {
				rope := r.values[key].value.(*lowering.Rope)
				if got := fmt.Sprintf("%s %g %g %g", rope.Type, rope.Theta, rope.Factor, rope.Fraction); got != want {
					t.Errorf("%s is %s, want %s", key, got, want)
				}
			}
		})
	}
}

// TestReading checks single keys: what is read from where, and what is reported.
func TestReading(t *testing.T) {
	for _, c := range []struct {
		name, declared, config string
		value                  string // of key a
		found                  string // severities and names
	}{
		{"plain", "a: int", `{"a": 3}`, "3", ""},
		{"whole number written as a fraction", "a: int", `{"a": 3.0}`, "3", ""},
		{"number of a float", "a: float", `{"a": 3}`, "3", ""},
		{"another name", "a: {type: int, from: [b, a]}", `{"b": 3}`, "3", ""},
		{"two names that agree", "a: {type: activation, from: [b, a]}", `{"a": "swish", "b": "silu"}`, "silu", ""},
		{"two names that differ", "a: {type: int, from: [b, a]}", `{"a": 1, "b": 2}`, "2", "error aliases-disagree"},
		{"null and another name", "a: {type: int, from: [b, a]}", `{"a": 1, "b": null}`, "1", ""},
		{"optional and absent", "a: optional int", `{}`, "<nil>", ""},
		{"optional and null", "a: optional int", `{"a": null}`, "<nil>", ""},
		{"optional with a default and absent", "a: {type: optional int, default: 4}", `{}`, "4", ""},
		{"optional with a default and null", "a: {type: optional int, default: 4}", `{"a": null}`, "<nil>", ""},
		{"optional with a default and stated", "a: {type: optional int, default: 4, from: [a, b]}", `{"a": null, "b": 3}`, "3", ""},
		{"required and null", "a: int", `{"a": null}`, "<nil>", "error missing-config-key"},
		{"default", "a: {type: int, default: 4}", `{}`, "4", ""},
		{"default word", "a: {type: string, default: absolute}", `{}`, "absolute", ""},
		{"empty list as default", "a: {type: list<int>, default: []}", `{}`, "[]", ""},
		{"list", "a: list<string>", `{"a": ["x", "y"]}`, "[x y]", ""},
		{"list with another type", "a: list<int>", `{"a": [1, "y"]}`, "<nil>", "error bad-config-value"},
		{"one token", "a: token", `{"a": 7}`, "[7]", ""},
		{"tokens", "a: token", `{"a": [7, 8]}`, "[7 8]", ""},
		{"token text", "a: token", `{"a": "x"}`, "<nil>", "error bad-config-value"},
		{"dtype", "a: dtype", `{"a": "torch.bfloat16"}`, "bfloat16", ""},
		{"object", "a: object", `{"a": {"x": [1]}}`, "map[x:[1]]", ""},
		{"covered", "a: {type: bool, values: [false]}", `{"a": false}`, "false", ""},
		{"covered list", "a: {type: list<int>, values: [[]]}", `{"a": []}`, "[]", ""},
		{"not covered list", "a: {type: list<int>, values: [[]]}", `{"a": [1]}`, "[1]", "error unsupported-config-value"},
		{"refused and null", "a: {unsupported: not yet}", `{"a": null}`, "<nil>", ""},
		{"refused", "a: {unsupported: not yet}", `{"a": 1}`, "<nil>", "error unsupported-config-value"},
		{"nested object first", "at: [t, .]\na: int", `{"a": 1, "t": {"a": 2}}`, "2", "note shadowed-config-key"},
		{"nested null, outer value", "at: [t, .]\na: int", `{"a": 1, "t": {"a": null}}`, "1", ""},
		{"no nested object", "at: [t, .]\na: int", `{"a": 1}`, "1", ""},
		{"nested is no object", "at: [t, .]\na: int", `{"a": 1, "t": 3}`, "1", "error bad-config-value"},
		{"unread", "a: int", `{"a": 1, "b": 2}`, "1", "warning unread-config-key"},
		{"unread and empty", "a: int", `{"a": 1, "b": false, "c": {}}`, "1", "note unread-config-key, note unread-config-key"},
		{"unread object", "a: int", `{"a": 1, "b": {"c": 2, "d": 3}}`, "1", "warning unread-config-key"},
		{"ignored", "a: int\nignore: {b: why, 'c_*': why}", `{"a": 1, "b": 2, "c_d": 3}`, "1", ""},
		{"left out", "a: int\nleft_out: {'b_*': why}", `{"a": 1, "b_c": {"d": 2}, "b_e": null, "b_f": {}}`, "1", "warning part-left-out"},
		{"left out of a section", "a: int\ns: {at: sub, keys: {b: int}, left_out: {c: why}}", `{"a": 1, "sub": {"b": 2, "c": {"d": 3}}}`, "1", "warning part-left-out"},
		{"left out, and ignored by name", "a: int\nignore: {b_c: why}\nleft_out: {'b_*': why}", `{"a": 1, "b_c": {"d": 2}}`, "1", ""},
		{"ignored by path", "at: [t, .]\na: int\nignore: {t.b: why}", `{"t": {"a": 1, "b": 2}}`, "1", ""},
		{"key with a dot", "a: int\nignore: {b.c: why}", `{"a": 1, "b.c": 2}`, "1", ""},
		{"path", "a: {type: int, from: [s.b, b]}", `{"s": {"b": 3}}`, "3", ""},
		{"path, and a key beside it", "a: {type: int, from: s.b}", `{"s": {"b": 3, "c": 4}}`, "3", "warning unread-config-key"},
		{"path that leads to nothing", "a: {type: int, from: [s.b, b]}", `{"s": 1, "b": 3}`, "3", "warning unread-config-key"},
		{"path to a null", "a: {type: optional int, from: s.b, default: 4}", `{"s": {"b": null}}`, "<nil>", ""},
		{"key that has the name of a path", "a: {type: int, from: s.b}", `{"s.b": 3}`, "3", ""},
		{"section", "a: int\ns: {at: sub, keys: {b: int}, ignore: {c: why}}", `{"a": 1, "sub": {"b": 2, "c": 3}}`, "1", ""},
		{"unread in a section", "a: int\ns: {at: sub, keys: {b: int}}", `{"a": 1, "sub": {"b": 2, "c": 3}}`, "1", "warning unread-config-key"},
		{"absent section", "a: int\ns: {at: sub, keys: {b: int}}", `{"a": 1}`, "1", "error missing-config-key"},
		{"absent optional section", "a: int\ns: {at: sub, optional: true, keys: {b: int}}", `{"a": 1, "sub": null}`, "1", ""},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			r := readKeys(t, c.declared, c.config, false)
			var found []string
			for _, d := range r.found {
				found = append(found, d.Severity.String()+" "+d.Name)
			}
			if got := strings.Join(found, ", "); got != c.found {
				t.Errorf("found %q, want %q: %v", got, c.found, r.found)
			}
			if got := fmt.Sprint(r.values["a"].value); got != c.value {
				t.Errorf("a is %s, want %s", got, c.value)
			}
		})
	}
}

// TestRopeCounts reads numbers of a rotary embedding that count something and
// cannot.
func TestRopeCounts(t *testing.T) {
	for _, record := range []string{
		`{"type": "mrope", "mrope_section": [14, -6, 0]}`,
		`{"type": "mrope", "mrope_section": [1.5, 6]}`,
		`{"type": "mrope", "mrope_section": [1e30]}`,
		`{"type": "mrope", "mrope_section": 8}`,
		`{"type": "yarn", "factor": 2, "original_max_position_embeddings": 1e30}`,
		`{"type": "yarn", "factor": 2, "original_max_position_embeddings": -8}`,
	} {
		r := readKeys(t, "rope: rope", `{"rope_scaling": `+record+`}`, false)
		if len(r.found) != 1 || r.found[0].Name != "bad-config-value" {
			t.Errorf("%s: found %v", record, r.found)
		}
	}
}

func TestStrict(t *testing.T) {
	r := readKeys(t, "a: int\nrope: rope\n", `{"a": 1, "b": 2, "rope_parameters": {"rope_theta": 1, "new": 3}}`, true)
	if len(r.found) != 2 || r.found[0].Severity != diag.Error || r.found[1].Severity != diag.Error {
		t.Errorf("found %v", r.found)
	}
}

// TestIgnorePatterns matches keys that are not declared, the exact rule first.
func TestIgnorePatterns(t *testing.T) {
	r := readKeys(t, "ignore: {\"*_dropout\": training, \"{bos,eos}_id\": tokens, hidden_dropout: exact}\n",
		`{"attn_dropout": 1, "hidden_dropout": 1, "bos_id": 1, "eos_id": 2, "pad_id": 3}`, false)
	if len(r.found) != 1 || !strings.Contains(r.found[0].Message, "pad_id") {
		t.Errorf("found %v", r.found)
	}
	reasons := map[string]string{}
	for _, k := range r.ignored {
		reasons[k.Path] = k.Reason
	}
	if want := map[string]string{"attn_dropout": "training", "hidden_dropout": "exact", "bos_id": "tokens", "eos_id": "tokens"}; !maps.Equal(reasons, want) {
		t.Errorf("ignored %v, want %v", reasons, want)
	}
}
