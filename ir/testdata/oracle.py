"""Compares ONNX text of this package with the reference implementation, onnx 1.22.0.

  python3 ir/testdata/oracle.py generate   writes onnx/*.txt, as onnx.printer prints them
  python3 ir/testdata/oracle.py check      reads onnx/*.golden, which the Go tests wrote, with onnx.parser and compares
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser, printer

HERE = pathlib.Path(__file__).parent / "onnx"
OPSETS = '<ir_version: 11, opset_import: ["" : 23, "com.example" : 2]>'

MODELS = {
    "header": """
<ir_version: 11, opset_import: ["" : 23, "ai.onnx.ml" : 5], producer_name: "p \\"q\\"", producer_version: "1.2",
 domain: "com.example", model_version: 7, doc_string: "two
lines", metadata_props: ["a": "b", "key two": "c:\\\\d"]>
g (float[N, 128] x, float[128,10] w) => (float[N,10] y) { y = MatMul (x, w) }""",
    "control_flow": OPSETS + """
g (float[N] x, bool c, int64 n) => (float[N] y, float[M] z)
< int64 one = {1}, float[N] late >
{
  [outer] y = If (c) <then_branch = t () => (float[N] a) { [deep] a = Add (x, late) },
    else_branch = e () => (float[N] b) < float[1] k = {2.5} > {
      b = If (c) <then_branch = tt () => (p) { p = Mul (x, k) }, else_branch = ee () => (q) { q = Neg (late) }>
    }>
  late = Relu (x)
  _, z = Loop (n, "", x) <body = body (int64 i, bool go, float[N] carried) => (bool more, float[N] next, float[N] seen) {
    more = Identity (go)
    next = Add (carried, carried)
    seen = Identity (next)
  }>
}""",
    "attributes": OPSETS + """
g (float[2] x) => (float[2] y)
{
  a, "" = com.example.Op <i = -5, f = 2.0, g : float = 3, s = "quo\\"te \\\\ back", is = [1, -2, 9223372036854775807],
    fs = [1.0, inf, -inf, nan, 1e-05], gs : floats = [1, 2], ss = ["a", ""], none : ints = [],
    t = float[2,2] {1, 2.5, -3, 1e20}, u = int64 {7}, v = double[1] {0.1}, st = string[2] {"x", "y,z"},
    b = bool[3] {1, 0, 1}, tp = seq(float[N, ?]), tq = optional(map(int64, string))> (x, "", x)
  y = com.example.Other:variant (a, "", "x y", a)
  = com.example.NoOutputs ()
}""",
    "types": OPSETS + """
g (float a, float[] b, float[?, 3, n] c, seq(float[2]) d, optional(seq(int64)) e, map(string, float[1]) f,
   sparse_tensor(float[3,4]) h, float["past + sequence", 2] i, bfloat16[1] j, float8e4m3fn[1] k, int4[2] l, untyped)
=> (float z) { z = com.example.All (a, b, c, d, e, f, h, i, j, k, l, untyped) }""",
    "initializers": OPSETS + """
g (float[2] x, float[2] bias = {0.5, -0.0}, float["a b"] "odd name") => (float[2] y)
< int8[2] i8 = {-128, 127}, int16[2] i16 = {-32768, 32767}, int32[2] i32 = {-2147483648, 2147483647},
  int64[2] i64 = {-9223372036854775808, 9223372036854775807}, uint8[1] u8 = {255}, uint16[1] u16 = {65535},
  uint32[1] u32 = {4294967295}, uint64[1] u64 = {18446744073709551615}, bool[2] flags = {0, 1},
  float[3] f = {0.1, 3.4028235e+38, 1e-30}, double[2] d = {0.1, 1e300}, string[2] s = {"a", "b\\"c"},
  float[0] nothing = {}, float scalar = {1}, float[2,3] matrix = {1, 2, 3, 4, 5, 6},
  float[1000] far = ["location": "w.bin", "offset": "4096", "length": "4000"], float[2] t >
{ t = Add (x, bias) y = com.example.Sum (t, "odd name", i8, far) }""",
    "functions": OPSETS + """
g (float[N] x) => (float[N] y) { y = com.example.Scale <alpha = 2.0> (x) }
<domain: "com.example", opset_import: ["" : 23], doc_string: "is not printed">
Scale <beta, alpha: float = 1.5, mode: string = "x"> (x, "the bias") => (y)
{
  a = Constant <value_float: float = @alpha> ()
  b = Constant <value: tensor = @beta> ()
  c = Mul (x, a)
  y = Add (c, b)
}
<domain: "com.example", overload: "other", opset_import: ["" : 22, "x" : 1]>
Scale (x) => (y, z) { y = Neg (x) z = x.Op (y) }""",
}

# What onnx.printer leaves out or misprints; the text stands as it is written here.
UNPRINTED = OPSETS + """
g () => (y)
< float16[2] f16 = {15360, 65535}, bfloat16[1] bf = {16256}, float8e4m3fn[2] f8 = {56, 255}, float8e5m2[1] f8b = {60},
  float8e4m3fnuz[1] f8c = {64}, float8e5m2fnuz[1] f8d = {68}, float8e8m0[1] f8e = {127}, int4[3] i4 = {33, 15},
  uint4[2] u4 = {255}, float4e2m1[1] f4 = {2}, int2[5] i2 = {228, 1}, uint2[1] u2 = {3},
  complex64[2] c64 = {1, -2.5, 0, 1}, complex128[1] c128 = {0.1, 2} >
{
  = com.example.Op <empty : strings = [], ext = float[2] = ["location": "w.bin"]> ()
  y = com.example.Use (f16, bf, f8, f8b, f8c, f8d, f8e, i4, u4, f4, i2, u2, c64, c128)
}"""


def raw_model():
    """A model as exporters write it: raw_data, dotted names, every node named."""
    w = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3) / 7, "layer.0.weight")
    i = numpy_helper.from_array(np.array([-1, 0], np.int64), "/shape")
    k = helper.make_node("Constant", [], ["/k"], "/c.0", value=numpy_helper.from_array(np.float64(1 / 3)))
    nodes = [k, helper.make_node("Gemm", ["x", "layer.0.weight"], ["/y"], "/gemm", transB=1),
             helper.make_node("Reshape", ["/y", "/shape"], ["z"], "/reshape")]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])
    y = helper.make_tensor_value_info("/y", TensorProto.FLOAT, ["batch", 2])
    z = helper.make_tensor_value_info("z", TensorProto.FLOAT, ["batch.1 + 2", None])
    g = helper.make_graph(nodes, "main graph", [x], [z], [w, i], value_info=[y])
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def standard_functions():
    """The function bodies of the standard operators."""
    out = []
    for s in sorted(onnx.defs.get_all_schemas(), key=lambda s: (s.domain, s.name)):
        if s.has_function:
            f = s.function_body
            f.domain = f.domain or "ai.onnx"
            out.append(printer.to_text(f))
    return "\n".join(out) + "\n"


def generate():
    for name, text in MODELS.items():
        (HERE / f"{name}.txt").write_text(printer.to_text(parser.parse_model(text)) + "\n")
    (HERE / "raw.txt").write_text(printer.to_text(raw_model()) + "\n")
    (HERE / "unprinted.txt").write_text(UNPRINTED + "\n")
    (HERE / "standard_functions.txt").write_text(standard_functions())


def normal_attributes(attributes):
    for a in attributes:
        if a.type == onnx.AttributeProto.FLOAT:
            a.ClearField("i")


def normal(model):
    """Orders what has no order, and removes empty names and the integer that onnx.parser leaves in "float = 1"."""
    graphs = [model.graph]
    while graphs:
        g = graphs.pop()
        for field in (g.initializer, g.value_info):
            items = sorted(field, key=lambda v: v.name)
            del field[:]
            field.extend(items)
        for n in g.node:
            graphs += [a.g for a in n.attribute if a.HasField("g")]
            if n.name == "":
                n.ClearField("name")
            normal_attributes(n.attribute)
    for f in model.functions:
        normal_attributes(f.attribute_proto)
    return model


def functions_of(text):
    """Wraps functions in a model, since onnx.parser reads one function a call."""
    return parser.parse_model('<ir_version: 10, opset_import: ["" : 21]> g () => () {}\n' + text)


def check():
    bad = 0
    files = sorted(HERE.glob("*.golden"))
    for f in files:
        read = functions_of if f.stem == "standard_functions" else parser.parse_model
        ours, theirs = read(f.read_text()), read(f.with_suffix(".txt").read_text())
        if normal(ours) != normal(theirs):
            bad += 1
            print(f"{f.name} differs:\n{printer.to_text(ours)}\n--- expected\n{printer.to_text(theirs)}")
    print(f"{len(files) - bad} of {len(files)} texts agree")
    return bad == 0 and len(files) > 0


if __name__ == "__main__":
    if sys.argv[1:] == ["generate"]:
        generate()
    elif sys.argv[1:] == ["check"]:
        sys.exit(not check())
    else:
        sys.exit(__doc__)
