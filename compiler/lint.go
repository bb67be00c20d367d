package compiler

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"mobiusc/compiler/spec"
	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

// Lint checks a spec as Compile would before it writes anything: all that is
// known without a config, of every variant, and the values and the shape of
// every tensor with a config: the one that Options name, else the one that the
// spec names itself. A spec without a config is looked at with made-up ones, see
// TryShapes. Nothing is written. A spec that is only extended is checked as far
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
		return append(found, TryShapes(s)...).Sorted()
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

const (
	maxTrials  = 12 // made-up configs of a spec
	fewestFits = 3  // of them must get as far as shapes, or nothing is known
)

// shapesDiffer matches what type inference says of shapes that do not fit each
// other, whatever the operator.
var shapesDiffer = regexp.MustCompile(`do not broadcast|inner dims .* differ`)

// TryShapes looks at the shapes of a spec that has no config, with configs that
// are made up. If the shapes of two tensors fit for none of them, at the same
// block each time, that is a warning there: only a config in which two numbers
// are equal by chance could be compiled. It says nothing where the made-up
// configs do not pass the spec's own checks.
func TryShapes(s *spec.Spec) diag.List {
	var last diag.Diagnostic
	var trial spec.Trial
	n := 0
	for _, t := range s.Trials(maxTrials) {
		r, _ := s.Bind(t.Config, spec.Options{})
		if r == nil {
			continue
		}
		_, faults := lowering.Lower(r.Model, lowering.Options{})
		misfit := len(faults) == 1 && shapesDiffer.MatchString(faults[0].Message)
		if !misfit || n > 0 && faults[0].Range != last.Range {
			return nil
		}
		last, trial, n = faults[0], t, n+1
	}
	if n < fewestFits {
		return nil
	}
	return s.Unsilenced(diag.List{*fault.UnlikelyShapes(last.Range, last.Message, sizesIn(last.Message, trial))})
}

var number = regexp.MustCompile(`\d+`)

// sizesIn returns the made-up sizes that a message speaks of: hidden_size is 64.
func sizesIn(message string, t spec.Trial) string {
	var out []string
	for path, size := range t.Sizes() {
		if strings.Contains(" "+strings.Join(number.FindAllString(message, -1), " ")+" ", " "+strconv.FormatInt(size, 10)+" ") {
			out = append(out, fmt.Sprintf("%s is %d", path, size))
		}
	}
	return strings.Join(out, ", ")
}
