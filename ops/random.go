package ops

import "mobiusc/ir"

// Deterministic reports whether a node of a standard operator computes the same
// from the same inputs every time: not so those that draw random numbers.
func Deterministic(n *ir.Node) bool {
	switch n.OpType {
	case "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli", "Dropout":
		return false
	}
	return true
}
