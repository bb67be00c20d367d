"""Generates with onnxruntime-genai from packages that mobiusc compiles, and compares every token.

Each model of testdata/reference whose spec has metadata for onnxruntime-genai is compiled in float32. Each row of each of its
cases is a prompt (without its padding). onnxruntime-genai generates from it, greedily, and what it chooses must be

- what the reference, Hugging Face Transformers in float64, chose after that prompt: `greedy` in the case;
- what a plain loop chooses that calls ONNX Runtime with the same graph, for MORE tokens further, with the same logits.

The prompts of a case also run together, padded on the right, which is what the runtime masks, and must give what each gives alone.
Convolution and recurrent states are those after the last column, and a sliding window counts columns: such models, and those that
compute no other logits than the last, get prompts of one length. Prompts with images take the pixels of the case.

Some models are compiled with other options as well, and compared with the plain loop alone.

usage: genai.py MOBIUSC WORK [--update]
"""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import onnxruntime as ort
import onnxruntime_genai as og
from safetensors.numpy import load_file

MORE = 12  # tokens after those of the reference
TOLERANCE = 1e-5  # of logits, relative to the largest: both run the same kernels, perhaps with other threads
END = 1  # ends a text where no file of the model names such a token
OPTIONS = ["--dtype float16", "--dtype float32 --logits last", "--dtype float32 --opset 21", "--dtype float32 --linear-attention recurrent", "--dtype float32 --in-place"]
MODELS_WITH_OPTIONS = ["llama", "gpt2", "mamba", "qwen3_5_text", "qwen3_5_vl"]
PAGE = "docs/genai.md"
REFERENCE = "testdata/reference"

ort.set_default_logger_severity(3)


def main(mobiusc, work, update):
    specs = {}
    for s in json.loads(run(mobiusc, "specs", "--format", "json")):
        for model_type in s["model_types"]:
            specs.setdefault(model_type, s["name"])
    models, optional = [], []
    for model in json.load(open(f"{REFERENCE}/index.json"))["models"]:
        spec = specs[json.load(open(f"{REFERENCE}/{model['config']}"))["model_type"]]
        package, said = compile_model(mobiusc, work, model, spec, "--dtype float32")
        genai = json.load(open(f"{package}/mobiusc.json")).get("runtime", {}).get("genai")
        if genai is None:
            continue
        if os.path.exists(f"{package}/genai_config.json"):
            models.append((model["name"], spec, genai["type"], generate(package, model)))
        else:
            reasons = re.findall(r"is written: (.*) \[MB0702", said)
            models.append((model["name"], spec, genai["type"], f"not run: {'; '.join(reasons)}"))
        print(": ".join(models[-1]), flush=True)
        for options in OPTIONS if model["name"] in MODELS_WITH_OPTIONS else []:
            package, _ = compile_model(mobiusc, work, model, spec, options)
            optional.append((model["name"], f"`{options}`", generate(package, model, reference=False)))
            print(": ".join(optional[-1]), flush=True)
    rows = models + optional
    if any("FAILED" in r[-1] for r in rows):
        sys.exit("onnxruntime-genai does not generate what it should")
    if len([r for r in rows if not r[-1].startswith("not run")]) < 30 or len(optional) < len(OPTIONS) * len(MODELS_WITH_OPTIONS):
        sys.exit("models are missing: the lane looks in the wrong place")
    text = open(PAGE).read()
    want = section(text, "runs", ["model", "spec", "type", "generated"], models)
    want = section(want, "options", ["model", "options", "generated"], optional)
    if update:
        open(PAGE, "w").write(want)
    elif want != text:
        sys.exit(f"{PAGE} has another table: GENAI=--update writes it")


def section(page, name, head, rows):
    """Returns the page with another table between the lines that mark a section."""
    table = "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *rows])
    page, n = re.subn(f"(?s)(<!-- begin {name} -->\n).*(<!-- end {name} -->)", lambda m: m[1] + table + m[2], page)
    if n != 1:
        sys.exit(f"{PAGE} has {n} sections {name}, expected 1")
    return page


def generate(package, model, reference=True):
    """Says what was generated from all prompts of a model, or why that failed."""
    try:
        return Run(package, model, reference).all()
    except (Different, RuntimeError) as e:  # RuntimeError: of onnxruntime-genai
        return f"FAILED: {e}"


def compile_model(mobiusc, work, model, spec, options):
    """Compiles a model; returns the package and what the compiler said."""
    name = re.sub(r"\W+", "-", model["name"] + options)
    checkpoint, package = f"{work}/{name}.checkpoint", f"{work}/{name}"
    os.mkdir(checkpoint)
    shutil.copy(f"{REFERENCE}/{model['config']}", f"{checkpoint}/config.json")
    shutil.copy(f"{REFERENCE}/{model['weights']}", f"{checkpoint}/model.safetensors")
    config = json.load(open(f"{checkpoint}/config.json"))
    text = config.get("text_config", config)
    if config.get("eos_token_id", text.get("eos_token_id")) is None:
        json.dump({"eos_token_id": END, "pad_token_id": padding(model, text["vocab_size"])}, open(f"{checkpoint}/generation_config.json", "w"))
    if "--in-place" in options:
        package, options = checkpoint, f"{options} --storage-dtype {model['storage']}"
    else:
        options += f" -o {package}"
    return package, run(mobiusc, "compile", spec, "--weights", checkpoint, "--verbose", *options.split())


def padding(model, vocabulary):
    """Returns a token for padding: one that ends no prompt, where the runtime masks it, and that is in as few as possible."""
    ends, uses = [0] * vocabulary, [0] * vocabulary
    for case in model["cases"]:
        for name, value in load_file(f"{REFERENCE}/{model['name']}/{case['name']}.safetensors").items():
            if name.startswith("step0.") and name.endswith(".in.input_ids"):
                for row in value:
                    ends[row[-1]] += 1
                    for token in row:
                        uses[token] += 1
    return min((t for t in range(vocabulary) if t != END), key=lambda t: (ends[t], uses[t]))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout + done.stderr


class Different(Exception):
    pass


class Run:
    """Generation from all prompts of one model."""

    def __init__(self, package, model, reference):
        self.reference = reference
        self.cases = {c["name"]: load_file(f"{REFERENCE}/{model['name']}/{c['name']}.safetensors") for c in model["cases"]}
        self.model = og.Model(package)
        self.config = json.load(open(f"{package}/genai_config.json"))["model"]
        self.plain = Plain(package)
        decoder = self.plain.decoder
        every = decoder["outputs"][0]["shape"][1] == "sequence"  # logits of all tokens
        config = json.load(open(f"{REFERENCE}/{model['config']}"))
        window = config.get("sliding_window") is not None and config.get("use_sliding_window", True)
        self.pads = every and not window and all(s["input"].endswith((".key", ".value")) for s in decoder["states"])
        self.prompts = self.images = self.tokens = self.batches = self.padded = self.videos = self.long = 0

    def all(self):
        for name, case in self.cases.items():
            if "step0.greedy" not in case:
                continue
            component = "embedding" if "step0.embedding.in.input_ids" in case else "model"
            ids = case[f"step0.{component}.in.input_ids"]
            mask = case.get(f"step0.{component}.in.attention_mask", case.get("step0.decoder.in.attention_mask", np.ones_like(ids)))
            chosen = reference_choices(case, component)
            if "step0.vision_encoder.in.image_grid_thw" in case:
                if self.reference:
                    self.with_images(name, case, ids, chosen)
                continue
            prompts = [list(map(int, row[m == 1])) for row, m in zip(ids, mask)]
            if max(map(len, prompts)) >= self.config["context_length"]:
                self.long += 1
                continue
            for row, prompt in enumerate(prompts):
                self.alone(f"{name}, row {row}", prompt, [c[row] for c in chosen])
            if len(prompts) > 1:
                self.together(name, prompts)
        if self.prompts == 0:
            raise Different("no case has a prompt")
        text = f"{count(self.prompts, 'prompt')}, {count(self.tokens, 'token')}"
        text += f"; {count(self.batches, 'batch', 'batches')}" if self.batches else ""
        text += f", {self.padded} of them padded" if self.padded else ""
        text += f"; {self.images} of the prompts with images" if self.images else ""
        text += f"; not run: {count(self.long, 'case')} longer than `context_length`" if self.long else ""
        text += f"; not run: {count(self.videos, 'case')} with video" if self.videos else ""
        return text

    def generate(self, prompts, length, feed=None):
        """Returns the rows that onnxruntime-genai generates, prompts included, and the logits of each step."""
        params = og.GeneratorParams(self.model)
        params.set_search_options(max_length=length, do_sample=False, batch_size=len(prompts))
        generator = og.Generator(self.model, params)
        if feed is None:
            generator.append_tokens(np.array(prompts, np.int32))
        else:
            generator.set_inputs(feed)
        logits = []
        while not generator.is_done():
            logits.append(generator.get_logits()[:, -1])
            generator.generate_next_token()
        return [list(map(int, generator.get_sequence(i))) for i in range(len(prompts))], logits

    def expect(self, what, got, want):
        """Compares a row that was generated with the choices that it should begin with. The token that ends a text is not in it."""
        want = list(map(int, want))
        end = next((i for i, token in enumerate(want) if token in self.config["eos_token_id"]), None)
        if got[: len(want)] != want[:end] if end is None else got != want[:end]:
            raise Different(f"{what}: generated {got}, expected {want}")

    def alone(self, what, prompt, chosen):
        length = min(len(prompt) + len(chosen) + MORE, self.config["context_length"])
        (row,), logits = self.generate([prompt], length)
        new = row[len(prompt):]
        if self.reference:
            self.expect(f"{what}, the reference", new, chosen[: length - len(prompt)])
        want, plain_logits = self.plain.generate(prompt, length - len(prompt))
        self.expect(f"{what}, a plain loop", new, want)
        for i, (a, b) in enumerate(zip(logits, plain_logits)):
            if not np.abs(a[0] - b).max() <= TOLERANCE * np.abs(b).max():
                raise Different(f"{what}, logits of step {i}: off by {np.abs(a[0] - b).max():.1e}")
        self.prompts, self.tokens = self.prompts + 1, self.tokens + len(new)

    def together(self, what, prompts):
        if not self.pads:
            width = min(map(len, prompts))
            prompts = [p[-width:] for p in prompts]
        width = max(map(len, prompts))
        pad = self.config["pad_token_id"]
        length = min(width + MORE, self.config["context_length"])
        rows, _ = self.generate([p + [pad] * (width - len(p)) for p in prompts], length)
        for i, (row, prompt) in enumerate(zip(rows, prompts)):
            (alone,), _ = self.generate([prompt], len(prompt) + length - width)
            new, want = row[width:], alone[len(prompt):]
            if new[: len(want)] != want:
                raise Different(f"{what} as a batch, row {i}: generated {new}, expected {want}")
        self.batches += 1
        self.padded += len(set(map(len, prompts))) > 1

    def with_images(self, what, case, ids, chosen):
        grid, pixels = case["step0.vision_encoder.in.image_grid_thw"], case["step0.vision_encoder.in.pixel_values"]
        if (ids == self.config["video_token_id"]).any():
            self.videos += 1
            return
        if len(ids) > 1:
            return
        features = int(grid.prod(1).sum()) // self.config["vision"]["spatial_merge_size"] ** 2
        arrays = {"input_ids": ids.astype(np.int32), "pixel_values": pixels, "image_grid_thw": grid, "num_image_tokens": np.array([features])}
        arrays = {name: np.ascontiguousarray(a) for name, a in arrays.items()}
        feed = og.NamedTensors()
        for name, a in arrays.items():
            feed[name] = og.Tensor(a)
        (row,), _ = self.generate([ids[0].tolist()], ids.shape[1] + len(chosen), feed)
        new = row[ids.shape[1]:]
        self.expect(f"{what}, the reference", new, [c[0] for c in chosen])
        self.prompts, self.images, self.tokens = self.prompts + 1, self.images + 1, self.tokens + len(new)


def reference_choices(case, component):
    """Returns the reference's choices after the first call, [batch] each, as far as each later call reads the choice before."""
    chosen, step = [case["step0.greedy"]], 1
    while f"step{step}.greedy" in case:
        ids = case.get(f"step{step}.{component}.in.input_ids", chosen[-1][:, None])
        if ids.shape[1] != 1 or (ids[:, 0] != chosen[-1]).any():
            break
        chosen.append(case[f"step{step}.greedy"])
        step += 1
    return chosen


class Plain:
    """The loop of docs/package.md: what the graph gives for a state goes into the next call."""

    dtypes = {"float": np.float32, "float16": np.float16, "int64": np.int64}

    def __init__(self, package):
        self.components = {c["name"]: c for c in json.load(open(f"{package}/mobiusc.json"))["components"]}
        self.decoder = self.components.get("decoder") or self.components["model"]
        self.sessions = {name: ort.InferenceSession(f"{package}/{c['model']}") for name, c in self.components.items() if name != "vision_encoder"}

    def call(self, component, feeds):
        """Runs a component with those of some values that it takes; returns its outputs by name."""
        given = {i["name"] for i in self.components[component]["inputs"]}
        session = self.sessions[component]
        return dict(zip([o.name for o in session.get_outputs()], session.run(None, {name: v for name, v in feeds.items() if name in given})))

    def nothing(self, value):
        """Returns a value's tensor for one row before anything was computed: zeros, or no columns."""
        sizes = {"batch": 1, "past": 0, "features": 0}
        return np.zeros([sizes.get(d, d) for d in value["shape"]], self.dtypes[value["dtype"]])

    def generate(self, prompt, tokens):
        decoder = self.decoder
        inputs = {i["name"]: i for i in decoder["inputs"]}
        states = {s["input"]: self.nothing(inputs[s["input"]]) for s in decoder["states"]}
        ids, seen, out, logits = np.array([prompt]), 0, [], []
        for _ in range(tokens):
            total = seen + ids.shape[1]
            feeds = {"input_ids": ids, "attention_mask": np.ones((1, total), np.int64), "position_ids": np.arange(seen, total)[None]}
            if len(inputs.get("position_ids", {"shape": []})["shape"]) == 3:  # a row an axis, all equal for text
                feeds["position_ids"] = np.tile(feeds["position_ids"], (3, 1, 1))
            if "embedding" in self.components:
                features = next(i for i in self.components["embedding"]["inputs"] if i["name"] == "image_features")
                feeds |= self.call("embedding", feeds | {"image_features": self.nothing(features)})
            outputs = self.call(decoder["name"], feeds | states)
            states = {s["input"]: outputs[s["output"]] for s in decoder["states"]}
            logits.append(outputs["logits"][0, -1])
            ids, seen = logits[-1].argmax()[None, None], total
            out.append(int(ids[0, 0]))
        return out, logits


def count(n, one, many=None):
    return f"{n} {one if n == 1 else many or one + 's'}"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], "--update" in sys.argv[3:])
