"""Runs of vision-language models: packed vision encoder, fused embedding, decoder.

The reference takes images and videos apart; the graphs take one packed input,
in the order of the placeholders. Both orders are kept here: `Media` stand in
placeholder order, and are dealt to the reference by kind.
"""

import numpy as np
import torch

from common import Case, array, generator, normal, run_all, true_float64
from decoder import DRAWS, Plan, result, settled, states, validity

TOKENS = {"image_token_id": 150, "video_token_id": 151, "vision_start_token_id": 152, "vision_end_token_id": 153}
WORDS = 150  # ids under this are text

VISION_RULES = [
    ("norm1.weight", normal(0.2, mean=1)),
    ("norm2.weight", normal(0.2, mean=1)),
    ("merger.norm.weight", normal(0.2, mean=1)),
    *[(f"deepstack_merger_list.{i}.norm.weight", normal(0.2, mean=1)) for i in range(2)],
    ("pos_embed.weight", normal(0.3)),
    (".bias", normal(0.1)),
]


def vision_config(model_type, **changes):
    """A vision configuration with the keys of the published files, reduced."""
    config = {
        "depth": 2,
        "hidden_act": "gelu_pytorch_tanh",
        "hidden_size": 48,
        "in_channels": 3,
        "initializer_range": 0.02,
        "intermediate_size": 64,
        "model_type": model_type,
        "num_heads": 2,
        "num_position_embeddings": 64,
        "patch_size": 4,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    }
    return config | changes


class Media:
    """An image or a video: its grid in patches (frames, rows, columns) and its pixels."""

    def __init__(self, kind, grid):
        self.kind, self.grid = kind, grid

    def pixels(self, config, *names):
        """Packed patches [t·h·w, channels·temporal·patch²], as a processor scales 8-bit pixels."""
        c = config["vision_config"]
        width = c["in_channels"] * c["temporal_patch_size"] * c["patch_size"] ** 2
        raw = generator("pixels", *names).integers(0, 256, (int(np.prod(self.grid)), width))
        return ((raw / 255 - 0.5) / 0.5).astype(np.float32)


def row(*parts):
    """A row of a prompt: numbers of text tokens, and media as ("image" or "video", grid)."""
    return [part if isinstance(part, int) else Media(*part) for part in parts]


def layout(parts, draw):
    """Token ids of a row, and (column, media) for each.

    A video is one run of placeholders a frame, with a text token (the time)
    before each, as the processor lays it out.
    """
    ids, media = [], []
    for part in parts:
        if isinstance(part, int):
            ids += list(draw.integers(0, WORDS, part))
            continue
        frames, height, width = part.grid
        media.append((len(ids), part))
        runs = frames if part.kind == "video" else 1
        for _ in range(runs):
            if part.kind == "video":
                ids.append(int(draw.integers(0, WORDS)))
            ids.append(TOKENS["vision_start_token_id"])
            ids += [TOKENS[part.kind + "_token_id"]] * (frames * height * width // 4 // runs)
            ids.append(TOKENS["vision_end_token_id"])
    return ids, media


class VisionPlan(Plan):
    """The calls of a vision-language case: rows of text and media, padded on the left.

    first is the number of columns of the first call, where the prompt comes in two.
    """

    def __init__(self, name, description, rows, first=None, decode=4):
        laid = [layout(parts, generator("ids", name, str(i), "0"))[0] for i, parts in enumerate(rows)]
        total = max(map(len, laid))
        prompts = [total] if first is None else [first, total - first]
        super().__init__(name, description, prompts, [total - len(ids) for ids in laid], decode)
        self.rows = rows

    def lay(self, draw):
        """Prompt ids [batch, columns], and every medium as (row, column, Media) in placeholder order."""
        ids = generator("padding", self.name, str(draw)).integers(0, WORDS, (len(self.rows), sum(self.prompts)))
        media = []
        for i, (parts, pad) in enumerate(zip(self.rows, self.pads, strict=True)):
            row_ids, row_media = layout(parts, generator("ids", self.name, str(i), str(draw)))
            ids[i, pad:] = row_ids
            media += [(i, pad + column, medium) for column, medium in row_media]
        return ids, media


def rope_index(model, ids, mask, media):
    """The reference's position ids [3, batch, columns] of a prompt, and its delta [batch, 1]."""
    kinds = (ids == TOKENS["image_token_id"]) * 1 + (ids == TOKENS["video_token_id"]) * 2
    grids = {
        kind: torch.tensor([m.grid for _, _, m in media if m.kind == kind]).reshape(-1, 3)
        for kind in ("image", "video")
    }
    places, delta = model.model.get_rope_index(
        torch.from_numpy(ids),
        torch.from_numpy(kinds),
        grids["image"] if len(grids["image"]) else None,
        grids["video"] if len(grids["video"]) else None,
        torch.from_numpy(mask),
    )
    return array(places), array(delta)


def call_reference(model, ids, mask, place, cache, media, pixels):
    """One call of the reference. Returns ({component: values}, cache)."""
    seen = {}
    hook = model.model.language_model.register_forward_pre_hook(
        lambda module, args, kwargs: seen.update(kwargs), with_kwargs=True
    )
    given = {}
    for kind, values, grid in (
        ("image", "pixel_values", "image_grid_thw"),
        ("video", "pixel_values_videos", "video_grid_thw"),
    ):
        if chosen := [i for i, m in enumerate(media) if m.kind == kind]:
            given[values] = torch.from_numpy(np.concatenate([pixels[i] for i in chosen]))
            given[grid] = torch.tensor([media[i].grid for i in chosen])
    out = model(
        input_ids=torch.from_numpy(ids),
        attention_mask=torch.from_numpy(mask),
        position_ids=torch.from_numpy(place),
        cache=cache,
        use_cache=True,
        **given,
    )
    hook.remove()
    components = {"embedding": {"inputs_embeds": array(seen["inputs_embeds"])}}
    taps = len(getattr(model.config.vision_config, "deepstack_visual_indexes", None) or [])
    if media:
        by_kind = {"image": out.image_outputs, "video": out.video_outputs}
        features = {kind: list(o.pooler_output) for kind, o in by_kind.items() if o is not None}
        components["vision_encoder"] = {"image_features": array(torch.cat([features[m.kind].pop(0) for m in media]))}
        if taps:
            tapped = {k: [list(t) for t in o.deepstack_features] for k, o in by_kind.items() if o is not None}
            components["vision_encoder"]["deepstack_features"] = array(
                torch.stack([torch.cat([tapped[m.kind][d].pop(0) for m in media]) for d in range(taps)])
            )
    if taps:
        spread = torch.zeros(taps, *seen["inputs_embeds"].shape, dtype=seen["inputs_embeds"].dtype)
        if media:
            spread[:, seen["visual_pos_masks"]] = torch.stack(seen["deepstack_visual_embeds"])
        components["embedding"]["deepstack_embeds"] = array(spread)
    values = {"logits": array(out.logits)} | states(out.cache)
    components["decoder"] = {name: value.copy() for name, value in values.items()}
    return components, out.cache


def check_packing(model, pixels, grids, features):
    """Images and videos through the encoder in one packed call give what they give apart, in float64."""
    with true_float64():
        packed = model.model.visual(torch.from_numpy(pixels).double(), grid_thw=torch.from_numpy(grids)).pooler_output
    if (worst := float(np.abs(array(packed) - features).max())) > 1e-12:
        raise ValueError(f"packing changes the image features by {worst:.2g}")


def run_vision(plan, load, config):
    """Runs a plan in every dtype, drawing text and pixels anew until it is settled. Returns the Case."""
    mask, columns = plan.mask(), sum(plan.prompts)

    def play(model, oracle):
        cache, results, start = None, [], 0
        for n, (call, length) in enumerate(plan.calls):
            ids = (oracle or results)[n - 1]["next"] if call == "decode" else prompt[:, start : start + length]
            end = start + length
            inside = [i for i, (_, column, _) in enumerate(media) if call != "decode" and start <= column < end]
            components, cache = call_reference(
                model,
                ids,
                mask[:, :end],
                place[:, :, start:end],
                cache,
                [media[i][2] for i in inside],
                [pixels[i] for i in inside],
            )
            results.append(
                result(ids, components, components["decoder"]["logits"], mask[:, start:end]) | {"inside": inside}
            )
            start = end
        return results

    model = load(torch.float64, "eager")
    for draw in range(DRAWS):
        prompt, media = plan.lay(draw)
        pixels = [m.pixels(config, plan.name, f"{draw}.{i}") for i, (_, _, m) in enumerate(media)]
        place, delta = rope_index(model, prompt, mask[:, :columns], media)
        later = mask.cumsum(1)[:, columns:] - 1 + delta
        place = np.concatenate([place, np.broadcast_to(later, (3, *later.shape))], axis=2)
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
            "decoder": {"attention_mask": mask[:, :end], "position_ids": place[:, :, start:end]},
        }
        if inside := oracle["inside"]:
            inputs["vision_encoder"] = {
                "pixel_values": np.concatenate([pixels[i] for i in inside]),
                "image_grid_thw": np.array([media[i][2].grid for i in inside], np.int64),
            }
            features = oracle["components"]["vision_encoder"]["image_features"]
            check_packing(model, *inputs["vision_encoder"].values(), features)
        case.step(
            call,
            [name for name in ("vision_encoder", "embedding", "decoder") if name in inputs],
            {run: steps[n]["components"] for run, steps in runs.items()},
            inputs,
            validity(mask[:, :end], length),
            plan.keep(n) | {"image_features", "deepstack_features", "inputs_embeds", "deepstack_embeds"},
        )
        case.tensors[f"step{n}.greedy"] = oracle["next"][:, 0]
        start = end
    return case


def vision_plans():
    """The media cases: grids of unequal size, one larger than the position table (8×8), several frames."""
    wide, tall, tiny, large = ("image", (1, 4, 6)), ("image", (1, 8, 4)), ("image", (1, 2, 2)), ("image", (1, 12, 6))
    clip, film, pair = ("video", (3, 4, 4)), ("video", (2, 6, 4)), ("video", (2, 4, 6))
    return [
        VisionPlan("images", "Three images of unequal size in one row", [row(3, wide, 2, large, tiny, 4)]),
        VisionPlan("video", "A video of three frames in one row", [row(4, clip, 5)]),
        VisionPlan("mixed", "Image, video, image in one row", [row(2, wide, 1, clip, 3, tall, 3)]),
        VisionPlan(
            "reversed",
            "Two rows of unequal length: image then video, and video then image",
            [row(3, tall, 2, film, 4), row(2, pair, 1, tiny, 2)],
        ),
        VisionPlan("no_media", "Two rows of text only, the second with left padding", [row(17), row(9)]),
        VisionPlan(
            "chunked",
            "Two calls, an image in each; the second row is text and padding",
            [row(3, wide, 6, tall, 5), row(21)],
            first=14,
            decode=2,
        ),
    ]
