"""Reduced speech models: an encoder of log-mel frames, and a decoder that attends to it."""

import numpy as np
import torch
import transformers

from common import Case, array, exact, fan_in, generator, normal, run_all, save
from decoder import DRAWS, Plan, positions, result, settled, validity
from decoders import SHORT
from encoders import encoder_decoder_states

WHISPER = {
    "activation_function": "gelu",
    "architectures": ["WhisperForConditionalGeneration"],
    "bos_token_id": 1,
    "d_model": 32,
    "decoder_attention_heads": 2,
    "decoder_ffn_dim": 48,
    "decoder_layers": 3,
    "decoder_start_token_id": 2,
    "dropout": 0.0,
    "encoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "encoder_layers": 2,
    "eos_token_id": 1,
    "init_std": 0.02,
    "is_encoder_decoder": True,
    "max_source_positions": 20,
    "max_target_positions": 32,
    "model_type": "whisper",
    "num_mel_bins": 10,
    "pad_token_id": 1,
    "scale_embedding": False,
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "vocab_size": 128,
}

WHISPER_RULES = [
    ("layer_norm.weight", normal(0.2, mean=1)),
    (".bias", normal(0.1)),
    ("embed_tokens.weight", normal(0.5)),
    ("embed_positions.weight", normal(0.5)),
    ("out_proj.weight", fan_in(0.5)),
    ("fc2.weight", fan_in(0.5)),
]


def shorten(encoder, source):
    """Lets the encoder take 2 * source frames: the reference insists on as many as its table has rows for."""
    encoder.embed_positions = torch.nn.Embedding.from_pretrained(encoder.embed_positions.weight[:source])
    encoder.config.max_source_positions = source


def run_speech(load, config, plan, source):
    """The encoder once, over 2 * source frames, then the decoder's calls of a plan."""
    mask, place = plan.mask(), positions(plan.mask())

    def play(model, oracle):
        shorten(model.model.encoder, source)
        cache, encoded, results, start = None, None, [], 0
        for n, (_, length) in enumerate(plan.calls):
            ids, end = (oracle or results)[n - 1]["next"] if n else prompt, start + length
            given = {"input_ids": ids, "attention_mask": mask[:, :end], "position_ids": place[:, start:end]}
            out = model(
                input_features=torch.from_numpy(sound).to(model.dtype) if n == 0 else None,
                encoder_outputs=encoded,
                decoder_input_ids=torch.from_numpy(ids),
                decoder_attention_mask=torch.from_numpy(given["attention_mask"]),
                decoder_position_ids=torch.from_numpy(given["position_ids"]),
                cache=cache,
                use_cache=True,
            )
            cache, encoded = out.cache, (out.encoder_last_hidden_state,)
            # The next call updates the cache in place: copy.
            values = {"logits": array(out.logits)} | {k: v.copy() for k, v in encoder_decoder_states(cache).items()}
            inputs, components = {"decoder": given}, {"decoder": values}
            if n == 0:
                inputs["encoder"] = {"input_features": sound}
                components["encoder"] = {"encoder_hidden_states": array(out.encoder_last_hidden_state)}
            else:  # not read: the cross caches hold what is needed of it
                given["encoder_hidden_states"] = np.zeros(out.encoder_last_hidden_state.shape, np.float32)
            results.append(result(inputs, components, values["logits"], mask[:, start:end]))
            start = end
        return results

    for attempt in range(DRAWS):
        draw = generator("speech", plan.name, str(attempt))
        sound = exact(draw.normal(0, 1, (len(mask), config["num_mel_bins"], 2 * source)))
        prompt = draw.integers(0, config["vocab_size"], (len(mask), plan.prompts[0]))
        played = run_all(load, play)
        if settled(played, load, play):
            break
    else:
        raise ValueError(f"{plan.name}: no settled prompt")

    case, end = Case(plan.name, f"{2 * source} frames. Decoder: {plan.description}"), 0
    for n, (call, length) in enumerate(plan.calls):
        end, oracle = end + length, played["float64"][n]
        decoded = validity(mask[:, :end], length)
        case.step(
            call,
            ["decoder"] if n else ["encoder", "decoder"],
            {run: steps[n]["components"] for run, steps in played.items()},
            oracle["given"],
            lambda name, decoded=decoded: np.ones((1,), bool) if ".cross." in name else decoded(name),
            plan.keep(n) | {"encoder_hidden_states"},
        )
        case.tensors[f"step{n}.greedy"] = oracle["next"][:, 0]
    return case


def whisper(name, description, untie=None, cases=((SHORT, 20),), **changes):
    """The entry of MODELS for a speech model; cases are plans and how many positions the encoder puts out."""

    def make():
        config = WHISPER | changes
        load = save(name, transformers.WhisperForConditionalGeneration, config, WHISPER_RULES, untie)
        return {
            "name": name,
            "architecture": "WhisperForConditionalGeneration",
            "description": description,
            "storage": "bfloat16",
            "cases": [run_speech(load, config, *case) for case in cases],
        }

    return make


BRIEF = Plan("brief", "4 columns, two rows, no padding; 2 decode steps", [4], (0, 0), 2)

SPEECH = {
    "whisper": whisper(
        "whisper",
        "Two convolutions, GELU, a decoder deeper than the encoder, a tied head.",
        cases=((SHORT, 20), (BRIEF, 9)),
    ),
    "whisper_untied": whisper(
        "whisper_untied",
        "ReLU in the layers, GELU after the convolutions, a head of its own.",
        untie="proj_out",
        activation_function="relu",
        decoder_layers=1,
        encoder_layers=1,
        tie_word_embeddings=False,
    ),
}
