package passes

import "mobiusc/ir"

// Standard returns the passes that make a lowered model one of the target, in
// order.
func Standard(t Target) []Pass {
	return []Pass{
		{"legalise", "first: every later pass then sees only operators of the target",
			func(m *ir.Model) (bool, error) { return Legalise(m, t) }},
		{"fold", "inlined bodies compute shapes and masks from what is known only now; before sharing, which then finds equal constants", Fold},
		{"cse", "layers compute the same shapes and tables; after folding, which makes them equal", CSE},
		{"dce", "last: drops what folding and sharing left without a reader", DCE},
	}
}
