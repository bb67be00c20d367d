"""Reduced decoders with layer norms, each with what distinguishes it."""

from common import fan_in, normal
from decoder import states
from decoders import LONG, PLAIN_RULES, SHORT, config, decoder


def stored_in_out(gain):
    """For gpt2's projections, which are stored [in, out]."""
    return lambda draw, shape: draw.normal(0, gain * shape[0] ** -0.5, shape)


GPT2 = {
    "activation_function": "gelu_new",
    "attn_pdrop": 0.1,
    "bos_token_id": 1,
    "embd_pdrop": 0.1,
    "eos_token_id": 2,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
    "n_ctx": 64,
    "n_embd": 32,
    "n_head": 4,
    "n_layer": 2,
    "n_positions": 64,
    "resid_pdrop": 0.1,
    "torch_dtype": "bfloat16",
    "vocab_size": 128,
}

GPT2_RULES = [
    ("ln_1.weight", normal(0.2, mean=1)),
    ("ln_2.weight", normal(0.2, mean=1)),
    ("ln_f.weight", normal(0.2, mean=1)),
    (".bias", normal(0.1)),
    ("wte.weight", normal(0.3)),
    ("wpe.weight", normal(0.2)),
    ("c_attn.weight", stored_in_out(1)),
    ("c_fc.weight", stored_in_out(1)),
    ("c_proj.weight", stored_in_out(0.5)),
]

FALCON = {
    "alibi": False,
    "apply_residual_connection_post_layernorm": False,
    "attention_dropout": 0.0,
    "bias": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_dropout": 0.0,
    "hidden_size": 32,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05,
    "model_type": "falcon",
    "multi_query": True,
    "new_decoder_architecture": False,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_kv_heads": 4,
    "parallel_attn": True,
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "vocab_size": 128,
}

FALCON_RULES = [
    ("layernorm.weight", normal(0.2, mean=1)),
    ("ln_attn.weight", normal(0.2, mean=1)),
    ("ln_mlp.weight", normal(0.2, mean=1)),
    ("ln_f.weight", normal(0.2, mean=1)),
    (".bias", normal(0.1)),
    ("word_embeddings.weight", normal(0.3)),
    ("dense.weight", fan_in(0.5)),
    ("dense_4h_to_h.weight", fan_in(0.5)),
]


def grouped_states(groups):
    """For a model whose cache holds the key and value of a group once for each of its queries."""

    def read(cache):
        values = {}
        for name, value in states(cache).items():
            batch, heads, *rest = value.shape
            each = value.reshape(batch, groups, heads // groups, *rest)
            assert (each == each[:, :, :1]).all()
            values[name] = each[:, :, 0]
        return values

    return read


GPT_NEOX = {
    "bos_token_id": 0,
    "eos_token_id": 0,
    "hidden_act": "gelu",
    "hidden_size": 64,
    "initializer_range": 0.02,
    "intermediate_size": 96,
    "layer_norm_eps": 1e-05,
    "max_position_embeddings": 128,
    "model_type": "gpt_neox",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "use_parallel_residual": True,
    "vocab_size": 128,
}

GPT_NEOX_RULES = [
    ("layernorm.weight", normal(0.2, mean=1)),
    ("layer_norm.weight", normal(0.2, mean=1)),
    ("embed_in.weight", normal(0.5)),
    ("dense.weight", fan_in(0.5)),
    ("dense_4h_to_h.weight", fan_in(0.5)),
] + PLAIN_RULES

STABLELM = {k: v for k, v in config("stablelm", hidden_size=64).items() if k != "rms_norm_eps"} | {
    "hidden_dropout": 0.0,
    "layer_norm_eps": 1e-05,
    "qk_layernorm": False,
    "use_parallel_residual": False,
    "use_qkv_bias": True,
}

STABLELM_RULES = [(f"norms.{head}.weight", normal(0.2, mean=1)) for head in range(4)] + PLAIN_RULES

PHI = {
    key: value
    for key, value in config("phi", hidden_act="gelu_new", hidden_size=64).items()
    if key not in ("num_key_value_heads", "rms_norm_eps")
} | {"embd_pdrop": 0.0, "layer_norm_eps": 1e-05, "qk_layernorm": False, "resid_pdrop": 0.1, "rope_scaling": None}

PHI_RULES = [
    ("layernorm.weight", normal(0.2, mean=1)),
    ("dense.weight", fan_in(0.5)),
    ("fc2.weight", fan_in(0.5)),
] + PLAIN_RULES

STARCODER2 = {
    key: value
    for key, value in config("starcoder2", hidden_act="gelu_pytorch_tanh", norm_epsilon=1e-05).items()
    if key not in ("rms_norm_eps", "tie_word_embeddings")
} | {"embedding_dropout": 0.1, "mlp_type": "default", "norm_type": "layer_norm", "residual_dropout": 0.1}

STARCODER2_RULES = [("norm.weight", normal(0.2, mean=1)), ("c_proj.weight", fan_in(0.5))] + PLAIN_RULES

OPT = {
    "_remove_final_layer_norm": False,
    "activation_dropout": 0.0,
    "activation_function": "relu",
    "attention_dropout": 0.0,
    "bos_token_id": 2,
    "do_layer_norm_before": True,
    "dropout": 0.1,
    "eos_token_id": 2,
    "ffn_dim": 64,
    "hidden_size": 32,
    "init_std": 0.02,
    "layerdrop": 0.0,
    "max_position_embeddings": 64,
    "model_type": "opt",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "pad_token_id": 1,
    "prefix": "</s>",
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "vocab_size": 128,
    "word_embed_proj_dim": 32,
}

OPT_RULES = [
    ("norm.weight", normal(0.2, mean=1)),
    (".bias", normal(0.1)),
    ("embed_tokens.weight", normal(0.3)),
    ("embed_positions.weight", normal(0.2)),
    ("out_proj.weight", fan_in(0.5)),
    ("fc2.weight", fan_in(0.5)),
]

COHERE = {
    key: value
    for key, value in config("cohere", attention_bias=False, hidden_size=64, layer_norm_eps=1e-05, logit_scale=0.5, pad_token_id=0).items()
    if key not in ("rms_norm_eps", "rope_theta", "tie_word_embeddings")
}

LAYER_NORM = {
    "falcon": decoder(
        "falcon",
        "FalconForCausalLM",
        "Attention and MLP side by side after one LayerNorm; one key-value head; fused projection; tied.",
        FALCON,
        FALCON_RULES,
    ),
    "falcon_new": decoder(
        "falcon_new",
        "FalconForCausalLM",
        "The newer layout: two LayerNorms side by side, grouped heads.",
        FALCON | {"new_decoder_architecture": True, "num_kv_heads": 2},
        FALCON_RULES,
        read_states=grouped_states(2),
    ),
    "falcon_sequential": decoder(
        "falcon_sequential",
        "FalconForCausalLM",
        "Attention before the MLP, every head with its own key and value, biases, a width of the MLP.",
        FALCON | {"bias": True, "ffn_hidden_size": 80, "multi_query": False, "parallel_attn": False},
        FALCON_RULES,
    ),
    "stablelm": decoder(
        "stablelm",
        "StableLmForCausalLM",
        "LayerNorm with bias; biases on q, k and v; half of each head rotated.",
        STABLELM | {"partial_rotary_factor": 0.5},
        STABLELM_RULES,
    ),
    "stablelm_parallel": decoder(
        "stablelm_parallel",
        "StableLmForCausalLM",
        "Attention and MLP side by side after one LayerNorm; a norm with its own weight on every query and key head; the rotated part left to its default, a quarter.",
        STABLELM | {"qk_layernorm": True, "use_parallel_residual": True, "use_qkv_bias": False},
        STABLELM_RULES,
    ),
    "gpt_neox": decoder(
        "gpt_neox",
        "GPTNeoXForCausalLM",
        "Attention and MLP side by side, each after its own LayerNorm; fused projection by heads; half of each head rotated, another base; untied.",
        GPT_NEOX | {"rotary_emb_base": 1000, "rotary_pct": 0.5},
        GPT_NEOX_RULES,
    ),
    "gpt_neox_sequential": decoder(
        "gpt_neox_sequential",
        "GPTNeoXForCausalLM",
        "Attention before the MLP, no biases of the attention, tied; the rotated part left to its default, a quarter.",
        GPT_NEOX
        | {"attention_bias": False, "hidden_act": "gelu_new", "tie_word_embeddings": True, "use_parallel_residual": False},
        [("embed_in.weight", normal(0.3))] + GPT_NEOX_RULES,
    ),
    "cohere": decoder(
        "cohere",
        "CohereForCausalLM",
        "Attention and MLP side by side after a LayerNorm without bias; adjacent pairs rotated, the base left to its default, 500,000; scaled logits; the tied head left to its default.",
        COHERE,
        [("embed_tokens.weight", normal(0.3))] + PLAIN_RULES,
    ),
    "cohere_norms": decoder(
        "cohere_norms",
        "CohereForCausalLM",
        "A norm with its own weight on every query and key head, biases of the attention, an untied head; the scale of the logits left to its default, 1 / 16.",
        {key: value for key, value in COHERE.items() if key != "logit_scale"}
        | {"attention_bias": True, "rope_theta": 1000.0, "tie_word_embeddings": False, "use_qk_norm": True},
        [("lm_head.weight", normal(1.5))] + PLAIN_RULES,
    ),
    "cohere2": decoder(
        "cohere2",
        "Cohere2ForCausalLM",
        "A window of 8 columns and a rotary embedding, its base left to its default, in the first layer; neither in the second.",
        COHERE | {"model_type": "cohere2", "sliding_window": 8, "sliding_window_pattern": 2},
        [("embed_tokens.weight", normal(0.3))] + PLAIN_RULES,
        plans=(SHORT, LONG),
    ),
    "phi": decoder(
        "phi",
        "PhiForCausalLM",
        "Attention and MLP side by side after one LayerNorm; biases everywhere, that of the head too; 6 of 16 dims of a head rotated.",
        PHI | {"partial_rotary_factor": 0.4},
        PHI_RULES,
    ),
    "phi_norms": decoder(
        "phi_norms",
        "PhiForCausalLM",
        "A norm on every query and key head, grouped heads, tied; the rotated part left to its default, a half.",
        PHI | {"num_key_value_heads": 2, "qk_layernorm": True, "tie_word_embeddings": True},
        [("embed_tokens.weight", normal(0.3))] + PHI_RULES,
    ),
    "starcoder2": decoder(
        "starcoder2",
        "Starcoder2ForCausalLM",
        "LayerNorm, a plain MLP, a window of 8 columns in every layer; biases everywhere and the tied head, both left to their defaults.",
        STARCODER2 | {"sliding_window": 8},
        [("embed_tokens.weight", normal(0.3))] + STARCODER2_RULES,
        plans=(SHORT, LONG),
    ),
    "starcoder2_options": decoder(
        "starcoder2_options",
        "Starcoder2ForCausalLM",
        "No biases but those of the norms, no window, exact GELU, an untied head.",
        STARCODER2 | {"hidden_act": "gelu", "tie_word_embeddings": False, "use_bias": False},
        STARCODER2_RULES,
    ),
    "opt": decoder(
        "opt",
        "OPTForCausalLM",
        "LayerNorm before attention and MLP, learned positions from row 2 on, ReLU, biases; the tied head left to its default.",
        OPT,
        OPT_RULES,
    ),
    "opt_post_norm": decoder(
        "opt_post_norm",
        "OPTForCausalLM",
        "LayerNorm after attention and MLP, none at the end; embeddings half as wide as the stream, projected in and out.",
        OPT | {"do_layer_norm_before": False, "word_embed_proj_dim": 16},
        OPT_RULES,
    ),
    "opt_options": decoder(
        "opt_options",
        "OPTForCausalLM",
        "The options that published files seldom set: norms without weights and none at the end, no biases, GELU, an untied head.",
        OPT
        | {
            "_remove_final_layer_norm": True,
            "activation_function": "gelu",
            "enable_bias": False,
            "layer_norm_elementwise_affine": False,
            "tie_word_embeddings": False,
        },
        OPT_RULES + PLAIN_RULES,
    ),
    "gpt2": decoder(
        "gpt2",
        "GPT2LMHeadModel",
        "LayerNorm, learned positions, fused biased projections stored [in, out], tied.",
        GPT2,
        GPT2_RULES,
    ),
    "gpt2_options": decoder(
        "gpt2_options",
        "GPT2LMHeadModel",
        "The options that published files seldom set: scores divided by the layer's number, a width of the MLP, exact GELU, an untied head.",
        GPT2
        | {"activation_function": "gelu", "n_inner": 48, "scale_attn_by_inverse_layer_idx": True, "tie_word_embeddings": False},
        GPT2_RULES + PLAIN_RULES,
    ),
    "gpt_bigcode": decoder(
        "gpt_bigcode",
        "GPTBigCodeForCausalLM",
        "One key-value head, weights stored [out, in]; the tied head left to its default.",
        GPT2 | {"activation_function": "gelu_pytorch_tanh", "model_type": "gpt_bigcode", "multi_query": True},
        [("c_proj.weight", fan_in(0.5))] + GPT2_RULES[:-3],
    ),
    "gpt_bigcode_heads": decoder(
        "gpt_bigcode_heads",
        "GPTBigCodeForCausalLM",
        "Every head with its own key and value, side by side in the fused projection; a width of the MLP, an untied head.",
        GPT2
        | {
            "activation_function": "gelu",
            "model_type": "gpt_bigcode",
            "multi_query": False,
            "n_inner": 48,
            "tie_word_embeddings": False,
        },
        [("c_proj.weight", fan_in(0.5))] + GPT2_RULES[:-3] + PLAIN_RULES,
    ),
}
