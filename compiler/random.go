package compiler

import (
	"context"
	"sync/atomic"

	"mobiusc/compiler/emit"
)

// fillRandom gives a component random weights: those that its blocks declare.
func (c *component) fillRandom(e *emit.Component, w Weights) {
	var weights []emit.RandomWeight
	total := int64(0)
	for _, p := range c.Params {
		e.Weights[p.Value.Name] = emit.Weight{Sources: []string{p.Name}, Bound: true}
		weights = append(weights, emit.RandomWeight{Name: p.Name, Tensor: p.Value.Init, Mean: p.Init.Mean, Std: p.Init.Std})
		total += p.Value.Init.ByteLen()
	}
	e.Fill = func(ctx context.Context, path string) error {
		var done atomic.Int64
		return emit.FillRandom(ctx, path, w.Seed, weights, func(bytes int64) {
			if n := done.Add(bytes); w.Progress != nil {
				w.Progress(n, total)
			}
		})
	}
}
