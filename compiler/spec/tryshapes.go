package spec

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"
	"mobiusc/lowering"
)

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
// are equal by chance could be compiled. A spec that grows beyond every limit is
// an error. It says nothing where the made-up configs do not pass the spec's own
// checks.
func (s *Spec) TryShapes() diag.List {
	var last diag.Diagnostic
	var tried trial
	n := 0
	for _, t := range s.trials(maxTrials) {
		r, faults := s.Bind(t.config, Options{})
		if i := slices.IndexFunc(faults, fault.IsLimit); i >= 0 {
			return faults[i : i+1]
		}
		if r == nil {
			continue
		}
		_, faults = lowering.Lower(r.Model, lowering.Options{})
		misfit := len(faults) == 1 && shapesDiffer.MatchString(faults[0].Message)
		if !misfit || n > 0 && faults[0].Range != last.Range {
			return nil
		}
		last, tried, n = faults[0], t, n+1
	}
	if n < fewestFits {
		return nil
	}
	return s.Unsilenced(diag.List{*fault.UnlikelyShapes(last.Range, last.Message, sizesIn(last.Message, tried))})
}

var number = regexp.MustCompile(`\d+`)

// sizesIn returns the made-up sizes that a message speaks of: hidden_size is 64.
func sizesIn(message string, t trial) string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(t.sizes)) {
		size := t.sizes[path]
		if strings.Contains(" "+strings.Join(number.FindAllString(message, -1), " ")+" ", " "+strconv.FormatInt(size, 10)+" ") {
			out = append(out, fmt.Sprintf("%s is %d", path, size))
		}
	}
	return strings.Join(out, ", ")
}
