package compiler_test

import (
	"maps"
	"math"

	"mobiusc/ir"
)

func init() { maps.Copy(architectureMutations, encoderMutations) }

// encoderMutations are [architectureMutations] of models with an encoder.
var encoderMutations = map[string][]mutation{
	"bert": {
		{"padding mask dropped", "bert", "model", dropInput("Attention", "", 3)},
		{"causal mask", "bert", "model", setAttr("Attention", "", ir.IntAttr("is_causal", 1))},
		{"GELU approximated", "bert", "model", setAttr("Gelu", "", ir.StringAttr("approximate", "tanh"))},
		{"positions ignored", "bert", "model", skip("Add", "position_embeddings")},
		{"norm of the embeddings dropped", "bert", "model", skip("LayerNormalization", "embeddings.LayerNorm")},
		{"token types swapped", "bert", "model", func(e *editor) int {
			return e.each("Gather", "token_type", func(n *ir.Node) bool {
				e.before(n, func() { n.SetInput(1, e.node("Sub", n.Input(1).Type, []*ir.Value{e.scalar(1), n.Input(1)})) })
				return true
			})
		}},
	},
	"distilbert": {
		{"padding mask dropped", "distilbert", "model", dropInput("Attention", "", 3)},
		{"positions ignored", "distilbert", "model", skip("Add", "position_embeddings")},
	},
	"roberta": {
		{"padding counted", "roberta", "model", replaceInput("Equal", "position_embeddings", 1, -1)},
		{"padding at its place in the text", "roberta", "model", skip("Mul", "position_embeddings")},
		{"positions from the first row on", "roberta", "model", offsetOfPositionsDropped},
		{"row of the one token type dropped", "roberta", "model", skip("add_row", "")},
	},
	"t5": {
		{"buckets off by one in the encoder", "t5", "encoder", nextBucket},
		{"buckets off by one in the decoder", "t5", "decoder", nextBucket},
		{"bias in the first layer only", "t5", "decoder", dropInput("Attention", "block.1.layer.0.SelfAttention", 3)},
		{"last bucket not reached", "t5", "encoder", replaceInput("Clip", "relative_attention_bias", 2, 5)},
		{"scores scaled", "t5", "decoder", setAttr("Attention", "", ir.FloatAttr("scale", float32(1/math.Sqrt(8))))},
		{"padding of the source dropped in the encoder", "t5", "encoder", func(e *editor) int {
			return e.each("Attention", "", func(n *ir.Node) bool { n.SetInput(3, n.Input(3).Producer().Input(1)); return true })
		}},
		{"padding of the source dropped in the decoder", "t5", "decoder", dropInput("Attention", "EncDecAttention", 3)},
		// The later calls of a case are given no encoder_hidden_states but zeros.
		{"cross-attention caches not read", "t5", "decoder", replaceInput("Equal", "memory", 0, 0)},
		{"logits not scaled", "t5", "decoder", skip("Mul", "")},
		{"gate and up swapped", "t5_gated", "decoder", func(e *editor) int {
			return e.each("Gelu", "", func(n *ir.Node) bool {
				product := n.Output(0).Uses()[0].Node
				gate := n.Input(0)
				n.SetInput(0, product.Input(1))
				product.SetInput(1, gate)
				return true
			})
		}},
	},
	"bart": {
		{"positions of the decoder from the first row on", "bart", "decoder", offsetOfPositionsDropped},
		{"positions of the encoder from the first row on", "bart", "encoder", func(e *editor) int {
			return e.each("Slice", "embed_positions", func(n *ir.Node) bool {
				e.before(n, func() {
					n.SetInput(1, e.node("Sub", n.Input(1).Type, []*ir.Value{n.Input(1), e.ints(2)}))
					n.SetInput(2, e.node("Sub", n.Input(2).Type, []*ir.Value{n.Input(2), e.ints(2)}))
				})
				return true
			})
		}},
		{"positions of the encoder ignored", "bart", "encoder", skip("Add", "embed_positions")},
		{"norm after the embeddings dropped", "bart", "decoder", skip("LayerNormalization", "layernorm_embedding")},
		{"norm after cross-attention dropped", "bart", "decoder", skip("LayerNormalization", "encoder_attn_layer_norm")},
		{"bias of the values dropped", "bart", "encoder", dropInput("Gemm", "v_proj", 2)},
		{"bias of the logits dropped", "bart", "decoder", dropInput("Gemm", "lm_head", 2)},
		{"padding of the source dropped in the encoder", "bart", "encoder", dropInput("Attention", "", 3)},
		{"padding of the source dropped in the decoder", "bart", "decoder", dropInput("Attention", "encoder_attn", 3)},
		{"causal mask dropped", "bart", "decoder", setAttr("Attention", "self_attn", ir.IntAttr("is_causal", 0))},
		{"cross-attention caches not read", "bart", "decoder", replaceInput("Equal", "memory", 0, 0)},
		{"scale of the embedding dropped", "bart_options", "encoder", skip("Mul", "shared")},
	},
	"mbart": {
		{"norm at the end of the encoder dropped", "mbart", "encoder", skip("LayerNormalization", "encoder.layer_norm")},
		{"norm at the end of the decoder dropped", "mbart", "decoder", skip("LayerNormalization", "decoder.layer_norm")},
		{"norm before cross-attention dropped", "mbart", "decoder", skip("LayerNormalization", "encoder_attn_layer_norm")},
		{"scale of the embedding dropped", "mbart", "encoder", skip("Mul", "shared")},
	},
	"pegasus": {
		{"every token of the encoder at the first position", "pegasus", "encoder", rotate(func(int, int64) int64 { return 0 })},
		{"positions of the decoder ignored", "pegasus", "decoder", skip("Add", "decoder/Add")},
		{"norm at the end of the encoder dropped", "pegasus", "encoder", skip("LayerNormalization", "encoder.layer_norm")},
	},
	"marian": {
		{"every token of the encoder at the first position", "marian", "encoder", rotate(func(int, int64) int64 { return 0 })},
		{"sines and cosines swapped", "marian", "decoder", func(e *editor) int {
			return e.each("Concat", "", func(n *ir.Node) bool {
				sines, cosines := n.Input(0), n.Input(1)
				if sines.Producer() == nil || sines.Producer().OpType != "Sin" {
					return false
				}
				n.SetInput(0, cosines)
				n.SetInput(1, sines)
				return true
			})
		}},
		{"another base of the frequencies", "marian", "decoder", rotate(func(j int, step int64) int64 { return step >> (j / 4) })},
		{"scale of the embedding dropped", "marian", "decoder", skip("Mul", "shared")},
		{"bias of the logits dropped", "marian", "decoder", dropInput("Gemm", "lm_head", 2)},
	},
	"whisper": {
		{"padding of the first convolution at one end", "whisper", "encoder", setAttr("Conv", "conv1", ir.IntsAttr("pads", 2, 0))},
		{"padding of the second convolution at one end", "whisper", "encoder", setAttr("Conv", "conv2", ir.IntsAttr("pads", 0, 2))},
		{"bias of a convolution dropped", "whisper", "encoder", dropInput("Conv", "conv2", 2)},
		{"GELU approximated", "whisper", "encoder", setAttr("Gelu", "", ir.StringAttr("approximate", "tanh"))},
		{"GELU after the convolutions dropped", "whisper_untied", "encoder", skip("Gelu", "")},
		{"positions of the encoder ignored", "whisper", "encoder", skip("Add", "embed_positions")},
		{"positions of the decoder ignored", "whisper", "decoder", skip("Add", "embed_positions")},
		{"bias of the values dropped", "whisper", "encoder", dropInput("Gemm", "v_proj", 2)},
		{"final norm of the encoder dropped", "whisper", "encoder", skip("LayerNormalization", "encoder.layer_norm")},
		{"padding mask dropped", "whisper", "decoder", dropInput("Attention", "self_attn", 3)},
		{"causal mask dropped", "whisper", "decoder", setAttr("Attention", "self_attn", ir.IntAttr("is_causal", 0))},
		{"cross-attention caches not read", "whisper", "decoder", replaceInput("Equal", "memory", 0, 0)},
		{"output projection of the cross-attention dropped", "whisper", "decoder", skip("Gemm", "encoder_attn.out_proj")},
	},
}
