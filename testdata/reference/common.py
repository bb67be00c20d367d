"""What every reference model shares: weights, dtypes, files, error figures.

Nothing here knows an architecture. Importing this module fixes what torch's
arithmetic depends on (threads, vector width, library kernels), so that the
processor does not decide the bytes. Import it before torch.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import tempfile

os.environ.update(
    OMP_NUM_THREADS="1",
    MKL_NUM_THREADS="1",
    ATEN_CPU_CAPABILITY="default",  # torch's own kernels without AVX
    MKL_CBWR="COMPATIBLE",  # matrix products in one order on every processor
    HF_HUB_OFFLINE="1",
    TRANSFORMERS_VERBOSITY="error",
    HF_HUB_DISABLE_PROGRESS_BARS="1",
)

import numpy as np
import torch
import transformers
from safetensors.torch import load_file

torch.set_num_threads(1)
torch._C._set_mkldnn_enabled(False)
torch.use_deterministic_algorithms(True)
torch.set_grad_enabled(False)
transformers.utils.logging.disable_progress_bar()

SEED = 20251
FOLDER = pathlib.Path(__file__).resolve().parent


def provenance():
    """Versions and seed: what, besides the scripts, decides every stored number."""
    return {
        "torch": torch.__version__.split("+")[0],
        "transformers": transformers.__version__,
        "numpy": np.__version__,
        "seed": str(SEED),
    }


def generator(*names):
    """A random generator of its own for each name, so that adding a tensor changes no other."""
    digest = hashlib.sha256("/".join([str(SEED), *names]).encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


# ---------------------------------------------------------------- weights


def exact(values):
    """Rounds to numbers that float16, bfloat16 and float32 all hold exactly.

    All dtypes then run the same weights, and a float16 error is an error of
    arithmetic alone. Magnitudes under 2^-14, float16's smallest normal, become 0.
    """
    rounded = torch.from_numpy(np.asarray(values, np.float32)).to(torch.bfloat16).to(torch.float32).numpy()
    rounded[np.abs(rounded) < 2.0**-14] = 0
    return rounded


def random_weights(model, name, rules):
    """Random values for every parameter of model that is not tied to another, as {tensor name: float32 array}.

    rules is a list of (suffix, function of generator and shape), first match
    first; a matrix that no rule names is scaled by its fan-in.
    """
    weights, seen = {}, set()
    for key, parameter in model.state_dict(keep_vars=True).items():
        if id(parameter) in seen:
            continue
        seen.add(id(parameter))
        draw, shape = generator(name, key), tuple(parameter.shape)
        for suffix, rule in rules:
            if key.endswith(suffix):
                weights[key] = exact(rule(draw, shape))
                break
        else:
            if len(shape) < 2:
                raise ValueError(f"{name}: no rule for the weights of {key} {shape}")
            weights[key] = exact(draw.normal(0, np.prod(shape[1:]) ** -0.5, shape))
    return weights


def normal(std, mean=0.0):
    return lambda draw, shape: draw.normal(mean, std, shape)


def fan_in(gain):
    return lambda draw, shape: draw.normal(0, gain * np.prod(shape[1:]) ** -0.5, shape)


# ---------------------------------------------------------------- files

NAMES = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "bool": "BOOL"}


def write_safetensors(path, tensors, metadata, bfloat16=False):
    """Writes a safetensors file whose bytes depend on the contents alone.

    The safetensors package writes metadata in an order of its own, different
    in each run. Tensors are stored in the order of their names, unpadded, as
    the format wants. With bfloat16, float32 tensors are stored as BF16.
    """
    header, blobs, offset = {"__metadata__": dict(sorted(metadata.items()))}, [], 0
    for name in sorted(tensors):
        value = np.ascontiguousarray(tensors[name])
        dtype = NAMES[value.dtype.name]
        if bfloat16 and dtype == "F32":
            dtype, value = "BF16", (value.view(np.uint32) >> 16).astype(np.uint16)
        blob = value.tobytes()
        header[name] = {"dtype": dtype, "shape": list(value.shape), "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def save(name, architecture, config, rules, untie=None, stacked=False):
    """Writes config.json and model.safetensors of a model; returns load(dtype, attention).

    untie is a module that gets weights of its own although the reference ties
    it: checkpoints that hold both are loaded as they are. The tensors get
    their names and layout from save_pretrained, which undoes what Transformers
    renames and merges while loading.
    """
    folder = FOLDER / name
    write_json(folder / "config.json", config)
    model = architecture(architecture.config_class.from_pretrained(folder))
    if untie:
        layer = model.get_submodule(untie)
        layer.weight = torch.nn.Parameter(torch.empty_like(layer.weight))
    model.load_state_dict(
        {key: torch.from_numpy(value) for key, value in random_weights(model, name, rules).items()}, strict=False
    )
    if stacked:
        weights = {key: array(value.float()) for key, value in model.state_dict().items()}
    else:
        with tempfile.TemporaryDirectory() as published:
            model.save_pretrained(published)
            weights = {key: array(value.float()) for key, value in load_file(f"{published}/model.safetensors").items()}
    storage = config.get("dtype") or config.get("torch_dtype") or config["text_config"]["dtype"]
    write_safetensors(
        folder / "model.safetensors",
        weights,
        provenance() | {"format": "pt", "model": name},
        bfloat16=storage == "bfloat16",
    )

    def load(dtype, attention):
        model, info = architecture.from_pretrained(
            folder, dtype=dtype, attn_implementation=attention, output_loading_info=True
        )
        if faults := {kind: keys for kind, keys in info.items() if keys}:
            raise ValueError(f"{name}: {faults}")
        return model.eval()

    return load


# ---------------------------------------------------------------- dtypes


@contextlib.contextmanager
def true_float64():
    """Makes the explicit float32 islands of Transformers compute in float64.

    The models cast to float32 by name (norms, softmax, rotary, the delta rule,
    `x.float()`), whatever dtype they were loaded in, so a model loaded in
    float64 alone is no oracle. Inside this context those names mean float64.
    Load models outside of it: constants that the reference defines in float32,
    such as the rotary frequencies, keep their float32 values in every run.
    """
    saved = torch.float32, torch.float, torch.Tensor.float
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    try:
        yield
    finally:
        torch.float32, torch.float, torch.Tensor.float = saved


# (name in the files, dtype, attention implementation of Transformers). The
# first is the oracle. "eager" is the arithmetic as the models write it down;
# "sdpa" is torch's fused attention, the default on most machines.
RUNS = [
    ("float64", torch.float64, "eager"),
    ("float32", torch.float32, "eager"),
    ("float16", torch.float16, "eager"),
    ("float16_sdpa", torch.float16, "sdpa"),
]


def run_all(load, play, runs=RUNS):
    """Runs play(model, oracle) under each of runs: {run name: its result}.

    play gets the oracle's result (None while making it), from which it takes
    the token ids, so that every run sees the same input.
    """
    results, oracle = {}, None
    for name, dtype, attention in runs:
        model = load(dtype, attention)
        with true_float64() if name == "float64" else contextlib.nullcontext():
            results[name] = play(model, oracle)
        oracle = oracle or results[name]
    return results


def perturbed_runs(load, play, oracle, count=8):
    """Runs play in float64 count times, each with every weight changed at random by up to float16's rounding.

    How far these are from the oracle, token by token, says how much rounding is
    amplified there, whatever an implementation rounds.
    """
    results = []
    for trial in range(count):
        model = load(torch.float64, "eager")
        for name, parameter in model.named_parameters():
            noise = generator("perturbed", str(trial), name).uniform(-1, 1, tuple(parameter.shape))
            parameter.mul_(torch.from_numpy(1 + 2.0**-11 * noise))
        with true_float64():
            results.append(play(model, oracle))
    return results


def array(tensor):
    return tensor.detach().contiguous().numpy()


# ---------------------------------------------------------------- cases


class Case:
    """One sequence of calls of one model, and the tensors that go with it.

    Tensors are named step{n}.{component}.{in|out|f16}.{value}: an input, the
    float64 result (stored as float32), the reference's own float16 result.
    Component and value names are those of the graphs.
    """

    def __init__(self, name, description):
        self.name, self.description = name, description
        self.steps, self.tensors, self.errors = [], {}, {}

    def step(self, call, components, results, inputs, valid, keep=()):
        """Adds a call. results: {run: {component: {value name: array}}}.

        valid(value name) gives a boolean array, broadcast against the value,
        of what counts; the rest is stored as 0. Of the values, those of the
        kinds in keep are stored and measured; a kind is the last part of a name.
        """
        n = len(self.steps)
        self.steps.append({"call": call, "components": components})
        for component, values in inputs.items():
            for name, value in values.items():
                self.tensors[f"step{n}.{component}.in.{name}"] = value
        for component, values in results["float64"].items():
            for name, truth in values.items():
                if truth.dtype != np.float64:
                    raise TypeError(f"{self.name}: {name} of the float64 run is {truth.dtype}")
                if name.rsplit(".", 1)[-1] not in keep:
                    continue
                mask = valid(name)
                self._measure(component, name, mask, {run: r[component][name] for run, r in results.items()})
                store = f"step{n}.{component}"
                self.tensors[f"{store}.out.{name}"] = np.where(mask, truth, 0).astype(np.float32)
                half = results["float16"][component][name]
                self.tensors[f"{store}.f16.{name}"] = np.where(mask, half, 0).astype(half.dtype)

    def _measure(self, component, name, mask, runs):
        """Gathers the errors of the lower precisions over all steps and layers."""
        parts = [component] + ["{i}" if part.isdigit() else part for part in name.split(".")]
        kind, truth = ".".join(parts), runs["float64"]
        count = np.broadcast_to(mask, truth.shape)
        if not count.any():
            return
        for run, value in runs.items():
            if run == "float64":
                continue
            error = np.abs(value.astype(np.float64) - truth)[count]
            entry = self.errors.setdefault(run, {}).setdefault(kind, [0.0, 0.0, 0])
            entry[0] = max(entry[0], float(error.max()))
            entry[1] += float((error**2).sum())
            entry[2] += error.size

    def write(self, folder, model):
        """Writes the case's file and returns its entry of the index."""
        path = folder / f"{self.name}.safetensors"
        write_safetensors(path, self.tensors, provenance() | {"model": model, "case": self.name})
        errors = {
            run: {kind: {"count": n, "max": _round(m), "rms": _round((s / n) ** 0.5)} for kind, (m, s, n) in kinds.items()}
            for run, kinds in self.errors.items()
        }
        return {
            "name": self.name,
            "file": f"{folder.name}/{path.name}",
            "description": self.description,
            "steps": self.steps,
            "reference_error": errors,
        }


def _round(x):
    return float(f"{x:.4g}")


def next_ids(logits):
    """The greedy choice after the last column, and how far the second choice is behind."""
    last = np.sort(logits[:, -1], axis=-1)
    return logits[:, -1].argmax(-1).astype(np.int64)[:, None], float((last[:, -1] - last[:, -2]).min())
