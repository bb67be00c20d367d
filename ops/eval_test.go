package ops

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mobiusc/ir"
)

// jsonTensor is a tensor as gen/eval.py writes it.
type jsonTensor struct {
	Type    ir.DataType
	Dims    []int64
	Raw     string
	Strings []string
}

func (j *jsonTensor) tensor(t testing.TB) *ir.Tensor {
	if j == nil {
		return nil
	}
	raw, err := hex.DecodeString(j.Raw)
	if err != nil {
		t.Fatal(err)
	}
	out := &ir.Tensor{Type: j.Type, Dims: j.Dims, Raw: raw}
	for _, s := range j.Strings {
		out.Strings = append(out.Strings, []byte(s))
	}
	return out
}

// parseNode reads one node in ONNX's textual syntax.
func parseNode(t testing.TB, text string) *ir.Node {
	t.Helper()
	g, err := ir.ParseGraph("node", []byte("g () => () {\n"+text+"\n}"))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return g.First()
}

// TestEvalAgainstReference compares with outputs of ONNX's reference
// implementation; see gen/eval.py.
func TestEvalAgainstReference(t *testing.T) {
	data, err := os.ReadFile("testdata/eval.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Node            string
		Inputs, Outputs []*jsonTensor
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 200 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		n := parseNode(t, c.Node)
		inputs := make([]*ir.Tensor, len(c.Inputs))
		for i, in := range c.Inputs {
			inputs[i] = in.tensor(t)
		}
		got, err := Eval(n, inputs)
		if err != nil {
			t.Errorf("%s: %v", c.Node, err)
			continue
		}
		for i, want := range c.Outputs {
			if diff := tensorDiff(got[i], want.tensor(t), n.OpType); diff != "" {
				t.Errorf("%s: output %d: %s", c.Node, i, diff)
			}
		}
	}
}

// inexact operators may differ from the reference by two units in the last
// place: it rounds their results elsewhere, or sums in another order.
const inexact = " Exp Log Sin Cos Tanh Pow ReduceSum ReduceProd ReduceMean CumSum Range "

func tensorDiff(got, want *ir.Tensor, op string) string {
	if got.Type != want.Type || fmt.Sprint(got.Dims) != fmt.Sprint(want.Dims) {
		return fmt.Sprintf("%s%v, want %s%v", got.Type, got.Dims, want.Type, want.Dims)
	}
	x, err := decode(got)
	if err != nil {
		return err.Error()
	}
	y, err := decode(want)
	if err != nil {
		return err.Error()
	}
	if fmt.Sprint(x.ints) != fmt.Sprint(y.ints) || fmt.Sprintf("%q", x.text) != fmt.Sprintf("%q", y.text) {
		return fmt.Sprintf("%v %q, want %v %q", x.ints, x.text, y.ints, y.text)
	}
	for i, f := range x.floats {
		w := y.floats[i]
		ulp := math.Abs(w) * map[ir.DataType]float64{ir.Float64: 0x1p-52, ir.Float32: 0x1p-23, ir.Float16: 0x1p-10, ir.BFloat16: 0x1p-7}[want.Type]
		exact := f == w || math.IsNaN(f) && math.IsNaN(w)
		if !exact && (!strings.Contains(inexact, " "+op+" ") || math.Abs(f-w) > 2*ulp) {
			return fmt.Sprintf("element %d is %g, want %g", i, f, w)
		}
	}
	return ""
}

func TestEvalErrors(t *testing.T) {
	text := func(s ...string) *ir.Tensor {
		x := &ir.Tensor{Type: ir.String, Dims: []int64{int64(len(s))}}
		for _, e := range s {
			x.Strings = append(x.Strings, []byte(e))
		}
		return x
	}
	external := ir.Ints64(1, 2)
	external.External = &ir.External{Location: "x"}
	for _, c := range []struct {
		node   string
		inputs []*ir.Tensor
		want   string
	}{
		{"y = Add (a, b)", []*ir.Tensor{ir.Ints64(1), ir.Floats32(1)}, "Add: element types int64 and float differ"},
		{"y = Add (a, b)", []*ir.Tensor{ir.Ints64(1, 2), ir.Ints64(1, 2, 3)}, "Add: shapes [[2] [3]] do not broadcast: 2 against 3"},
		{"y = Add (a, b)", []*ir.Tensor{ir.Ints64(1), nil}, "Add: input 1 is missing"},
		{"y = Add (a, b)", []*ir.Tensor{text("a"), text("b")}, "Add: not evaluable with elements of type string"},
		{"y = Div (a, b)", []*ir.Tensor{ir.Ints64(1), ir.Ints64(0)}, "Div: division by 0"},
		{"y = Reshape (a, b)", []*ir.Tensor{ir.Ints64(1, 2, 3), ir.Ints64(2, -1)}, "Reshape: shape [3] cannot be reshaped to [2, -1]: the numbers of elements differ"},
		{"y = Reshape (a, b)", []*ir.Tensor{ir.Ints64(1), ir.Ints64(0, 0)}, "Reshape: target shape [0, 0]: 0 at axis 1 copies a dim that [1] does not have"},
		{"y = Gather (a, b)", []*ir.Tensor{ir.Ints64(1, 2), ir.Ints64(2)}, "Gather: index 2 is out of range for an axis of 2"},
		{"y = Concat <axis = 1> (a, b)", []*ir.Tensor{ir.Ints64(1), ir.Ints64(2)}, "Concat: axis 1 is out of range for rank 1"},
		{"y = Slice (a, b, c)", []*ir.Tensor{ir.Ints64(1), ir.Ints64(0), ir.Ints64()}, "Slice: 1 starts, 0 ends, 1 axes, 1 steps"},
		{"y = Identity (a)", []*ir.Tensor{external}, `Identity: tensor "" holds external data`},
		{"y = ConstantOfShape (a)", []*ir.Tensor{ir.Ints64(1<<20, 1<<20)}, "ConstantOfShape: not evaluable: dims [1048576 1048576] are more than 4194304 elements"},
		{"y = MatMul (a, b)", []*ir.Tensor{ir.Ints64(1), ir.Ints64(1)}, "MatMul: not evaluable"},
		{"y = custom.op (a)", []*ir.Tensor{ir.Ints64(1)}, "custom.op: not evaluable"},
		{"y = Range (a, a, b)", []*ir.Tensor{ir.Int64Scalar(1), ir.Int64Scalar(1), ir.Int64Scalar(0)}, "Range: delta is 0"},
	} {
		_, err := Eval(parseNode(t, c.node), c.inputs)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.node, err, c.want)
		}
		if unknown := strings.Contains(c.want, "not evaluable"); err != nil && errors.Is(err, ErrNotEvaluable) != unknown {
			t.Errorf("%s: errors.Is ErrNotEvaluable is %v", c.node, !unknown)
		}
	}
}

func TestEvalPresence(t *testing.T) {
	for _, c := range []struct {
		in   *ir.Tensor
		want int64
	}{{ir.Ints64(), 1}, {nil, 0}} {
		out, err := Eval(parseNode(t, "y = OptionalHasElement (a)"), []*ir.Tensor{c.in})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := out[0].AsInts(); got[0] != c.want || len(out[0].Dims) != 0 {
			t.Errorf("presence of %v: %v", c.in, got)
		}
	}
}

// FuzzEval runs every operator on tensors of arbitrary shape and content:
// errors are allowed, panics are not.
func FuzzEval(f *testing.F) {
	names := slices.Sorted(maps.Keys(evaluators))
	names = append(names, slices.Sorted(maps.Keys(moves))...)
	f.Add(uint16(3), []byte{2, 2, 3, 1, 2, 3, 4, 5, 6})
	f.Fuzz(func(t *testing.T, which uint16, data []byte) {
		next := func() int64 {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			if b == 200 {
				return math.MaxInt64
			}
			if b == 201 {
				return math.MinInt64
			}
			return int64(int8(b))
		}
		n := ir.NewNode("", names[int(which)%len(names)], nil, []*ir.Value{ir.NewValue("y", nil), ir.NewValue("z", nil)})
		for _, name := range []string{"axis", "upper", "keepdims", "k", "batch_dims", "start", "end", "fmod"} {
			if v := next(); v != 0 {
				n.SetAttr(ir.IntAttr(name, v))
			}
		}
		if v := next(); v > 0 {
			n.SetAttr(ir.IntsAttr("axes", next(), next()))
		}
		if v := next(); v > 0 {
			n.SetAttr(ir.IntsAttr("perm", next(), next()))
		}
		var inputs []*ir.Tensor
		for range next() & 7 {
			dims := make([]int64, next()&3)
			for i := range dims {
				dims[i] = next() & 3
			}
			types := []ir.DataType{ir.Int64, ir.Int64, ir.Int32, ir.Bool, ir.Float32, ir.Float16, ir.String, ir.Uint8}
			x := newContent(types[next()&7], dims)
			for i := range x.ints {
				x.ints[i] = next()
			}
			for i := range x.floats {
				x.floats[i] = float64(next())
			}
			inputs = append(inputs, x.tensor())
		}
		out, err := Eval(n, inputs)
		if err != nil {
			return
		}
		for _, x := range out {
			if err := inMemory(x); err != nil {
				t.Errorf("%s: %v", n.OpType, err)
			}
		}
	})
}
