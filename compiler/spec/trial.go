package spec

import (
	"encoding/json"
	"math/rand/v2"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/tree"
)

// trial is a config made up for a spec: every key that has no default has a
// value, and numbers that may differ do.
type trial struct {
	config *Config
	sizes  map[string]int64
}

// trials returns up to n made-up configs, always the same ones. Some may not pass
// the spec's checks. They serve to look at the shapes of a spec that comes
// without a config: blocks that fit for none of them fit for hardly any.
func (s *Spec) trials(n int) []trial {
	roles, equal := s.roles(), s.equalKeys()
	var made []trial
	for i := range n {
		m := &trialMaker{roles: roles, equal: equal, random: rand.New(rand.NewPCG(1, uint64(i))), sizes: map[string]int64{}, optional: i%2 == 1}
		m.widths = m.random.Perm(len(widths))
		root := map[string]any{}
		if types := s.Types(); len(types) > 0 {
			root["model_type"] = types[0]
		}
		m.fill(s.compiled.config, root)
		text, err := json.Marshal(root)
		if err != nil {
			continue // a default that JSON cannot hold
		}
		if c, found := ParseConfig("(made up)", text); !found.HasErrors() {
			made = append(made, trial{c, m.sizes})
		}
	}
	return made
}

// What numbers are made of, by the option that they are for: heads divide among
// key heads, and the widths of everything else are distinct and even.
var (
	roleSizes = map[string][]int64{
		"count": {2}, "heads": {8, 4}, "value_heads": {8, 4}, "kv_heads": {2, 4}, "key_heads": {2, 4},
		"head_dim": {16, 32}, "key_dim": {16, 32}, "value_dim": {16, 32},
		"experts": {4}, "top_k": {2}, "kernel": {4, 2}, "merge": {2}, "layer": {2},
	}
	widths = []int64{64, 96, 128, 160, 192, 224, 256, 288, 320, 384, 448, 512, 576, 640, 768, 896, 1024, 1152, 1280, 1536}
)

// roles returns the option that each config key is first used for, of those that
// sizes are chosen by.
func (s *Spec) roles() map[string]string {
	roles := map[string]string{}
	var visit func(n *tree.Node)
	visit = func(n *tree.Node) {
		for _, item := range n.Items {
			visit(item)
		}
		for _, e := range n.Entries {
			if roleSizes[e.Key.Text] != nil && e.Value.Kind == tree.String {
				if parsed, d := expr.Parse(e.Value.Text, e.Value.Span); d == nil {
					if path, plain := expr.Path(parsed.Root); plain && roles[path] == "" {
						roles[path] = e.Key.Text
					}
				}
			}
			visit(e.Value)
		}
	}
	visit(s.root)
	return roles
}

// equalKeys returns the keys that a check demands to be equal to another one, both
// ways.
func (s *Spec) equalKeys() map[string][]string {
	equal := map[string][]string{}
	checks := s.root.Get("checks")
	if checks == nil {
		return equal
	}
	for _, e := range checks.Entries {
		parsed := s.compiled.exprs[e.Value]
		if parsed == nil {
			continue
		}
		expr.Walk(parsed.Root, func(n expr.Node) {
			if b, ok := n.(*expr.Binary); ok && b.Op == "==" {
				x, okX := expr.Path(b.X)
				y, okY := expr.Path(b.Y)
				if okX && okY {
					equal[x], equal[y] = append(equal[x], y), append(equal[y], x)
				}
			}
		})
	}
	return equal
}

type trialMaker struct {
	roles    map[string]string
	equal    map[string][]string
	random   *rand.Rand
	widths   []int // indices, in the order in which they are used
	used     int
	sizes    map[string]int64
	optional bool // whether optional sections are there
}

// fill gives the keys of a section values in the object that holds it.
func (m *trialMaker) fill(s *section, in map[string]any) {
	if len(s.at) > 0 && s.at[0] != "." {
		inner := map[string]any{}
		in[s.at[0]] = inner
		in = inner
	}
	for _, k := range s.keys {
		switch {
		case k.section != nil && (!k.section.optional || m.optional):
			m.fill(k.section, in)
		case k.section != nil || k.refused != "" || k.def != nil || k.typ.optional:
		case len(k.values) > 0:
			in[k.from[0]] = k.values[0]
		default:
			if v := m.value(k); v != nil {
				in[k.from[0]] = v
			}
		}
	}
}

func (m *trialMaker) value(k *configKey) any {
	word := map[string]any{"float": 0.5, "bool": false, "string": "x", "activation": "silu", "dtype": "float32", "token": 1, "object": map[string]any{}}
	var v any
	switch {
	case k.typ.word == "rope": // where no key states one, it is the plain one
		return nil
	case k.typ.word == "int":
		v = m.size(k)
	default:
		v = word[k.typ.word]
	}
	switch k.typ.outer {
	case "list":
		return []any{v, v}
	case "map":
		return map[string]any{}
	}
	return v
}

func (m *trialMaker) size(k *configKey) int64 {
	var n int64
	for _, other := range m.equal[k.path] {
		n = max(n, m.sizes[other])
	}
	if n > 0 {
		m.sizes[k.path] = n
		return n
	}
	if choice := roleSizes[m.roles[k.path]]; choice != nil {
		n = choice[m.random.IntN(len(choice))]
	} else {
		n = widths[m.widths[m.used%len(widths)]]
		m.used++
	}
	m.sizes[k.path] = n
	return n
}
