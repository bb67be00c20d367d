"""Reduced decoders with RMS norms, each with what distinguishes it; and what decoders of other kinds share with them."""

import transformers
from transformers import DynamicCache

from common import RUNS, fan_in, normal, save
from decoder import Plan, run_decoder

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
}
