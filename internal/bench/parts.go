//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	{"pieces", promptPieces},
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// lengths returns shapes of one row of so many tokens: few, or all with -full.
func (b *bench) lengths(few, all []int64) []shape {
	switch {
	case b.tokens != nil:
		return lengths(b.tokens...)
	case b.full:
		return lengths(all...)
	}
	return lengths(few...)
}

// compare compares ours, the first entrant, with those that -against leaves.
func (b *bench) compare(ctx context.Context, entrants []entrant, shapes []shape) ([][]timing, []*process) {
	if b.against != "" {
		entrants = slices.DeleteFunc(entrants, func(e entrant) bool { return e.name != entrants[0].name && e.name != b.against })
	}
	return b.pairing.compare(ctx, entrants, shapes)
}

func lengths(tokens ...int64) []shape {
	var out []shape
	for _, n := range tokens {
		out = append(out, shape{fmt.Sprintf("%d", n), request{Sizes: map[string]int64{"batch": 1, "sequence": n, "past": 0}}})
	}
	return out
}

// deltaRule compares the forms of the gated delta rule alone.
func deltaRule(ctx context.Context, b *bench) error {
	shapes := b.lengths([]int64{1, 4, 64, 1024}, []int64{1, 2, 4, 8, 64, 256, 1024, 4096})
	entrants := []entrant{
		b.operator("ours", graphOf(linearAttention(32))),
		b.operator("per token", graphOf(linearAttention(1))),
		b.operator("runtime's own", graphOf(fusedLinearAttention())),
	}
	if b.full {
		entrants = append(entrants, b.operator("ours, chunks of 64", graphOf(linearAttention(64))))
	}
	results, _ := b.compare(ctx, entrants, shapes)
	b.table("delta", "16 key heads, 48 value heads, width 128; opset 21").compare("tokens", shapes, results)
	return nil
}

// convolutions compares the causal convolution with its state, SiLU after it.
func convolutions(ctx context.Context, b *bench) error {
	shapes := b.lengths([]int64{1, 4, 64, 1024}, []int64{1, 4, 64, 1024})
	results, _ := b.compare(ctx, []entrant{
		b.operator("ours", convolution(false)),
		b.operator("Conv(group)", convolution(true)),
	}, shapes)
	b.table("convolution", "10,240 channels, 4 taps, SiLU; input [batch, tokens, channels]").compare("tokens", shapes, results)
	return nil
}

// compiled returns an entrant that runs a form of a source.
func (b *bench) compiled(name, source, form string) entrant {
	return entrant{name: name, start: func(ctx context.Context) (*process, error) {
		path, err := b.form(ctx, source, form)
		if err != nil {
			return nil, err
		}
		return startModel(ctx, name, workerOptions{Model: path, Threads: b.threads})
	}}
}

// mixer compares the mixer of a linear-attention layer, its projections included.
func mixer(ctx context.Context, b *bench) error {
	shapes := b.lengths([]int64{1, 256}, []int64{1, 64, 256, 1024, 4096})
	results, _ := b.compare(ctx, []entrant{
		b.compiled("ours", "mixer", chunked),
		b.compiled("per token", "mixer", perToken),
		b.compiled("runtime's own operators", "mixer", fused),
	}, shapes)
	b.table("mixer", "Hidden 5120, 16 key heads, 48 value heads, width 128: projections, convolution, delta rule, gated norm; float32, opset 24").
		compare("tokens", shapes, results)
	return nil
}

// textModel compares the whole text model, with the logits of all tokens and as
// generation needs them, of the last one alone. Two models at a time are in memory.
func textModel(ctx context.Context, b *bench) error {
	source, err := sourceOf("text")
	if err != nil {
		return err
	}
	// Two models with the logits of 4,096 tokens, 4 GB each and twice, are more than the machine may have.
	shapes := b.lengths([]int64{1, 64, 256}, []int64{1, 64, 256, 1024})
	shapesLast := b.lengths(nil, []int64{1, 256, 1024, 4096}) // only when asked for
	if b.tokens == nil {
		const past = 256
		after := shape{fmt.Sprintf("1 after %d", past), request{Sizes: map[string]int64{"batch": 1, "sequence": 1, "past": past}}}
		if shapes = append(shapes, after); b.full {
			shapesLast = append(shapesLast, after)
		}
	}
	const what = "24 layers, hidden 1024, vocabulary 248,320; random weights, float32; each column in a run of its own with ours"
	all := b.table("text", what+"; logits of all tokens")
	last := b.table("text, last logits", what+"; ours with `--logits last`, torch with `logits_to_keep=1`; the peer, which has no such option, with those of all tokens")
	memory := b.table("text memory", "GB of resident memory at the end of loading and at its peak while loading and while running, with the logits of all tokens")
	ours, oursLast := b.compiled("ours", "text", chunked), b.compiled("ours, last logits", "text", lastLogits)
	standard := b.peer("peer, standard", source.Config, "onnx-standard")
	for _, pair := range []struct {
		table       *table
		ours, other entrant
	}{
		{all, ours, b.compiled("per token", "text", perToken)},
		{all, ours, b.compiled("runtime's own operators", "text", fused)},
		{all, ours, standard},
		{all, ours, b.peer("peer, default", source.Config, "default")},
		{all, ours, b.torch("torch eager", source.Config, false)},
		{last, oursLast, standard},
		{last, oursLast, b.torch("torch eager, last logits", source.Config, true)},
	} {
		lengths := shapes
		if pair.table == last {
			lengths = shapesLast
		}
		if len(lengths) == 0 || b.against != "" && pair.other.name != b.against {
			continue
		}
		results, workers := b.compare(ctx, []entrant{pair.ours, pair.other}, lengths)
		pair.table.pair("tokens", lengths, results)
		if pair.table == all {
			memory.memory(b.pairing, lengths, results, workers)
		}
		if err := errors.Join(b.save(), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// promptPieces compares a long prompt that goes into the text model at once with
// one that goes in piece by piece.
func promptPieces(ctx context.Context, b *bench) error {
	shapes := b.lengths([]int64{256}, []int64{1024, 4096})
	entrants := []entrant{b.compiled("at once", "text", lastLogits)}
	for _, n := range []int64{1024, 256} {
		e := b.compiled(fmt.Sprintf("in pieces of %d", n), "text", lastLogits)
		e.piece = n
		entrants = append(entrants, e)
	}
	results, workers := b.compare(ctx, entrants, shapes)
	b.table("pieces", "The text model, as above, with the logits of the last token of each piece").compare("tokens", shapes, results)
	b.table("pieces memory", "GB of resident memory, as above").memory(b.pairing, shapes, results, workers)
	return nil
}
