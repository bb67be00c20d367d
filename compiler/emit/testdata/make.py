"""Writes the ONNX files of this folder with the Python package onnx 1.22.0.

Each NAME.onnx uses what exporters use: typed data fields, values in any order.
NAME.want.onnx is the same model as mobiusc writes it: all elements in raw_data.
Run it with a Python that has onnx and numpy: python make.py
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).parent


def raw(tensor):
    """Moves the elements of a tensor to raw_data, as onnx itself reads them."""
    if tensor.data_type == T.STRING or tensor.data_location == T.EXTERNAL or tensor.HasField("raw_data"):
        return
    bits = {T.UINT4: 4, T.INT4: 4, T.FLOAT4E2M1: 4, T.UINT2: 2, T.INT2: 2}.get(tensor.data_type)
    if bits:  # one entry of int32_data is one byte of packed elements
        data = bytes(v & 0xFF for v in tensor.int32_data)
    else:
        data = numpy_helper.to_array(tensor).tobytes()
    for field in ("float_data", "int32_data", "int64_data", "double_data", "uint64_data"):
        tensor.ClearField(field)
    tensor.raw_data = data


def raw_graph(graph):
    for tensor in graph.initializer:
        raw(tensor)
    for sparse in graph.sparse_initializer:
        raw(sparse.values)
        raw(sparse.indices)
    raw_nodes(graph.node)


def raw_nodes(nodes):
    for node in nodes:
        for a in node.attribute:
            for tensor in [a.t] * a.HasField("t") + list(a.tensors):
                raw(tensor)
            for sparse in [a.sparse_tensor] * a.HasField("sparse_tensor") + list(a.sparse_tensors):
                raw(sparse.values)
                raw(sparse.indices)
            for graph in [a.g] * a.HasField("g") + list(a.graphs):
                raw_graph(graph)


def save(name, model, check=True):
    if check:
        onnx.checker.check_model(model)
    (HERE / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))
    raw_graph(model.graph)
    for f in model.functions:
        raw_nodes(f.node)
    (HERE / f"{name}.want.onnx").write_bytes(model.SerializeToString(deterministic=True))


def model(graph, functions=(), opset=24, ir=13):
    m = helper.make_model(graph, functions=list(functions), opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)
    m.producer_name, m.producer_version, m.domain = "make.py", "1", "test"
    m.model_version, m.doc_string = 7, "doc of the model"
    return m


def tensors():
    """Every element type, in the typed field that belongs to it."""
    values = []
    for dtype, data in [
        (T.FLOAT, [1.5, -0.0]), (T.UINT8, [0, 255]), (T.INT8, [-128, 127]), (T.UINT16, [0, 65535]),
        (T.INT16, [-32768, 32767]), (T.INT32, [-2**31, 2**31 - 1]), (T.INT64, [-2**63, 2**63 - 1]),
        (T.STRING, [b"a", b"\xff\xfe"]), (T.BOOL, [True, False]), (T.FLOAT16, [1.5, -2.0]), (T.DOUBLE, [1e300, -1.0]),
        (T.UINT32, [0, 2**32 - 1]), (T.UINT64, [0, 2**64 - 1]), (T.COMPLEX64, [1 + 2j, 3 - 4j]),
        (T.COMPLEX128, [1 + 2j, 3 - 4j]), (T.BFLOAT16, [1.5, -2.0]), (T.FLOAT8E4M3FN, [1.5, -2.0]),
        (T.FLOAT8E4M3FNUZ, [1.5, -2.0]), (T.FLOAT8E5M2, [1.5, -2.0]), (T.FLOAT8E5M2FNUZ, [1.5, -2.0]),
        (T.UINT4, [1, 15, 7]), (T.INT4, [-8, 7, -1]), (T.FLOAT4E2M1, [1.5, -2.0, 6.0]),
        (T.FLOAT8E8M0, [1.0, 4.0]), (T.UINT2, [0, 1, 2, 3, 1]), (T.INT2, [-2, -1, 0, 1, 1]),
    ]:
        values.append(helper.make_tensor(T.DataType.Name(dtype).lower(), dtype, [len(data)], data))
    values.append(helper.make_tensor("scalar", T.INT64, [], [3]))
    values.append(helper.make_tensor("empty", T.FLOAT, [0, 4], []))
    ext = T(name="external", data_type=T.FLOAT, dims=[1024], data_location=T.EXTERNAL, doc_string="doc of a tensor")
    for key, value in [("location", "sub/x.data"), ("offset", "4096"), ("length", "4096"), ("checksum", "da39a3")]:
        ext.external_data.add(key=key, value=value)
    values.append(ext)
    out = helper.make_tensor_value_info("y", T.FLOAT, [2])
    graph = helper.make_graph([helper.make_node("Identity", ["float"], ["y"], name="n")], "tensors", [], [out], values)
    index = helper.make_tensor("at", T.INT64, [2], [1, 5])
    graph.sparse_initializer.append(helper.make_sparse_tensor(helper.make_tensor("sparse", T.FLOAT, [2], [1.0, 2.0]), index, [8]))
    save("tensors", model(graph), check=False)


def attributes():
    """Every attribute type, optional inputs and outputs, documentation and metadata everywhere."""
    value = helper.make_tensor("value", T.FLOAT, [2], [1.0, 2.0])
    sparse = helper.make_sparse_tensor(value, helper.make_tensor("at", T.INT64, [2, 1], [0, 2]), [4])
    body = helper.make_graph(
        [helper.make_node("Add", ["x", "inner"], ["z"], name="captures"), helper.make_node("Neg", ["k"], ["inner"], name="late")],
        "body", [], [helper.make_tensor_value_info("z", T.FLOAT, None)], [helper.make_tensor("k", T.FLOAT, [1], [3.0])])
    tensor_type = helper.make_tensor_type_proto(T.FLOAT, ["batch", 4, None])
    types = [tensor_type, helper.make_sequence_type_proto(tensor_type), helper.make_optional_type_proto(tensor_type),
             helper.make_map_type_proto(T.INT64, tensor_type), helper.make_sparse_tensor_type_proto(T.FLOAT, [3]),
             helper.make_tensor_type_proto(T.INT64, []), helper.make_tensor_type_proto(T.BOOL, None)]
    node = helper.make_node("Everything", ["x", "", "y", ""], ["", "r"], name="node", domain="test.ops", overload="o", doc_string="doc")
    node.attribute.extend([
        helper.make_attribute("f", 1.5), helper.make_attribute("i", -3), helper.make_attribute("s", b"\x00\xff"),
        helper.make_attribute("t", value), helper.make_attribute("g", body), helper.make_attribute("sp", sparse),
        helper.make_attribute("tp", tensor_type), helper.make_attribute("fs", [1.0, 2.0]), helper.make_attribute("is", [1, -1]),
        helper.make_attribute("ss", [b"a", b""]), helper.make_attribute("ts", [value, value]),
        helper.make_attribute("gs", [body, body]), helper.make_attribute("sps", [sparse]), helper.make_attribute("tps", types),
        helper.make_attribute("empty", [], attr_type=onnx.AttributeProto.INTS),
    ])
    node.attribute[0].doc_string = "doc of an attribute"
    node.metadata_props.add(key="source", value="specs/x.yaml:3:5")
    graph = helper.make_graph([node], "attributes", [helper.make_tensor_value_info("x", T.FLOAT, ["batch", "past + sequence"])],
                              [helper.make_tensor_value_info("w", T.FLOAT16, ["batch", 4])], [helper.make_tensor("y", T.FLOAT, [1], [0.0])],
                              doc_string="doc of the graph")
    graph.input.append(helper.make_tensor_value_info("y", T.FLOAT, [1]))
    graph.node.add(op_type="Cast", input=["r"], output=["w"], attribute=[helper.make_attribute("to", int(T.FLOAT16))])
    graph.value_info.append(helper.make_tensor_value_info("r", T.FLOAT, ["batch", 4]))
    graph.value_info[0].doc_string = "doc of a value"
    graph.value_info[0].metadata_props.add(key="k", value="v")
    graph.metadata_props.add(key="pkg", value="")
    m = model(graph)
    m.opset_import.append(helper.make_opsetid("test.ops", 1))
    m.metadata_props.add(key="a", value="b")
    save("attributes", m, check=False)


def functions():
    """Local functions with attribute parameters, defaults and typed values."""
    ref = onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="alpha")
    nodes = [helper.make_node("LeakyRelu", ["x"], ["h"], name="relu"), helper.make_node("Add", ["h", "b"], ["y"], name="add")]
    nodes[0].attribute.append(ref)
    values = [helper.make_tensor_value_info(n, T.FLOAT, ["n"]) for n in ("x", "h", "y")]
    f = helper.make_function("test.fn", "LeakyAdd", ["x", "b"], ["y"], nodes, [helper.make_opsetid("", 24)], ["beta"],
                             [helper.make_attribute("alpha", 0.5)], doc_string="doc of a function", overload="v", value_info=values)
    f.metadata_props.add(key="m", value="n")
    call = helper.make_node("LeakyAdd", ["x", "x"], ["y"], name="call", domain="test.fn", overload="v", beta=1)
    graph = helper.make_graph([call], "main", [helper.make_tensor_value_info("x", T.FLOAT, [3])], [helper.make_tensor_value_info("y", T.FLOAT, [3])])
    m = model(graph, [f])
    m.opset_import.append(helper.make_opsetid("test.fn", 1))
    save("functions", m)


if __name__ == "__main__":
    tensors()
    attributes()
    functions()
