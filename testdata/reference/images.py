"""Reduced vision-language models whose images all have one size, and a fixed number of tokens each."""

import numpy as np
import torch
from transformers import DynamicCache, Gemma3ForConditionalGeneration

from common import Case, array, fan_in, generator, normal, run_all, save
from decoder import DRAWS, Plan, positions, result, settled, states, validity
from decoders import GEMMA3, GEMMA_RULES

TOKENS = {"image_token_index": 150, "boi_token_index": 151, "eoi_token_index": 152}
WORDS = 150  # ids under this are text

IMAGE = "image"  # with the tokens that a processor puts around it
BARE = "bare"  # without: what stands side by side is one run of placeholders


class ImagePlan(Plan):
    """The calls of a case: rows of text (numbers of tokens) and images, padded on the left.

    first is the number of columns of the first call, where the prompt comes in two.
    """

    def __init__(self, name, description, rows, tokens, first=None, decode=2):
        self.rows, self.tokens = rows, tokens
        laid = [self.layout(parts, generator("ids", name, str(i), "0"))[0] for i, parts in enumerate(rows)]
        total = max(map(len, laid))
        prompts = [total] if first is None else [first, total - first]
        super().__init__(name, description, prompts, [total - len(ids) for ids in laid], decode)

    def layout(self, parts, draw):
        """Token ids of a row, and the column in which each image begins."""
        ids, starts = [], []
        for part in parts:
            if isinstance(part, int):
                ids += list(draw.integers(0, WORDS, part))
                continue
            around = part == IMAGE
            ids += [TOKENS["boi_token_index"]] * around
            starts.append(len(ids))
            ids += [TOKENS["image_token_index"]] * self.tokens + [TOKENS["eoi_token_index"]] * around
        return ids, starts

    def lay(self, draw):
        """Prompt ids [batch, columns], and the column of every image, in placeholder order."""
        ids = generator("padding", self.name, str(draw)).integers(0, WORDS, (len(self.rows), sum(self.prompts)))
        columns = []
        for i, (parts, pad) in enumerate(zip(self.rows, self.pads, strict=True)):
            ids[i, pad:], starts = self.layout(parts, generator("ids", self.name, str(i), str(draw)))
            columns += [pad + start for start in starts]
        return ids, columns


def draw_pixels(config, count, *names):
    """Images [count, channels, size, size], as a processor scales 8-bit pixels."""
    c = config["vision_config"]
    raw = generator("pixels", *names).integers(0, 256, (count, c["num_channels"], c["image_size"], c["image_size"]))
    return ((raw / 255 - 0.5) / 0.5).astype(np.float32)


def call_reference(model, ids, types, mask, place, cache, pixels):
    """One call of the reference. Returns ({component: values}, cache).

    types [batch, columns so far] says which tokens are of images; None: none.
    """
    seen = {}
    hook = model.model.language_model.register_forward_pre_hook(
        lambda module, args, kwargs: seen.update(kwargs), with_kwargs=True
    )
    out = model(
        input_ids=torch.from_numpy(ids),
        pixel_values=torch.from_numpy(pixels) if len(pixels) else None,
        attention_mask=torch.from_numpy(mask),
        token_type_ids=None if types is None else torch.from_numpy(types),
        position_ids=torch.from_numpy(place),
        cache=cache,
        use_cache=True,
    )
    hook.remove()
    components = {"embedding": {"inputs_embeds": array(seen["inputs_embeds"])}}
    if len(pixels):
        features = array(out.image_outputs.pooler_output)
        components["vision_encoder"] = {"image_features": features.reshape(-1, features.shape[-1])}
    values = {"logits": array(out.logits)} | states(out.cache)
    components["decoder"] = {name: value.copy() for name, value in values.items()}
    return components, out.cache


def run_images(plan, load, config):
    """Runs a plan in every dtype, drawing text and pixels anew until it is settled. Returns the Case."""
    mask = plan.mask()
    place = positions(mask)

    def play(model, oracle):
        cache, results, start = DynamicCache(), [], 0  # keeps every column, in sliding layers too
        for n, (call, length) in enumerate(plan.calls):
            ids, types, end = (oracle or results)[n - 1]["next"] if n else None, None, start + length
            inside = []
            if call != "decode":
                ids = prompt[:, start:end]
                types = (prompt[:, :end] == TOKENS["image_token_index"]).astype(np.int64)
                inside = [i for i, column in enumerate(columns) if start <= column < end]
            components, cache = call_reference(
                model, ids, types, mask[:, :end], place[:, start:end], cache, pixels[inside]
            )
            results.append(
                result(ids, components, components["decoder"]["logits"], mask[:, start:end]) | {"inside": inside}
            )
            start = end
        return results

    for draw in range(DRAWS):
        prompt, columns = plan.lay(draw)
        pixels = draw_pixels(config, len(columns), plan.name, str(draw))
        runs = run_all(load, play)
        if settled(runs, load, play):
            break
    else:
        raise ValueError(f"{plan.name}: no settled prompt")

    case, start = Case(plan.name, plan.description), 0
    for n, (call, length) in enumerate(plan.calls):
        end, oracle = start + length, runs["float64"][n]
        inputs = {
            "embedding": {"input_ids": oracle["given"]},
            "decoder": {"attention_mask": mask[:, :end], "position_ids": place[:, start:end]},
        }
        if inside := oracle["inside"]:
            inputs["vision_encoder"] = {"pixel_values": pixels[inside]}
        case.step(
            call,
            [name for name in ("vision_encoder", "embedding", "decoder") if name in inputs],
            {run: steps[n]["components"] for run, steps in runs.items()},
            inputs,
            validity(mask[:, :end], length),
            plan.keep(n) | {"image_features", "inputs_embeds"},
        )
        case.tensors[f"step{n}.greedy"] = oracle["next"][:, 0]
        start = end
    return case


VISION = {
    "hidden_size": 48,
    "image_size": 34,  # 8 patches and a rest
    "intermediate_size": 64,
    "model_type": "siglip_vision_model",
    "num_attention_heads": 2,
    "num_channels": 3,
    "num_hidden_layers": 2,
    "patch_size": 4,
    "vision_use_head": False,
}

RULES = [
    ("layer_norm1.weight", normal(0.2, mean=1)),
    ("layer_norm2.weight", normal(0.2, mean=1)),
    ("layernorm.weight", normal(0.2, mean=1)),
    ("position_embedding.weight", normal(0.3)),
    ("in_proj_bias", normal(0.1)),
    ("out_proj.weight", fan_in(0.5)),
    ("fc2.weight", fan_in(0.5)),
]


def gemma3(name, description, plans, text=None, vision=None, **changes):
    """The entry of MODELS for a model behind SigLIP; plans(tokens) gives the cases."""

    def make():
        config = {
            "architectures": ["Gemma3ForConditionalGeneration"],
            "mm_tokens_per_image": 16,
            "model_type": "gemma3",
            "text_config": {k: v for k, v in GEMMA3.items() if k not in ("torch_dtype", "tie_word_embeddings")}
            | {"dtype": "bfloat16", "sliding_window_pattern": 3, "vocab_size": 160}
            | (text or {}),
            "vision_config": VISION | (vision or {}),
        }
        config |= TOKENS | changes
        load = save(name, Gemma3ForConditionalGeneration, config, RULES + GEMMA_RULES)
        return {
            "name": name,
            "architecture": "Gemma3ForConditionalGeneration",
            "description": description,
            "storage": "bfloat16",
            "cases": [run_images(plan, load, config) for plan in plans(config["mm_tokens_per_image"])],
        }

    return make


def plans(tokens):
    return [
        ImagePlan("images", "Two images in one row, each longer than the window", [[3, IMAGE, 2, IMAGE, 4]], tokens),
        ImagePlan(
            "rows",
            "Two rows of unequal length, the second with left padding; in the first, two images side by side",
            [[2, BARE, BARE, 3], [3, IMAGE, 2]],
            tokens,
        ),
        ImagePlan("no_media", "Two rows of text only, the second with left padding", [[12], [8]], tokens),
        ImagePlan(
            "chunked",
            "Two calls, an image in each; the second row is text and padding",
            [[3, IMAGE, 4, IMAGE, 3], [30]],
            tokens,
            first=24,
        ),
    ]


IMAGES = {
    "gemma3_vl": gemma3(
        "gemma3_vl",
        "Tokens of an image see each other, in windowed layers too, within a window shorter than the image; 64 patches averaged to 16 tokens; a rest at the border of the image cut off; tied head, defaults left out.",
        plans,
    ),
    "gemma3_vl_options": gemma3(
        "gemma3_vl_options",
        "An encoder with another activation, a large epsilon and a head that is not read, 9 patches a token; an untied head, no window in the first layer.",
        lambda tokens: [
            ImagePlan("long", "Two rows, an image in each, the second with left padding", [[24, IMAGE, 16], [12, IMAGE, 20]], tokens)
        ],
        text={"layer_types": ["full_attention", "sliding_attention"], "num_hidden_layers": 2},
        vision={
            "hidden_act": "gelu",
            "image_size": 24,
            "layer_norm_eps": 0.1,
            "num_channels": 2,
            "vision_use_head": True,
        },
        mm_tokens_per_image=4,
        tie_word_embeddings=False,
    ),
}
