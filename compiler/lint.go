package compiler

import (
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// Lint checks a spec as Compile would before it writes anything: all that is
// known without a config, of every variant, and, with the config that Options
// name or that the spec pins, the values and the shape of every tensor. Nothing
// is written. A spec that is only extended, and one without a config, is checked
// as far as it says something by itself.
func Lint(o Options) diag.List {
	if faults := o.check(); faults.HasErrors() {
		return faults
	}
	s, found := o.load()
	if found.HasErrors() || s.Abstract {
		return found.Sorted()
	}
	if o.Config == "" && o.Weights.Dir == "" && !s.PinsConfig() {
		return found.Sorted()
	}
	b, faults := o.bindTo(s)
	if found = append(found, faults...); faults.HasErrors() {
		return found.Sorted()
	}
	_, faults = lowering.Lower(b.result.Model, o.lowering(b.storage))
	return append(found, faults...).Sorted()
}
