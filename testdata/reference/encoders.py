"""Reduced models with an encoder: bert and its relatives alone, t5, bart and its relatives with their decoders."""

import numpy as np
import torch
import transformers

from common import Case, array, fan_in, generator, normal, run_all, save
from decoder import DRAWS, result, settled

BERT = {
    "attention_probs_dropout_prob": 0.1,
    "classifier_dropout": None,
    "gradient_checkpointing": False,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 32,
    "initializer_range": 0.02,
    "intermediate_size": 64,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 64,
    "model_type": "bert",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "torch_dtype": "bfloat16",
    "type_vocab_size": 2,
    "use_cache": True,
    "vocab_size": 128,
}

DISTILBERT = {
    "activation": "gelu",
    "attention_dropout": 0.1,
    "dim": 32,
    "dropout": 0.1,
    "hidden_dim": 64,
    "initializer_range": 0.02,
    "max_position_embeddings": 64,
    "model_type": "distilbert",
    "n_heads": 4,
    "n_layers": 2,
    "pad_token_id": 0,
    "qa_dropout": 0.1,
    "seq_classif_dropout": 0.2,
    "sinusoidal_pos_embds": False,
    "tie_weights_": True,
    "torch_dtype": "bfloat16",
    "vocab_size": 128,
}

BERT_RULES = [
    ("layer_norm.weight", normal(0.2, mean=1)),
    ("LayerNorm.weight", normal(0.2, mean=1)),
    (".bias", normal(0.1)),
    ("embeddings.weight", normal(0.5)),
]

T5 = {
    "d_ff": 64,
    "d_kv": 8,
    "d_model": 32,
    "decoder_start_token_id": 0,
    "dropout_rate": 0.1,
    "eos_token_id": 1,
    "feed_forward_proj": "relu",
    "initializer_factor": 1.0,
    "is_encoder_decoder": True,
    "layer_norm_epsilon": 1e-06,
    "model_type": "t5",
    "n_positions": 64,
    "num_decoder_layers": 2,
    "num_heads": 4,
    "num_layers": 2,
    "output_past": True,
    "pad_token_id": 0,
    "relative_attention_max_distance": 16,
    "relative_attention_num_buckets": 8,
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "vocab_size": 128,
}

T5_RULES = [
    ("layer_norm.weight", normal(0.2, mean=1)),
    ("relative_attention_bias.weight", normal(1)),
    ("Attention.q.weight", fan_in(T5["d_kv"] ** -0.5)),  # scores are not scaled
    ("shared.weight", normal(1)),
    ("Attention.o.weight", fan_in(0.5)),
    ("wo.weight", fan_in(0.5)),
    ("lm_head.weight", fan_in(1.5)),
]

BART = {
    "activation_dropout": 0.1,
    "activation_function": "gelu",
    "attention_dropout": 0.1,
    "bos_token_id": 0,
    "d_model": 32,
    "decoder_attention_heads": 2,
    "decoder_ffn_dim": 48,
    "decoder_layerdrop": 0.0,
    "decoder_layers": 3,
    "decoder_start_token_id": 2,
    "dropout": 0.1,
    "encoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "encoder_layerdrop": 0.0,
    "encoder_layers": 2,
    "eos_token_id": 2,
    "forced_eos_token_id": 2,
    "init_std": 0.02,
    "is_encoder_decoder": True,
    "max_position_embeddings": 64,
    "model_type": "bart",
    "normalize_before": False,
    "num_hidden_layers": 2,
    "pad_token_id": 1,
    "scale_embedding": False,
    "torch_dtype": "bfloat16",
    "use_cache": True,
    "vocab_size": 128,
}

BART_RULES = [
    ("layer_norm.weight", normal(0.2, mean=1)),
    ("layernorm_embedding.weight", normal(0.2, mean=1)),
    ("final_logits_bias", normal(0.5)),
    (".bias", normal(0.1)),
    ("shared.weight", normal(0.3)),
    ("embed_positions.weight", normal(0.3)),
    ("out_proj.weight", fan_in(0.5)),
    ("fc2.weight", fan_in(0.5)),
]


def padded_right(length, pads):
    mask = np.ones((len(pads), length), np.int64)
    for row, pad in enumerate(pads):
        mask[row, length - pad :] = 0
    return mask


def run_encoder(load, model, settings, name, pads, side="right", padding=None):
    """One call: 14 columns, rows of unequal length.

    With padding, masked columns hold that id, as a tokenizer leaves them, and so
    does one column that is not masked: the mask alone does not say what it is.
    """
    draw, mask = generator(model, name), padded_right(14, pads)
    if side == "left":
        mask = mask[:, ::-1].copy()
    given = {"input_ids": draw.integers(0, settings["vocab_size"], mask.shape), "attention_mask": mask}
    if padding is not None:
        given["input_ids"][mask == 0] = padding
        given["input_ids"][0, 6] = padding
    if settings.get("type_vocab_size", 0) > 1:
        given["token_type_ids"] = draw.integers(0, settings["type_vocab_size"], mask.shape)
    seen = mask.astype(bool)[:, :, None]

    def play(model, oracle):
        out = model(**{key: torch.from_numpy(value) for key, value in given.items()})
        return {"model": {"last_hidden_state": array(out.last_hidden_state)}}

    case = Case(name, f"14 columns, two rows with {pads} columns of {side} padding")
    case.step("encode", ["model"], run_all(load, play), {"model": given}, lambda _: seen, {"last_hidden_state"})
    return case


def encoder(name, architecture, description, settings, rules=BERT_RULES, padding=None):
    """The entry of MODELS for an encoder: every row sees every token of its own, before and after."""

    def make():
        load = save(name, getattr(transformers, architecture), {"architectures": [architecture]} | settings, rules)
        cases = [("whole", (0, 0)), ("padded", (0, 5)), ("left", (4, 0), "left")]
        return {
            "name": name,
            "architecture": architecture,
            "description": description,
            "storage": "bfloat16",
            "cases": [run_encoder(load, name, settings, *case, padding=padding) for case in cases],
        }

    return make


def encoder_decoder_states(cache):
    values = {}
    for part, layers in (("self", cache.self_attention_cache.layers), ("cross", cache.cross_attention_cache.layers)):
        for i, layer in enumerate(layers):
            values[f"present.{i}.{part}.key"], values[f"present.{i}.{part}.value"] = (
                array(layer.keys),
                array(layer.values),
            )
    return values


def run_seq2seq(load, settings, name="short", target_length=5, positions=False):
    """A padded source of 20 columns, a target prompt, then 2 decode steps.

    With positions the decoder's graph is given those of its tokens, which the
    reference counts by itself.
    """
    mask, lengths = padded_right(20, (0, 6)), [target_length, 1, 1]

    def play(model, oracle):
        cache, encoded, results = None, None, []
        for n in range(len(lengths)):
            ids = (oracle or results)[n - 1]["next"] if n else target
            out = model(
                input_ids=torch.from_numpy(source) if n == 0 else None,
                encoder_outputs=encoded,
                attention_mask=torch.from_numpy(mask),
                decoder_input_ids=torch.from_numpy(ids),
                cache=cache,
                use_cache=True,
            )
            cache, encoded = out.cache, (out.encoder_last_hidden_state,)
            values = {"logits": array(out.logits)} | {k: v.copy() for k, v in encoder_decoder_states(cache).items()}
            given = {"decoder": {"input_ids": ids, "encoder_attention_mask": mask}}
            if positions:
                place = np.arange(ids.shape[1]) + sum(lengths[:n])
                given["decoder"]["position_ids"] = np.broadcast_to(place, ids.shape).astype(np.int64)
            components = {"decoder": values}
            if n == 0:
                given["encoder"] = {"input_ids": source, "attention_mask": mask}
                components["encoder"] = {"encoder_hidden_states": array(out.encoder_last_hidden_state)}
            results.append(result(given, components, values["logits"], np.ones(ids.shape)))
        return results

    for attempt in range(DRAWS):
        draw = generator(settings["model_type"], str(attempt))
        source = draw.integers(0, settings["vocab_size"], mask.shape)
        target = draw.integers(0, settings["vocab_size"], (len(mask), lengths[0]))
        target[:, 0] = settings["decoder_start_token_id"]
        played = run_all(load, play)
        if settled(played, load, play):
            break
    else:
        raise ValueError(f"{name}: no settled prompt")

    def valid(name):
        if name == "encoder_hidden_states":
            return mask.astype(bool)[:, :, None]
        if ".cross." in name:
            return mask.astype(bool)[:, None, :, None]
        return np.ones((1,), bool)

    case = Case(
        name,
        "A source of 20 columns, two rows, the second with 6 columns of right padding; "
        f"{target_length} target tokens; 2 decode steps",
    )
    for n, oracle in enumerate(played["float64"]):
        case.step(
            "decode" if n else "prefill",
            ["decoder"] if n else ["encoder", "decoder"],
            {run: steps[n]["components"] for run, steps in played.items()},
            oracle["given"],
            valid,
            {"logits", "encoder_hidden_states"} | ({"key", "value"} if n == len(lengths) - 1 else set()),
        )
        case.tensors[f"step{n}.greedy"] = oracle["next"][:, 0]
    return case


def seq2seq(
    name, architecture, description, settings, rules, untie=None, cases=(("short", 5),), positions=False, computed=()
):
    """The entry of MODELS for an encoder-decoder of text; cases are names and target lengths.

    computed names tensors that published checkpoints of the model lack, as the
    reference once left them out: it makes them when it loads one.
    """

    def make():
        built = getattr(transformers, architecture)
        if computed:
            built._keys_to_ignore_on_save = list(computed)
            built._keys_to_ignore_on_load_missing = [*built._keys_to_ignore_on_load_missing, *computed]
        load = save(name, built, {"architectures": [architecture]} | settings, rules, untie)
        return {
            "name": name,
            "architecture": architecture,
            "description": description,
            "storage": "bfloat16",
            "cases": [run_seq2seq(load, settings, *case, positions=positions) for case in cases],
        }

    return make


def t5(name, description, untie=None, cases=(("short", 5),), **changes):
    return seq2seq(name, "T5ForConditionalGeneration", description, T5 | changes, T5_RULES, untie, cases)


def bart(name, description, **changes):
    return seq2seq(name, "BartForConditionalGeneration", description, BART | changes, BART_RULES, positions=True)


ENCODERS = {
    "bert": encoder(
        "bert", "BertModel", "Post-norm bidirectional encoder with learned positions and token types.", BERT
    ),
    "roberta": encoder(
        "roberta",
        "RobertaModel",
        "Positions that count the tokens that are not padding; one token type.",
        BERT | {"layer_norm_eps": 1e-05, "model_type": "roberta", "pad_token_id": 3, "type_vocab_size": 1},
        padding=3,
    ),
    "xlm_roberta": encoder(
        "xlm_roberta",
        "XLMRobertaModel",
        "The same with token types, and the id of padding left to its default, 1.",
        {key: value for key, value in BERT.items() if key not in ("pad_token_id", "position_embedding_type")}
        | {"layer_norm_eps": 1e-05, "model_type": "xlm-roberta"},
        padding=1,
    ),
    "distilbert": encoder("distilbert", "DistilBertModel", "Other names; no token types.", DISTILBERT),
    "t5": t5(
        "t5",
        "Bucketed relative bias, unscaled scores, ReLU, tied and scaled head.",
        cases=(("short", 5), ("long", 24)),  # further than the last bucket begins
    ),
    "t5_depth": t5(
        "t5_depth",
        "A decoder deeper than the encoder, SiLU.",
        feed_forward_proj="silu",
        num_decoder_layers=3,
        num_layers=1,
    ),
    "t5_gated": t5(
        "t5_gated",
        "Gated GELU; the head has its own weights and is not scaled.",
        untie="lm_head",
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
    ),
    "bart": bart(
        "bart",
        "Learned positions from row 2 on, a norm after the embeddings and after every branch, a decoder deeper than the encoder, a bias of the logits; the tied head left to its default.",
    ),
    "bart_options": bart(
        "bart_options",
        "Scaled embeddings, ReLU.",
        activation_function="relu",
        decoder_layers=1,
        encoder_layers=1,
        num_hidden_layers=1,
        scale_embedding=True,
    ),
    "mbart": seq2seq(
        "mbart",
        "MBartForConditionalGeneration",
        "Norms before every branch and at the end of encoder and decoder; scaled embeddings, ReLU.",
        BART
        | {
            "activation_function": "relu",
            "add_final_layer_norm": True,
            "model_type": "mbart",
            "normalize_before": True,
            "scale_embedding": True,
        },
        [("shared.weight", normal(0.15))] + BART_RULES,
        positions=True,
    ),
    "pegasus": seq2seq(
        "pegasus",
        "PegasusForConditionalGeneration",
        "Norms before every branch and at the end; sines and cosines of the positions, no norm after the embeddings.",
        BART
        | {
            "activation_function": "relu",
            "add_final_layer_norm": True,
            "model_type": "pegasus",
            "normalize_before": True,
            "normalize_embedding": False,
            "static_position_embeddings": True,
        },
        BART_RULES,
        positions=True,
        computed=[f"model.{part}.embed_positions.weight" for part in ("encoder", "decoder")],
    ),
    "marian": seq2seq(
        "marian",
        "MarianMTModel",
        "Sines and cosines of the positions, no norm after the embeddings, which are scaled; SiLU, a bias of the logits.",
        BART
        | {
            "activation_function": "swish",
            "decoder_vocab_size": 128,
            "model_type": "marian",
            "scale_embedding": True,
            "share_encoder_decoder_embeddings": True,
            "static_position_embeddings": True,
        },
        [("shared.weight", normal(0.15))] + BART_RULES,
        cases=(("short", 5), ("long", 24)),
        positions=True,
    ),
}
