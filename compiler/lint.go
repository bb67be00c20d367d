package compiler

import (
	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// Lint checks a spec as Compile would before it writes anything: all that is
// known without a config, of every variant, and the values and the shape of
// every tensor with a config: the one that Options name, else the one that the
// spec names itself. A spec without a config is looked at with made-up ones, see
// spec.Spec.TryShapes. Nothing is written. A spec that is only extended is checked as far
// as it says something by itself.
func Lint(o Options) diag.List {
	if faults := o.check(); faults.HasErrors() {
		return faults
	}
	s, found := o.load()
	if found.HasErrors() || s.Abstract {
		return found.Sorted()
	}
	config, faults := o.lintConfig(s)
	if found = append(found, faults...); faults.HasErrors() {
		return found.Sorted()
	}
	if config == nil {
		return append(found, s.TryShapes()...).Sorted()
	}
	b, faults := o.evaluate(s, config)
	if found = append(found, faults...); faults.HasErrors() {
		return found.Sorted()
	}
	_, faults = lowering.Lower(b.result.Model, o.lowering(b.storage))
	return append(found, faults...).Sorted()
}

// lintConfig reads the config that was named, else the one that the spec names.
// There may be none.
func (o Options) lintConfig(s *spec.Spec) (*spec.Config, diag.List) {
	if o.Config != "" || o.Weights.Dir != "" {
		return o.readConfig(s)
	}
	config, _, found := s.OwnConfig()
	return config, found
}
