package compiler_test

import (
	"testing"

	"mobiusc/ir"
)

// architectureMutations are faults in the constructs of each architecture,
// by the spec that they are made under.
var architectureMutations = map[string][]mutation{
	"mistral": {
		{"window one wider", "mistral", "model", replaceInput("Sub", "mask/Sub_2", 1, 9)},
		{"window one narrower", "mistral", "model", replaceInput("Sub", "mask/Sub_2", 1, 7)},
	},
	"gemma2": {
		{"softcap of the scores dropped", "gemma2", "model", func(e *editor) int {
			return e.each("Attention", "", func(n *ir.Node) bool { n.SetAttr(ir.FloatAttr("softcap", 0)); return true })
		}},
		{"window in every layer", "gemma2", "model", func(e *editor) int {
			var mask *ir.Value
			return e.each("Attention", "", func(n *ir.Node) bool {
				if mask == nil {
					mask = n.Input(3)
					return false
				}
				n.SetInput(3, mask)
				return true
			})
		}},
		{"scale of the embedding dropped", "gemma2", "model", skip("Mul", "embed_tokens")},
		{"softcap of the logits dropped", "gemma2", "model", skip("Tanh", "Tanh")},
		{"norm after attention dropped", "gemma2", "model", skip("RMSNormalization", "post_attention_layernorm")},
	},
	"llama": {
		{"base of the rotary embedding fixed", "llama_dynamic", "model", replaceInput("Max", "rotary", 0, 0)},
		{"length one too short", "llama_dynamic", "model", func(e *editor) int {
			return e.each("Max", "rotary", func(n *ir.Node) bool {
				e.before(n, func() { n.SetInput(0, e.node("Sub", n.Input(0).Type, []*ir.Value{n.Input(0), e.scalar(1)})) })
				return true
			})
		}},
	},
	"phi3": {
		{"short factors at any length", "phi3", "model", replaceInput("Greater", "rotary", 1, 1<<20)},
		{"long factors from the start", "phi3", "model", replaceInput("Greater", "rotary", 1, -1)},
		{"adjacent pairs rotated", "phi3", "model", func(e *editor) int {
			return e.each("RotaryEmbedding", "", func(n *ir.Node) bool { n.SetAttr(ir.IntAttr("interleaved", 1)); return true })
		}},
	},
	"qwen3_vl": {
		{"feature taps in another order", "qwen3_vl", "decoder", func(e *editor) int {
			return e.each("Gather", "model.layers", func(n *ir.Node) bool {
				if n.Input(0).Name != "deepstack_embeds" {
					return false
				}
				e.before(n, func() { n.SetInput(1, e.node("Sub", n.Input(1).Type, []*ir.Value{e.scalar(1), n.Input(1)})) })
				return true
			})
		}},
		{"feature taps one decoder layer late", "qwen3_vl", "decoder", func(e *editor) int {
			return e.each("Gather", "model.layers.1/", func(n *ir.Node) bool { n.SetInput(1, e.scalar(0)); return true })
		}},
		{"placeholders of videos left as text", "qwen3_vl", "embedding", replaceInput("Equal", "placeholders/Equal_2", 1, -1)},
	},
	"bert": {
		{"padding mask dropped", "bert", "model", func(e *editor) int {
			return e.each("Attention", "", func(n *ir.Node) bool { n.SetInput(3, nil); return true })
		}},
		{"causal mask", "bert", "model", func(e *editor) int {
			return e.each("Attention", "", func(n *ir.Node) bool { n.SetAttr(ir.IntAttr("is_causal", 1)); return true })
		}},
		{"GELU approximated", "bert", "model", func(e *editor) int {
			return e.each("Gelu", "", func(n *ir.Node) bool { n.SetAttr(ir.StringAttr("approximate", "tanh")); return true })
		}},
		{"token types swapped", "bert", "model", func(e *editor) int {
			return e.each("Gather", "token_type", func(n *ir.Node) bool {
				e.before(n, func() { n.SetInput(1, e.node("Sub", n.Input(1).Type, []*ir.Value{e.scalar(1), n.Input(1)})) })
				return true
			})
		}},
	},
	"gpt2": {
		{"positions ignored", "gpt2", "model", skip("Add", "wpe")},
		{"queries and keys swapped", "gpt2", "model", func(e *editor) int {
			return e.each("Split", "attn", func(n *ir.Node) bool {
				out := n.Outputs()
				n.SetOutputs([]*ir.Value{out[1], out[0], out[2]})
				return true
			})
		}},
	},
}

// TestSensitivityDense checks that the parity tests would notice each fault.
func TestSensitivityDense(t *testing.T) {
	for spec, list := range architectureMutations {
		for _, m := range list {
			t.Run(m.model+"/"+m.name, func(t *testing.T) { noticed(t, m, spec) })
		}
	}
}

// replaceInput gives nodes a constant as input i.
func replaceInput(op, part string, i int, value int64) func(e *editor) int {
	return func(e *editor) int {
		return e.each(op, part, func(n *ir.Node) bool { n.SetInput(i, e.scalar(value)); return true })
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
