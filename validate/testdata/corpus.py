#!/usr/bin/env python3
"""Writes the corpus of models that the validator's tests run on.

Usage: python3 validate/testdata/corpus.py OUTPUT.tar.gz   (needs onnx==1.22.0)

The archive holds the models that the package onnx carries for backend tests,
without those over 64 KiB, and mutations of them that break one rule each. Its
last entry, verdicts.json, says what onnx's own checker says of each model:

  {"NAME": {"check": MESSAGE, "full": MESSAGE}}

"check" is check_model, "full" the same with full_check (type and shape
inference); an empty message means that the model passed.
"""

import copy
import glob
import gzip
import io
import json
import os
import sys
import tarfile

import onnx
from onnx import TensorProto, checker, helper

WANT = "1.22.0"
MAX_BYTES = 64 << 10
PER_MUTATION = 12  # base models of each mutation


def load():
    """Yields (name, model) for the models of the package, each content once."""
    data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    seen = set()
    for path in sorted(glob.glob(os.path.join(data, "*", "*", "model.onnx"))):
        raw = open(path, "rb").read()
        if len(raw) > MAX_BYTES or raw in seen:
            continue
        seen.add(raw)
        kind, name = path.split(os.sep)[-3:-1]
        model = onnx.ModelProto()
        model.ParseFromString(raw)
        yield f"{kind}/{name.removeprefix('test_')}", model


def message(model, full):
    try:
        checker.check_model(model, full_check=full)
    except Exception as e:  # the checker throws several unrelated types
        return " ".join(str(e).split())[:300] or type(e).__name__
    return ""


# Mutations. Each takes a copy of a model and returns False if it does not apply.

def first_node(m, cond=lambda n: True):
    return next((n for n in m.graph.node if cond(n)), None)


def in_body(m):
    """The first subgraph of the model, or None."""
    for n in m.graph.node:
        for a in n.attribute:
            if a.HasField("g") and a.g.node:
                return a.g
    return None


def unknown_operator(m):
    first_node(m).op_type = "NoSuchOperator"


def misspelt_operator(m):
    n = first_node(m)
    n.op_type = n.op_type.swapcase()


def custom_operator(m):
    n = first_node(m)
    n.domain = "com.example"
    m.opset_import.add(domain="com.example", version=1)


def custom_operator_unimported(m):
    first_node(m).domain = "com.example"


def custom_operator_in_body(m):
    g = in_body(m)
    if g is None:
        return False
    g.node[0].domain = "com.example"
    m.opset_import.add(domain="com.example", version=1)


def unknown_operator_in_body(m):
    g = in_body(m)
    if g is None:
        return False
    g.node[0].op_type = "NoSuchOperator"


def unknown_attribute(m):
    first_node(m).attribute.append(helper.make_attribute("no_such_attribute", 1))


def unknown_attribute_in_body(m):
    g = in_body(m)
    if g is None:
        return False
    g.node[0].attribute.append(helper.make_attribute("no_such_attribute", 1))


def private_attribute(m):
    first_node(m).attribute.append(helper.make_attribute("__private", 1))


def attribute_type(m):
    n = first_node(m, lambda n: any(a.type == onnx.AttributeProto.INT for a in n.attribute))
    if n is None:
        return False
    a = next(a for a in n.attribute if a.type == onnx.AttributeProto.INT)
    a.CopyFrom(helper.make_attribute(a.name, float(a.i)))


def attribute_twice(m):
    n = first_node(m, lambda n: n.attribute)
    if n is None:
        return False
    n.attribute.append(n.attribute[0])


def attribute_untyped(m):
    n = first_node(m, lambda n: n.attribute)
    if n is None:
        return False
    n.attribute[0].ClearField("type")


def attribute_without_value(m):
    n = first_node(m, lambda n: any(a.HasField("t") for a in n.attribute))
    if n is None:
        return False
    next(a for a in n.attribute if a.HasField("t")).ClearField("t")


def required_attribute_missing(m):
    return remove_attribute(m, required=True)


def optional_attribute_missing(m):
    return remove_attribute(m, required=False)


def attribute_reference_outside_function(m):
    n = first_node(m, lambda n: n.attribute)
    if n is None:
        return False
    a = n.attribute[0]
    a.CopyFrom(onnx.AttributeProto(name=a.name, type=a.type, ref_attr_name="parameter"))


def undefined_input(m):
    n = first_node(m, lambda n: n.input)
    if n is None:
        return False
    n.input[0] = "no_such_value"


def undefined_capture(m):
    g = in_body(m)
    if g is None:
        return False
    n = next((n for n in g.node if n.input), None)
    if n is None:
        return False
    n.input[0] = "no_such_value"


def missing_input(m):
    n = first_node(m, lambda n: n.input)
    if n is None:
        return False
    n.input[0] = ""


def no_inputs(m):
    n = first_node(m, lambda n: n.input)
    if n is None:
        return False
    del n.input[:]


def surplus_input(m):
    n = first_node(m, lambda n: n.input)
    if n is None:
        return False
    n.input.extend([n.input[0]] * 12)


def surplus_output(m):
    n = first_node(m)
    n.output.extend(f"surplus_{i}" for i in range(12))


def missing_output(m):
    n = first_node(m)
    n.output[0] = ""


def no_inputs_no_outputs(m):
    n = m.graph.node.add()
    n.op_type = "Identity"


def duplicate_output_name(m):
    n = copy.deepcopy(first_node(m))
    m.graph.node.append(n)


def duplicate_input_name(m):
    if not m.graph.input:
        return False
    m.graph.input.append(m.graph.input[0])


def output_named_as_input(m):
    n = first_node(m, lambda n: n.input and n.input[0])
    if n is None or n.input[0] not in [v.name for v in m.graph.input]:
        return False
    n.output[0] = n.input[0]


def shadowed_output_in_body(m):
    g = in_body(m)
    if g is None or not m.graph.input:
        return False
    g.node[0].output[0] = m.graph.input[0].name


def shadowing_input_in_body(m):
    g = in_body(m)
    if g is None or not g.input or not m.graph.input:
        return False
    old, new = g.input[0].name, m.graph.input[0].name
    g.input[0].name = new
    for n in g.node:
        for i, name in enumerate(n.input):
            if name == old:
                n.input[i] = new


def reversed_nodes(m):
    if len(m.graph.node) < 2:
        return False
    nodes = list(m.graph.node)[::-1]
    del m.graph.node[:]
    m.graph.node.extend(nodes)


def cyclic_nodes(m):
    if len(m.graph.node) < 2:
        return False
    first, last = m.graph.node[0], m.graph.node[-1]
    if not first.input:
        return False
    first.input[0] = last.output[0]


def self_loop(m):
    n = first_node(m, lambda n: n.input)
    if n is None:
        return False
    n.input[0] = n.output[0]


def undefined_graph_output(m):
    m.graph.output[0].name = "no_such_value"


def outer_value_as_body_output(m):
    g = in_body(m)
    if g is None or not m.graph.input:
        return False
    g.output[0].name = m.graph.input[0].name


def unnamed_graph(m):
    m.graph.name = ""


def untyped_input(m):
    if not m.graph.input:
        return False
    m.graph.input[0].ClearField("type")


def shapeless_output(m):
    t = m.graph.output[0].type
    if not t.HasField("tensor_type"):
        return False
    t.tensor_type.ClearField("shape")


def input_type_string(m):
    if not m.graph.input or not m.graph.input[0].type.HasField("tensor_type"):
        return False
    t = m.graph.input[0].type.tensor_type
    if t.elem_type == TensorProto.STRING:
        return False
    t.elem_type = TensorProto.STRING


def input_type_double(m):
    """One of the inputs gets another type than the others."""
    for v in m.graph.input:
        if v.type.HasField("tensor_type") and v.type.tensor_type.elem_type == TensorProto.FLOAT:
            v.type.tensor_type.elem_type = TensorProto.DOUBLE
            return None
    return False


def output_type(m):
    t = m.graph.output[0].type
    if not t.HasField("tensor_type"):
        return False
    t.tensor_type.elem_type = TensorProto.INT16 if t.tensor_type.elem_type != TensorProto.INT16 else TensorProto.FLOAT


def sequence_input(m):
    if not m.graph.input or not m.graph.input[0].type.HasField("tensor_type"):
        return False
    elem = copy.deepcopy(m.graph.input[0].type)
    m.graph.input[0].type.Clear()
    m.graph.input[0].type.sequence_type.elem_type.CopyFrom(elem)


def undefined_elem_type(m):
    if not m.graph.input or not m.graph.input[0].type.HasField("tensor_type"):
        return False
    m.graph.input[0].type.tensor_type.elem_type = 0


def output_rank(m):
    t = m.graph.output[0].type
    if not t.HasField("tensor_type"):
        return False
    t.tensor_type.shape.dim.add().dim_value = 7


def output_dim(m):
    t = m.graph.output[0].type
    if not t.HasField("tensor_type") or not t.tensor_type.shape.dim:
        return False
    t.tensor_type.shape.dim[0].dim_value += 7


def input_rank(m):
    for v in m.graph.input:
        if v.type.HasField("tensor_type"):
            v.type.tensor_type.shape.dim.add().dim_value = 7
            return None
    return False


def opset_zero(m):
    m.opset_import[0].version = 0


def opset_future(m):
    m.opset_import[0].version = 99


def opset_one(m):
    m.opset_import[0].version = 1


def opset_seven(m):
    m.opset_import[0].version = 7


def opset_latest(m):
    m.opset_import[0].version = onnx.defs.onnx_opset_version()


def opset_missing(m):
    del m.opset_import[:]


def opset_twice(m):
    m.opset_import.add(domain="", version=12)


def domain_written_out(m):
    n = first_node(m)
    if n.domain:
        return False
    n.domain = "ai.onnx"


def domain_imported_written_out(m):
    if m.opset_import[0].domain:
        return False
    m.opset_import[0].domain = "ai.onnx"


def ir_version_zero(m):
    m.ir_version = 0


def ir_version_future(m):
    m.ir_version = 99


def ir_version_two(m):
    m.ir_version = 2


def ir_version_three(m):
    m.ir_version = 3


def metadata_twice(m):
    for _ in range(2):
        m.metadata_props.add(key="k", value="v")


def add_initializer(m, t):
    """Adds a tensor as an initializer that nothing reads."""
    t.name = "added"
    m.graph.initializer.append(t)


def initializer(m):
    add_initializer(m, helper.make_tensor("t", TensorProto.FLOAT, [2], [1, 2]))


def initializer_twice(m):
    initializer(m)
    initializer(m)


def initializer_unnamed(m):
    initializer(m)
    m.graph.initializer[-1].name = ""


def initializer_short(m):
    add_initializer(m, TensorProto(data_type=TensorProto.FLOAT, dims=[4], raw_data=b"\0" * 8))


def initializer_short_int4(m):
    add_initializer(m, TensorProto(data_type=TensorProto.INT4, dims=[9], raw_data=b"\0" * 4))


def initializer_long(m):
    add_initializer(m, TensorProto(data_type=TensorProto.FLOAT, dims=[1], raw_data=b"\0" * 8))


def initializer_empty(m):
    add_initializer(m, TensorProto(data_type=TensorProto.FLOAT, dims=[4]))


def initializer_of_no_elements_with_data(m):
    add_initializer(m, TensorProto(data_type=TensorProto.FLOAT, dims=[0], raw_data=b"\0" * 4))


def initializer_negative_dim(m):
    add_initializer(m, TensorProto(data_type=TensorProto.FLOAT, dims=[-1], raw_data=b"\0" * 4))


def initializer_overflow(m):
    add_initializer(m, TensorProto(data_type=TensorProto.FLOAT, dims=[2**62, 2**62], raw_data=b"\0" * 4))


def initializer_untyped(m):
    add_initializer(m, TensorProto(data_type=TensorProto.UNDEFINED, dims=[1], raw_data=b"\0" * 4))


def initializer_unknown_type(m):
    add_initializer(m, TensorProto(data_type=99, dims=[1], int32_data=[1]))


def initializer_wrong_field(m):
    add_initializer(m, TensorProto(data_type=TensorProto.FLOAT, dims=[1], int64_data=[1]))


def initializer_string_raw(m):
    add_initializer(m, TensorProto(data_type=TensorProto.STRING, dims=[1], raw_data=b"abcd"))


def initializer_differs_from_input(m):
    if not m.graph.input or not m.graph.input[0].type.HasField("tensor_type"):
        return False
    t = helper.make_tensor("t", TensorProto.FLOAT, [97], [0.0] * 97)
    t.name = m.graph.input[0].name
    m.graph.initializer.append(t)


def initializer_external_absolute(m):
    t = TensorProto(data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    t.external_data.add(key="location", value="/etc/passwd")
    add_initializer(m, t)


def initializer_external_parent(m):
    t = TensorProto(data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    t.external_data.add(key="location", value="../weights.bin")
    add_initializer(m, t)


def initializer_external_nowhere(m):
    t = TensorProto(data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    add_initializer(m, t)


def sparse(m, dims, values, indices, shape=None):
    v = helper.make_tensor("sparse_added", TensorProto.FLOAT, [len(values)], values)
    i = helper.make_tensor("", TensorProto.INT64, shape or [len(indices)], indices)
    m.graph.sparse_initializer.append(helper.make_sparse_tensor(v, i, dims))


def sparse_initializer(m):
    sparse(m, [3, 4], [1.0, 2.0], [1, 5])


def sparse_initializer_2d(m):
    sparse(m, [3, 4], [1.0, 2.0], [0, 1, 2, 3], [2, 2])


def sparse_initializer_unordered(m):
    sparse(m, [3, 4], [1.0, 2.0], [5, 1])


def sparse_initializer_outside(m):
    sparse(m, [3, 4], [1.0, 2.0], [1, 12])


def sparse_initializer_count(m):
    sparse(m, [3, 4], [1.0, 2.0], [1])


def body_surplus_output(m):
    g = in_body(m)
    if g is None:
        return False
    g.output.append(g.output[0])


def body_missing_output(m):
    g = in_body(m)
    if g is None:
        return False
    del g.output[-1]


def body_surplus_input(m):
    g = in_body(m)
    if g is None:
        return False
    g.input.append(helper.make_tensor_value_info("surplus", TensorProto.FLOAT, [1]))


def body_missing_input(m):
    g = in_body(m)
    if g is None or not g.input:
        return False
    del g.input[-1]


def body_input_type(m):
    g = in_body(m)
    if g is None or not g.input or not g.input[-1].type.HasField("tensor_type"):
        return False
    g.input[-1].type.tensor_type.elem_type = TensorProto.STRING


def body_output_type(m):
    g = in_body(m)
    if g is None or not g.output[-1].type.HasField("tensor_type"):
        return False
    g.output[-1].type.tensor_type.elem_type = TensorProto.STRING


def scan_count(m):
    n = first_node(m, lambda n: n.op_type == "Scan")
    if n is None:
        return False
    next(a for a in n.attribute if a.name == "num_scan_inputs").i += 1


def scan_axes(m):
    n = first_node(m, lambda n: n.op_type == "Scan")
    if n is None:
        return False
    n.attribute.append(helper.make_attribute("scan_input_axes", [0, 0, 0]))


def cast_to_nothing(m):
    n = first_node(m, lambda n: n.op_type == "Cast")
    if n is None:
        return False
    next(a for a in n.attribute if a.name == "to").i = 99


def remove_attribute(m, required):
    """Removes the first attribute that its operator requires, or does not."""
    versions = {o.domain: o.version for o in m.opset_import}
    for n in m.graph.node:
        if not onnx.defs.has(n.op_type, n.domain):
            continue
        schema = onnx.defs.get_schema(n.op_type, versions[n.domain], n.domain)
        for a in n.attribute:
            if schema.attributes[a.name].required == required:
                n.attribute.remove(a)
                return None
    return False


def function(name, nodes, inputs=("x",), outputs=("y",), opsets=(("", 17),), attributes=(), domain="local"):
    return helper.make_function(
        domain, name, list(inputs), list(outputs), nodes,
        [helper.make_opsetid(d, v) for d, v in opsets], list(attributes))


def function_model(functions, nodes, ir=8, opsets=(("", 17), ("local", 1))):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    g = helper.make_graph(nodes, "main", [x], [y])
    m = helper.make_model(g, functions=functions, opset_imports=[helper.make_opsetid(d, v) for d, v in opsets])
    m.ir_version = ir
    return m


def node(op, inputs, outputs, domain="", **attrs):
    return helper.make_node(op, inputs, outputs, domain=domain, **attrs)


def ref(op, inputs, outputs, name, kind, parameter):
    n = node(op, inputs, outputs)
    n.attribute.append(onnx.AttributeProto(name=name, type=kind, ref_attr_name=parameter))
    return n


def functions():
    """Yields (name, model) for models with functions, good and bad."""
    call = [node("f", ["x"], ["y"], "local")]
    relu = [node("Relu", ["x"], ["y"])]
    f, g = function("f", relu), function("g", relu)
    int_, float_ = onnx.AttributeProto.INT, onnx.AttributeProto.FLOAT
    leaky = function("f", [ref("LeakyRelu", ["x"], ["y"], "alpha", float_, "slope")], attributes=["slope"])
    yield "good", function_model([f], call)
    yield "unused", function_model([f, g], call)
    yield "twice", function_model([f, f], call)
    yield "recursive", function_model([function("f", call, opsets=(("local", 1),))], call)
    yield "mutually_recursive", function_model([
        function("f", [node("g", ["x"], ["y"], "local")], opsets=(("local", 1),)),
        function("g", call, opsets=(("local", 1),))], call)
    yield "nested", function_model([function("f", [node("g", ["x"], ["y"], "local")], opsets=(("local", 1),)), g], call)
    yield "undefined_name", function_model([function("f", [node("Relu", ["z"], ["y"])])], call)
    yield "outer_name", function_model([function("f", [node("Relu", ["w"], ["y"])])], [node("Relu", ["x"], ["w"]), *call])
    yield "output_undefined", function_model([function("f", [node("Relu", ["x"], ["z"])])], call)
    yield "unknown_operator", function_model([function("f", [node("NoSuch", ["x"], ["y"])])], call)
    yield "unknown_attribute", function_model([function("f", [node("Relu", ["x"], ["y"], no_such=1)])], call)
    yield "no_import", function_model([function("f", relu, opsets=())], call)
    yield "opset_differs_same_schema", function_model([function("f", relu, opsets=(("", 16),))], call)
    yield "opset_extended", function_model([function("f", relu, opsets=(("", 13),))], call)
    yield "opset_conflict", function_model([function("f", [node("Softmax", ["x"], ["y"])], opsets=(("", 11),))], call)
    yield "opset_gone", function_model(
        [function("f", [node("Squeeze", ["x"], ["y"], axes=[0])], opsets=(("", 11),))], call)
    yield "duplicate_input", function_model([function("f", relu, inputs=("x", "x"))], call)
    yield "duplicate_output", function_model([function("f", relu, outputs=("y", "y"))], call)
    yield "duplicate_attribute", function_model([function("f", relu, attributes=["a", "a"])], call)
    yield "duplicate_definition", function_model([function("f", relu + relu)], call)
    yield "unordered", function_model(
        [function("f", [node("Relu", ["z"], ["y"]), node("Relu", ["x"], ["z"])])], call)
    yield "ir_seven", function_model([f], call, ir=7)
    yield "attribute", function_model([leaky], [node("f", ["x"], ["y"], "local", slope=0.5)])
    yield "attribute_missing", function_model([leaky], call)
    yield "attribute_unknown", function_model([leaky], [node("f", ["x"], ["y"], "local", slope=0.5, other=1)])
    yield "attribute_reference_unknown", function_model(
        [function("f", [ref("LeakyRelu", ["x"], ["y"], "alpha", float_, "no_such")])], call)
    yield "attribute_reference_type", function_model(
        [function("f", [ref("LeakyRelu", ["x"], ["y"], "alpha", int_, "slope")], attributes=["slope"])],
        [node("f", ["x"], ["y"], "local", slope=1)])
    yield "too_many_inputs", function_model([f], [node("f", ["x", "x"], ["y"], "local")])
    yield "too_many_outputs", function_model([f], [node("f", ["x"], ["y", "z"], "local")])
    yield "unknown_function", function_model([f], [node("h", ["x"], ["y"], "local")])
    yield "type_inside", function_model(
        [function("f", [node("Cast", ["x"], ["c"], to=7), node("MatMul", ["c", "x"], ["y"])])], call)
    yield "type_of_call", function_model(
        [function("f", [node("BitwiseNot", ["x"], ["y"])], opsets=(("", 18),))], call, opsets=(("", 18), ("local", 1)))
    yield "type_of_result", function_model([function("f", [node("Cast", ["x"], ["y"], to=7)])], call)
    yield "standard_name", function_model(
        [function("Relu", relu, domain="")], [node("Relu", ["x"], ["y"])])


def scan_in_if(inner_op="Add", inner_domain="", **attrs):
    """A custom-able node in a Scan body in an If branch."""
    f = TensorProto.FLOAT
    body = helper.make_graph(
        [node(inner_op, ["s", "e"], ["s2"], inner_domain, **attrs), node("Identity", ["s2"], ["o"])], "body",
        [helper.make_tensor_value_info("s", f, [2]), helper.make_tensor_value_info("e", f, [2])],
        [helper.make_tensor_value_info("s2", f, [2]), helper.make_tensor_value_info("o", f, [2])])
    then = helper.make_graph(
        [node("Scan", ["init", "xs"], ["last", "all"], body=body, num_scan_inputs=1)], "then", [],
        [helper.make_tensor_value_info("all", f, [3, 2])])
    other = helper.make_graph([node("Identity", ["xs"], ["same"])], "else", [],
                              [helper.make_tensor_value_info("same", f, [3, 2])])
    g = helper.make_graph(
        [node("If", ["c"], ["y"], then_branch=then, else_branch=other)], "main",
        [helper.make_tensor_value_info("c", TensorProto.BOOL, []), helper.make_tensor_value_info("init", f, [2]),
         helper.make_tensor_value_info("xs", f, [3, 2])],
        [helper.make_tensor_value_info("y", f, [3, 2])])
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)])
    m.ir_version = 8
    return m


def nested():
    """Yields (name, model) for faults two subgraphs deep."""
    yield "good", scan_in_if()
    yield "custom_operator", scan_in_if("Custom", "com.example")
    yield "custom_operator_unimported", scan_in_if("Custom", "com.other")
    yield "unknown_operator", scan_in_if("NoSuch")
    yield "unknown_attribute", scan_in_if(no_such=1)
    yield "input_type", scan_in_if("And")
    yield "input_count", scan_in_if("Relu")


MUTATIONS = [
    unknown_operator, misspelt_operator, custom_operator, custom_operator_unimported, custom_operator_in_body,
    unknown_operator_in_body, unknown_attribute, unknown_attribute_in_body, private_attribute, attribute_type,
    attribute_twice, attribute_untyped, attribute_without_value, required_attribute_missing,
    optional_attribute_missing, attribute_reference_outside_function, undefined_input, undefined_capture,
    missing_input, no_inputs, surplus_input, surplus_output, missing_output, no_inputs_no_outputs,
    duplicate_output_name, duplicate_input_name, output_named_as_input, shadowed_output_in_body,
    shadowing_input_in_body, reversed_nodes, cyclic_nodes, self_loop, undefined_graph_output,
    outer_value_as_body_output, unnamed_graph, untyped_input, shapeless_output, input_type_string,
    input_type_double, output_type, sequence_input, undefined_elem_type, output_rank, output_dim, input_rank,
    opset_zero, opset_future, opset_one, opset_seven, opset_latest, opset_missing, opset_twice,
    domain_written_out, domain_imported_written_out, ir_version_zero, ir_version_future, ir_version_two,
    ir_version_three, metadata_twice, initializer, initializer_twice, initializer_unnamed, initializer_short,
    initializer_short_int4, initializer_long, initializer_empty, initializer_of_no_elements_with_data,
    initializer_negative_dim, initializer_overflow, initializer_untyped, initializer_unknown_type,
    initializer_wrong_field, initializer_string_raw, initializer_differs_from_input,
    initializer_external_absolute, initializer_external_parent, initializer_external_nowhere, sparse_initializer,
    sparse_initializer_2d, sparse_initializer_unordered, sparse_initializer_outside, sparse_initializer_count,
    body_surplus_output, body_missing_output, body_surplus_input, body_missing_input, body_input_type,
    body_output_type, scan_count, scan_axes, cast_to_nothing,
]

# These change types and shapes, where operators differ most: they run on every model.
ON_EVERY_MODEL = {input_type_string, input_type_double, output_type, sequence_input, output_rank, output_dim, input_rank,
                  opset_one, opset_seven, opset_latest}


def spread(models, n):
    """n models, spread evenly over the list."""
    return models[:: max(1, len(models) // n)][:n]


def corpus():
    models = list(load())
    yield from models
    for mutate in MUTATIONS:
        variants = []
        for name, model in models:
            m = copy.deepcopy(model)
            if mutate(m) is not False:
                variants.append((f"mutated/{mutate.__name__}/{name}", m))
        yield from variants[::5] if mutate in ON_EVERY_MODEL else spread(variants, PER_MUTATION)
    yield from ((f"functions/{name}", m) for name, m in functions())
    yield from ((f"nested/{name}", m) for name, m in nested())


def entry(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def main(path):
    if onnx.__version__ != WANT:
        sys.exit(f"onnx {onnx.__version__} is installed, {WANT} is needed")
    verdicts = {}
    with open(path, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", mtime=0, filename="", compresslevel=9) as z:
        with tarfile.open(fileobj=z, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, model in corpus():
                entry(archive, name + ".onnx", model.SerializeToString(deterministic=True))
                verdicts[name] = {"check": message(model, False), "full": message(model, True)}
            entry(archive, "verdicts.json", json.dumps(verdicts, indent=0).encode())


if __name__ == "__main__":
    main(sys.argv[1])
