"""Reduced decoders of state-space layers, each with what distinguishes it."""

import numpy as np

from common import RUNS, fan_in, normal
from decoder import INPUTS, Plan, states
from decoders import LONG, PLAIN_RULES, SHORT, decoder
from qwen3_5 import time_step

UNPADDED = Plan("unpadded", "12 columns, two rows; 2 decode steps", [12], (0, 0), 2)
CHUNKED = Plan("chunked", "Calls of 7 and 5 tokens, two rows; 2 decode steps", [7, 5], (0, 0), 2)
DRIFT = Plan("drift", "8 columns, one row; 60 decode steps, over which a state could lose digits", [8], (0,), 60)

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


STATE_SPACE = {
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
