package compiler_test

import (
	"math"
	"strings"
	"testing"

	"mobiusc/ir"
)

// architectureMutations are faults in the constructs of each architecture,
// by the spec that they are made under. Those of models with an encoder are in a
// file of their own.
var architectureMutations = map[string][]mutation{
	"mistral": {
		{"window one wider", "mistral", "model", replaceInput("Sub", "mask/Sub_2", 1, 9)},
		{"window one narrower", "mistral", "model", replaceInput("Sub", "mask/Sub_2", 1, 7)},
		{"window dropped", "mistral", "model", replaceInput("Sub", "mask/Sub_2", 1, 1<<20)},
	},
	"gemma": {
		{"offset of the norms dropped", "gemma", "model", offsetDropped},
		{"scale of the embedding dropped", "gemma", "model", skip("Mul", "embed_tokens")},
		{"GELU not approximated", "gemma", "model", setAttr("Gelu", "", ir.StringAttr("approximate", "none"))},
		{"bias of the output projection dropped", "gemma_options", "model", dropInput("Gemm", "o_proj", 2)},
	},
	"gemma2": {
		{"softcap of the scores dropped", "gemma2", "model", setAttr("Attention", "", ir.FloatAttr("softcap", 0))},
		{"window in every layer", "gemma2", "model", firstMask("")},
		{"window in no layer", "gemma2", "model", replaceInput("Sub", "mask/Sub_2", 1, 1<<20)},
		{"window one wider", "gemma2", "model", replaceInput("Sub", "mask/Sub_2", 1, 9)},
		{"scores scaled by the width of a head", "gemma2", "model", setAttr("Attention", "", ir.FloatAttr("scale", 0.25))},
		{"offset of the norms dropped", "gemma2", "model", offsetDropped},
		{"norm after the MLP dropped", "gemma2", "model", skip("RMSNormalization", "post_feedforward_layernorm")},
		{"scale of the embedding dropped", "gemma2", "model", skip("Mul", "embed_tokens")},
		{"softcap of the logits dropped", "gemma2", "model", skip("Tanh", "Tanh")},
		{"norm after attention dropped", "gemma2", "model", skip("RMSNormalization", "post_attention_layernorm")},
	},
	"gemma3": {
		{"norm of the queries dropped", "gemma3", "model", skip("RMSNormalization", "q_norm")},
		{"norm of the keys dropped", "gemma3", "model", skip("RMSNormalization", "k_norm")},
		{"window in every layer", "gemma3", "model", firstMask("")},
		{"window in no layer", "gemma3", "model", replaceInput("Sub", "mask/Sub_2", 1, 1<<20)},
		{"window one wider", "gemma3", "model", replaceInput("Sub", "mask/Sub_2", 1, 9)},
		{"positions not divided", "gemma3", "model", rotate(func(j int, step int64) int64 {
			if step == turns(j, 16) {
				return step // of the layers with a window
			}
			return 8 * step
		})},
		{"one rotary embedding for both kinds", "gemma3", "model", firstRotary},
		{"one rotary embedding for both kinds", "gemma3_options", "model", firstRotary},
		{"scores scaled by the width of a head", "gemma3", "model", setAttr("Attention", "", ir.FloatAttr("scale", 0.25))},
		{"bias of the output projection dropped", "gemma3_options", "model", dropInput("Gemm", "o_proj", 2)},
		{"softcap of the logits dropped", "gemma3_options", "model", skip("Tanh", "Tanh")},
	},
	"gemma3_vl": {
		{"tokens of an image see earlier ones alone", "gemma3_vl", "decoder", setAttr("Attention", "", ir.IntAttr("is_causal", 1))},
		{"tokens of all images see each other", "gemma3_vl", "decoder", skip("CumSum", "mask/")},
		{"text sees later text", "gemma3_vl", "decoder", skip("Sub", "mask/Sub_4")},
		{"spans of a later call beside the first columns", "gemma3_vl", "decoder", func(e *editor) int {
			return e.each("Concat", "mask/Concat", func(n *ir.Node) bool { // of the pads: before, after
				past := n.Input(1)
				n.SetInput(1, n.Input(2))
				n.SetInput(2, past)
				return true
			})
		}},
		{"window in every layer", "gemma3_vl", "decoder", firstMask("")},
		{"window in no layer", "gemma3_vl", "decoder", replaceInput("Sub", "mask/Sub_2", 1, 1<<20)},
		{"window one wider", "gemma3_vl", "decoder", replaceInput("Sub", "mask/Sub_2", 1, 9)},
		{"positions of the patches dropped", "gemma3_vl", "vision_encoder", skip("Add", "position_embedding")},
		{"bias of the output projection dropped", "gemma3_vl", "vision_encoder", dropInput("Gemm", "out_proj", 2)},
		{"norm after the encoder dropped", "gemma3_vl", "vision_encoder", skip("LayerNormalization", "post_layernorm")},
		{"mean over a row of patches, not a square", "gemma3_vl", "vision_encoder", func(e *editor) int {
			return e.each("AveragePool", "", func(n *ir.Node) bool {
				n.SetAttr(ir.IntsAttr("kernel_shape", 1, 4))
				n.SetAttr(ir.IntsAttr("strides", 1, 4))
				v := n.Output(0)
				return e.after(v, func(v *ir.Value) *ir.Value {
					wide := v.Type
					v.Type = ir.TensorOf(wide.Elem, wide.Shape[0], wide.Shape[1], ir.Int(8), ir.Int(2))
					return e.node("Reshape", wide, []*ir.Value{v, e.ints(0, 0, 4, 4)})
				})
			})
		}},
		{"offset of the projector's norm dropped", "gemma3_vl", "vision_encoder", func(e *editor) int {
			return e.each("RMSNormalization", "", func(n *ir.Node) bool { n.SetInput(1, n.Input(1).Producer().Input(0)); return true })
		}},
		{"epsilon of the text in the projector's norm", "gemma3_vl_options", "vision_encoder", setAttr("RMSNormalization", "", ir.FloatAttr("epsilon", 1e-6))},
		{"default epsilon in the encoder's norms", "gemma3_vl_options", "vision_encoder", setAttr("LayerNormalization", "", ir.FloatAttr("epsilon", 1e-6))},
		{"default activation in the encoder", "gemma3_vl_options", "vision_encoder", setAttr("Gelu", "", ir.StringAttr("approximate", "tanh"))},
		{"scale of the embedding dropped", "gemma3_vl", "embedding", skip("Mul", "embed_tokens")},
		{"no token is of an image", "gemma3_vl", "embedding", setAttr("equals", "", ir.IntAttr("id", -1))},
	},
	"gemma4": {
		{"norm of the values dropped", "gemma4", "model", skip("RMSNormalization", "self_attn/RMSNormalization")},
		{"norm of the keys dropped", "gemma4", "model", skip("RMSNormalization", "k_norm")},
		{"scores scaled by the width of a head", "gemma4", "model", setAttr("Attention", "", ir.FloatAttr("scale", 0.25))},
		{"pairs turned at the pace of a quarter of the head", "gemma4", "model", rotate(func(j int, step int64) int64 {
			if step == 0 || j == 0 {
				return step
			}
			return step * 3 / 4
		})},
		{"factor of the layers dropped", "gemma4", "model", skip("Mul", "layers.1/")},
		{"window in every layer", "gemma4", "model", firstMask("")},
		{"softcap of the logits dropped", "gemma4", "model", skip("Tanh", "Tanh")},
		{"bias of the values dropped", "gemma4_values", "model", dropInput("Gemm", "v_proj", 2)},
	},
	"llama": {
		{"padding mask dropped", "llama", "model", dropInput("Attention", "", 3)},
		{"query heads tiled over the key/value heads", "llama", "model", tileQueries},
		{"adjacent pairs rotated", "llama", "model", setAttr("RotaryEmbedding", "", ir.IntAttr("interleaved", 1))},
		{"bias of the output projection dropped", "llama_bias", "model", dropInput("Gemm", "o_proj", 2)},
		{"bias of the MLP dropped", "llama_bias", "model", dropInput("Gemm", "down_proj", 2)},
		{"positions not divided", "llama_linear", "model", rotate(func(_ int, step int64) int64 { return 4 * step })},
		{"every frequency divided", "llama_llama3", "model", rotate(func(j int, _ int64) int64 { return turns(j, 8) / 8 })},
		{"no frequency divided", "llama_llama3", "model", rotate(func(j int, _ int64) int64 { return turns(j, 8) })},
		{"attention factor dropped", "llama_yarn", "model", scaleNotApplied},
		{"no frequency blended", "llama_yarn", "model", rotate(func(j int, _ int64) int64 { return turns(j, 8) })},
		{"ratio of the scales dropped", "llama_yarn_full", "model", scaleNotApplied},
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
		{"adjacent pairs rotated", "phi3", "model", setAttr("RotaryEmbedding", "", ir.IntAttr("interleaved", 1))},
		{"attention factor dropped", "phi3", "model", scaleNotApplied},
		{"window dropped", "phi3", "model", replaceInput("Sub", "mask/Sub_2", 1, 1<<20)},
		{"gate and up swapped", "phi3", "model", swapOutputs("Split", "mlp", 0, 1)},
		{"keys and values swapped", "phi3", "model", swapOutputs("Split", "self_attn", 1, 2)},
	},
	"qwen2": {
		{"bias of the keys dropped", "qwen2", "model", dropInput("Gemm", "k_proj", 2)},
		{"window one layer late", "qwen2_window", "model", firstMask("layers.1.")},
		{"window in no layer", "qwen2_window", "model", firstMask("")},
	},
	"qwen3": {
		{"norm of the queries dropped", "qwen3", "model", skip("RMSNormalization", "q_norm")},
		{"norm of the keys dropped", "qwen3", "model", skip("RMSNormalization", "k_norm")},
	},
	"olmo": {
		{"queries not clipped", "olmo", "model", skipOne("Clip", 0, 3)},
		{"keys not clipped", "olmo", "model", skipOne("Clip", 1, 3)},
		{"values not clipped", "olmo", "model", skipOne("Clip", 2, 3)},
		{"norms dropped", "olmo", "model", skip("LayerNormalization", "layernorm")},
	},
	"olmo2": {
		{"norm of the queries dropped", "olmo2", "model", skip("RMSNormalization", "q_norm")},
		{"norm after the MLP dropped", "olmo2", "model", skip("RMSNormalization", "post_feedforward_layernorm")},
	},
	"smollm3": {
		{"rotary embedding dropped in another layer", "smollm3", "model", skip("RotaryEmbedding", "layers.1.")},
		{"base of the rotary embedding", "smollm3", "model", rotate(func(j int, _ int64) int64 { return turns(j, 8) })},
		{"window in every layer", "smollm3_window", "model", firstMask("")},
		{"window dropped", "smollm3_window", "model", replaceInput("Sub", "mask/Sub_2", 1, 1<<20)},
		{"bias of the MLP dropped", "smollm3_window", "model", dropInput("Gemm", "down_proj", 2)},
	},
	"granite": {
		{"scores scaled by the width of a head", "granite", "model", setAttr("Attention", "", ir.FloatAttr("scale", float32(1/math.Sqrt(8))))},
		{"factor of the embedding dropped", "granite", "model", skip("Mul", "embed_tokens")},
		{"factor of the branches dropped", "granite", "model", skip("Mul", "layers.0/")},
		{"factor of the logits dropped", "granite", "model", logitsNotScaled},
	},
	"stablelm": {
		{"bias of the keys dropped", "stablelm", "model", dropInput("Gemm", "k_proj", 2)},
		{"bias of the norms dropped", "stablelm", "model", zeroInput("LayerNormalization", 2)},
		{"adjacent pairs rotated", "stablelm", "model", setAttr("RotaryEmbedding", "", ir.IntAttr("interleaved", 1))},
		{"another part of a head rotated", "stablelm_parallel", "model", rotate(func(j int, _ int64) int64 { return turns(j, 8) })},
		{"MLP dropped beside attention", "stablelm_parallel", "model", func(e *editor) int {
			return e.each("Add", "model.layers", func(n *ir.Node) bool {
				if p := n.Input(1).Producer(); p == nil || p.OpType != "Gemm" {
					return false
				}
				n.Output(0).ReplaceUses(n.Input(0))
				return true
			})
		}},
		{"norms of the heads dropped", "stablelm_parallel", "model", skip("LayerNormalization", "_layernorm.norms")},
		{"weights of the heads dropped", "stablelm_parallel", "model", skip("Mul", "_layernorm.norms")},
		{"weights of the heads in another order", "stablelm_parallel", "model", headsBackwards},
	},
	"cohere": {
		{"halves of a head rotated", "cohere", "model", setAttr("RotaryEmbedding", "", ir.IntAttr("interleaved", 0))},
		{"the common base of the rotary embedding", "cohere", "model", rotate(func(j int, _ int64) int64 { return turns(j, 16) })},
		{"scale of the logits dropped", "cohere", "model", logitsNotScaled},
		{"norms of the heads dropped", "cohere_norms", "model", skip("LayerNormalization", "_norm/")},
		{"weights of the heads in another order", "cohere_norms", "model", headsBackwards},
		{"bias of the output projection dropped", "cohere_norms", "model", dropInput("Gemm", "o_proj", 2)},
	},
	"cohere2": {
		{"rotary embedding dropped", "cohere2", "model", skip("RotaryEmbedding", "")},
		{"the rotary embedding of cohere", "cohere2", "model", rotate(func(j int, _ int64) int64 {
			return int64(math.Round(math.Pow(500_000, -2*float64(j)/16) / (2 * math.Pi) * (1 << 42)))
		})},
		{"window in every layer", "cohere2", "model", firstMask("")},
		{"window dropped", "cohere2", "model", replaceInput("Sub", "mask/Sub_2", 1, 1<<20)},
	},
	"phi": {
		{"bias of the head dropped", "phi", "model", dropInput("Gemm", "lm_head", 2)},
		{"bias of the output projection dropped", "phi", "model", dropInput("Gemm", "self_attn.dense", 2)},
		{"GELU not approximated", "phi", "model", setAttr("Gelu", "", ir.StringAttr("approximate", "none"))},
		{"norm of the queries dropped", "phi_norms", "model", skip("LayerNormalization", "q_layernorm")},
		{"norm of the keys dropped", "phi_norms", "model", skip("LayerNormalization", "k_layernorm")},
	},
	"starcoder2": {
		{"window dropped", "starcoder2", "model", replaceInput("Sub", "mask/Sub_2", 1, 1<<20)},
		{"bias of the keys dropped", "starcoder2", "model", dropInput("Gemm", "k_proj", 2)},
		{"bias of the output projection dropped", "starcoder2", "model", dropInput("Gemm", "o_proj", 2)},
		{"bias of the MLP dropped", "starcoder2", "model", dropInput("Gemm", "mlp.c_proj", 2)},
		{"bias of the norms dropped", "starcoder2_options", "model", zeroInput("LayerNormalization", 2)},
		{"GELU not approximated", "starcoder2", "model", setAttr("Gelu", "", ir.StringAttr("approximate", "none"))},
		{"GELU approximated", "starcoder2_options", "model", setAttr("Gelu", "", ir.StringAttr("approximate", "tanh"))},
	},
	"qwen3_moe": {
		{"weights not renormalised", "qwen3_moe", "model", overAll},
		{"weights renormalised", "qwen3_moe_sparse", "model", renormalise},
		{"experts off by one", "qwen3_moe", "model", nextExpert},
		{"activation of the gate exchanged", "qwen3_moe", "model", setAttr("RoutedExperts", "", ir.StringAttr("activation", "gelu"))},
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
	"qwen2_moe": {
		{"gate of the shared expert dropped", "qwen2_moe", "model", func(e *editor) int {
			return e.each("Mul", ".mlp/", func(n *ir.Node) bool {
				gate := n.Input(1).Producer()
				if gate == nil || gate.OpType != "Sigmoid" || !strings.Contains(gate.Input(0).Name, "shared_expert_gate") {
					return false
				}
				n.Output(0).ReplaceUses(n.Input(0))
				return true
			})
		}},
		{"weights renormalised", "qwen2_moe", "model", renormalise},
		{"window in every layer", "qwen2_moe", "model", firstMask("")},
	},
	"olmoe": {
		{"norm of the queries dropped", "olmoe", "model", skip("RMSNormalization", "q_norm")},
		{"experts off by one", "olmoe", "model", nextExpert},
		{"nothing clipped", "olmoe_clip", "model", skip("Clip", "")},
		{"clipped before the norms", "olmoe_clip", "model", func(e *editor) int {
			return e.each("RMSNormalization", "_norm", func(n *ir.Node) bool {
				clip := n.Output(0).Uses()[0].Node
				if clip.OpType != "Clip" {
					return false
				}
				clip.Output(0).ReplaceUses(n.Output(0))
				e.before(n, func() {
					n.SetInput(0, e.node("Clip", n.Input(0).Type, []*ir.Value{n.Input(0), clip.Input(1), clip.Input(2)}))
				})
				return true
			})
		}},
	},
	"mixtral": {
		{"weights not renormalised", "mixtral", "model", overAll},
		{"experts off by one", "mixtral", "model", nextExpert},
		{"gate and up swapped", "mixtral", "model", func(e *editor) int {
			return e.each("RoutedExperts", "", func(n *ir.Node) bool {
				e.before(n, func() {
					width := dim(n.Input(3).Type, 1) / 2
					var swapped []int64
					for i := range 2 * width {
						swapped = append(swapped, (i+width)%(2*width))
					}
					n.SetInput(3, e.node("Gather", n.Input(3).Type, []*ir.Value{n.Input(3), e.ints(swapped...)}, ir.IntAttr("axis", 1)))
				})
				return true
			})
		}},
		{"the common base of the rotary embedding", "mixtral", "model", rotate(func(j int, _ int64) int64 { return turns(j, 8) })},
		{"window dropped", "mixtral", "model", replaceInput("Sub", "mask/Sub_2", 1, 1<<20)},
	},
	"qwen3_5_moe": {
		{"weights not renormalised", "qwen3_5_moe_text", "model", overAll},
	},
	"qwen3_next": {
		{"queries and keys swapped", "qwen3_next", "model", swapParts(4, 0, 1)},
		{"values and gates swapped", "qwen3_next", "model", swapParts(4, 2, 3)},
		{"betas and decays swapped", "qwen3_next", "model", swapParts(2, 0, 1)},
		{"betas and decays of all heads side by side", "qwen3_next", "model", func(e *editor) int {
			return e.each("Gemm", "in_proj_ba", func(n *ir.Node) bool {
				return e.after(n.Output(0), func(v *ir.Value) *ir.Value {
					concatenated := e.ints(0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11) // where betas and decays of three heads would be then
					return e.node("Gather", v.Type, []*ir.Value{v, concatenated}, ir.IntAttr("axis", 1))
				})
			})
		}},
		{"another part of a head rotated", "qwen3_next", "model", rotate(func(j int, _ int64) int64 { return turns(j, 8) })},
		{"weights not renormalised", "qwen3_next", "model", overAll},
		{"weights renormalised", "qwen3_next_options", "model", renormalise},
		{"bias of the keys dropped", "qwen3_next_options", "model", dropInput("Gemm", "k_proj", 2)},
	},
	"falcon": {
		{"keys and values of a group swapped", "falcon_new", "model", swapOutputs("Split", "self_attention", 1, 2)},
		{"one norm for both", "falcon_new", "model", func(e *editor) int {
			var norms []*ir.Value
			e.each("LayerNormalization", "h.0.", func(n *ir.Node) bool { norms = append(norms, n.Output(0)); return false })
			return e.each("Gemm", "h.0.mlp.dense_h_to_4h", func(n *ir.Node) bool { n.SetInput(0, norms[0]); return len(norms) == 2 })
		}},
		{"adjacent pairs rotated", "falcon", "model", setAttr("RotaryEmbedding", "", ir.IntAttr("interleaved", 1))},
	},
	"gpt2": {
		{"positions ignored", "gpt2", "model", skip("Add", "wpe")},
		{"queries and keys swapped", "gpt2", "model", swapOutputs("Split", "attn", 0, 1)},
		{"square weight read [out, in]", "gpt2", "model", setAttr("Gemm", "attn.c_proj", ir.IntAttr("transB", 1))},
		{"GELU not approximated", "gpt2", "model", setAttr("Gelu", "", ir.StringAttr("approximate", "none"))},
		{"scores of the second layer not divided", "gpt2_options", "model", setAttr("Attention", "h.1.", ir.FloatAttr("scale", float32(1/math.Sqrt(8))))},
	},
	"gpt_bigcode": {
		{"keys and values swapped", "gpt_bigcode", "model", swapOutputs("Split", "attn", 1, 2)},
		{"square weight read [in, out]", "gpt_bigcode", "model", setAttr("Gemm", "attn.c_proj", ir.IntAttr("transB", 0))},
		{"queries and keys of a head swapped", "gpt_bigcode_heads", "model", swapOutputs("Split", "attn", 0, 1)},
	},
	"opt": {
		{"positions from the first row on", "opt", "model", offsetOfPositionsDropped},
		{"positions ignored", "opt", "model", skip("Add", "embed_positions")},
		{"bias of the output projection dropped", "opt", "model", dropInput("Gemm", "out_proj", 2)},
		{"bias of the MLP dropped", "opt", "model", dropInput("Gemm", "fc2", 2)},
		{"norm at the end dropped", "opt", "model", skip("LayerNormalization", "decoder.final_layer_norm")},
		{"norm after attention dropped", "opt_post_norm", "model", skip("LayerNormalization", "self_attn_layer_norm")},
		{"norm after the MLP dropped", "opt_post_norm", "model", skip("LayerNormalization", "final_layer_norm")},
		{"norms without weights dropped", "opt_options", "model", skip("LayerNormalization", "")},
	},
	"gpt_neox": {
		{"keys and values swapped", "gpt_neox", "model", swapOutputs("Split", "attention", 1, 2)},
		{"adjacent pairs rotated", "gpt_neox", "model", setAttr("RotaryEmbedding", "", ir.IntAttr("interleaved", 1))},
		{"another part of a head rotated", "gpt_neox_sequential", "model", rotate(func(j int, _ int64) int64 { return turns(j, 8) })},
		{"bias of the attention dropped", "gpt_neox", "model", dropInput("Gemm", "attention.dense", 2)},
		{"one norm for both", "gpt_neox", "model", func(e *editor) int {
			var norms []*ir.Value
			e.each("LayerNormalization", "layers.0.", func(n *ir.Node) bool { norms = append(norms, n.Output(0)); return false })
			return e.each("Gemm", "layers.0.mlp.dense_h_to_4h", func(n *ir.Node) bool { n.SetInput(0, norms[0]); return len(norms) == 2 })
		}},
	},
	"mamba": {
		{"padding kept before the convolution", "mamba", "model", keepPadding(0)},
		{"padding kept after the convolution", "mamba", "model", keepPadding(1)},
		{"skip of the channels dropped", "mamba", "model", zeroInput("SelectiveScan", 5)},
		{"softplus of the time steps dropped", "mamba", "model", skip("Softplus", "")},
		{"input and output of the state swapped", "mamba", "model", func(e *editor) int {
			return e.each("SelectiveScan", "", func(n *ir.Node) bool {
				b, c := n.Input(3), n.Input(4)
				n.SetInput(3, c)
				n.SetInput(4, b)
				return true
			})
		}},
		{"channels and gate swapped", "mamba", "model", func(e *editor) int {
			return e.each("Split", "", func(n *ir.Node) bool {
				out := n.Outputs()
				if len(out) == 2 {
					n.SetOutputs([]*ir.Value{out[1], out[0]})
				}
				return len(out) == 2
			})
		}},
		{"state not carried", "mamba", "model", func(e *editor) int {
			return e.each("SelectiveScan", "", func(n *ir.Node) bool {
				e.before(n, func() {
					past := n.Input(6)
					n.SetInput(6, e.node("Sub", past.Type, []*ir.Value{past, past}))
				})
				return true
			})
		}},
	},
	"falcon_mamba": {
		{"norm of the time steps dropped", "falcon_mamba", "model", func(e *editor) int {
			return e.each("RMSNormalization", "mixer/", func(n *ir.Node) bool {
				if !strings.HasSuffix(n.Name, "/RMSNormalization") {
					return false
				}
				n.Output(0).ReplaceUses(n.Input(0))
				return true
			})
		}},
		{"norm of B dropped", "falcon_mamba", "model", skip("RMSNormalization", "mixer/RMSNormalization_2")},
		{"norm of C dropped", "falcon_mamba", "model", skip("RMSNormalization", "mixer/RMSNormalization_3")},
		{"epsilon of other norms in the mixer", "falcon_mamba", "model", setAttr("RMSNormalization", "mixer/", ir.FloatAttr("epsilon", 1e-5))},
	},
}

// TestSensitivityArchitectures checks that the parity tests would notice each fault.
func TestSensitivityArchitectures(t *testing.T) {
	for spec, list := range architectureMutations {
		for _, m := range list {
			t.Run(m.model+"/"+m.name, func(t *testing.T) { noticed(t, m, spec) })
		}
	}
}
