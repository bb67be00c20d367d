// Package passes holds the transformations of graphs between lowering and
// emission, one a file.
package passes

import (
	"fmt"

	"mobiusc/ir"
)

// Pass is one transformation of a model. Its function's comment is its
// contract: what must hold before it runs, what holds afterwards, and what
// counts as a change. Every pass keeps the graph's inputs and outputs with
// their names, order and types, names values and nodes uniquely, and orders
// nodes so that each stands after those whose values it reads.
type Pass struct {
	Name string
	// Why is the reason for the place of the pass in its list.
	Why string
	// Run reports whether it changed anything. After an error the model is of
	// no use any more.
	Run func(m *ir.Model) (changed bool, err error)
}

// Run runs passes in order. After each that changed the model it calls after,
// if that is not nil: a place to validate and print what the pass left.
func Run(m *ir.Model, list []Pass, after func(p Pass, m *ir.Model) error) error {
	for _, p := range list {
		changed, err := p.Run(m)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if !changed || after == nil {
			continue
		}
		if err := after(p, m); err != nil {
			return fmt.Errorf("after %s: %w", p.Name, err)
		}
	}
	return nil
}
