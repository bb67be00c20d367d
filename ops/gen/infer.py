"""Writes testdata/infer.json: small models and the types that ONNX's own shape
inference gives their values. Run in the folder above: python3 gen/infer.py
"""

import json

import onnx
from onnx import parser, shape_inference

OPSET = 27
HEAD = '<ir_version: 13, opset_import: ["" : %d]>\n' % OPSET

UNARY = """Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish
Hardmax LeakyRelu Log LogSoftmax LpNormalization Mish Neg Reciprocal Relu Round Selu Shrink
Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu Trilu IsNaN IsInf Identity Clip
Size Shape NonZero Bernoulli RandomNormalLike RandomUniformLike Det""".split()

BINARY = "Add Sub Mul Div Pow PRelu Equal Less LessOrEqual Greater GreaterOrEqual Max Min Sum Mean".split()
LOGIC = "And Or Xor".split()
BITS = "BitwiseAnd BitwiseOr BitwiseXor Mod".split()
REDUCE = """ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
ReduceSumSquare""".split()

CASES = [("float[b,4,4] x", f"y = {op} (x)") for op in UNARY]
CASES += [("float[b,1,4] x, float[3,4] z", f"y = {op} (x, z)") for op in BINARY]
CASES += [("bool[b,1,4] x, bool[3,4] z", f"y = {op} (x, z)") for op in LOGIC]
CASES += [("int32[b,1,4] x, int32[3,4] z", f"y = {op} (x, z)") for op in BITS]
CASES += [("float[b,3,4] x", f"a = Constant <value_ints: ints = [1]> ()\ny = {op} <keepdims = {k}> (x, a)") for op in REDUCE for k in (0, 1)]
CASES += [("float[b,3,4] x", f"y = {op} <axis = 1, keepdims = {k}> (x)") for op in ("ArgMax", "ArgMin") for k in (0, 1)]


def ints(name, *v):
    return f"{name} = Constant <value_ints: ints = [{','.join(map(str, v))}]> ()\n"


CASES += [
    ("bool[b] x", "y = Not (x)"),
    ("uint8[b] x, uint8[b] z", 'y = BitShift <direction = "LEFT"> (x, z)'),
    ("int32[b] x", "y = BitwiseNot (x)"),
    ("float[b,4] x", "y = Cast <to = 16> (x)"),
    ("float[b,4] x, float16 z", "y = CastLike (x, z)"),
    ("float[b,4] x", "y = BitCast <to = 6> (x)"),
    ("float[b,4] x, int64 a", "y = CumSum (x, a)"),
    ("float[b,4] x, int64 a", "y = CumProd (x, a)"),
    ("float[b,4] x", "y, m = Dropout (x)"),
    ("bool[b,1] c, float[4] x, float z", "y = Where (c, x, z)"),
    ("float[b,3,8] x", ints("i", 0, -1, 2, 4) + "y = Reshape (x, i)"),
    ("float[2,3,8] x", ints("i", -1, 4) + "y = Reshape (x, i)"),
    ("float[b,3,8] x", "y = Flatten <axis = 2> (x)"),
    ("float[b,1,8,1] x", ints("i", 1, -1) + "y = Squeeze (x, i)"),
    ("float[1,3,1] x", "y = Squeeze (x)"),
    ("float[b,8] x", ints("i", 0, -1) + "y = Unsqueeze (x, i)"),
    ("float[b,3,8] x", "y = Transpose <perm = [1,2,0]> (x)"),
    ("float[b,1,8] x", ints("i", 2, 1, 3, 8) + "y = Expand (x, i)"),
    ("float[2,3] x", ints("i", 2, 3) + "y = Tile (x, i)"),
    ("float[b,3] x, float[b,5] z", "y = Concat <axis = 1> (x, z)"),
    ("float[b,10] x", ints("s", 1) + ints("e", 9) + ints("a", 1) + ints("t", 3) + "y = Slice (x, s, e, a, t)"),
    ("float[b,10] x", ints("s", -1) + ints("e", -20) + ints("a", 1) + ints("t", -4) + "y = Slice (x, s, e, a, t)"),
    ("float[b,10] x", ints("s", 12) + ints("e", 9) + ints("a", 1) + "y = Slice (x, s, e, a)"),
    ("float[b,10] x", ints("i", 4, 6) + "y, z = Split <axis = 1> (x, i)"),
    ("float[b,11] x", "y, z, w = Split <axis = 1, num_outputs = 3> (x)"),
    ("float[b,11] x", ints("p", 0, 1, 0, 2) + "y = Pad (x, p)"),
    ("float[b,11] x", ints("p", 1, 2) + ints("a", 1) + "y = Pad (x, p, , a)"),
    ("float[b,8,4,6] x", "y = DepthToSpace <blocksize = 2> (x)"),
    ("float[b,8,4,6] x", "y = SpaceToDepth <blocksize = 2> (x)"),
    ("float[b,8,4] x", ints("i", 3, 9) + "y = CenterCropPad <axes = [1,2]> (x, i)"),
    ("float[1,3,5,7] x", "s = Constant <value_floats: floats = [1.0,1.0,2.5,0.5]> ()\ny = Resize (x, , s)"),
    ("float[1,3,5,7] x", ints("s", 1, 3, 10, 3) + "y = Resize (x, , , s)"),
    ("float[1,3,5,7] x", ints("s", 10, 3) + "y = Resize <axes = [2,3]> (x, , , s)"),
    ("float[b,8] x, int64[3,s] i", "y = Gather <axis = 1> (x, i)"),
    ("float[b,8] x, int64[b,3] i", "y = GatherElements <axis = 1> (x, i)"),
    ("float[b,8,5] x, int64[b,4,1] i", "y = GatherND <batch_dims = 1> (x, i)"),
    ("float[b,8] x, int64[3,2] i, float[3] u", "y = ScatterND (x, i, u)"),
    ("float[b,8] x, int64[3,8] i, float[3,8] u", "y = ScatterElements (x, i, u)"),
    ("int64[b,3] x, float[2] v", "d = Constant <value_int = 10> ()\ny = OneHot <axis = 1> (x, d, v)"),
    ("float[b,8] x", ints("k", 3) + "y, i = TopK <axis = 1> (x, k)"),
    ("float[b,8] x, bool[8] c", "y = Compress <axis = 1> (x, c)"),
    ("float[b,8] x", "y, i, j, k = Unique <axis = 1> (x)"),
    ("float[b,8] x", "y, i, j, k = Unique (x)"),
    ("float[b,m,8] x, float[b,s,8] u, int64[b] w", "y = TensorScatter (x, u, w)"),
    ("float[b,4,5] x, float[5,6] z", "y = MatMul (x, z)"),
    ("float[5] x, float[b,5,6] z", "y = MatMul (x, z)"),
    ("uint8[4,5] x, uint8[5,6] z", "y = MatMulInteger (x, z)"),
    ("uint8[4,5] x, float s, uint8 p, uint8[5,6] z, float t, uint8 q, float u, uint8 r", "y = QLinearMatMul (x, s, p, z, t, q, u, r)"),
    ("float[s,5] x, float[6,5] z, float[6] c", "y = Gemm <transB = 1> (x, z, c)"),
    ("float[5,s] x, float[5,6] z", "y = Gemm <transA = 1> (x, z)"),
    ("float[2,h,3,4] x, float[2,h,5,4] z", 'y = Einsum <equation = "bhsd,bhtd->bhst"> (x, z)'),
    ("float[3,4] x, float[4,5] z", 'y = Einsum <equation = "ij,jk"> (x, z)'),
    ("float[2,3,4] x, float[4,5] z", 'y = Einsum <equation = "...j,jk->...k"> (x, z)'),
    ("float[b,3,32,32] x, float[8,3,3,3] w", "y = Conv <strides = [2,2], pads = [1,1,1,1]> (x, w)"),
    ("float[b,4,33] x, float[8,2,3] w", "y = Conv <group = 2, dilations = [2], strides = [3]> (x, w)"),
    ("float[b,4,33] x, float[8,4,3] w", 'y = Conv <auto_pad = "SAME_LOWER", strides = [2]> (x, w)'),
    ("float[b,4,33] x, float[8,4,3] w", 'y = Conv <auto_pad = "VALID", strides = [2]> (x, w)'),
    ("uint8[b,4,33] x, uint8[8,4,3] w", "y = ConvInteger (x, w)"),
    ("float[b,4,33] x, float[4,8,3] w", "y = ConvTranspose <strides = [2], pads = [1,1], output_padding = [1]> (x, w)"),
    ("float[b,4,33] x, float[4,2,3] w", "y = ConvTranspose <group = 2, dilations = [2]> (x, w)"),
    ("float[b,4,33] x, float[4,8,3] w", "y = ConvTranspose <output_shape = [70], strides = [2]> (x, w)"),
    ("float[b,4,32,31] x", "y, i = MaxPool <kernel_shape = [3,2], strides = [2,2], pads = [1,0,1,1]> (x)"),
    ("float[b,4,32,31] x", "y = AveragePool <kernel_shape = [3,2], strides = [2,3], ceil_mode = 1> (x)"),
    ("float[b,4,9] x", "y = AveragePool <kernel_shape = [2], strides = [4], pads = [1,1], ceil_mode = 1> (x)"),
    ("float[b,4,32,31] x", "y = LpPool <kernel_shape = [3,2]> (x)"),
    ("float[b,4,32,31] x", "y = GlobalAveragePool (x)"),
    ("float[b,4,32,31] x", "y = GlobalMaxPool (x)"),
    ("float[b,4,8] x, float[4] s", "y = BatchNormalization (x, s, s, s, s)"),
    ("float[b,4,8] x, float[4] s", "y = InstanceNormalization (x, s, s)"),
    ("float[b,4,8] x, float[4] s", "y = GroupNormalization <num_groups = 2> (x, s, s)"),
    ("float[b,4,8] x", "y = LRN <size = 3> (x)"),
    ("float16[b,4,8] x, float16[8] s", "y, m, d = LayerNormalization (x, s)"),
    ("float[b,4,8] x, float[4,8] s", "y, m, d = LayerNormalization <axis = 1> (x, s)"),
    ("float[b,4,8] x, float[8] s", "y = RMSNormalization (x, s)"),
    ("float[7,b,16] x, float[2,32,16] w, float[2,32,8] r", 'y, h, c = LSTM <direction = "bidirectional", hidden_size = 8> (x, w, r)'),
    ("float[7,b,16] x, float[1,24,16] w, float[1,24,8] r", "y, h = GRU <hidden_size = 8> (x, w, r)"),
    ("float[b,7,16] x, float[1,8,16] w, float[1,8,8] r", "y, h = RNN <hidden_size = 8, layout = 1> (x, w, r)"),
    ("float[2,4,12] q, float[2,6,6] k, float[2,6,10] v", "y = Attention <q_num_heads = 4, kv_num_heads = 2> (q, k, v)"),
    ("float[2,4,5,3] q, float[2,2,6,3] k, float[2,2,6,8] v, float[2,2,7,3] pk, float[2,2,7,8] pv", "y, nk, nv = Attention (q, k, v, , pk, pv)"),
    ("float[b,3,5,8] x, float[50,4] c", "y = RotaryEmbedding (x, c, c)"),
    ("float[2,7,12] q, float[2,7,6] k, float[2,7,10] v, float[2,2,3,5] s, float[2,7,2] g", "y, n = LinearAttention <q_num_heads = 4, kv_num_heads = 2> (q, k, v, s, g, g)"),
    ("float[2,7,12] q, float[2,7,6] k, float[2,7,10] v", 'y, n = LinearAttention <q_num_heads = 4, kv_num_heads = 2, update_rule = "linear"> (q, k, v)'),
    ("float[2,8,5] x, float[8,1,4] w", "y, n = CausalConvWithState (x, w)"),
    ("float[k,4] x, float s, int8 z", "y = QuantizeLinear (x, s, z)"),
    ("float[k,4] x, float s", "y = QuantizeLinear (x, s)"),
    ("float[k,4] x, float s", "y = QuantizeLinear <output_dtype = 21> (x, s)"),
    ("int8[k,4] x, float16 s", "y = DequantizeLinear (x, s)"),
    ("float[k,4] x", "y, s, z = DynamicQuantizeLinear (x)"),
    ("float[k,4] x", "y = EyeLike <dtype = 6> (x)"),
    ("", "y = RandomUniform <shape = [2,3], dtype = 11> ()"),
    ("float[b,4] x", "y = Multinomial <sample_size = 7> (x)"),
    ("", "n = Constant <value_int = 16> ()\ny = HannWindow (n)"),
    ("", "a = Constant <value_int = 3> ()\nb = Constant <value_int = 14> ()\nd = Constant <value_int = 4> ()\ny = Range (a, b, d)"),
    ("", ints("s", 3, 4) + "y = ConstantOfShape (s)"),
    ("float[b,3,4] x", "s = Shape (x)\ny = ConstantOfShape (s)"),
    ("float[b,3,4] x", "s = Shape <start = 1> (x)\n" + ints("c", 2) + "t = Mul (s, c)\ny = ConstantOfShape (t)"),
    ("float[b,3,4] x", "s = Shape (x)\n" + ints("i", 2, 0) + "t = Gather (s, i)\ny = ConstantOfShape (t)"),
    ("bool c, float[2,3] x", "y = If (c) <then_branch = t () => (float[2,3] a) { a = Relu (x) }, else_branch = e () => (float[2,3] d) { d = Neg (x) }>"),
    ("float[2,3] s, float[5,2,3] x", "y, o = Scan (s, x) <num_scan_inputs = 1, body = l (float[2,3] u, float[2,3] v) => (float[2,3] w, float[2,3] q) { w = Add (u, v)\nq = Relu (w) }>"),
    ("int64 m, float[2] s", "y, o = Loop (m, , s) <body = l (int64 i, bool c, float[2] v) => (bool c2, float[2] w, float[2] q) { c2 = Identity (c)\nw = Relu (v)\nq = Neg (v) }>"),
    ("float[b,4] x", "s = SequenceConstruct (x, x)\ni = Constant <value_int = 0> ()\ny = SequenceAt (s, i)"),
    ("float[b,4] x", "s = SplitToSequence <axis = 1, keepdims = 0> (x)\ny = ConcatFromSequence <axis = 1, new_axis = 1> (s)"),
    ("float[b,4] x", "o = Optional (x)\ny = OptionalGetElement (o)"),
    ("float[b,4] x", "y = OptionalHasElement (x)"),
]


def type_of(value):
    """Dims are null without a rank; an unknown dim is null."""
    t = value.type.tensor_type
    if not value.type.HasField("tensor_type") or t.elem_type == 0:
        return None
    dims = None
    if t.HasField("shape"):
        dims = []
        for d in t.shape.dim:
            named = d.dim_param and not d.dim_param.startswith("unk__")
            dims.append(d.dim_value if d.HasField("dim_value") else d.dim_param if named else None)
    return {"elem": t.elem_type, "dims": dims}


out = []
for inputs, body in CASES:
    text = HEAD + f"g ({inputs}) => () {{\n{body}\n}}"
    model = parser.parse_model(text)
    try:
        inferred = shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except shape_inference.InferenceError as err:
        print("refused:", body, err)
        continue
    types = {v.name: type_of(v) for v in inferred.graph.value_info}
    missing = [n for n in model.graph.node[-1].output if not types.get(n)]
    if missing:
        print("not inferred:", body, missing)
    out.append({"text": text, "types": {k: v for k, v in types.items() if v}})
with open("testdata/infer.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in out) + "\n]\n")
print(len(out), "cases")
