package compiler

import (
	"mobiusc/compiler/checkpoint"
	"mobiusc/compiler/spec"
)

// transform turns a rule of the spec into that of the binding.
func transform(t spec.Transform) checkpoint.Transform {
	return checkpoint.Transform{Match: t.Match, Step: step(t), Range: t.Range}
}

func step(t spec.Transform) checkpoint.Step {
	switch t.Step {
	case "cast":
		return checkpoint.Cast{To: t.DType}
	case "reshape":
		return checkpoint.Reshape{Dims: t.Ints}
	case "transpose":
		perm := make([]int, len(t.Ints))
		for i, axis := range t.Ints {
			perm[i] = int(axis)
		}
		return checkpoint.Transpose{Perm: perm}
	case "permute_heads":
		return checkpoint.PermuteHeads{Heads: t.Heads, From: t.From}
	case "split":
		return checkpoint.Split{Into: t.Into, Sizes: t.Ints, Axis: int(t.Axis)}
	case "concat":
		return checkpoint.Concat{Into: t.Into[0], Axis: int(t.Axis)}
	case "stack":
		return checkpoint.Stack{Segment: t.Segment}
	case "unstack":
		return checkpoint.Unstack{Segment: t.Segment}
	case "add":
		return checkpoint.Add{Value: t.Number}
	case "scale":
		return checkpoint.Scale{Value: t.Number}
	}
	panic("a transform without a known step: " + t.Step) // the spec's structure is checked
}
