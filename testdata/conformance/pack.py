#!/usr/bin/env python3
"""Packs ONNX's own node tests of the operators in OPERATORS into one safetensors file an operator.

    python3 testdata/conformance/pack.py

needs onnx==1.22.0, numpy and safetensors, and writes the files beside itself. The files are the same bytes every time.

The metadata entry "cases" of a file is a JSON list, a case each:

    {"name": "attention_3d_causal", "domain": "", "op": "Attention", "opset": 24,
     "attributes": {"is_causal": 1, "scale": 0.5, "update_rule": "delta"},
     "inputs": ["attention_3d_causal.in0", "", …], "outputs": ["attention_3d_causal.out0", …]}

Inputs and outputs name tensors of the file, in the operator's order; "" is an optional one that is absent. A float
attribute is written with a decimal point, an integer without. The tests' own tolerance is rtol 1e-3, atol 1e-7.
"""

import glob
import json
import os

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file

OPERATORS = {
    "attention": "attention",
    "causal_conv_with_state": "causal_conv_with_state",
    "linear_attention": "linear_attention",
    "rms_normalization": "rms_normalization",
    "rotary_embedding": "rotary_embedding",
    "swish": "swish",
    "tensor_scatter": "tensorscatter",  # file name: prefix of the test names
}
VERSION = "1.22.0"
HERE = os.path.dirname(os.path.abspath(__file__))


def tensors(directory, kind):
    files = glob.glob(os.path.join(directory, kind + "_*.pb"))
    files.sort(key=lambda f: int(f.rsplit("_", 1)[1][:-3]))
    return [numpy_helper.to_array(onnx.load_tensor(f)) for f in files]


def attribute(a):
    value = onnx.helper.get_attribute_value(a)
    return value.decode() if isinstance(value, bytes) else value


def named(names, prefix, arrays, store):
    """Stores the arrays of the present names and returns the tensor name of each, "" where absent."""
    arrays = iter(arrays)
    keys = []
    for i, name in enumerate(names):
        keys.append(f"{prefix}{i}" if name else "")
        if name:
            store[keys[-1]] = np.ascontiguousarray(next(arrays))
    return keys


def case(directory, store):
    model = onnx.load(os.path.join(directory, "model.onnx"))
    (node,) = model.graph.node
    data = os.path.join(directory, "test_data_set_0")
    name = os.path.basename(directory).removeprefix("test_")
    assert [i.name for i in model.graph.input] == [i for i in node.input if i], name
    assert [o.name for o in model.graph.output] == [o for o in node.output if o], name
    return {
        "name": name,
        "domain": node.domain,
        "op": node.op_type,
        "opset": next(o.version for o in model.opset_import if o.domain == node.domain),
        "attributes": {a.name: attribute(a) for a in node.attribute},
        "inputs": named(node.input, name + ".in", tensors(data, "input"), store),
        "outputs": named(node.output, name + ".out", tensors(data, "output"), store),
    }


def main():
    assert onnx.__version__ == VERSION, f"onnx {VERSION} is needed, found {onnx.__version__}"
    root = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "node")
    for file, prefix in OPERATORS.items():
        found = sorted(glob.glob(os.path.join(root, f"test_{prefix}*")))
        store = {}
        cases = [case(d, store) for d in found if not d.endswith("_expanded")]
        path = os.path.join(HERE, file + ".safetensors")
        save_file(store, path, metadata={"cases": json.dumps(cases)})
        os.chmod(path, 0o644)
        print(f"{file}: {len(cases)} cases, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
