"""Reduced qwen3_5 models: the text decoder, the same 64 layers deep, and with vision."""

import numpy as np
import torch
from transformers import Qwen3_5ForCausalLM, Qwen3_5ForConditionalGeneration, Qwen3VLForConditionalGeneration

from common import fan_in, normal, save, true_float64
from decoder import Plan, positions, run_decoder
from vision import TOKENS, VISION_RULES, run_vision, vision_config, vision_plans


def decay(draw, shape):
    """A_log as published models start it: A uniform, here between 0.05 and 16."""
    return np.log(draw.uniform(0.05, 16, shape))


def time_step(draw, shape):
    """dt_bias: the inverse softplus of time steps log-uniform between 0.001 and 0.1."""
    step = np.exp(draw.uniform(np.log(1e-3), np.log(0.1), shape))
    return step + np.log(-np.expm1(-step))


BLOCK_GAIN = 0.5  # of the projections that add to the residual stream

TEXT_RULES = [
    ("linear_attn.norm.weight", normal(0.2, mean=1)),
    ("norm.weight", normal(0.3)),  # offset norms scale by 1 + weight
    ("A_log", decay),
    ("dt_bias", time_step),
    ("conv1d.weight", normal(0.5)),
    ("embed_tokens.weight", normal(0.7)),
    ("o_proj.weight", fan_in(BLOCK_GAIN)),
    ("out_proj.weight", fan_in(BLOCK_GAIN)),
    ("down_proj.weight", fan_in(BLOCK_GAIN)),
    ("lm_head.weight", fan_in(1.5)),
]


def block_gain(gain):
    """Rules that go before TEXT_RULES: another gain of the projections that add to the residual stream."""
    return [(name, fan_in(gain)) for name in ("o_proj.weight", "out_proj.weight", "down_proj.weight")]


def text_config(**changes):
    """A text configuration with the keys of the published files, reduced.

    Six query heads to each key-value head, three value heads to each key head,
    unequal key and value widths, a quarter of each head rotated.
    """
    config = {
        "attention_bias": False,
        "attention_dropout": 0.0,
        "attn_output_gate": True,
        "bos_token_id": None,
        "dtype": "float32",
        "eos_token_id": None,
        "full_attention_interval": 4,
        "head_dim": 32,
        "hidden_act": "silu",
        "hidden_size": 64,
        "initializer_range": 0.02,
        "intermediate_size": 96,
        "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 16,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 6,
        "linear_value_head_dim": 8,
        "mamba_ssm_dtype": "float32",
        "max_position_embeddings": 262144,
        "model_type": "qwen3_5_text",
        "mtp_num_hidden_layers": 0,
        "mtp_use_dedicated_embeddings": False,
        "num_attention_heads": 12,
        "num_hidden_layers": 4,
        "num_key_value_heads": 2,
        "output_gate_type": "swish",
        "pad_token_id": None,
        "partial_rotary_factor": 0.25,
        "rms_norm_eps": 1e-06,
        "rope_parameters": {
            "mrope_interleaved": True,
            "mrope_section": [2, 1, 1],
            "partial_rotary_factor": 0.25,
            "rope_theta": 10000000,
            "rope_type": "default",
        },
        "tie_word_embeddings": False,
        "use_cache": True,
        "vocab_size": 128,
    }
    return config | changes


def check_padding(load, vocab):
    """Left padding must not change what a row computes, in float64."""
    model, ids = load(torch.float64, "eager"), np.arange(26)[None] * 7 % vocab
    padded = np.concatenate([np.full((1, 5), 3), ids], axis=1)
    mask = np.concatenate([np.zeros((1, 5), int), np.ones_like(ids)], axis=1)
    with true_float64():
        plain = model(torch.from_numpy(ids), position_ids=torch.arange(26)[None]).logits
        behind = model(
            torch.from_numpy(padded),
            attention_mask=torch.from_numpy(mask),
            position_ids=torch.from_numpy(positions(mask)),
        ).logits[:, 5:]
    if (worst := float((plain - behind).abs().max())) > 1e-12:
        raise ValueError(f"left padding changes the logits by {worst:.2g}")


def text():
    """The text decoder: every length, batch and padding, and a prompt in pieces."""
    config = {"architectures": ["Qwen3_5ForCausalLM"]} | text_config()
    load = save("qwen3_5_text", Qwen3_5ForCausalLM, config, TEXT_RULES)
    check_padding(load, config["vocab_size"])
    plans = []
    padding = {6: (2, 0), 31: (0, 11), 65: (40, 0), 130: (7, 66)}
    for length in (1, 6, 31, 65, 130):
        plans.append(Plan(f"t{length}_b1", f"{length} tokens, one row", [length]))
        plans.append(Plan(f"t{length}_b2", f"{length} tokens, two rows", [length], (0, 0)))
        if pads := padding.get(length):
            plans.append(
                Plan(
                    f"t{length}_b2_pad",
                    f"{length} columns, two rows with {pads} columns of left padding",
                    [length],
                    pads,
                )
            )
    plans.append(Plan("t31_b1_pad", "31 columns, one row with 5 columns of left padding", [31], (5,)))
    plans.append(
        Plan(
            "chunked",
            "A prompt in calls of 40, 33 and 2 tokens, two rows, the first with 9 columns of left padding",
            [40, 33, 2],
            (9, 0),
            decode=2,
        )
    )
    return {
        "name": "qwen3_5_text",
        "architecture": "Qwen3_5ForCausalLM",
        "description": "One cycle of three linear-attention layers and one full-attention layer.",
        "storage": "float32",
        "cases": [run_decoder(plan, load, config["vocab_size"]) for plan in plans],
    }


def depth():
    """64 layers of small width: how errors grow with depth."""
    config = {"architectures": ["Qwen3_5ForCausalLM"]} | text_config(
        dtype="bfloat16",
        head_dim=16,
        hidden_size=32,
        intermediate_size=48,
        layer_types=(["linear_attention"] * 3 + ["full_attention"]) * 16,
        linear_key_head_dim=8,
        linear_num_key_heads=1,
        linear_num_value_heads=3,
        linear_value_head_dim=12,
        num_attention_heads=6,
        num_hidden_layers=64,
        num_key_value_heads=1,
        rope_parameters=text_config()["rope_parameters"] | {"mrope_section": [1, 1, 0]},
    )
    # Each block adds less the more there are, as in trained deep models. With
    # the gain of four layers the stack is chaotic: rounding grows a thousandfold.
    load = save("qwen3_5_depth", Qwen3_5ForCausalLM, config, block_gain(BLOCK_GAIN * (4 / 64) ** 0.5) + TEXT_RULES)
    plan = Plan(
        "t24", "24 columns, two rows, the second with 3 columns of left padding; 2 decode steps", [24], (0, 3), 2
    )
    return {
        "name": "qwen3_5_depth",
        "architecture": "Qwen3_5ForCausalLM",
        "description": "64 layers (48 linear, 16 full) of width 32: error growth with depth.",
        "storage": "bfloat16",
        "cases": [run_decoder(plan, load, config["vocab_size"])],
    }


def vision():
    """Vision-language: the packed vision encoder, the fused embedding, the decoder."""
    config = {
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "language_model_only": False,
        "model_type": "qwen3_5",
        "text_config": text_config(
            dtype="bfloat16",
            head_dim=64,
            hidden_size=48,
            intermediate_size=64,
            linear_key_head_dim=8,
            linear_value_head_dim=16,
            num_attention_heads=6,
            num_key_value_heads=1,
            rope_parameters=text_config()["rope_parameters"] | {"mrope_section": [3, 3, 2]},
            vocab_size=160,
        ),
        "tie_word_embeddings": False,
        "vision_config": vision_config("qwen3_5", out_hidden_size=48, deepstack_visual_indexes=[]),
    } | TOKENS
    # With narrow keys and wide values the delta rule amplifies rounding. At the
    # usual gain the reference's own float16 run is off by 0.05, which would
    # excuse as much in others.
    rules = VISION_RULES + block_gain(BLOCK_GAIN / 2) + TEXT_RULES
    load = save("qwen3_5_vl", Qwen3_5ForConditionalGeneration, config, rules)
    return {
        "name": "qwen3_5_vl",
        "architecture": "Qwen3_5ForConditionalGeneration",
        "description": "One cycle of decoder layers behind a vision encoder of two blocks.",
        "storage": "bfloat16",
        "cases": [run_vision(plan, load, config) for plan in vision_plans()],
    }


def deepstack():
    """qwen3_vl: the same vision encoder with taps, which the first decoder layers add."""
    config = {
        "architectures": ["Qwen3VLForConditionalGeneration"],
        "model_type": "qwen3_vl",
        "text_config": {
            "attention_bias": False,
            "attention_dropout": 0.0,
            "bos_token_id": 1,
            "dtype": "bfloat16",
            "eos_token_id": 2,
            "head_dim": 16,
            "hidden_act": "silu",
            "hidden_size": 32,
            "initializer_range": 0.02,
            "intermediate_size": 64,
            "max_position_embeddings": 4096,
            "model_type": "qwen3_vl_text",
            "num_attention_heads": 4,
            "num_hidden_layers": 3,
            "num_key_value_heads": 2,
            "rms_norm_eps": 1e-06,
            "rope_scaling": {"mrope_interleaved": True, "mrope_section": [3, 3, 2], "rope_type": "default"},
            "rope_theta": 5000000,
            "use_cache": True,
            "vocab_size": 160,
        },
        "tie_word_embeddings": False,
        "vision_config": vision_config("qwen3_vl", out_hidden_size=32, deepstack_visual_indexes=[0, 1]),
    } | TOKENS
    rules = VISION_RULES + [("norm.weight", normal(0.2, mean=1))] + TEXT_RULES
    load = save("qwen3_vl", Qwen3VLForConditionalGeneration, config, rules)
    return {
        "name": "qwen3_vl",
        "architecture": "Qwen3VLForConditionalGeneration",
        "description": "Full attention behind a vision encoder whose blocks are tapped into decoder layers 0 and 1.",
        "storage": "bfloat16",
        "cases": [
            run_vision(plan, load, config) for plan in vision_plans() if plan.name in ("mixed", "reversed", "no_media")
        ],
    }
