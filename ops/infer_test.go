package ops

import (
	"fmt"
	"strings"
	"testing"

	"mobiusc/ir"
)

// parseModel reads a model whose graph has the given inputs and body.
func parseModel(t testing.TB, inputs, body string) *ir.Model {
	t.Helper()
	text := "<ir_version: 10, opset_import: [\"\" : 27, \"local\" : 1]>\ng (" + inputs + ") => () {\n" + body + "\n}"
	m, err := ir.ParseModel("test", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

// types returns the types of the outputs of the graph's last node.
func types(g *ir.Graph) string {
	var out []string
	for _, v := range g.Last().Outputs() {
		switch {
		case v == nil:
			out = append(out, "-")
		case v.Type == nil:
			out = append(out, "?")
		default:
			out = append(out, strings.ReplaceAll(v.Type.String(), `"`, ""))
		}
	}
	return strings.Join(out, " ")
}

type inferCase struct{ inputs, body, want string }

func checkInference(t *testing.T, cases []inferCase) {
	t.Helper()
	for _, c := range cases {
		m := parseModel(t, c.inputs, c.body)
		if _, err := InferModel(m); err != nil {
			t.Errorf("(%s) %s: %v", c.inputs, c.body, err)
			continue
		}
		if got := types(m.Graph); got != c.want {
			t.Errorf("(%s) %s\n got %s\nwant %s", c.inputs, c.body, got, c.want)
		}
	}
}

func TestInferElementwise(t *testing.T) {
	checkInference(t, []inferCase{
		{"float[b,4] x", "y = Relu (x)", "float[b,4]"},
		{"float16[] x", "y = Relu (x)", "float16[]"},
		{"float[b,1,4] x, float[s,1] z", "y = Add (x, z)", "float[b,s,4]"},
		{"float[a,4] x, float[b,4] z", "y = Add (x, z)", "float[?,4]"},
		{"float[a,4] x, float[3,1] z", "y = Mul (x, z)", "float[3,4]"},
		{"float[a] x, float z", "y = Sub (x, z)", "float[a]"},
		{"float[] x, float z", "y = Sub (x, z)", "float[]"},
		{"float[a] x, int64[a] z", "y = Pow (x, z)", "float[a]"},
		{"int64[2,a] x, int64 z", "y = Less (x, z)", "bool[2,a]"},
		{"bool[s,s] c, float z, float[b,1,s] x", "y = Where (c, z, x)", "float[b,s,s]"},
		{"float[a] x, float[a] z, float[1] w", "y = Max (x, z, w)", "float[a]"},
		{"float[a] x", "y = Cast <to = 10> (x)", "float16[a]"},
		{"float[a] x, bool z", "y = CastLike (x, z)", "bool[a]"},
		{"float[a] x", "y, m = Dropout (x)", "float[a] bool[a]"},
		{"float[a] x", "y = IsNaN (x)", "bool[a]"},
		{"float[b,s] x, int64 a", "y = CumSum (x, a)", "float[b,s]"},
		{"float[b,s] x", "y = Swish (x)", "float[b,s]"},
	})
}

func TestInferShapes(t *testing.T) {
	checkInference(t, []inferCase{
		{"float[b,s,12] x", "i = Constant <value_ints: ints = [0,0,3,-1]> ()\ny = Reshape (x, i)", "float[b,s,3,4]"},
		{"float[b,s,12] x", "i = Constant <value_ints: ints = [-1,12]> ()\ny = Reshape (x, i)", "float[b*s,12]"},
		{"float[n,1536] x", "i = Constant <value_ints: ints = [-1,6144]> ()\ny = Reshape (x, i)", "float[n/4,6144]"},
		{"float[?,s,12] x", "i = Constant <value_ints: ints = [0,-1,4]> ()\ny = Reshape (x, i)", "float[?,3*s,4]"},
		{"float[?,s,12] x", "i = Constant <value_ints: ints = [-1,12]> ()\ny = Reshape (x, i)", "float[?,12]"},
		{"float[b,s,12] x, int64[3] i", "y = Reshape (x, i)", "float[?,?,?]"},
		{"float[] x", "i = Constant <value_ints: ints = [0,-1,4]> ()\ny = Reshape (x, i)", "float[?,?,4]"},
		{"float[1] x", "i = Constant <value_ints: ints = []> ()\ny = Reshape (x, i)", "float"},
		{"float[b,s] x, float[s] z", "i = Shape (x)\ny = Expand (z, i)", "float[b,s]"},
		{"float[b,s] x", "i = Shape <start = 1> (x)\nj = Constant <value_ints: ints = [2]> ()\nk = Mul (i, j)\nz = ConstantOfShape (k)\ny = Identity (z)", "float[2*s]"},
		{"float[b,s,h] x", "y = Flatten <axis = 2> (x)", "float[b*s,h]"},
		{"float[b,s,h] x", "y = Transpose <perm = [2,0,1]> (x)", "float[h,b,s]"},
		{"float[b,s,h] x", "y = Transpose (x)", "float[h,s,b]"},
		{"float[b,s] x", "i = Constant <value_ints: ints = [0,-1]> ()\ny = Unsqueeze (x, i)", "float[1,b,s,1]"},
		{"float[b,1,s] x", "i = Constant <value_ints: ints = [1]> ()\ny = Squeeze (x, i)", "float[b,s]"},
		{"float[2,1,1] x", "y = Squeeze (x)", "float[2]"},
		{"float[b,1] x", "y = Squeeze (x)", "float[]"},
		{"float[b,p,h] x, float[b,s,h] z", "y = Concat <axis = 1> (x, z)", "float[b,p + s,h]"},
		{"float[b,s] x", "i = Constant <value_ints: ints = [2,1]> ()\ny = Tile (x, i)", "float[2*b,s]"},
		{"float[b,12] x", "i = Constant <value_ints: ints = [5,7]> ()\ny, z = Split <axis = 1> (x, i)", "float[b,5] float[b,7]"},
		{"float[b,s] x", "y, z = Split <axis = 1, num_outputs = 2> (x)", "float[b,s/2] float[b,s/2]"},
		{"float[b,7] x", "y, z = Split <axis = 1, num_outputs = 2> (x)", "float[b,4] float[b,3]"},
		{"float[b,s] x", "i = Constant <value_ints: ints = [0,3,0,1]> ()\ny = Pad (x, i)", "float[b,s + 4]"},
		{"float[b,c,h,w] x", "y = DepthToSpace <blocksize = 2> (x)", "float[b,c/4,2*h,2*w]"},
		{"float[b,3,h,32] x", "i = Constant <value_floats: floats = [1.0,1.0,2.0,0.5]> ()\ny = Resize (x, , i)", "float[b,3,2*h,16]"},
		{"float[b,3,h,32] x", "i = Constant <value_ints: ints = [1,2,3,4]> ()\ny = Resize (x, , , i)", "float[1,2,3,4]"},
	})
}

func TestInferSlice(t *testing.T) {
	slice := func(start, end, step string) string {
		return "a = Constant <value_ints: ints = [" + start + "]> ()\nb = Constant <value_ints: ints = [" + end +
			"]> ()\nc = Constant <value_ints: ints = [1]> ()\nd = Constant <value_ints: ints = [" + step + "]> ()\ny = Slice (x, a, b, c, d)"
	}
	checkInference(t, []inferCase{
		{"float[b,10] x", slice("2", "9", "3"), "float[b,3]"},
		{"float[b,10] x", slice("-3", "9223372036854775807", "1"), "float[b,3]"},
		{"float[b,10] x", slice("-1", "-9223372036854775808", "-1"), "float[b,10]"},
		{"float[b,s] x", slice("0", "9223372036854775807", "1"), "float[b,s]"},
		{"float[b,s] x", slice("-1", "-9223372036854775808", "-1"), "float[b,s]"},
		{"float[b,s] x", slice("1", "9223372036854775807", "1"), "float[b,max(0, s - 1)]"},
		{"float[b,s] x", slice("-3", "9223372036854775807", "1"), "float[b,min(3, s)]"},
		{"float[b,s] x", slice("0", "-3", "1"), "float[b,max(0, s - 3)]"},
		{"float[b,s] x", slice("0", "4", "1"), "float[b,min(4, s)]"},
		{"float[b,s] x", slice("0", "9223372036854775807", "2"), "float[b,ceil(s/2)]"},
		{`float[b,"s + 3"] x`, slice("-3", "9223372036854775807", "1"), "float[b,3]"},
		{`float[b,"s + 3"] x`, slice("0", "-3", "1"), "float[b,s]"},
		{`float[b,"s + 3"] x`, slice("3", "9223372036854775807", "1"), "float[b,s]"},
		// The last s of p + s, by a computed start and by a computed end.
		{`float["p + s"] x, float[p] k, float[s] q`, "a = Shape (k)\nb = Shape (x)\ny = Slice (x, a, b)", "float[s]"},
		{`float["p + s"] x, float[s] q`, "a = Shape (q)\nb = Shape (x)\nc = Sub (b, a)\ny = Slice (x, c, b)", "float[s]"},
		{`float["32*ceil(s/32)"] x, float[s] q`, "a = Constant <value_ints: ints = [0]> ()\nb = Shape (q)\ny = Slice (x, a, b)", "float[s]"},
		{"float[4096] x, float[s] q", "a = Constant <value_ints: ints = [0]> ()\nb = Shape (q)\ny = Slice (x, a, b)", "float[min(4096, s)]"},
		{"float[s] x, int64[1] a, int64[1] b", "y = Slice (x, a, b)", "float[?]"},
		{"float[b,s] x, int64[1] a, int64[1] b", "c = Constant <value_ints: ints = [1]> ()\ny = Slice (x, a, b, c)", "float[b,?]"},
	})
}

func TestInferIndexing(t *testing.T) {
	checkInference(t, []inferCase{
		{"float[v,h] x, int64[b,s] i", "y = Gather (x, i)", "float[b,s,h]"},
		{"float[b,s,h] x, int64 i", "y = Gather <axis = -2> (x, i)", "float[b,h]"},
		{"float[b,s] x, int64[b,4] i", "y = GatherElements <axis = 1> (x, i)", "float[b,4]"},
		{"float[b,s,h] x, int64[n,2] i", "y = GatherND (x, i)", "float[n,h]"},
		{"float[b,s,h] x, int64[b,n,1] i", "y = GatherND <batch_dims = 1> (x, i)", "float[b,n,h]"},
		{"float[b,s] x, int64[n,2] i, float[n] u", "y = ScatterND (x, i, u)", "float[b,s]"},
		{"int64[b] x, float[2] v", "d = Constant <value_int = 10> ()\ny = OneHot (x, d, v)", "float[b,10]"},
		{"float[b,s] x", "k = Constant <value_ints: ints = [5]> ()\ny, i = TopK (x, k)", "float[b,5] int64[b,5]"},
		{"float[b,s] x, int64[1] k", "y, i = TopK (x, k)", "float[b,?] int64[b,?]"},
		{"float[b,s] x", "y = NonZero (x)", "int64[2,?]"},
		{"float[b,s] x, bool[b] c", "y = Compress <axis = 0> (x, c)", "float[?,s]"},
		{"float[b,s] x, bool[n] c", "y = Compress (x, c)", "float[?]"},
		{"float[b,m,h] x, float[b,s,h] u, int64[b] w", "y = TensorScatter (x, u, w)", "float[b,m,h]"},
		{"float[n] x", "y, i, j, k = Unique (x)", "float[?] int64[?] int64[?] int64[?]"},
	})
}

func TestInferProducts(t *testing.T) {
	checkInference(t, []inferCase{
		{"float[b,s,h] x, float[h,n] w", "y = MatMul (x, w)", "float[b,s,n]"},
		{"float[h] x, float[b,h,n] w", "y = MatMul (x, w)", "float[b,n]"},
		{"float[b,s,h] x, float[h] w", "y = MatMul (x, w)", "float[b,s]"},
		{"float[b,1,s,h] x, float[k,h,n] w", "y = MatMul (x, w)", "float[b,k,s,n]"},
		{"uint8[s,h] x, int8[h,n] w", "y = MatMulInteger (x, w)", "int32[s,n]"},
		{"float[s,h] x, float[n,h] w, float[n] c", "y = Gemm <transB = 1> (x, w, c)", "float[s,n]"},
		{"float[b,h,s,d] q, float[b,h,t,d] k", `y = Einsum <equation = "bhsd,bhtd->bhst"> (q, k)`, "float[b,h,s,t]"},
		{"float[b,s,d] q, float[d,n] k", `y = Einsum <equation = "...d,dn"> (q, k)`, "float[b,s,n]"},
		{"float[b,s,s] x", "y = Det (x)", "float[b]"},
	})
}

func TestInferReductions(t *testing.T) {
	checkInference(t, []inferCase{
		{"float[b,s,h] x", "a = Constant <value_ints: ints = [-1]> ()\ny = ReduceMean (x, a)", "float[b,s,1]"},
		{"float[b,s,h] x", "a = Constant <value_ints: ints = [0,2]> ()\ny = ReduceSum <keepdims = 0> (x, a)", "float[s]"},
		{"float[b,s,h] x", "y = ReduceMax <keepdims = 0> (x)", "float"},
		{"float[b,s,h] x", "y = ReduceMax <noop_with_empty_axes = 1> (x)", "float[b,s,h]"},
		{"float[b,s,h] x, int64[1] a", "y = ReduceMax (x, a)", "float[?,?,?]"},
		{"float[b,s,h] x", "y = ArgMax <axis = 1, keepdims = 0> (x)", "int64[b,h]"},
	})
}

func TestInferLayers(t *testing.T) {
	checkInference(t, []inferCase{
		{"float[b,3,h,224] x, float[64,3,7,7] w", "y = Conv <strides = [2,2], pads = [3,3,3,3]> (x, w)", "float[b,64,ceil(h/2),112]"},
		{"float[b,80,t] x, float[n,80,3] w", "y = Conv <strides = [2], pads = [1,1]> (x, w)", "float[b,n,ceil(t/2)]"},
		{"float[b,8,t] x, float[8,1,4] w", "y = Conv <group = 8, pads = [3,0]> (x, w)", "float[b,8,t]"},
		{"float[b,8,t] x, float[8,8,3] w", `y = Conv <auto_pad = "SAME_UPPER", strides = [2]> (x, w)`, "float[b,8,ceil(t/2)]"},
		{"float[b,8,t] x, float[8,4,3] w", "y = ConvTranspose <strides = [2]> (x, w)", "float[b,4,2*t + 1]"},
		{"float[b,8,32,32] x", "y = MaxPool <kernel_shape = [3,3], strides = [2,2]> (x)", "float[b,8,15,15]"},
		{"float[b,8,32,32] x", "y = AveragePool <kernel_shape = [3,3], strides = [2,2], ceil_mode = 1> (x)", "float[b,8,16,16]"},
		{"float[b,8,h,w] x", "y = GlobalAveragePool (x)", "float[b,8,1,1]"},
		{"float[b,s,h] x, float[h] w", "y, m, d = LayerNormalization (x, w)", "float[b,s,h] float[b,s,1] float[b,s,1]"},
		{"float16[b,s,8] x, float16[8] w", "y = RMSNormalization (x, w)", "float16[b,s,8]"},
		{"float[t,b,16] x, float[2,32,16] w, float[2,32,8] r", `y, h, c = LSTM <direction = "bidirectional", hidden_size = 8> (x, w, r)`, "float[t,2,b,8] float[2,b,8] float[2,b,8]"},
		{"int4[k,n] w, float16[m,n] s", "y = DequantizeLinear <axis = 0, block_size = 32> (w, s)", "float16[k,n]"},
		{"float[k] x, float s, int8 z", "y = QuantizeLinear (x, s, z)", "int8[k]"},
		{"float[k] x", "y, s, z = DynamicQuantizeLinear (x)", "uint8[k] float uint8"},
	})
}

func TestInferAttention(t *testing.T) {
	checkInference(t, []inferCase{
		{
			"float[b,s,512] q, float[b,s,128] k, float[b,s,128] v, bool[b,1,s,t] m, float[b,2,p,64] pk, float[b,2,p,64] pv",
			"y, nk, nv = Attention <q_num_heads = 8, kv_num_heads = 2> (q, k, v, m, pk, pv)",
			"float[b,s,512] float[b,2,p + s,64] float[b,2,p + s,64]",
		},
		{
			"float[b,8,s,64] q, float[b,2,t,64] k, float[b,2,t,32] v",
			"y, nk, nv, qk = Attention (q, k, v)",
			"float[b,8,s,32] float[b,2,t,64] float[b,2,t,32] float[b,8,s,t]",
		},
		{
			"float16[b,t,64] q, float16[b,t,32] k, float16[b,t,48] v, float[b,2,16,24] s, float16[b,t,2] g, float16[b,t,2] e",
			"y, n = LinearAttention <q_num_heads = 4, kv_num_heads = 2> (q, k, v, s, g, e)",
			"float16[b,t,96] float[b,2,16,24]",
		},
		{
			"float[b,c,t] x, float[c,1,4] w",
			"y, n = CausalConvWithState (x, w)",
			"float[b,c,t] float[b,c,3]",
		},
		{"float[b,h,s,64] x, float[m,32] c, float[m,32] n, int64[b,s] p", "y = RotaryEmbedding (x, c, n, p)", "float[b,h,s,64]"},
	})
}

func TestInferMakers(t *testing.T) {
	checkInference(t, []inferCase{
		{"float[b,s] x", "a = Constant <value_int = 0> ()\ni = Constant <value_int = 1> ()\nn = Shape (x)\nl = Gather (n, i)\nc = Constant <value_int = 1> ()\ny = Range (a, l, c)", "int64[s]"},
		{"float[p] k, float[s] q", "p = Size (k)\ns = Size (q)\nt = Add (p, s)\nc = Constant <value_int = 1> ()\ny = Range (p, t, c)", "int64[s]"},
		{"float[p] k, float[s] q", "z = Constant <value_int = 0> ()\nc = Constant <value_int = 1> ()\np = Size (k)\ns = Size (q)\nstep = Max (s, c)\ny = Range (z, p, step)", "int64[max(0, floor((p - 1)/max(1, s)) + 1)]"},
		{"float[p] k, float[s] q", "z = Constant <value_int = 0> ()\np = Size (k)\ns = Size (q)\ny = Range (z, p, s)", "int64[?]"},
		{"", "a = Constant <value_float = 0.5> ()\nb = Constant <value_float = 2.0> ()\ny = Range (a, b, a)", "float[3]"},
		{"int64 a, int64 b", "y = Range (a, b, a)", "int64[?]"},
		{"float[b,s] x", "y = Shape (x)", "int64[2]"},
		{"float[] x", "y = Shape (x)", "int64[?]"},
		{"float[b,s] x", "y = EyeLike <dtype = 7> (x)", "int64[b,s]"},
		{"", "y = RandomNormal <shape = [2,3]> ()", "float[2,3]"},
		{"", "n = Constant <value_int = 16> ()\ny = HannWindow (n)", "float[16]"},
	})
}

func TestInferSymbolicValues(t *testing.T) {
	shape := "n = Shape (x)\n"
	reshape := "\nz = Constant <value_int = 0> ()\ny = ConstantOfShape (r)"
	checkInference(t, []inferCase{
		{"float[b,s,12] x", shape + "i = Constant <value_ints: ints = [1,0]> ()\nr = Gather (n, i)" + reshape, "float[s,b]"},
		{"float[b,s,12] x", shape + "r = Cast <to = 6> (n)" + reshape, "float[b,s,12]"},
		{"float[b,s,12] x", shape + "a, c, r = Split (n)" + reshape, "float[12]"},
		{"float[b,s,12] x", shape + "p = ReduceProd <keepdims = 0> (n)\na = Constant <value_ints: ints = [0]> ()\nr = Unsqueeze (p, a)" + reshape, "float[12*b*s]"},
		{"float[b,s,12] x", shape + "c = Constant <value_ints: ints = [4,4,4]> ()\nr = Div (n, c)" + reshape, "float[floor(b/4),floor(s/4),3]"},
		{"float[b,s,12] x", shape + "c = Constant <value_ints: ints = [1,5,5]> ()\nr = Mod (n, c)" + reshape, "float[0,s - 5*floor(s/5),2]"},
		{"float[b,s,12] x", shape + "m = Neg (n)\nc = Constant <value_ints: ints = [4,8,8]> ()\no = Mod (m, c)\nr = Add (o, n)" + reshape, "float[4*ceil(b/4),8*ceil(s/8),16]"},
		{"float[b,s,12] x", shape + "c = Constant <value_ints: ints = [0,8,8]> ()\nr = Max (n, c)" + reshape, "float[b,max(8, s),12]"},
		{"float[b,s,12] x", shape + "c = Constant <value_ints: ints = [12]> ()\ne = Equal (n, c)\nr = Where (e, c, n)" + reshape, "float[?,?,?]"},
		{"float[1,3,12] x", shape + "c = Constant <value_ints: ints = [12]> ()\nk = Constant <value_ints: ints = [7]> ()\ne = Equal (n, c)\nr = Where (e, k, n)" + reshape, "float[1,3,7]"},
		{"float[b,s,12] x, int64[1] u", "n = Shape <end = 2> (x)\nr = Concat <axis = 0> (n, u)" + reshape, "float[b,s,?]"},
	})
}

func TestInferControl(t *testing.T) {
	checkInference(t, []inferCase{
		{"bool c, float[b,s] x, float[n,s] z", "y = If (c) <then_branch = t () => (a) { a = Relu (x) }, else_branch = e () => (a) { a = Relu (z) }>", "float[?,s]"},
		{"bool c, float[b,s] x", "y = If (c) <then_branch = t () => (a) { a = Relu (x) }, else_branch = e () => (a) { a = ReduceSum <keepdims = 0> (x) }>", "float[]"},
		{"float[b,s] x, float[n] z", "c = Constant <value = bool {1}> ()\ny = If (c) <then_branch = t () => (a) { a = Relu (x) }, else_branch = e () => (a) { a = MatMul (x, z) }>", "float[b,s]"},
		// The branch for s = 1 agrees with the one for any s.
		{
			"float[b,s] x",
			"n = Shape <start = 1> (x)\na = Constant <value_ints: ints = [1]> ()\ne = Equal (n, a)\nc = Squeeze (e)\nz = Constant <value_ints: ints = [0]> ()\ny = If (c) <then_branch = t () => (u) { u = Slice (x, z, a, a) }, else_branch = f () => (u) { u = Relu (x) }>",
			"float[b,s]",
		},
		// A state that grows in every turn, and one that does not.
		{
			"int64 m, float[b,s] x, float[b,1] k",
			"y, w, o = Loop (m, , x, k) <body = l (int64 i, bool c, float[b,n] v, float[b,1] u) => (d, g, h, q) { d = Identity (c)\ng = Concat <axis = 1> (v, u)\nh = Relu (u)\nq = Identity (u) }>",
			"float[b,?] float[b,1] float[?,b,1]",
		},
		{
			"float[b] x",
			"m = Constant <value_int = 5> ()\ny, o = Loop (m, , x) <body = l (int64 i, bool c, v) => (c, g, q) { g = Relu (v)\nq = Identity (i) }>",
			"float[b] int64[5]",
		},
		{
			"float[b,h] s, float[t,b,h] x",
			"y, o = Scan (s, x) <num_scan_inputs = 1, body = l (u, v) => (w, q) { w = Add (u, v)\nq = ReduceSum <keepdims = 0> (w) }>",
			"float[b,h] float[t]",
		},
		{
			"float[b,t,h] x",
			"o = Scan (x) <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1], body = l (v) => (q) { q = Relu (v) }>",
			"float[b,t,h]",
		},
		{"float[a] x, float[b] z", "s = SequenceConstruct (x, z)\ni = Constant <value_int = 0> ()\ny = SequenceAt (s, i)", "float[?]"},
		{"float[a,4] x", "s = SplitToSequence <axis = 1, keepdims = 0> (x)\ny = ConcatFromSequence <axis = 1, new_axis = 1> (s)", "float[a,?]"},
		{"float[a] x", "y = OptionalHasElement (x)", "bool"},
		{"float[a] x", "y, z = custom.op (x)", "? ?"},
		{"float[b,f,t,2] x", "y = DFT (x)", "float[]"},
	})
}

func TestInferFunctionCalls(t *testing.T) {
	text := `<ir_version: 10, opset_import: ["" : 24, "local" : 1]>
g (float[b,s] x, float[b,t] z) => (o, p) {
   o = local.twice <axis = 1> (x, z)
   p = local.twice <axis = 1> (o)
}
<domain: "local", opset_import: ["" : 24]>
twice <axis, to: int = 10> (x, z) => (y) {
   has = OptionalHasElement (z)
   both = If (has) <then_branch = t () => (a) { a = Concat <axis: int = @axis> (x, z) }, else_branch = e () => (a) { a = Identity (x) }>
   y = Cast <to: int = @to> (both)
}`
	m, err := ir.ParseModel("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := InferModel(m); err != nil {
		t.Fatal(err)
	}
	if got := m.Graph.First().Output(0).Type.String(); got != `float16["b","s + t"]` && got != `float16[b,"s + t"]` {
		t.Errorf("called with both inputs: %s", got)
	}
	if got := m.Graph.Last().Output(0).Type.String(); got != `float16[b,"s + t"]` {
		t.Errorf("called with one input: %s", got)
	}
	if v := m.Functions[0].Body.First().Output(0); v.Type != nil {
		t.Errorf("the call wrote %s into the function", v.Type)
	}
}

func TestInferErrors(t *testing.T) {
	for _, c := range []struct{ inputs, body, want string }{
		{"float[2,5] x, float[7,3] w", `[named] y = MatMul (x, w)`, `MatMul "named": inner dims 5 and 7 differ: input 0 is [2, 5], input 1 is [7, 3]`},
		{`float[2,s] x, float["s + 1",3] w`, "y = MatMul (x, w)", "MatMul: inner dims s and s + 1 differ: input 0 is [2, s], input 1 is [s + 1, 3]"},
		{"float[2,3] x, float[4] w", "y = Add (x, w)", "Add: shapes [2, 3] and [4] do not broadcast: 3 against 4"},
		{"float[2] x, int64[2] w", "y = Add (x, w)", "Add: input 0 is float but input 1 is int64"},
		{"float[2,3] x", "i = Constant <value_ints: ints = [5,-1]> ()\ny = Reshape (x, i)", "Reshape: shape [2, 3] cannot be reshaped to [5, -1]: the numbers of elements differ"},
		{"float[b,3] x", "i = Constant <value_ints: ints = [0,4]> ()\ny = Reshape (x, i)", "Reshape: shape [b, 3] cannot be reshaped to [0, 4]: the numbers of elements differ"},
		{"float[b,3] x", "y = Softmax (x)\nz = Gather <axis = 2> (x, x)", "Gather: axis 2 is out of range for rank 2"},
		{"float[2,3] x, float[2,4] z", "y = Concat <axis = 0> (x, z)", "Concat: dims 3 and 4 differ: input 0 is [2, 3], input 1 is [2, 4]"},
		{"float[2,3] x", "i = Constant <value_ints: ints = [1,1]> ()\ny, z = Split <axis = 1> (x, i)", "Split: sizes [1, 1] do not add up to axis 1 of [2, 3]"},
		{"float[2,3] x", "y = Transpose <perm = [-1,0]> (x)", "Transpose: perm [-1 0] is no permutation of 2 axes, the shape is [2, 3]"},
		{"float[2,3] x", "k = Constant <value_ints: ints = [4]> ()\ny, i = TopK (x, k)", "TopK: k is 4, and axis 1 of [2, 3] has 3 elements"},
		{"float[2,3] x", "y = Transpose <perm = [0,0]> (x)", "Transpose: perm [0 0] is no permutation of 2 axes, the shape is [2, 3]"},
		{"float[b,s,10] q, float[b,s,8] k", "y = Attention <q_num_heads = 4, kv_num_heads = 4> (q, k, k)", "Attention: input 0 has shape [b, s, 10], whose last dim 4 heads do not divide"},
		{"float[b,s,8] q", "y = Attention (q, q, q)", "Attention: attribute q_num_heads is missing, which a rank-3 input 0 needs"},
		{"float[b,3,h,w] x, float[8,4,3,3] w0", "y = Conv (x, w0)", "Conv: input [b, 3, h, w] has 3 channels, weight [8, 4, 3, 3] expects 4"},
		{"float[2,3] x", "y = Squeeze <axes = [1]> (x)", "Squeeze: axis 1 of [2, 3] is not 1"},
	} {
		m := parseModel(t, c.inputs, c.body)
		if _, err := InferModel(m); err == nil || err.Error() != c.want {
			t.Errorf("(%s) %s\n got %v\nwant %s", c.inputs, c.body, err, c.want)
		}
	}
}

func TestInferMergesDeclared(t *testing.T) {
	infer := func(declared string) (string, error) {
		m, err := ir.ParseModel("test", []byte("<ir_version: 10, opset_import: [\"\" : 24]>\ng (float[b,s] x, float[b,t] z) => ("+declared+" y) { y = Concat <axis = 1> (x, z) }"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = InferModel(m)
		return types(m.Graph), err
	}
	for declared, want := range map[string]string{
		"float[b,total]": "float[b,s + t]",
		"float[2,?]":     "float[2,s + t]",
		"float[]":        "float[b,s + t]",
		"float[b,12]":    "float[b,12]",
	} {
		if got, err := infer(declared); err != nil || got != want {
			t.Errorf("declared %s: %s, %v; want %s", declared, got, err, want)
		}
	}
	for declared, want := range map[string]string{
		"float16[b,?]":     `Concat: output "y" is declared as float16[b,?] but computed as float[b,"s + t"]`,
		"float[b]":         `Concat: output "y" is declared as float[b] but computed as float[b,"s + t"]`,
		`float[b,"s+t+1"]`: `Concat: output "y" is declared as float[b,"s + t + 1"] but computed as float[b,"s + t"]`,
	} {
		if _, err := infer(declared); err == nil || err.Error() != want {
			t.Errorf("declared %s: error %v, want %s", declared, err, want)
		}
	}
}

func TestInferNamesUnknownDims(t *testing.T) {
	m := parseModel(t, "float[a,4] x", "n = NonZero (x)\nm = Transpose (n)\ny = GatherND (x, m)\nz = Relu (y)")
	env := NewModelEnv(m)
	env.Symbol = func(v *ir.Value, axis int) string { return fmt.Sprintf("%s.%d", v.Name, axis) }
	if err := env.InferGraph(m.Graph); err != nil {
		t.Fatal(err)
	}
	if got := types(m.Graph); got != "float[n.1]" {
		t.Errorf("got %s", got)
	}
}

func TestInferTwice(t *testing.T) {
	m := parseModel(t, "int64 m, float[b,s] x", "y, o = Loop (m, , x) <body = l (int64 i, bool c, v) => (c, g, q) { g = Concat <axis = 0> (v, v)\nq = Identity (i) }>")
	for range 2 {
		if _, err := InferModel(m); err != nil {
			t.Fatal(err)
		}
	}
	if got := types(m.Graph); got != "float[?,s] int64[?]" {
		t.Errorf("got %s", got)
	}
}
