package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// Options of Bind.
type Options struct {
	DType  string // compute dtype instead of the spec's: float32, float16, bfloat16
	Strict bool   // an unread config key is an error
}

// Result is a spec bound to a config.
type Result struct {
	Spec    *Spec // as bound: with the variant that was chosen by name or by the config's model type
	Model   *lowering.Model
	Variant string // its name, or ""
	Config  []ConfigValue
	Ignored []IgnoredKey
	Weights Weights
	Runtime Runtime
	Pins    *Pins

	at *environment // what Eval evaluates in
}

// PinnedConfig reads the config that the spec pins, and checks its hash. It
// returns nil without a finding when the spec pins none.
func (s *Spec) PinnedConfig() (*Config, diag.List) {
	p := s.pins()
	if p == nil || p.Config == "" {
		return nil, nil
	}
	at := s.root.At("pins", "config", "file").Range
	text, err := readSource(p.Config, s.read)
	if err != nil {
		return nil, diag.List{*fault.Unreadable(at, p.Config, reason(err))}
	}
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != strings.ToLower(p.ConfigSHA256) {
		return nil, diag.List{*fault.PinMismatch(s.root.At("pins", "config", "sha256").Range, p.Config, p.ConfigSHA256, got)}
	}
	return ParseConfig(p.Config, text)
}

// accepted returns the model types that the spec answers to: its own, or, where
// it states none, the nearest parent's; and those of its variants.
func (s *Spec) accepted() []string {
	types := slices.Clone(s.ModelTypes)
	for i := len(s.files) - 1; i >= 0 && len(types) == 0; i-- {
		types = textsOf(s.files[i].root.Get("model_types"))
	}
	for _, name := range s.Variants() {
		types = append(types, textsOf(s.root.At("variants", name, "model_types"))...)
	}
	return types
}

// Bind evaluates the spec for a config: the model with every number known, and
// what else the config and the spec say of it. A config whose model type is that
// of a variant selects the variant. The Result is nil when anything is wrong
// that keeps the model from being built.
func (s *Spec) Bind(config *Config, o Options) (*Result, diag.List) {
	if s.Abstract {
		return nil, diag.List{*fault.Abstract(diag.Range{File: s.Path}, s.Name)}
	}
	if config == nil {
		return nil, diag.List{*fault.NoConfig(diag.Range{File: s.Path}, s.Name)}
	}
	s, found := s.forModelType(config)
	if found.HasErrors() {
		return nil, found.Sorted()
	}
	ev := &evaluator{checked: s.compiled, open: map[*tree.Node]bool{}, sections: map[*section]expr.Record{}}
	ev.config = readConfig(s.compiled.config, config, o.Strict)
	found = append(found, ev.config.found...)
	if found.HasErrors() {
		return nil, found.Sorted()
	}
	result := ev.result(o)
	found = append(found, ev.errs...).Sorted()
	if found.HasErrors() {
		return nil, found
	}
	return result, found
}

// forModelType checks the config's model type, and applies the variant that
// answers to it.
func (s *Spec) forModelType(config *Config) (*Spec, diag.List) {
	got, accepted := config.ModelType(), s.types
	if len(accepted) == 0 {
		return s, s.ready()
	}
	if !slices.Contains(accepted, got) {
		at := start(config.root)
		if n := config.root.Get("model_type"); n != nil {
			at = n.Range
		}
		return s, diag.List{*fault.WrongModelType(at, got, s.Name, accepted, answering(got))}
	}
	if s.VariantName == "" {
		for _, name := range s.Variants() {
			if slices.Contains(textsOf(s.root.At("variants", name, "model_types")), got) {
				return s.Variant(name)
			}
		}
	}
	return s, s.ready()
}

// ready checks the spec if that has not been done. A spec with errors is not
// evaluated.
func (s *Spec) ready() diag.List {
	if s.compiled == nil {
		return s.check()
	}
	if s.compiled.found.HasErrors() {
		return s.compiled.found
	}
	return nil
}

// result evaluates everything that the spec says.
func (ev *evaluator) result(o Options) *Result {
	s := ev.s
	at := place{layer: -1, blocks: s.root.Get("blocks"), lets: s.root.Get("let"), defaults: s.root.Get("defaults")}
	ev.checks(at)
	if !ev.computeDType(o.DType, at) || ev.errs.HasErrors() {
		return nil
	}
	model := &lowering.Model{Name: s.Name, Compute: dtypeOf[ev.compute], Functions: ev.functions}
	components := s.root.Get("components")
	for _, e := range components.Entries {
		model.Components = append(model.Components, ev.component(e, at))
	}
	ev.checkWires(model, components)
	return &Result{
		Spec: s, Model: model, Variant: s.VariantName, Config: ev.configValues(), Ignored: ev.config.ignored,
		Weights: ev.weights(at), Runtime: ev.runtime(at), Pins: s.pins(), at: &environment{ev, at},
	}
}

func entries(n *tree.Node) []tree.Entry {
	if n == nil {
		return nil
	}
	return n.Entries
}

// checks evaluates the checks. One that reads an absent optional section, or
// compares what is none, is skipped.
func (ev *evaluator) checks(at place) {
	for _, e := range entries(ev.s.root.Get("checks")) {
		parsed := ev.parse(e.Value)
		if e.Value.Kind != tree.String || parsed == nil {
			continue
		}
		v, d := expr.Eval(parsed, &environment{ev, at})
		switch {
		case fault.IsAbsentSection(d):
		case d != nil:
			ev.fail(ev.withValues(d, parsed, at))
		case !expr.Truth(v):
			ev.fail(ev.failedCheck(e, parsed, at))
		}
	}
}

// failedCheck says which values make a check fail, and where they stand.
func (ev *evaluator) failedCheck(e tree.Entry, parsed *expr.Expr, at place) *diag.Diagnostic {
	values, notes := ev.valuesIn(parsed, at)
	return fault.FailedCheck(e.Value.Range, e.Key.Text, values, notes)
}

// computeDType decides in which dtype the package computes.
func (ev *evaluator) computeDType(override string, at place) bool {
	n := ev.s.root.Get("dtype")
	r := diag.Range{File: ev.s.Path}
	ev.compute = override
	if override == "" {
		if n == nil {
			ev.fail(fault.NoDType(r))
			return false
		}
		v, ok := ev.value(n, dtypeResult, at)
		if !ok {
			return false
		}
		ev.compute, _ = v.(string)
		if r = ev.placeOf(n); r == (diag.Range{}) {
			r = n.Range
		}
	}
	if !slices.Contains(computeDTypes, ev.compute) {
		ev.fail(fault.UncomputableDType(r, ev.compute, computeDTypes))
		return false
	}
	return true
}

// configValues lists the keys that the spec declares, in its order.
func (ev *evaluator) configValues() []ConfigValue {
	var out []ConfigValue
	var walk func(s *section)
	walk = func(s *section) {
		for _, k := range s.keys {
			if k.section != nil {
				walk(k.section)
				continue
			}
			v := ev.config.values[k.path]
			if v == nil || k.refused != "" {
				continue
			}
			value, d := ev.configValue(k.path, k.keyAt)
			ev.fail(d)
			out = append(out, ConfigValue{Path: k.path, Value: value, Source: v.source, Range: v.at})
		}
	}
	walk(ev.checked.config)
	return out
}

// component evaluates one component.
func (ev *evaluator) component(e tree.Entry, at place) *lowering.Component {
	n := e.Value
	c := &component{
		Component: &lowering.Component{
			Name: e.Key.Text, Prefix: textOf(n.Get("prefix")), Range: e.Key.Range,
			StateInput: "past_key_values.{layer}.{state}", StateOutput: "present.{layer}.{state}",
		},
		values: map[string]diag.Range{}, names: map[string]diag.Range{},
	}
	if t := n.At("states", "input"); t != nil {
		c.StateInput = t.Text
	}
	if t := n.At("states", "output"); t != nil {
		c.StateOutput = t.Text
	}
	at.component, at.prefix = c, c.Prefix
	at.defaults = ev.componentDefaults(at.defaults, n.Get("defaults"))
	for _, in := range entries(n.Get("inputs")) {
		ev.input(in, at)
	}
	ev.bodies = 0
	if c.Body = ev.body(n.Get("body"), at); ev.bodies > maxBodies {
		ev.fail(fault.TooManyBodies(n.Entry("body").Key.Range, c.Name, maxBodies))
	}
	for _, out := range entries(n.Get("outputs")) {
		ev.output(out, at)
	}
	return c.Component
}

func (ev *evaluator) input(e tree.Entry, at place) {
	holds, ok := ev.truth(e.Value.Get("when"), at)
	if !ok || !holds {
		return
	}
	ev.nameValue(e.Key.Text, e.Key.Range, at)
	t := ev.tensor(e.Value.Get("type"), at)
	if t == nil {
		return
	}
	at.component.Inputs = append(at.component.Inputs, lowering.Input{
		Name: e.Key.Text, Type: t, Range: e.Key.Range, From: textOf(e.Value.Get("from")),
	})
}

func (ev *evaluator) output(e tree.Entry, at place) {
	holds, ok := ev.truth(e.Value.Get("when"), at)
	value := e.Value.Get("value")
	if !ok || !holds || value.Text != "result" && !ev.available(value.Text, value.Range, at) {
		return
	}
	at.component.Outputs = append(at.component.Outputs, lowering.Output{Name: e.Key.Text, Value: value.Text, Range: e.Key.Range})
}

// checkWires reports wires from outputs that this config does not build.
func (ev *evaluator) checkWires(model *lowering.Model, components *tree.Node) {
	built := map[string]bool{}
	for _, c := range model.Components {
		for _, o := range c.Outputs {
			built[c.Name+"."+o.Name] = true
		}
	}
	for _, c := range model.Components {
		for _, in := range c.Inputs {
			if in.From != "" && !built[in.From] && !ev.errs.HasErrors() {
				ev.fail(fault.DeadWire(components.At(c.Name, "inputs", in.Name, "from").Range, in.From))
			}
		}
	}
}

// beside returns a path relative to the file that a node stands in.
func beside(file, relative string) string {
	return path.Join(path.Dir(filepath.ToSlash(file)), relative)
}
