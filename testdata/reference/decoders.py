"""Reduced decoders of other architectures, each with what distinguishes it."""

import numpy as np
import transformers
from transformers import DynamicCache

from common import RUNS, fan_in, normal, save
from decoder import INPUTS, Plan, run_decoder, states
from qwen3_5 import time_step

PLAIN_RULES = [
    ("norm.weight", normal(0.2, mean=1)),
    (".bias", normal(0.1)),
    ("embed_tokens.weight", normal(0.7)),
    ("o_proj.weight", fan_in(0.5)),
    ("down_proj.weight", fan_in(0.5)),
    ("lm_head.weight", fan_in(1.5)),
]


def config(model_type, **changes):
    """A configuration with the keys that published files of these architectures share, reduced."""
    shared = {
        "attention_dropout": 0.0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "hidden_act": "silu",
        "hidden_size": 32,
        "initializer_range": 0.02,
        "intermediate_size": 64,
        "max_position_embeddings": 128,
        "model_type": model_type,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-06,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "use_cache": True,
        "vocab_size": 128,
    }
    return shared | changes


SHORT = Plan(
    "short", "12 columns, two rows, the second with 3 columns of left padding; 2 decode steps", [12], (0, 3), 2
)
LONG = Plan("long", "24 columns, two rows, the first with 4 columns of left padding; 2 decode steps", [24], (4, 0), 2)
CROSSING = Plan(
    "crossing",
    "13 columns, two rows, the second with 3 columns of left padding; 6 decode steps, of which the fourth is the first beyond 16 positions",
    [13],
    (0, 3),
    6,
)
UNPADDED = Plan("unpadded", "12 columns, two rows; 2 decode steps", [12], (0, 0), 2)
CHUNKED = Plan("chunked", "Calls of 7 and 5 tokens, two rows; 2 decode steps", [7, 5], (0, 0), 2)

DRIFT = Plan("drift", "8 columns, one row; 60 decode steps, over which a state could lose digits", [8], (0,), 60)


def decoder(name, architecture, description, settings, rules=PLAIN_RULES, plans=(SHORT,), stacked=False, **how):
    """The entry of MODELS for a decoder: a function that generates it."""

    def make():
        built = getattr(transformers, architecture)
        load = save(name, built, {"architectures": [architecture]} | settings, rules, stacked=stacked)
        how.setdefault("new_cache", DynamicCache)  # keeps every column, in sliding layers too
        return {
            "name": name,
            "architecture": architecture,
            "description": description,
            "storage": "bfloat16",
            "cases": [run_decoder(plan, load, settings["vocab_size"], **how) for plan in plans],
        }

    return make


def llama(name, description, scaling, plans=(SHORT, LONG), **changes):
    """A llama whose rotary embedding is scaled; trained for 16 positions, which the long case exceeds."""
    settings = config(
        "llama", attention_bias=False, mlp_bias=False, pretraining_tp=1, rope_scaling=scaling, rms_norm_eps=1e-5
    )
    return decoder(name, "LlamaForCausalLM", description, settings | changes, plans=plans)


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

MAMBA_RULES = [
    ("norm.weight", normal(0.2, mean=1)),
    ("norm_f.weight", normal(0.2, mean=1)),
    ("A_log", lambda draw, shape: np.log(np.broadcast_to(np.arange(1, shape[1] + 1), shape))),
    ("mixer.D", normal(0.2, mean=1)),
    ("dt_proj.bias", time_step),
    ("conv1d.weight", normal(0.5)),
    (".bias", normal(0.1)),
    ("embeddings.weight", normal(0.3)),
    ("out_proj.weight", fan_in(0.5)),
]

GEMMA_RULES = [("norm.weight", normal(0.3)), ("embed_tokens.weight", normal(0.2))] + PLAIN_RULES

GEMMA3 = {
    key: value
    for key, value in config(
        "gemma3_text",
        attention_bias=False,
        head_dim=16,
        hidden_activation="gelu_pytorch_tanh",
        num_hidden_layers=3,
        pad_token_id=0,
        query_pre_attn_scalar=24,
        sliding_window=8,
        tie_word_embeddings=True,
    ).items()
    if key not in ("hidden_act", "rope_theta")
}

GEMMA4 = {key: value for key, value in GEMMA3.items() if key != "query_pre_attn_scalar"} | {
    "enable_moe_block": False,
    "global_head_dim": 32,
    "hidden_size": 64,  # a branch that is small by chance is magnified by the norm after it; the wider, the rarer
    "hidden_size_per_layer_input": 0,
    "layer_types": ["sliding_attention", "full_attention"],
    "model_type": "gemma4_text",
    "num_hidden_layers": 2,
    "num_kv_shared_layers": 0,
    "rope_parameters": {
        "full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1000.0, "rope_type": "proportional"},
        "sliding_attention": {"rope_theta": 100.0, "rope_type": "default"},
    },
    "use_bidirectional_attention": "vision",
}

GEMMA4_RULES = [
    ("q_norm.weight", normal(0.05, mean=0.5)),  # scores are not scaled
    ("k_norm.weight", normal(0.05, mean=0.5)),
    ("layer_scalar", normal(0.1, mean=0.8)),
    ("embed_tokens.weight", normal(0.2)),
] + PLAIN_RULES


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


def mamba_states(cache):
    """The states under the graphs' names: the recurrent state of a state-space layer is ssm_state."""
    return {name.replace("recurrent_state", "ssm_state"): value for name, value in states(cache).items()}


MAMBA = {
    "bos_token_id": 0,
    "conv_kernel": 4,
    "eos_token_id": 0,
    "expand": 2,
    "hidden_act": "silu",
    "hidden_size": 32,
    "initializer_range": 0.1,
    "intermediate_size": 64,
    "layer_norm_epsilon": 1e-05,
    "model_type": "mamba",
    "num_hidden_layers": 2,
    "pad_token_id": 0,
    "rescale_prenorm_residual": False,
    "residual_in_fp32": True,
    "state_size": 8,
    "time_step_rank": 4,
    "torch_dtype": "bfloat16",
    "use_bias": False,
    "use_cache": True,
    "use_conv_bias": True,
    "vocab_size": 128,
}


def mamba(name, description, plans=(SHORT,), architecture="MambaForCausalLM", **changes):
    """The entry of MODELS for a decoder of state-space layers."""
    return decoder(
        name,
        architecture,
        description,
        MAMBA | changes,
        MAMBA_RULES + PLAIN_RULES,
        plans,
        new_cache=None,
        read_states=mamba_states,
        inputs=INPUTS[:2],
        runs=RUNS[:3],  # there is no attention to fuse
        one_by_one=True,
    )


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

LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
    "rope_type": "llama3",
}
YARN = {"factor": 4.0, "original_max_position_embeddings": 16, "rope_type": "yarn"}
YARN_FULL = YARN | {"beta_fast": 4.0, "beta_slow": 0.5, "mscale": 0.8, "mscale_all_dim": 0.5, "truncate": False}
LONGROPE = {
    "long_factor": [1.07, 1.8, 5.91, 14.6],
    "short_factor": [1.0, 1.1, 1.35, 2.0],
    "type": "longrope",
}
QWEN_WINDOW = {"max_window_layers": 2, "sliding_window": None, "use_sliding_window": False}

DECODERS = {
    "llama": llama("llama", "Plain rotary embedding.", None),
    "llama_linear": llama("llama_linear", "Positions divided by a factor.", {"factor": 4.0, "rope_type": "linear"}),
    "llama_dynamic": llama(
        "llama_dynamic",
        "The rotary base grows with the length once it exceeds the trained one.",
        {"factor": 4.0, "rope_type": "dynamic"},
        plans=(SHORT, LONG, CROSSING),
        max_position_embeddings=16,
    ),
    "llama_llama3": llama("llama_llama3", "Frequencies scaled by wavelength.", LLAMA3),
    "llama_yarn": llama(
        "llama_yarn", "Frequencies blended by rotations, and an attention factor.", YARN, max_position_embeddings=64
    ),
    "llama_yarn_full": llama(
        "llama_yarn_full",
        "The same with every option stated: where the blend begins and ends, unrounded, and two scales.",
        YARN_FULL,
        plans=(LONG,),
        max_position_embeddings=64,
    ),
    "llama_bias": llama(
        "llama_bias",
        "Biases on all projections, embedding and head tied.",
        None,
        attention_bias=True,
        mlp_bias=True,
        tie_word_embeddings=True,
    ),
    "qwen2": decoder(
        "qwen2",
        "Qwen2ForCausalLM",
        "Biases on q, k and v; embedding and head tied.",
        config("qwen2", tie_word_embeddings=True, **QWEN_WINDOW),
        [("embed_tokens.weight", normal(0.3))] + PLAIN_RULES,
    ),
    "qwen2_window": decoder(
        "qwen2_window",
        "Qwen2ForCausalLM",
        "A window of 8 columns from the second of three layers on.",
        config("qwen2", max_window_layers=1, num_hidden_layers=3, sliding_window=8, use_sliding_window=True),
        plans=(SHORT, LONG),
    ),
    "qwen3": decoder(
        "qwen3",
        "Qwen3ForCausalLM",
        "A norm on every query and key head; heads wider than hidden / heads.",
        config("qwen3", attention_bias=False, head_dim=16, rope_scaling=None, **QWEN_WINDOW),
    ),
    "phi3": decoder(
        "phi3",
        "Phi3ForCausalLM",
        "Fused projections; partial rotary with short and long factors; a window of 14 columns.",
        config(
            "phi3",
            embd_pdrop=0.0,
            hidden_size=64,
            original_max_position_embeddings=16,
            pad_token_id=0,
            partial_rotary_factor=0.5,
            resid_pdrop=0.0,
            rope_scaling=LONGROPE,
            sliding_window=14,
        ),
        plans=(SHORT, LONG, CROSSING),
    ),
    "mistral": decoder(
        "mistral",
        "MistralForCausalLM",
        "A window of 8 columns in every layer.",
        config("mistral", sliding_window=8),
        plans=(SHORT, LONG),
    ),
    "olmo": decoder(
        "olmo",
        "OlmoForCausalLM",
        "LayerNorm without weights; queries, keys and values clipped.",
        {
            key: value
            for key, value in config("olmo", attention_bias=False, clip_qkv=0.75, pad_token_id=1, rope_scaling=None).items()
            if key != "rms_norm_eps"
        },
    ),
    "olmo2": decoder(
        "olmo2",
        "Olmo2ForCausalLM",
        "Norms after attention and MLP, inside the residual; norms over the whole query and key projections.",
        config("olmo2", attention_bias=False, rms_norm_eps=1e-05, rope_scaling=None),
    ),
    "gemma": decoder(
        "gemma",
        "GemmaForCausalLM",
        "Offset norms, scaled embedding; one key-value head, wider than hidden / heads; a gelu that means its approximation; the tied head left to its default.",
        {
            key: value
            for key, value in config(
                "gemma", attention_bias=False, head_dim=16, hidden_act="gelu", hidden_activation=None, num_key_value_heads=1, pad_token_id=0
            ).items()
            if key != "tie_word_embeddings"
        },
        GEMMA_RULES,
    ),
    "gemma_options": decoder(
        "gemma_options",
        "GemmaForCausalLM",
        "The options that published files seldom set: biases of the attention, an untied head, another activation.",
        config("gemma", attention_bias=True, head_dim=16, hidden_act="silu", pad_token_id=0),
        GEMMA_RULES,
    ),
    "gemma2": decoder(
        "gemma2",
        "Gemma2ForCausalLM",
        "Four offset norms, capped scores and logits, a window of 8 columns in the first layer, scaled tied embedding.",
        config(
            "gemma2",
            attention_bias=False,
            attn_logit_softcapping=5.0,
            final_logit_softcapping=3.0,
            head_dim=16,
            hidden_activation="gelu_pytorch_tanh",
            hidden_act="gelu_pytorch_tanh",
            pad_token_id=0,
            query_pre_attn_scalar=24,
            sliding_window=8,
            tie_word_embeddings=True,
        ),
        GEMMA_RULES,
        plans=(SHORT, LONG),
        runs=RUNS[:3],  # the fused attention has no softcap
    ),
    "gemma3": decoder(
        "gemma3",
        "Gemma3ForCausalLM",
        "Offset norms on every query and key head; a window of 8 columns in the first two of three layers; a rotary embedding for each kind of layer, positions divided in the third, both bases left to their defaults.",
        GEMMA3 | {"rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window_pattern": 3},
        GEMMA_RULES,
        plans=(SHORT, LONG),
    ),
    "gemma3_options": decoder(
        "gemma3_options",
        "Gemma3ForCausalLM",
        "The layout that is saved today, a rope record for each kind of layer, the first without a window; biases, capped logits, an untied head.",
        GEMMA3
        | {
            "attention_bias": True,
            "final_logit_softcapping": 3.0,
            "layer_types": ["full_attention", "sliding_attention"],
            "num_hidden_layers": 2,
            "rope_parameters": {
                "full_attention": {"factor": 4.0, "rope_theta": 500.0, "rope_type": "linear"},
                "sliding_attention": {"rope_theta": 100.0, "rope_type": "default"},
            },
            "tie_word_embeddings": False,
        },
        GEMMA_RULES,
        plans=(LONG,),
    ),
    "smollm3": decoder(
        "smollm3",
        "SmolLM3ForCausalLM",
        "No rotary embedding in the third of three layers; the base of the others left to its default, as is the tied head.",
        {
            key: value
            for key, value in config("smollm3", no_rope_layer_interval=3, num_hidden_layers=3, pad_token_id=0).items()
            if key not in ("rope_theta", "tie_word_embeddings")
        },
        [("embed_tokens.weight", normal(0.3))] + PLAIN_RULES,
        plans=(SHORT, LONG),
    ),
    "smollm3_window": decoder(
        "smollm3_window",
        "SmolLM3ForCausalLM",
        "A list of the layers with a rotary embedding; a window of 8 columns in the one without; biases, an untied head.",
        config(
            "smollm3",
            attention_bias=True,
            mlp_bias=True,
            no_rope_layers=[0, 1],
            pad_token_id=0,
            sliding_window=8,
            use_sliding_window=True,
        ),
        plans=(LONG,),
    ),
    "granite": decoder(
        "granite",
        "GraniteForCausalLM",
        "Factors of the embedding, the scores, the branches and the logits.",
        config(
            "granite",
            attention_bias=False,
            attention_multiplier=0.2,
            embedding_multiplier=12.0,
            logits_scaling=3.0,
            mlp_bias=False,
            residual_multiplier=0.22,
        ),
        [("embed_tokens.weight", normal(0.1))] + PLAIN_RULES,
    ),
    "gemma4": decoder(
        "gemma4",
        "Gemma4ForCausalLM",
        "A window of 8 columns in the first layer; wider heads and fewer of keys in the second, where values are the keys before norm and rotation and a quarter of the pairs turns, at the pace of the whole head; norms on values, scores not scaled, a factor on each layer.",
        GEMMA4 | {"attention_k_eq_v": True, "final_logit_softcapping": 3.0, "num_global_key_value_heads": 1},
        GEMMA4_RULES,
        plans=(SHORT, LONG),
    ),
    "gemma4_values": decoder(
        "gemma4_values",
        "Gemma4ForCausalLM",
        "A value projection in every layer, biases, an untied head, and no cap.",
        GEMMA4 | {"attention_bias": True, "attention_k_eq_v": False, "tie_word_embeddings": False},
        GEMMA4_RULES,
    ),
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
    "mamba": mamba("mamba", "Selective state-space mixer; no positions; tied.", plans=(UNPADDED, SHORT, CHUNKED, DRIFT)),
    "mamba_options": mamba(
        "mamba_options",
        "The options that published files seldom set: biases of the projections, none of the convolution, a residual in the model's dtype, an untied head.",
        residual_in_fp32=False,
        tie_word_embeddings=False,
        use_bias=True,
        use_conv_bias=False,
    ),
    "falcon_mamba": mamba(
        "falcon_mamba",
        "Norms without weights on the time steps, B and C of the mixer; an untied head.",
        plans=(UNPADDED, SHORT, CHUNKED, LONG),
        architecture="FalconMambaForCausalLM",
        mixer_rms_eps=1e-3,
        model_type="falcon_mamba",
        tie_word_embeddings=False,
    ),
}
