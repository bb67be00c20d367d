"""Builds a config with mobius-onnx, and prints how long it took as a line of JSON.

usage: build.py CONFIG.json TARGET OUT [none|sparse|random]

TARGET is onnx-standard (no operator of a runtime's own) or default. The weights of the graph are left out, or put into
model.onnx.data: all zero in a file without blocks, or small random numbers.
"""

import json
import os
import shutil
import sys
import tempfile
import time

begin = time.perf_counter()
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np  # noqa: E402
import onnx_ir as ir  # noqa: E402
from mobius import build  # noqa: E402

CHUNK = 1 << 22  # elements


def random_content(rng, name, shape):
    """Yields a weight's content: near 1 for norms, small around 0 for what is multiplied."""
    count = int(np.prod(shape))
    for at in range(0, count, CHUNK):
        values = rng.standard_normal(min(CHUNK, count - at), dtype=np.float32) * np.float32(0.02)
        yield values + 1 if len(shape) == 1 and "norm" in name else values


def add_weights(model, directory, mode):
    rng = np.random.default_rng(0)
    offset, places = 0, {}
    with open(os.path.join(directory, "model.onnx.data"), "wb") as f:
        for value in model.graph.initializers.values():
            if value.const_value is not None and value.const_value.nbytes < 1024:
                continue
            name = value.name
            size = int(value.dtype.itemsize * np.prod(tuple(value.shape), dtype=np.int64))
            if name == "lm_head.weight" and tuple(value.shape) == places.get("model.embed_tokens.weight", (0, ()))[1]:
                at = places["model.embed_tokens.weight"][0]  # tied: the peer's loader gives both the same tensor
            else:
                at = offset = (offset + 4095) // 4096 * 4096
                f.seek(at)
                if value.const_value is not None:
                    f.write(value.const_value.tobytes())
                elif mode == "random":
                    for part in random_content(rng, name, tuple(value.shape)):
                        f.write(part.tobytes())
                offset = at + size
            places[name] = (at, tuple(value.shape))
            value.const_value = ir.ExternalTensor(
                "model.onnx.data", at, size, value.dtype, name=name, shape=value.shape, base_dir=directory)
        f.truncate(offset)


def main(config, target, out, mode="none"):
    loaded = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(config, os.path.join(directory, "config.json"))
        package = build(directory, dtype="f32", load_weights=False, execution_provider=target)
    built = time.perf_counter()
    for name, model in package.items():
        directory = os.path.join(out, name) if len(package) > 1 else out
        os.makedirs(directory, exist_ok=True)
        if mode != "none":
            add_weights(model, directory, mode)
        ir.save(model, os.path.join(directory, "model.onnx"))
    print(json.dumps({"import": loaded - begin, "build": built - loaded, "save": time.perf_counter() - built}))


main(*sys.argv[1:])
