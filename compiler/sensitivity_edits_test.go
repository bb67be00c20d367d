package compiler_test

import (
	"math"
	"slices"
	"strings"

	"mobiusc/ir"
)

// Edits that faults are made of.

// replaceInput gives nodes a constant as input i.
func replaceInput(op, part string, i int, value int64) func(e *editor) int {
	return func(e *editor) int {
		return e.each(op, part, func(n *ir.Node) bool { n.SetInput(i, e.scalar(value)); return true })
	}
}

// dropInput takes the optional input i from nodes.
func dropInput(op, part string, i int) func(e *editor) int {
	return func(e *editor) int {
		return e.each(op, part, func(n *ir.Node) bool { n.SetInput(i, nil); return true })
	}
}

// setAttr sets an attribute of nodes.
func setAttr(op, part string, a *ir.Attr) func(e *editor) int {
	return func(e *editor) int {
		return e.each(op, part, func(n *ir.Node) bool { n.SetAttr(a); return true })
	}
}

// swapOutputs makes the readers of outputs i and j of nodes read the other.
func swapOutputs(op, part string, i, j int) func(e *editor) int {
	return func(e *editor) int {
		return e.each(op, part, func(n *ir.Node) bool {
			out := slices.Clone(n.Outputs())
			out[i], out[j] = out[j], out[i]
			n.SetOutputs(out)
			return true
		})
	}
}

// swapParts swaps outputs of the nodes that take a projection of a mixer, whose
// heads are in groups, apart into so many parts.
func swapParts(parts, i, j int) func(e *editor) int {
	return func(e *editor) int {
		return e.each("Split", "linear_attn", func(n *ir.Node) bool {
			out := slices.Clone(n.Outputs())
			rows := n.Input(0).Producer()
			if len(out) != parts || rows.OpType != "Reshape" || rows.Input(0).Producer().OpType != "Gemm" {
				return false
			}
			out[i], out[j] = out[j], out[i]
			n.SetOutputs(out)
			return true
		})
	}
}

// skip makes nodes of an operator pass their first input through.
func skip(op, part string) func(e *editor) int {
	return func(e *editor) int {
		return e.each(op, part, func(n *ir.Node) bool {
			n.Output(0).ReplaceUses(n.Input(0))
			return true
		})
	}
}

// skipOne skips the i-th of every few nodes of an operator, from 0.
func skipOne(op string, i, few int) func(e *editor) int {
	return func(e *editor) int {
		seen := -1
		return e.each(op, "", func(n *ir.Node) bool {
			if seen++; seen%few != i {
				return false
			}
			n.Output(0).ReplaceUses(n.Input(0))
			return true
		})
	}
}

// firstMask gives attentions the mask of the first one.
func firstMask(part string) func(e *editor) int {
	return func(e *editor) int {
		var first *ir.Value
		e.each("Attention", "", func(n *ir.Node) bool {
			if first == nil {
				first = n.Input(3)
			}
			return false
		})
		return e.each("Attention", part, func(n *ir.Node) bool {
			changes := n.Input(3) != first
			n.SetInput(3, first)
			return changes
		})
	}
}

// firstRotary gives all heads the rotary embedding of the first layer.
func firstRotary(e *editor) int {
	var cos, sin *ir.Value
	return e.each("RotaryEmbedding", "", func(n *ir.Node) bool {
		if cos == nil {
			cos, sin = n.Input(1), n.Input(2)
		}
		changes := n.Input(1) != cos
		n.SetInput(1, cos)
		n.SetInput(2, sin)
		return changes
	})
}

// scaleNotApplied takes the factor from cos and sin of rotary embeddings.
func scaleNotApplied(e *editor) int {
	return e.each("Mul", "rotary", func(n *ir.Node) bool {
		p := n.Input(0).Producer()
		if p == nil || p.OpType != "Cos" && p.OpType != "Sin" {
			return false
		}
		n.Output(0).ReplaceUses(n.Input(0))
		return true
	})
}

// rotate gives a rotary embedding, or the sines of positions, other steps: what
// change makes of each.
func rotate(change func(j int, step int64) int64) func(e *editor) int {
	return func(e *editor) int {
		return e.each("Mul", "", func(n *ir.Node) bool {
			if n.Input(1).Init == nil || n.Input(1).Type.Elem != ir.Int64 || len(n.Input(1).Type.Shape) != 1 {
				return false
			}
			steps, err := n.Input(1).Init.AsInts()
			if err != nil {
				return false
			}
			for j := range steps {
				steps[j] = change(j, steps[j])
			}
			n.SetInput(1, e.ints(steps...))
			return true
		})
	}
}

// turns returns the step of frequency j of a head of n dims with base 10000,
// unscaled.
func turns(j, n int) int64 {
	return int64(math.Round(math.Pow(10000, -2*float64(j)/float64(n)) / (2 * math.Pi) * (1 << 42)))
}

// tileQueries pairs query head h with key head h % k instead of h // (q / k).
func tileQueries(e *editor) int {
	return e.each("Attention", "self_attn", func(n *ir.Node) bool {
		heads, groups := n.Attr("q_num_heads").Int, n.Attr("kv_num_heads").Int
		e.before(n, func() { n.SetInput(0, e.regroup(n.Input(0), heads/groups, groups)) })
		return e.after(n.Output(0), func(v *ir.Value) *ir.Value { return e.regroup(v, groups, heads/groups) })
	})
}

// nextBucket looks every distance up one bucket further.
func nextBucket(e *editor) int {
	return e.each("Gather", "relative_attention_bias", func(n *ir.Node) bool {
		if n.Input(1).Init == nil {
			return false
		}
		buckets, err := n.Input(1).Init.AsInts()
		if err != nil {
			return false
		}
		for i := range buckets {
			buckets[i] = min(buckets[i]+1, dim(n.Input(0).Type, 0)-1)
		}
		n.SetInput(1, e.ints(buckets...))
		return true
	})
}

// nextExpert sends every token to the experts after those it chose.
func nextExpert(e *editor) int {
	return e.each("RoutedExperts", "", func(n *ir.Node) bool {
		e.before(n, func() {
			next := e.node("Add", n.Input(1).Type, []*ir.Value{n.Input(1), e.scalar(1)})
			n.SetInput(1, e.node("Mod", next.Type, []*ir.Value{next, e.scalar(dim(n.Input(3).Type, 0))}))
		})
		return true
	})
}

// overAll weights experts with the softmax over all, not over the chosen.
func overAll(e *editor) int {
	return e.each("RoutedExperts", "", func(n *ir.Node) bool {
		scores := n.Input(1).Producer().Input(0)
		e.before(n, func() {
			all := e.node("Softmax", scores.Type, []*ir.Value{scores}, ir.IntAttr("axis", -1))
			n.SetInput(2, e.node("GatherElements", n.Input(2).Type, []*ir.Value{all, n.Input(1)}, ir.IntAttr("axis", -1)))
		})
		return true
	})
}

// renormalise divides the weights of a token's experts by their sum.
func renormalise(e *editor) int {
	return e.each("RoutedExperts", "", func(n *ir.Node) bool {
		w := n.Input(2)
		e.before(n, func() {
			sum := e.node("ReduceSum", ir.TensorOf(ir.Float32, w.Type.Shape[0], ir.Int(1)), []*ir.Value{w, e.ints(-1)}, ir.IntAttr("keepdims", 1))
			n.SetInput(2, e.node("Div", w.Type, []*ir.Value{w, sum}))
		})
		return true
	})
}

// keepPadding drops the products with the padding mask: the first of a mixer is
// that of its input, the second that of the channels.
func keepPadding(which int) func(e *editor) int {
	return func(e *editor) int {
		seen := 0
		return e.each("Mul", "layers.0.mixer/", func(n *ir.Node) bool {
			if !strings.HasPrefix(n.Input(1).Name, "mask/") {
				return false
			}
			seen++
			if seen-1 != which {
				return false
			}
			n.Output(0).ReplaceUses(n.Input(0))
			return true
		})
	}
}

// zeroInput gives nodes zeros as their float input i.
func zeroInput(op string, i int) func(e *editor) int {
	return func(e *editor) int {
		return e.each(op, "", func(n *ir.Node) bool {
			n.SetInput(i, e.constant(ir.Floats32(make([]float32, dim(n.Input(i).Type, 0))...)))
			return true
		})
	}
}

// offsetDropped makes every RMS norm use the stored weight where 1 is to be added to it.
func offsetDropped(e *editor) int {
	return e.each("RMSNormalization", "", func(n *ir.Node) bool {
		add := n.Input(1).Producer()
		if add == nil || add.OpType != "Add" {
			return false
		}
		n.SetInput(1, add.Input(0))
		return true
	})
}

// offsetOfPositionsDropped makes the table of positions begin with its first row.
func offsetOfPositionsDropped(e *editor) int {
	return e.each("Add", "position", func(n *ir.Node) bool {
		if n.Output(0).Type.Elem != ir.Int64 {
			return false
		}
		n.Output(0).ReplaceUses(n.Input(0))
		return true
	})
}

// headsBackwards gives each head the weight of another, where norms have one for each head.
func headsBackwards(e *editor) int {
	return e.each("Mul", "norm", func(n *ir.Node) bool {
		weight := n.Input(1)
		if len(weight.Type.Shape) != 2 {
			return false
		}
		e.before(n, func() {
			backwards := []int64{3, 2, 1, 0}[4-dim(weight.Type, 0):]
			n.SetInput(1, e.node("Gather", weight.Type, []*ir.Value{weight, e.ints(backwards...)}, ir.IntAttr("axis", 0)))
		})
		return true
	})
}

// logitsNotScaled drops the factor of what the head gives.
func logitsNotScaled(e *editor) int {
	return e.each("Mul", "", func(n *ir.Node) bool {
		if n.Input(0).Name != "lm_head/Gemm" {
			return false
		}
		n.Output(0).ReplaceUses(n.Input(0))
		return true
	})
}
