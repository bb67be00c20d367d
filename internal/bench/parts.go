//go:build unix

package main

import (
	"context"
	"errors"
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
	{"mixer", mixer},
	{"attention", attentionMask},
	{"compile", compileTimes},
	{"load", loadTimes},
	{"vision", vision},
	{"text", textModel},
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
	t := b.table("delta", "16 key heads, 48 value heads, width 128; opset 21")
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
	t := b.table("convolution", "10,240 channels, 4 taps, SiLU; input [batch, tokens, channels]")
	t.compare("tokens", shapes, results)
	return nil
}

// compiled returns an entrant that runs a form of a source.
func (b *bench) compiled(name, source, form string) entrant {
	return entrant{name, func(ctx context.Context) (*process, error) {
		path, err := b.form(ctx, source, form)
		if err != nil {
			return nil, err
		}
		return startModel(ctx, name, workerOptions{Model: path, Threads: b.threads})
	}}
}

// mixer compares the mixer of a linear-attention layer, its projections included.
func mixer(ctx context.Context, b *bench) error {
	shapes := lengths(1, 256)
	if b.full {
		shapes = lengths(1, 64, 256, 1024)
	}
	results, _ := b.pairing.compare(ctx, []entrant{
		b.compiled("ours", "mixer", chunked),
		b.compiled("per token", "mixer", perToken),
		b.compiled("runtime's own operators", "mixer", fused),
	}, shapes)
	t := b.table("mixer", "Hidden 5120, 16 key heads, 48 value heads, width 128: projections, convolution, delta rule, gated norm; float32, opset 24")
	t.compare("tokens", shapes, results)
	return nil
}

// textModel compares the whole text model. Two models at a time are in memory.
func textModel(ctx context.Context, b *bench) error {
	source, err := sourceOf("text")
	if err != nil {
		return err
	}
	shapes := lengths(1, 64, 256)
	past := []int64{256}
	if b.full {
		shapes, past = lengths(1, 64, 256, 1024), []int64{256, 1024}
	}
	for _, n := range past {
		shapes = append(shapes, shape{fmt.Sprintf("1 after %d", n), request{Sizes: map[string]int64{"batch": 1, "sequence": 1, "past": n}}})
	}
	others := []entrant{
		b.compiled("per token", "text", perToken),
		b.compiled("runtime's own operators", "text", fused),
		b.peer("peer, standard", source.Config, "onnx-standard"),
		b.peer("peer, default", source.Config, "default"),
		b.torch(source.Config),
	}
	t := b.table("text", "24 layers, hidden 1024, vocabulary 248,320; random weights, float32, logits of all tokens; each column in a run of its own with ours")
	m := b.table("text memory", "GB of resident memory at the end of loading and at its peak while loading and while running")
	for _, o := range others {
		ours := b.compiled("ours", "text", chunked)
		results, workers := b.pairing.compare(ctx, []entrant{ours, o}, shapes)
		t.pair("tokens", shapes, results)
		m.memory(shapes, results, workers)
		if err := errors.Join(b.save(), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}
