"""Generates with onnxruntime-genai from packages that mobiusc compiles, and compares every token.

Each model of testdata/reference whose spec has metadata for onnxruntime-genai is compiled in float32. Each row of each of its
cases is a prompt (without its padding). onnxruntime-genai generates from it, greedily, and what it chooses must be

- what the reference, Hugging Face Transformers in float64, chose after that prompt: `greedy` in the case;
- what a plain loop chooses that calls ONNX Runtime with the same graph, for MORE tokens further, with the same logits.

The prompts of a case, cut to one length, also run together, and must give what each gives alone: the runtime's generator masks no
padding. Prompts with images take the pixels of the case.

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
PAGE = "docs/genai.md"
REFERENCE = "testdata/reference"

ort.set_default_logger_severity(3)


def main(mobiusc, work, update):
    specs = {}
    for s in json.loads(run(mobiusc, "specs", "--format", "json")):
        for model_type in s["model_types"]:
            specs.setdefault(model_type, s["name"])
    rows, failed = [], False
    for model in json.load(open(f"{REFERENCE}/index.json"))["models"]:
        spec = specs[json.load(open(f"{REFERENCE}/{model['config']}"))["model_type"]]
        package, said = compile_model(mobiusc, work, model, spec)
        manifest = json.load(open(f"{package}/mobiusc.json"))
        genai = manifest.get("runtime", {}).get("genai")
        if genai is None:
            continue
        if not os.path.exists(f"{package}/genai_config.json"):
            reasons = re.findall(r"is written: (.*) \[MB0702", said)
            rows.append((model["name"], spec, genai["type"], f"not run: {'; '.join(reasons)}"))
        else:
            try:
                rows.append((model["name"], spec, genai["type"], Run(package, manifest, model).all()))
            except (Different, RuntimeError) as e:  # RuntimeError: of onnxruntime-genai
                failed = True
                rows.append((model["name"], spec, genai["type"], f"FAILED: {e}"))
        print(": ".join(rows[-1]), flush=True)
    if len([r for r in rows if not r[3].startswith("not run")]) < 30:
        sys.exit("fewer than 30 models were run: the lane looks in the wrong place")
    if failed:
        sys.exit("onnxruntime-genai does not generate what it should")
    table = "| model | spec | type | generated |\n|---|---|---|---|\n" + "".join(f"| {' | '.join(r)} |\n" for r in rows)
    text = open(PAGE).read()
    want = re.sub(r"(?s)(<!-- begin runs -->\n).*(<!-- end runs -->)", lambda m: m[1] + table + m[2], text)
    if update:
        open(PAGE, "w").write(want)
    elif want != text:
        sys.exit(f"{PAGE} has another table: scripts/genai.sh --update writes it")


def compile_model(mobiusc, work, model, spec):
    """Compiles a model in float32; returns the package and what the compiler said."""
    checkpoint, package = f"{work}/{model['name']}.checkpoint", f"{work}/{model['name']}"
    os.mkdir(checkpoint)
    shutil.copy(f"{REFERENCE}/{model['config']}", f"{checkpoint}/config.json")
    shutil.copy(f"{REFERENCE}/{model['weights']}", f"{checkpoint}/model.safetensors")
    config = json.load(open(f"{checkpoint}/config.json"))
    if config.get("eos_token_id", config.get("text_config", {}).get("eos_token_id")) is None:
        json.dump({"eos_token_id": END}, open(f"{checkpoint}/generation_config.json", "w"))
    return package, run(mobiusc, "compile", spec, "--weights", checkpoint, "--dtype", "float32", "--verbose", "-o", package)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout + done.stderr


class Different(Exception):
    pass


class Run:
    """Generation from all prompts of one model."""

    def __init__(self, package, manifest, model):
        self.cases = {c["name"]: load_file(f"{REFERENCE}/{model['name']}/{c['name']}.safetensors") for c in model["cases"]}
        self.model = og.Model(package)
        self.config = json.load(open(f"{package}/genai_config.json"))["model"]
        self.plain = None
        if len(manifest["components"]) == 1:
            self.plain = Plain(f"{package}/{manifest['components'][0]['model']}", manifest["components"][0])
        self.prompts = self.images = self.tokens = self.batches = self.videos = self.long = 0

    def all(self):
        for name, case in self.cases.items():
            if "step0.greedy" not in case:
                continue
            component = "embedding" if "step0.embedding.in.input_ids" in case else "model"
            ids = case[f"step0.{component}.in.input_ids"]
            mask = case.get(f"step0.{component}.in.attention_mask", case.get("step0.decoder.in.attention_mask", np.ones_like(ids)))
            chosen = reference_choices(case, component)
            if "step0.vision_encoder.in.image_grid_thw" in case:
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
        self.expect(f"{what}, the reference", new, chosen[: length - len(prompt)])
        if self.plain is not None:
            want, plain_logits = self.plain.generate(prompt, length - len(prompt))
            self.expect(f"{what}, a plain loop", new, want)
            for i, (a, b) in enumerate(zip(logits, plain_logits)):
                if not np.abs(a[0] - b).max() <= TOLERANCE * np.abs(b).max():
                    raise Different(f"{what}, logits of step {i}: off by {np.abs(a[0] - b).max():.1e}")
        self.prompts, self.tokens = self.prompts + 1, self.tokens + len(new)

    def together(self, what, prompts):
        width = min(map(len, prompts))
        prompts = [p[-width:] for p in prompts]
        length = min(width + MORE, self.config["context_length"])
        rows, _ = self.generate(prompts, length)
        for i, (row, prompt) in enumerate(zip(rows, prompts)):
            (alone,), _ = self.generate([prompt], length)
            if row[: len(alone)] != alone:
                raise Different(f"{what} as a batch, row {i}: generated {row}, expected {alone}")
        self.batches += 1

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

    def __init__(self, path, component):
        self.session, self.component = ort.InferenceSession(path), component
        self.names = [o.name for o in self.session.get_outputs()]

    def generate(self, prompt, tokens):
        given = {i["name"]: i for i in self.component["inputs"]}
        empty = {"batch": 1, "past": 0}
        states = {}
        for s in self.component["states"]:
            value = given[s["input"]]
            states[s["input"]] = np.zeros([empty.get(d, d) for d in value["shape"]], self.dtypes[value["dtype"]])
        ids, seen, out, logits = np.array([prompt]), 0, [], []
        for _ in range(tokens):
            total = seen + ids.shape[1]
            feeds = {"input_ids": ids, "attention_mask": np.ones((1, total), np.int64), "position_ids": np.arange(seen, total)[None]}
            feeds = {name: value for name, value in feeds.items() if name in given} | states
            outputs = dict(zip(self.names, self.session.run(None, feeds)))
            states = {s["input"]: outputs[s["output"]] for s in self.component["states"]}
            logits.append(outputs["logits"][0, -1])
            ids, seen = logits[-1].argmax()[None, None], total
            out.append(int(ids[0, 0]))
        return out, logits


def count(n, one, many=None):
    return f"{n} {one if n == 1 else many or one + 's'}"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], "--update" in sys.argv[3:])
