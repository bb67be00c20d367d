"""Writes testdata/eval.json: nodes, inputs and the outputs that ONNX's reference
implementation computes. Run in the folder above: python3 gen/eval.py
"""

import json

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

OPSET = 24
rng = np.random.default_rng(1)
cases = []

F = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def tensor(a):
    a = np.asarray(a)
    t = helper.np_dtype_to_tensor_dtype(a.dtype) if a.dtype.kind not in "OUS" else TensorProto.STRING
    out = {"type": int(t), "dims": list(a.shape)}
    if t == TensorProto.STRING:
        out["strings"] = [str(s) for s in a.ravel()]
    else:
        out["raw"] = a.astype(a.dtype.newbyteorder("<") if a.dtype.kind in "fiu" else a.dtype).tobytes().hex()
    return out


def case(op, *inputs, outputs=1, opset=OPSET, **attrs):
    """One node; an input is an array, or None where it is absent."""
    names = ["" if a is None else f"x{i}" for i, a in enumerate(inputs)]
    outs = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, outs, **attrs)
    feeds = {n: np.asarray(a) for n, a in zip(names, inputs) if n}
    infos = []
    for n, a in feeds.items():
        t = TensorProto.STRING if a.dtype.kind in "OUS" else helper.np_dtype_to_tensor_dtype(a.dtype)
        infos.append(helper.make_tensor_value_info(n, t, a.shape))
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info(o, TensorProto.UNDEFINED, None) for o in outs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    results = ReferenceEvaluator(model).run(None, feeds)
    cases.append({
        "node": onnx.printer.to_text(node),
        "inputs": [None if a is None else tensor(np.asarray(a)) for a in inputs],
        "outputs": [tensor(r) for r in results],
    })


def ints(*v, dtype=np.int64):
    return np.array(v, dtype)


def floats(dtype, *shape):
    return (rng.standard_normal(shape) * 3).astype(dtype)


for name, dtype in F.items():
    a, b = floats(dtype, 2, 3), floats(dtype, 3)
    for op in ["Add", "Sub", "Mul", "Div"]:
        case(op, a, b)
    case("Neg", a)
    case("Abs", a)
    case("Sqrt", np.abs(a))
    case("Exp", a)
    case("Log", np.abs(a))
    case("Reciprocal", a)
    case("Less", a, b)
    case("GreaterOrEqual", a, a)
    case("Equal", a, a)
    case("Cast", a, to=TensorProto.INT64)
    case("Cast", ints(0, 1, -7, 2049, 16777217, 33554435), to=int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype))))
    case("Where", ints(1, 0, 1, dtype=bool), a, b)
    case("Concat", a, b[None], axis=0)
    case("Max", a, b)
    case("ReduceMax", a, ints(1), keepdims=0)
for dtype in [np.float32, np.float64]:
    a = np.array([[-2.5, -0.5, 0.5], [1.5, 2.5, 3.7]], dtype)
    for op in ["Floor", "Ceil", "Round", "Sign", "Sin", "Cos", "Tanh", "Relu"]:
        case(op, a)
    case("Pow", np.abs(a), np.array(2, dtype))
    case("Pow", np.array([10000.0], dtype), floats(dtype, 4))
    case("Pow", a, ints(3))
    case("Mod", a, np.array(0.7, dtype), fmod=1)
    case("ReduceSum", a, ints(0))
    case("ReduceProd", a, ints(-1), keepdims=0)
    case("ReduceMin", a)
    case("ReduceMean", a, ints(1))
    case("CumSum", a, np.array(1, np.int64))
    case("CumSum", a, np.array(0, np.int64), exclusive=1)
    case("CumSum", a, np.array(1, np.int32), reverse=1, exclusive=1)
    case("Range", np.array(1.5, dtype), np.array(-2, dtype), np.array(-0.75, dtype))
case("Cast", np.array([1e9, -3.99, 0.5, 65519.0, 65520.0, 70000.0, 1e-8], np.float32), to=TensorProto.FLOAT16)
case("Cast", np.array([1e9, -3.99, 1.00390625, 1.01171875], np.float32), to=TensorProto.BFLOAT16)
case("Cast", np.array([0.0, -0.1, 5, np.nan], np.float32), to=TensorProto.BOOL)
case("IsNaN", np.array([0.0, np.nan, np.inf], np.float32))
case("IsInf", np.array([-np.inf, np.nan, np.inf], np.float32), detect_negative=0)

for dtype in [np.int64, np.int32]:
    a, b = ints([7, -7, 0], [5, 12, -1], dtype=dtype), ints(2, -3, 5, dtype=dtype)
    for op in ["Add", "Sub", "Mul", "Mod", "Max", "Min", "Equal", "Less", "Greater", "LessOrEqual"]:
        case(op, a, b)
    case("Div", a, np.abs(b))
    case("Mod", a, b, fmod=1)
    case("Neg", a)
    case("Abs", a)
    case("Sign", a)
    case("Pow", a, ints(2, 3, 0, dtype=dtype))
    case("ReduceSum", a, ints(0, 1))
    case("ReduceProd", a, None, keepdims=0)
    case("ReduceMax", a, ints(-1))
    case("ReduceSum", a, ints(), noop_with_empty_axes=1)
    case("Range", *(np.array(v, dtype) for v in (3, 12, 4)))
    case("Range", *(np.array(v, dtype) for v in (3, -4, -3)))
    case("Range", *(np.array(v, dtype) for v in (3, 3, 1)))
    case("CumSum", a, np.array(-1, np.int64), reverse=1)
    case("Cast", a, to=TensorProto.BOOL)
case("Add", ints(2**31 - 1, dtype=np.int32), ints(1, dtype=np.int32))
case("Cast", ints(2**31 + 5, -1), to=TensorProto.INT32)
case("Cast", ints(0, 1, dtype=bool), to=TensorProto.FLOAT)
case("Min", ints(4, 1), ints(2, 2), ints(3, 0))
case("CastLike", ints(1, 2), np.array(1, np.float16))
case("BitwiseAnd", ints(12, 10), ints(10, -1))

p, q = ints([1, 0], [1, 1], dtype=bool), ints(1, 0, dtype=bool)
for op in ["And", "Or", "Xor", "Equal"]:
    case(op, p, q)
case("Not", p)
case("Equal", np.array(["none", "silu"]), np.array("silu"))

x = np.arange(24, dtype=np.int64).reshape(2, 3, 4)
f = x.astype(np.float32)
case("Identity", x)
case("Reshape", x, ints(0, -1))
case("Reshape", x, ints(4, 0, -1))
case("Reshape", np.zeros((0, 3), np.float32), ints(0, 7), allowzero=1)
case("Reshape", ints(5), ints())
case("Flatten", x, axis=2)
case("Flatten", x, axis=-1)
case("Squeeze", x[:1], ints(0))
case("Squeeze", x[:1, :, :1])
case("Squeeze", x[:, :1], ints(-2))
case("Unsqueeze", x, ints(0, -1))
case("Transpose", x)
case("Transpose", f, perm=[1, 0, 2])
case("Expand", x[:, :1], ints(3, 1))
case("Expand", x[:, :1], ints(5, 1, 3, 4))
case("Tile", x[0], ints(2, 3))
case("Concat", x, x[:, :, :1], axis=-1)
case("Concat", np.array(["a"]), np.array(["b", "c"]), axis=0)
case("Slice", x, ints(1), ints(3), ints(1))
case("Slice", x, ints(-2, 0), ints(2**63 - 1, 100), ints(2, 0), ints(1, 1))
case("Slice", x, ints(-1), ints(-(2**62)), ints(2), ints(-1))
case("Slice", x, ints(3, 1), ints(0, -10), ints(2, 1), ints(-2, -1))
case("Slice", x, ints(5), ints(9), ints(1))
case("Slice", x, ints(0, 1), ints(-1, -1))
case("Slice", x, ints(0), ints(4), ints(2), ints(3))
case("Split", x, ints(1, 2), outputs=2, axis=1)
case("Split", x[0, 0], None, outputs=3, num_outputs=3)
case("Gather", x, ints(1, -1))
case("Gather", x, np.array(2, np.int64), axis=1)
case("Gather", x, ints([0, 1], [2, 0]), axis=2)
case("GatherElements", x[0], ints([0, 2, 1, 0]), axis=0)
case("GatherElements", x[0], ints([3, -1], [0, 1], [2, 2]), axis=1)
case("GatherND", x, ints([0, 1], [1, -1]))
case("GatherND", x, ints([[1]], [[0]]), batch_dims=1)
case("ScatterElements", f[0], ints([1, 0, 2, 2]), floats(np.float32, 1, 4))
case("ScatterElements", x[0], ints([1], [0], [3]), ints([-1], [-2], [-3]), axis=1)
case("ScatterND", x, ints([0, 1], [1, 2]), ints([9, 9, 9, 9], [8, 8, 8, 8]))
case("ScatterND", ints(1, 2, 3, 4), ints([1], [3]), ints(20, 40))
case("Where", ints([1], [0], dtype=bool), ints(1, 2, 3), ints([7], [8]))
case("Where", np.array(True), ints(1, 2), np.array(0, np.int64))
case("Trilu", x[0])
case("Trilu", f, np.array(-1, np.int64), upper=0)
case("Trilu", x, np.array(1, np.int64), upper=1)
case("Pad", x[0], ints(1, 0, 0, 2))
case("Pad", f[0], ints(2, 1), np.array(-1, np.float32), ints(1))
case("Compress", x, ints(0, 1, 1, dtype=bool), axis=1)
case("Compress", x[0], ints(0, 1, 0, 0, 1, dtype=bool))
case("Shape", x)
case("Shape", x, start=1)
case("Shape", x, start=-2, end=-1)
case("Shape", x, start=5)
case("Size", x)
case("ConstantOfShape", ints(2, 3))
case("ConstantOfShape", ints(2), value=numpy_helper.from_array(ints(-5)))
case("ConstantOfShape", ints(), value=numpy_helper.from_array(ints(1, dtype=np.int32)))
case("EyeLike", f[0], k=1)
case("EyeLike", x[0], k=-1, dtype=TensorProto.FLOAT)
case("Constant", value_int=3)
case("Constant", value_ints=[3, 4])
case("Constant", value_float=0.1)
case("Constant", value_floats=[0.1, -2.0])
case("Constant", value=numpy_helper.from_array(x[0]))

# The reference implementation of the versions that take axes as attributes.
case("Squeeze", x[:1], axes=[0], opset=11)
case("Unsqueeze", x, axes=[1, 2], opset=11)
case("Slice", x, starts=[1], ends=[2], axes=[2], opset=9)
case("ReduceSum", x, axes=[1], keepdims=0, opset=11)

with open("testdata/eval.json", "w") as out:
    out.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
print(len(cases), "cases")
