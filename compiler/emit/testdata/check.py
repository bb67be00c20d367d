"""Checks the package of this folder with onnx 1.22.0 and ONNX Runtime.

The models pass onnx's full check, the runtime's outputs are those that numpy
computes from the bytes the manifest points at, and the random weights have the
mean and deviation asked for. Run it with a Python that has onnx, onnxruntime
and numpy: python check.py
"""

import json
import pathlib

import numpy as np
import onnx
import onnxruntime

PACKAGE = pathlib.Path(__file__).parent / "package"


def tensor(model, entry):
    with open(model.parent / entry["location"], "rb") as f:
        f.seek(entry["offset"])
        data = f.read(entry["length"])
    return np.frombuffer(data, {"float": np.float32}[entry["dtype"]]).reshape(entry["shape"])


def check(component):
    path = PACKAGE / component["model"]
    onnx.checker.check_model(str(path), full_check=True)
    t = {e["name"]: tensor(path, e) for e in component["tensors"]}
    session = onnxruntime.InferenceSession(str(path))
    assert [i.name for i in session.get_inputs()] == [i["name"] for i in component["inputs"]]
    assert [o.name for o in session.get_outputs()] == [o["name"] for o in component["outputs"]]
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 4), np.float32)
    past = rng.standard_normal((3, 256), np.float32)
    y, present = session.run(None, {"x": x, "past.0.state": past})
    want = x @ t["layers.0.weight"].T + t["layers.0.bias"] + past
    np.testing.assert_allclose(y, want + t["table"], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(present, -want, rtol=1e-5, atol=1e-5)
    w = t["layers.0.weight"]
    assert abs(w.mean()) < 0.01 and abs(w.std() - 0.1) < 0.01, (w.mean(), w.std())
    info = {v.name: v for v in onnx.load(path, load_external_data=False).graph.value_info}
    assert set(info) == {"h", "k", "r"}, info
    assert info["h"].type.tensor_type.shape.dim[0].dim_param == "batch"


if __name__ == "__main__":
    manifest = json.loads((PACKAGE / "mobiusc.json").read_text())
    for c in manifest["components"]:
        check(c)
    print(f"{len(manifest['components'])} passed, 0 failed")
