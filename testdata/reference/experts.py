"""Reduced decoders with routed experts."""

from common import normal
from decoder import Plan
from decoders import LONG, PLAIN_RULES, QWEN_WINDOW, SHORT, config, decoder
from qwen3_5 import BLOCK_GAIN, TEXT_RULES, block_gain, text_config


def stacked(gain):
    """For experts stored in one tensor, [experts, out, in]."""
    return lambda draw, shape: draw.normal(0, gain * shape[2] ** -0.5, shape)


def qwen3_next(**changes):
    """A hybrid configuration with the keys of the published file, reduced, but for partial_rotary_factor.

    Three value heads to each key head, unequal key and value widths.
    """
    settings = config(
        "qwen3_next",
        decoder_sparse_step=1,
        full_attention_interval=4,
        head_dim=16,
        linear_conv_kernel_dim=4,
        linear_key_head_dim=8,
        linear_num_key_heads=2,
        linear_num_value_heads=6,
        linear_value_head_dim=12,
        max_position_embeddings=262144,
        mlp_only_layers=[1],
        moe_intermediate_size=24,
        norm_topk_prob=True,
        num_experts=4,
        num_experts_per_tok=2,
        num_hidden_layers=4,
        output_router_logits=False,
        rope_scaling=None,
        rope_theta=10000000,
        router_aux_loss_coef=0.001,
        shared_expert_intermediate_size=40,
        use_sliding_window=False,
        vocab_size=64,
    )
    return settings | changes


# half the usual gain, as in the hybrid decoder with experts stored together
NEXT_RULES = block_gain(BLOCK_GAIN / 2) + TEXT_RULES

CHUNKS = Plan("chunks", "70 columns, one row with 3 columns of left padding; 2 decode steps", [70], (3,), 2)
PIECES = Plan(
    "pieces",
    "Calls of 35 and 6 tokens, two rows, the first with 4 columns of left padding; 2 decode steps",
    [35, 6],
    (4, 0),
    2,
)

EXPERTS = {
    "qwen3_moe": decoder(
        "qwen3_moe",
        "Qwen3MoeForCausalLM",
        "Experts: softmax router, 2 of 4, weights renormalised; a dense layer between.",
        config(
            "qwen3_moe",
            attention_bias=False,
            decoder_sparse_step=1,
            head_dim=16,
            mlp_only_layers=[1],
            moe_intermediate_size=24,
            norm_topk_prob=True,
            num_experts=4,
            num_experts_per_tok=2,
            num_hidden_layers=3,
            output_router_logits=False,
            rope_scaling=None,
            router_aux_loss_coef=0.001,
            **QWEN_WINDOW,
        ),
    ),
    "qwen3_moe_sparse": decoder(
        "qwen3_moe_sparse",
        "Qwen3MoeForCausalLM",
        "Experts in every second layer by the step rule, 3 of 5, weights as the softmax gives them.",
        config(
            "qwen3_moe",
            attention_bias=False,
            decoder_sparse_step=2,
            head_dim=16,
            mlp_only_layers=[],
            moe_intermediate_size=24,
            norm_topk_prob=False,
            num_experts=5,
            num_experts_per_tok=3,
            num_hidden_layers=3,
            rope_scaling=None,
            **QWEN_WINDOW,
        ),
    ),
    "qwen2_moe": decoder(
        "qwen2_moe",
        "Qwen2MoeForCausalLM",
        "Experts: 2 of 4, weights as the softmax gives them, and a shared expert behind a sigmoid gate; a window of 8 columns in the first layer.",
        config(
            "qwen2_moe",
            decoder_sparse_step=1,
            max_window_layers=2,
            moe_intermediate_size=24,
            norm_topk_prob=False,
            num_experts=4,
            num_experts_per_tok=2,
            output_router_logits=False,
            router_aux_loss_coef=0.001,
            shared_expert_intermediate_size=40,
            sliding_window=8,
            use_sliding_window=True,
        ),
        plans=(SHORT, LONG),
    ),
    "mixtral": decoder(
        "mixtral",
        "MixtralForCausalLM",
        "Experts: 2 of 4, weights renormalised; a window of 8 columns in every layer; the rotary base left to its default, 1e6.",
        {key: value for key, value in config("mixtral", rms_norm_eps=1e-05).items() if key != "rope_theta"}
        | {
            "intermediate_size": 24,
            "num_experts_per_tok": 2,
            "num_local_experts": 4,
            "output_router_logits": False,
            "router_aux_loss_coef": 0.02,
            "sliding_window": 8,
        },
        [("experts.gate_up_proj", stacked(1)), ("experts.down_proj", stacked(0.5))] + PLAIN_RULES,
        plans=(SHORT, LONG),
    ),
    "olmoe": decoder(
        "olmoe",
        "OlmoeForCausalLM",
        "Experts: 2 of 4; norms over all query and all key heads at once.",
        config(
            "olmoe",
            attention_bias=False,
            clip_qkv=None,
            intermediate_size=24,
            norm_topk_prob=False,
            num_experts=4,
            num_experts_per_tok=2,
            num_key_value_heads=4,
            output_router_logits=False,
            pad_token_id=1,
            rope_scaling=None,
            router_aux_loss_coef=0.01,
        ),
    ),
    "olmoe_clip": decoder(
        "olmoe_clip",
        "OlmoeForCausalLM",
        "Queries and keys clipped after their norms, values as they are projected; weights of the experts renormalised.",
        config(
            "olmoe",
            attention_bias=False,
            clip_qkv=0.75,
            intermediate_size=24,
            norm_topk_prob=True,
            num_experts=4,
            num_experts_per_tok=2,
            pad_token_id=1,
            rope_scaling=None,
        ),
    ),
    "qwen3_5_moe_text": decoder(
        "qwen3_5_moe_text",
        "Qwen3_5MoeForCausalLM",
        "The hybrid decoder with stored-together experts: 2 of 4, renormalised, and a gated shared expert.",
        {key: value for key, value in text_config().items() if key != "intermediate_size"}
        | {
            "dtype": "bfloat16",
            "hidden_size": 32,
            "head_dim": 16,
            "linear_key_head_dim": 8,
            "linear_value_head_dim": 12,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
            "mlp_only_layers": [],
            "model_type": "qwen3_5_moe_text",
            "moe_intermediate_size": 24,
            "num_attention_heads": 4,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "rope_parameters": text_config()["rope_parameters"] | {"mrope_section": [1, 1, 0]},
            "router_aux_loss_coef": 0.001,
            "shared_expert_intermediate_size": 40,
        },
        # half the usual gain, for the same reason as in the vision-language model
        [("experts.gate_up_proj", stacked(1)), ("experts.down_proj", stacked(BLOCK_GAIN / 2))]
        + block_gain(BLOCK_GAIN / 2)
        + TEXT_RULES,
        stacked=True,  # as it is published
        new_cache=None,
    ),
    "qwen3_next": decoder(
        "qwen3_next",
        "Qwen3NextForCausalLM",
        "Hybrid decoder with fused projections, interleaved by key head; 2 of 4 experts beside a shared one, and a dense layer; the rotated part left to its default, a quarter.",
        qwen3_next(),
        NEXT_RULES,
        plans=(SHORT, CHUNKS, PIECES),
        new_cache=None,
    ),
    "qwen3_next_options": decoder(
        "qwen3_next_options",
        "Qwen3NextForCausalLM",
        "Kinds of layers as a list, biases in attention, half of each head rotated, experts in every second layer with weights as the softmax gives them, tied.",
        qwen3_next(
            attention_bias=True,
            decoder_sparse_step=2,
            layer_types=["full_attention", "linear_attention"],
            mlp_only_layers=[],
            norm_topk_prob=False,
            num_hidden_layers=2,
            partial_rotary_factor=0.5,
            tie_word_embeddings=True,
        ),
        [("embed_tokens.weight", normal(0.3)), (".bias", normal(0.1))] + NEXT_RULES,
        new_cache=None,
    ),
}
