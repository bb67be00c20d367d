"""Runs of decoders that read tokens: prefill, further multi-token calls, greedy decoding."""

import numpy as np
import torch

from common import RUNS, Case, array, generator, next_ids, perturbed_runs, run_all


def states(cache):
    """The cache under the names of the graphs: {"present.{layer}.{kind}": array}.

    The reference caches as many convolution columns as the kernel is wide. The
    first of them is never read again: the state is the rest.
    """
    values = {}
    for i, layer in enumerate(cache.layers):
        if hasattr(layer, "conv_states"):
            values[f"present.{i}.conv_state"] = array(layer.conv_states[0][..., 1:])
            values[f"present.{i}.recurrent_state"] = array(layer.recurrent_states[0])
        else:
            values[f"present.{i}.key"] = array(layer.keys)
            values[f"present.{i}.value"] = array(layer.values)
    return values


def validity(mask, length):
    """valid(name) of Case.step for an attention mask [batch, total] after a call of length tokens."""
    seen = mask.astype(bool)

    def valid(name):
        if name == "logits":
            return seen[:, -length:, None]
        if name.endswith((".key", ".value")):
            return seen[:, None, :, None]
        return np.ones((1,), bool)

    return valid


def positions(mask):
    """Position ids [batch, total] that left padding leaves at 0."""
    return np.maximum(mask.cumsum(1) - 1, 0) * mask


class Plan:
    """The calls of a case: prompt lengths, left padding of each row, number of decode steps."""

    def __init__(self, name, description, prompts, pads=(0,), decode=4):
        self.name, self.description = name, description
        self.prompts, self.pads, self.decode = prompts, pads, decode

    @property
    def calls(self):
        first = [("prefill" if i == 0 else "extend", n) for i, n in enumerate(self.prompts)]
        return first + [("decode", 1)] * self.decode

    def ids(self, vocab, draw):
        """Prompt ids; padding holds a token like any other, so that a dropped mask shows."""
        return generator("ids", self.name, str(draw)).integers(0, vocab, (len(self.pads), sum(self.prompts)))

    def mask(self):
        """The attention mask [batch, all columns of all calls]."""
        total = sum(n for _, n in self.calls)
        mask = np.ones((len(self.pads), total), np.int64)
        for row, pad in enumerate(self.pads):
            mask[row, :pad] = 0
        return mask

    def keep(self, step):
        """The kinds of value stored after a step.

        Keys and values only grow, so those of the last step hold all others.
        """
        kinds = {"logits", "conv_state", "recurrent_state", "ssm_state"}
        if step == len(self.calls) - 1:
            kinds |= {"key", "value"}
        return kinds


DRAWS = 100
INPUTS = ("input_ids", "attention_mask", "position_ids")


def result(given, components, logits, mask):
    """What one call was given, what it gave as {component: {value name: array}}, and the greedy choice."""
    choice, margin = next_ids(logits)
    return {
        "given": given,
        "components": components,
        "logits": logits,
        "next": choice,
        "margin": margin,
        "seen": mask.astype(bool),
    }


AMPLIFIED = 4.0  # how much worse than the median token the worst may be


def settled(runs, load, play):
    """Whether a case is fit to compare implementations.

    Two things make a random prompt unfit: a greedy choice that rounding alone
    decides, and an ill-conditioned token, at which the error of any
    implementation is a matter of luck (seen: 50 times the RMS, where the norm
    after the delta rule blows up an output that had cancelled to almost zero).
    No run of an implementation decides what is ill-conditioned, since the
    choice would then favour it: perturbed float64 runs do.
    """
    if any(step["margin"] < 0.03 for step in runs["float64"]):
        return False
    worst = np.max([token_errors(run, runs["float64"]) for run in perturbed_runs(load, play, runs["float64"])], axis=0)
    return worst.max() < AMPLIFIED * np.median(worst)


def token_errors(run, oracle):
    """The largest error of the logits of each token, all steps in a row, padding left out."""
    steps = zip(run, oracle, strict=True)
    return np.concatenate([np.abs(low["logits"] - true["logits"]).max(-1)[true["seen"]] for low, true in steps])


def run_model(model, given, cache, one_by_one):
    """One call of the reference: logits and cache.

    Some models start a call of several tokens from an empty state whatever the
    cache holds, and read a mask in their first call only. With one_by_one the
    tokens of a call that has a past are run one after the other, without a mask,
    which they do right where nothing is padding; all other inputs must have one
    column a token.
    """
    calls = [given]
    if one_by_one and cache is not None:
        columns = given["input_ids"].shape[1]
        assert given["attention_mask"][:, -columns:].all()
        calls = [
            {name: value[:, i : i + 1] for name, value in given.items() if name != "attention_mask"}
            for i in range(columns)
        ]
    logits = []
    for call in calls:
        out = model(**{name: torch.from_numpy(value) for name, value in call.items()}, cache=cache, use_cache=True)
        cache = out.cache
        logits.append(array(out.logits))
    return np.concatenate(logits, axis=1), cache


def run_decoder(plan, load, vocab, new_cache=None, read_states=states, inputs=INPUTS, runs=RUNS, one_by_one=False):
    """Runs a plan in every dtype; load(dtype, attention) gives the model. Returns the Case.

    Draws the prompt anew until the case is settled. new_cache() makes the
    cache, by default the model's own; inputs names the inputs of the graph;
    one_by_one is that of run_model.
    """
    mask = plan.mask()
    place = positions(mask)

    def play(model, oracle):
        cache, results, start = new_cache and new_cache(), [], 0
        for n, (call, length) in enumerate(plan.calls):
            ids = (oracle or results)[n - 1]["next"] if call == "decode" else prompt[:, start : start + length]
            end = start + length
            given = {"input_ids": ids, "attention_mask": mask[:, :end], "position_ids": place[:, start:end]}
            given = {name: given[name] for name in inputs}
            logits, cache = run_model(model, given, cache, one_by_one)
            # The next call updates the cache in place: copy.
            values = {k: v.copy() for k, v in ({"logits": logits} | read_states(cache)).items()}
            results.append(result(given, {"model": values}, values["logits"], mask[:, start:end]))
            start = end
        return results

    for draw in range(DRAWS):
        prompt = plan.ids(vocab, draw)
        played = run_all(load, play, runs)
        if settled(played, load, play):
            break
    else:
        raise ValueError(f"{plan.name}: no settled prompt")

    case, end = Case(plan.name, plan.description), 0
    for n, (call, length) in enumerate(plan.calls):
        end, oracle = end + length, played["float64"][n]
        case.step(
            call,
            ["model"],
            {run: steps[n]["components"] for run, steps in played.items()},
            {"model": oracle["given"]},
            validity(mask[:, :end], length),
            plan.keep(n),
        )
        case.tensors[f"step{n}.greedy"] = oracle["next"][:, 0]
    return case
