package main

import (
	"context"
	"fmt"
)

// part is one table of the report.
type part struct {
	name string
	run  func(ctx context.Context, b *bench) error
}

var parts = []part{
	{"delta", deltaRule},
	{"convolution", convolutions},
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// lengths returns shapes of one row of so many tokens.
func lengths(tokens ...int64) []shape {
	var out []shape
	for _, n := range tokens {
		out = append(out, shape{fmt.Sprintf("%d", n), request{Sizes: map[string]int64{"batch": 1, "sequence": n, "past": 0}}})
	}
	return out
}

// deltaRule compares the forms of the gated delta rule alone.
func deltaRule(ctx context.Context, b *bench) error {
	shapes := lengths(1, 64, 1024)
	entrants := []entrant{
		b.operator("chunked", graphOf(linearAttention(32))),
		b.operator("per token", graphOf(linearAttention(1))),
		b.operator("fused", graphOf(fusedLinearAttention())),
	}
	if b.full {
		shapes = lengths(1, 8, 64, 256, 1024, 4096)
		entrants = append(entrants, b.operator("chunks of 64", graphOf(linearAttention(64))))
	}
	results, _ := b.pairing.compare(ctx, entrants, shapes)
	t := b.report.table("Gated delta rule alone", "16 key heads, 48 value heads, width 128; standard operators, opset 21")
	t.compare("tokens", shapes, results)
	return nil
}

// convolutions compares the causal convolution with its state, SiLU after it.
func convolutions(ctx context.Context, b *bench) error {
	shapes := lengths(1, 4, 64, 1024)
	results, _ := b.pairing.compare(ctx, []entrant{
		b.operator("sum of shifted slices", convolution(false)),
		b.operator("Conv(group)", convolution(true)),
	}, shapes)
	t := b.report.table("Causal convolution with state", "10,240 channels, 4 taps, SiLU; input [batch, tokens, channels]")
	t.compare("tokens", shapes, results)
	return nil
}
