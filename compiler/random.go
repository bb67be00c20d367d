package compiler

import (
	"context"
	"sync/atomic"

	"mobiusc/compiler/emit"
)

// fillRandom gives a component random weights: those that its blocks declare.
func (c *component) fillRandom(e *emit.Component, seed uint64, s *source) {
	var weights []emit.RandomWeight
	size := int64(0)
	for _, p := range c.Params {
		e.Weights[p.Value.Name] = emit.Weight{Sources: []string{p.Name}, Bound: true}
		weights = append(weights, emit.RandomWeight{Name: p.Name, Tensor: p.Value.Init, Mean: p.Init.Mean, Std: p.Init.Std})
		size += p.Value.Init.ByteLen()
	}
	s.total += size
	e.Fill = func(ctx context.Context, path string) error {
		var done atomic.Int64
		progress := s.component(size)
		return emit.FillRandom(ctx, path, seed, weights, func(bytes int64) {
			if n := done.Add(bytes); progress != nil {
				progress(n, size)
			}
		})
	}
}
