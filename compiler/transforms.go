package compiler

import (
	"mobiusc/compiler/checkpoint"
	"mobiusc/compiler/spec"
)

// transforms turns one rule of the spec into the steps that it names, in the
// order in which they are applied.
func transforms(t spec.Transform) []checkpoint.Transform {
	var out []checkpoint.Transform
	add := func(s checkpoint.Step) {
		out = append(out, checkpoint.Transform{Match: t.Match, Step: s, Range: t.Range})
	}
	if t.Stack != "" {
		add(checkpoint.Stack{Segment: t.Stack})
	}
	if len(t.Transpose) > 0 {
		perm := make([]int, len(t.Transpose))
		for i, axis := range t.Transpose {
			perm[i] = int(axis)
		}
		add(checkpoint.Transpose{Perm: perm})
	}
	if t.Heads > 0 {
		add(checkpoint.PermuteHeads{Heads: t.Heads, From: t.HeadsFrom})
	}
	if t.Add != 0 {
		add(checkpoint.Add{Value: t.Add})
	}
	if len(t.SplitInto) > 0 {
		add(checkpoint.Split{Into: t.SplitInto, Sizes: t.SplitSize})
	}
	return out
}
