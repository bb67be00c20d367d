#!/usr/bin/env python3
"""Plays references through a package in ONNX's reference evaluator, which rounds every value to its declared dtype.

    python3 compiler/verify/testdata/rounded.py PACKAGE REFERENCE ...

prints, per kind of value, the errors of the package and those of the reference's own float16 run, as `mobiusc verify` does.
ONNX Runtime's CPU provider computes most float16 operators in float32 and drops the roundings between them; this shows what
the graph itself states. Needs onnx==1.22.0 and safetensors. Compile for opset 22: the evaluator's Attention turns a boolean
mask into NaN.
"""

import collections
import json
import pathlib
import re
import sys

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from safetensors.numpy import load_file

DTYPES = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.FLOAT16: np.float16, onnx.TensorProto.INT64: np.int64}


class Component:
    def __init__(self, package, entry):
        self.name, self.states = entry["name"], entry.get("states", [])
        self.sources = {value["name"]: value.get("from") for value in entry["inputs"]}
        self.model = onnx.load(package / entry["model"])
        self.run = ReferenceEvaluator(self.model).run
        self.outputs = [value.name for value in self.model.graph.output]
        self.carried = {}

    def feeds(self):
        return {source.split(".")[0] for source in self.sources.values() if source}

    def play(self, given, results):
        """One call: the inputs that the reference gives, other components' outputs, states; the rest is empty."""
        feed, sizes = {}, {}
        for value in self.model.graph.input:
            source = self.sources[value.name]
            if value.name in given:
                feed[value.name] = given[value.name]
            elif source and source in results:
                feed[value.name] = results[source]
            elif value.name in self.carried:
                feed[value.name] = self.carried[value.name]
        for value in self.model.graph.input:
            dims = value.type.tensor_type.shape.dim
            dtype = DTYPES[value.type.tensor_type.elem_type]
            if value.name in feed:
                sizes |= {d.dim_param: n for d, n in zip(dims, feed[value.name].shape, strict=True) if d.dim_param}
                feed[value.name] = feed[value.name].astype(dtype)
        for value in self.model.graph.input:
            if value.name not in feed:
                dims = value.type.tensor_type.shape.dim
                shape = [sizes.get(d.dim_param, 0) if d.dim_param else d.dim_value for d in dims]
                feed[value.name] = np.zeros(shape, DTYPES[value.type.tensor_type.elem_type])
        got = dict(zip(self.outputs, self.run(None, feed), strict=True))
        self.carried = {state["input"]: got[state["output"]] for state in self.states}
        return got


def components(package):
    todo = [Component(package, entry) for entry in json.loads((package / "mobiusc.json").read_text())["components"]]
    done = []
    while todo:
        ready = next(c for c in todo if c.feeds() <= {d.name for d in done})
        todo.remove(ready)
        done.append(ready)
    return done


def counted(name, value, mask):
    """What counts of a value: the columns that the mask shows."""
    if name == "logits":
        return mask[:, -value.shape[1] :, None]
    if name.endswith((".key", ".value")):
        return mask[:, None, :, None]
    return np.ones((1,), bool)


def play(package, path, errors):
    tensors, parts = load_file(path), components(package)
    steps = 1 + max(int(name.split(".")[0][4:]) for name in tensors)
    for step in range(steps):
        results = {}
        for part in parts:
            prefix = f"step{step}.{part.name}."
            if not any(name.startswith(prefix) for name in tensors):
                continue
            given = {name.removeprefix(prefix + "in."): v for name, v in tensors.items() if name.startswith(prefix + "in.")}
            got = part.play(given, results)
            results |= {f"{part.name}.{name}": value for name, value in got.items()}
            mask = given.get("attention_mask", np.ones((1, 1), np.int64)).astype(bool)
            for name, value in got.items():
                if (truth := tensors.get(f"{prefix}out.{name}")) is None:
                    continue
                kind = f"{part.name}.{re.sub(r'[0-9]+', '{i}', name)}"
                for run, x in (("ours", value), ("theirs", tensors[f"{prefix}f16.{name}"])):
                    wrong = np.abs(x.astype(np.float64) - truth)
                    errors[kind][run].append(wrong[np.broadcast_to(counted(name, value, mask), wrong.shape)])


def main():
    package, references = pathlib.Path(sys.argv[1]), sys.argv[2:]
    errors = collections.defaultdict(lambda: {"ours": [], "theirs": []})
    for path in references:
        play(package, path, errors)
    print(f"{'value':45} {'max':>8} {'rms':>8}  {'reference max':>13} {'rms':>8}  {'ratio of max':>12} {'rms':>5}")
    for kind, runs in errors.items():
        (a, b), (c, d) = ((e.max(), np.sqrt((e**2).mean())) for e in (np.concatenate(runs[r]) for r in ("ours", "theirs")))
        ratios = f"{a / c:12.2f} {b / d:5.2f}" if c else f"{'-':>12} {'-':>5}"
        print(f"{kind:45} {a:8.1e} {b:8.1e}  {c:13.1e} {d:8.1e}  {ratios}")


if __name__ == "__main__":
    np.seterr(invalid="ignore")  # of rows that are masked everywhere
    main()
