package passes

import "mobiusc/ir"

// Standard returns the passes that make a lowered model one of the target, in
// order.
func Standard(t Target) []Pass {
	return []Pass{
		{"legalise", "first: every later pass then sees only operators of the target, and constants for all that is known",
			func(m *ir.Model) (bool, error) { return Legalise(m, t) }},
		{"cse", "layers compute the same sizes, masks and tables; after folding, which makes them equal", CSE},
		{"dce", "last: drops what folding and sharing left without a reader", DCE},
	}
}
