package checkpoint_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"mobiusc/compiler/checkpoint"
	"mobiusc/internal/checkpointtest"
	"mobiusc/internal/diag"
	"mobiusc/internal/golden"
	"mobiusc/ir"
)

// f32s returns float32 values as bytes.
func f32s(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// count returns n float32 values from first on.
func count(first, n int) []byte {
	var v []float32
	for i := range n {
		v = append(v, float32(first+i))
	}
	return f32s(v...)
}

func f32(name string, data []byte, shape ...int64) tensor {
	return tensor{Name: name, DType: checkpoint.F32, Shape: shape, Data: data}
}

func param(name string, shape ...int64) checkpoint.Param {
	return checkpoint.Param{Component: "model", Name: name, DType: ir.Float32, Shape: shape,
		Range: diag.Range{File: "spec.yaml", Start: diag.Pos{Line: 7, Col: 3}}}
}

// line is the range of a rule.
func line(n int) diag.Range { return diag.Range{File: "spec.yaml", Start: diag.Pos{Line: n, Col: 1}} }

func transform(match string, step checkpoint.Step) checkpoint.Rules {
	return checkpoint.Rules{Transforms: []checkpoint.Transform{{Match: match, Step: step, Range: line(1)}}}
}

// bind binds and expects no findings.
func bind(t *testing.T, params []checkpoint.Param, tensors []tensor, rules checkpoint.Rules) *checkpoint.Binding {
	t.Helper()
	b, faults := checkpoint.Bind(params, open(t, write(t, tensors, 1)), rules)
	if len(faults) > 0 {
		t.Fatalf("findings: %v", faults)
	}
	return b
}

func content(t *testing.T, b *checkpoint.Bound) []byte {
	t.Helper()
	data := make([]byte, b.Source.Size())
	if _, err := b.Source.ReadAt(data, 0); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestBindRules(t *testing.T) {
	tests := []struct {
		name    string
		tensors []tensor
		rules   checkpoint.Rules
		params  []checkpoint.Param
		want    map[string][]byte
		steps   string // of the first parameter
	}{
		{
			name:    "direct",
			tensors: []tensor{f32("a.weight", count(0, 6), 2, 3)},
			params:  []checkpoint.Param{param("a.weight", 2, 3)},
			want:    map[string][]byte{"a.weight": count(0, 6)},
		}, {
			name:    "rename, one rule after the other",
			tensors: []tensor{f32("bert.x.gamma", count(0, 1), 1), f32("wte.w", count(1, 1), 1), f32("h.0.w", count(2, 1), 1), f32("a.1.b.2", count(3, 1), 1)},
			rules: checkpoint.Rules{Rename: []checkpoint.RenameRule{
				{From: "bert.*", To: "*"}, {From: "*.gamma", To: "*.weight"}, {From: "{wte,h}.*", To: "transformer.{1}.*"}, {From: "a.*.b.*", To: "b.*.a.*"}}},
			params: []checkpoint.Param{param("x.weight", 1), param("transformer.wte.w", 1), param("transformer.h.0.w", 1), param("b.1.a.2", 1)},
			want: map[string][]byte{"x.weight": count(0, 1), "transformer.wte.w": count(1, 1),
				"transformer.h.0.w": count(2, 1), "b.1.a.2": count(3, 1)},
		}, {
			name:    "ignore, after rename",
			tensors: []tensor{f32("bert.a", count(0, 1), 1), f32("bert.pooler.w", count(1, 1), 1)},
			rules:   checkpoint.Rules{Rename: []checkpoint.RenameRule{{From: "bert.*", To: "*"}}, Ignore: []checkpoint.IgnoreRule{{Match: "pooler.*", Reason: "not read"}}},
			params:  []checkpoint.Param{param("a", 1)},
			want:    map[string][]byte{"a": count(0, 1)},
		}, {
			name:    "one tensor, two components",
			tensors: []tensor{f32("e.weight", count(0, 4), 2, 2)},
			params:  []checkpoint.Param{param("e.weight", 2, 2), {Component: "decoder", Name: "e.weight", DType: ir.Float32, Shape: []int64{2, 2}}},
			want:    map[string][]byte{"e.weight": count(0, 4)},
		}, {
			name:    "tie, absent from the checkpoint",
			tensors: []tensor{f32("e.weight", count(0, 4), 2, 2)},
			rules:   checkpoint.Rules{Ties: []checkpoint.Tie{{From: "head.weight", To: "e.weight"}}},
			params:  []checkpoint.Param{param("head.weight", 2, 2), param("e.weight", 2, 2)},
			want:    map[string][]byte{"e.weight": count(0, 4), "head.weight": count(0, 4)},
		}, {
			name:    "tie, stored twice",
			tensors: []tensor{f32("e.weight", count(0, 4), 2, 2), f32("head.weight", count(0, 4), 2, 2)},
			rules:   checkpoint.Rules{Ties: []checkpoint.Tie{{From: "head.weight", To: "e.weight"}}},
			params:  []checkpoint.Param{param("e.weight", 2, 2)},
			want:    map[string][]byte{"e.weight": count(0, 4)},
		}, {
			name:    "transpose",
			tensors: []tensor{f32("a", count(0, 6), 2, 3)},
			rules:   transform("a", checkpoint.Transpose{Perm: []int{1, 0}}),
			params:  []checkpoint.Param{param("a", 3, 2)},
			want:    map[string][]byte{"a": f32s(0, 3, 1, 4, 2, 5)},
			steps:   "transpose [1 0]",
		}, {
			name:    "reshape",
			tensors: []tensor{f32("a", count(0, 6), 2, 1, 3)},
			rules:   transform("a", checkpoint.Reshape{Dims: []int64{-1, 2}}),
			params:  []checkpoint.Param{param("a", 3, 2)},
			want:    map[string][]byte{"a": count(0, 6)},
			steps:   "reshape to [-1 2]",
		}, {
			name:    "rows of heads, stored as adjacent pairs",
			tensors: []tensor{f32("a", f32s(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7), 8, 2), f32("b", count(0, 8), 8)},
			rules:   transform("*", checkpoint.PermuteHeads{Heads: 2, From: "adjacent"}),
			params:  []checkpoint.Param{param("a", 8, 2), param("b", 8)},
			want: map[string][]byte{"a": f32s(0, 0, 2, 2, 1, 1, 3, 3, 4, 4, 6, 6, 5, 5, 7, 7),
				"b": f32s(0, 2, 1, 3, 4, 6, 5, 7)},
			steps: "permute rows of 2 heads, stored adjacent",
		}, {
			name:    "rows of heads, stored as halves",
			tensors: []tensor{f32("a", count(0, 6), 6)},
			rules:   transform("*", checkpoint.PermuteHeads{Heads: 1, From: "half"}),
			params:  []checkpoint.Param{param("a", 6)},
			want:    map[string][]byte{"a": f32s(0, 3, 1, 4, 2, 5)},
			steps:   "permute rows of 1 heads, stored half",
		}, {
			name:    "split into equal parts",
			tensors: []tensor{f32("h.3.gate_up", count(0, 8), 4, 2)},
			rules:   transform("*.gate_up", checkpoint.Split{Into: []string{"*.gate", "*.up"}}),
			params:  []checkpoint.Param{param("h.3.gate", 2, 2), param("h.3.up", 2, 2)},
			want:    map[string][]byte{"h.3.gate": count(0, 4), "h.3.up": count(4, 4)},
			steps:   "axis 0 from 0 to 2",
		}, {
			name:    "split columns by sizes",
			tensors: []tensor{f32("qkv", count(0, 8), 2, 4)},
			rules:   transform("qkv", checkpoint.Split{Into: []string{"q", "k", "v"}, Sizes: []int64{2, 1, 1}, Axis: 1}),
			params:  []checkpoint.Param{param("q", 2, 2), param("k", 2, 1), param("v", 2, 1)},
			want:    map[string][]byte{"q": f32s(0, 1, 4, 5), "k": f32s(2, 6), "v": f32s(3, 7)},
			steps:   "axis 1 from 0 to 2",
		}, {
			name:    "concatenate in the order of the alternatives",
			tensors: []tensor{f32("h.1.k", count(4, 2), 1, 2), f32("h.1.q", count(0, 4), 2, 2), f32("h.1.v", count(6, 2), 1, 2)},
			rules:   transform("*.{q,k,v}", checkpoint.Concat{Into: "*.qkv"}),
			params:  []checkpoint.Param{param("h.1.qkv", 4, 2)},
			want:    map[string][]byte{"h.1.qkv": count(0, 8)},
			steps:   "concatenate along axis 0",
		}, {
			name:    "concatenate columns",
			tensors: []tensor{f32("a", count(0, 4), 2, 2), f32("b", count(4, 2), 2, 1)},
			rules:   transform("{a,b}", checkpoint.Concat{Into: "c", Axis: 1}),
			params:  []checkpoint.Param{param("c", 2, 3)},
			want:    map[string][]byte{"c": f32s(0, 1, 4, 2, 3, 5)},
			steps:   "concatenate along axis 1",
		}, {
			name:    "stack, by number and not by name",
			tensors: append(numbered("h.0.experts.", ".w", 11), f32("h.1.experts.0.w", count(99, 2), 2)),
			rules:   transform("*.experts.*.w", checkpoint.Stack{Segment: "experts"}),
			params:  []checkpoint.Param{param("h.0.experts.w", 11, 2), param("h.1.experts.w", 1, 2)},
			want:    map[string][]byte{"h.0.experts.w": count(0, 22), "h.1.experts.w": count(99, 2)},
			steps:   "stack experts",
		}, {
			name:    "unstack",
			tensors: []tensor{f32("experts.w", count(0, 6), 3, 2)},
			rules:   transform("*", checkpoint.Unstack{Segment: "experts"}),
			params:  []checkpoint.Param{param("experts.0.w", 2), param("experts.1.w", 2), param("experts.2.w", 2)},
			want:    map[string][]byte{"experts.0.w": count(0, 2), "experts.1.w": count(2, 2), "experts.2.w": count(4, 2)},
			steps:   "axis 0 from 0 to 1",
		}, {
			name:    "add and scale, of bfloat16",
			tensors: []tensor{{Name: "n", DType: checkpoint.BF16, Shape: []int64{2}, Data: []byte{0x00, 0x3f, 0x80, 0xbf}}}, // 0.5, -1
			rules: checkpoint.Rules{Transforms: []checkpoint.Transform{
				{Match: "n", Step: checkpoint.Scale{Value: 3}}, {Match: "n", Step: checkpoint.Add{Value: 1}}}},
			params: []checkpoint.Param{param("n", 2)},
			want:   map[string][]byte{"n": f32s(2.5, -2)},
			steps:  "scale by 3, add 1",
		}, {
			name:    "cast before the sum",
			tensors: []tensor{f32("n", f32s(1+1.0/1024), 1)},
			rules: checkpoint.Rules{Transforms: []checkpoint.Transform{
				{Match: "n", Step: checkpoint.Cast{To: ir.BFloat16}}, {Match: "n", Step: checkpoint.Add{Value: 1}}}},
			params: []checkpoint.Param{param("n", 1)},
			want:   map[string][]byte{"n": f32s(2)},
			steps:  "cast to bfloat16, add 1",
		}, {
			name:    "converted",
			tensors: []tensor{{Name: "n", DType: checkpoint.F16, Shape: []int64{2}, Data: []byte{0x00, 0x3c, 0xff, 0x7b}}}, // 1, 65504
			params:  []checkpoint.Param{param("n", 2)},
			want:    map[string][]byte{"n": f32s(1, 65504)},
			steps:   "cast to float",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := bind(t, tt.params, tt.tensors, tt.rules)
			if len(b.Bound) != len(tt.params) {
				t.Fatalf("%d bound, want %d", len(b.Bound), len(tt.params))
			}
			for _, x := range b.Bound {
				if got := content(t, x); !bytes.Equal(got, tt.want[x.Param.Name]) {
					t.Errorf("%s holds %v, want %v", x.Param.Name, got, tt.want[x.Param.Name])
				}
			}
			if got := b.Bound[0].Transform(); got != tt.steps {
				t.Errorf("steps %q, want %q", got, tt.steps)
			}
		})
	}
}

// numbered returns tensors of two elements with names that hold a number, the
// last first.
func numbered(before, after string, n int) (list []tensor) {
	for i := n - 1; i >= 0; i-- {
		list = append(list, f32(before+strconv.Itoa(i)+after, count(2*i, 2), 2))
	}
	return list
}

// TestStepsRefuse checks what each transform refuses.
func TestStepsRefuse(t *testing.T) {
	tests := []struct {
		step checkpoint.Step
		want string
	}{
		{checkpoint.Reshape{Dims: []int64{5}}, "6 elements cannot be reshaped to [5]"},
		{checkpoint.Reshape{Dims: []int64{-1, -1}}, "cannot be reshaped"},
		{checkpoint.Reshape{Dims: []int64{-1, 4}}, "cannot be reshaped"},
		{checkpoint.Reshape{Dims: []int64{-2, -3}}, "cannot be reshaped"},
		{checkpoint.Reshape{Dims: []int64{1 << 62, 4, 6}}, "cannot be reshaped"},
		{checkpoint.Reshape{Dims: []int64{0, -1}}, "cannot be reshaped"},
		{checkpoint.Transpose{Perm: []int{0}}, "does not permute 2 axes"},
		{checkpoint.Transpose{Perm: []int{0, 2}}, "does not permute 2 axes"},
		{checkpoint.Transpose{Perm: []int{-1, 0}}, "does not permute 2 axes"},
		{checkpoint.PermuteHeads{Heads: 0}, "heads of an even number"},
		{checkpoint.PermuteHeads{Heads: 2}, "[2 3] has no 2 heads of an even number of rows"},
		{checkpoint.Cast{To: ir.Int64}, "no conversion from float to int64"},
		{checkpoint.Split{Into: []string{"b", "c"}, Axis: 2}, "no axis 2"},
		{checkpoint.Split{Into: []string{"b", "c"}, Axis: 1}, "3 is not divisible into 2"},
		{checkpoint.Split{Into: []string{"b", "c"}, Sizes: []int64{1, 2}}, "do not sum up to 2"},
		{checkpoint.Split{Into: []string{"b", "c"}, Sizes: []int64{2}}, "do not cut 2 into 2 parts"},
		{checkpoint.Split{Into: []string{"b", "c"}, Sizes: []int64{-1, 3}}, "do not sum up"},
		{checkpoint.Concat{Into: "b", Axis: 3}, "no axis 3"},
		{checkpoint.Stack{Segment: "x"}, `no number after "x"`},
		{checkpoint.Stack{Segment: "a"}, `no number after "a"`},
		{checkpoint.Unstack{Segment: "x"}, `no segment "x"`},
	}
	for _, tt := range tests {
		c := open(t, write(t, []tensor{f32("a", count(0, 6), 2, 3)}, 1))
		_, faults := checkpoint.Bind(nil, c, transform("a", tt.step))
		if len(faults) != 1 || !strings.Contains(faults[0].Message, tt.want) {
			t.Errorf("%#v: %v, want %q", tt.step, faults, tt.want)
		}
	}
}

func TestGroupsRefuse(t *testing.T) {
	tests := []struct {
		tensors []tensor
		match   string
		step    checkpoint.Step
		want    string
	}{
		{[]tensor{f32("q", count(0, 1), 1)}, "{q,k}", checkpoint.Concat{Into: "b"}, "b needs 2 parts, there are 1"},
		{[]tensor{f32("q", count(0, 2), 1, 2), f32("k", count(0, 1), 1, 1)}, "{q,k}", checkpoint.Concat{Into: "b"}, "shapes [1 2] and [1 1]"},
		{[]tensor{f32("q", count(0, 1), 1), {Name: "k", DType: checkpoint.I32, Shape: []int64{1}}}, "{q,k}", checkpoint.Concat{Into: "b"}, "float and int32"},
		{[]tensor{f32("e.0.w", count(0, 1), 1), f32("e.2.w", count(0, 1), 1)}, "*", checkpoint.Stack{Segment: "e"}, "number 1 is missing or there twice"},
		{[]tensor{f32("e.0.w", count(0, 1), 1), f32("e.00.w", count(0, 1), 1)}, "*", checkpoint.Stack{Segment: "e"}, "number 0 is missing or there twice"},
		{[]tensor{f32("e", count(0, 1))}, "*", checkpoint.Unstack{Segment: "e"}, "scalar"},
		{[]tensor{{Name: "e", DType: checkpoint.F32, Shape: []int64{1 << 40, 0}}}, "*", checkpoint.Unstack{Segment: "e"}, "too many"},
	}
	for _, tt := range tests {
		_, faults := checkpoint.Bind(nil, open(t, write(t, tt.tensors, 1)), transform(tt.match, tt.step))
		if len(faults) != 1 || !strings.Contains(faults[0].Message, tt.want) {
			t.Errorf("%#v: %v, want %q", tt.step, faults, tt.want)
		}
	}
}

// layoutRules are the weights section of the spec of the published 27B model.
var layoutRules = checkpoint.Rules{
	Rename: []checkpoint.RenameRule{{From: "model.language_model.*", To: "model.*"}},
	Ignore: []checkpoint.IgnoreRule{{Match: "mtp.*", Reason: "multi-token prediction is not in the package"}},
}

// layoutParams lists the parameters that the model's graphs have.
func layoutParams(t testing.TB, dtype ir.DataType) (params []checkpoint.Param, tensors []tensor) {
	t.Helper()
	tensors, err := checkpointtest.ReadLayout("../../testdata/checkpoints/qwen3_8.layout")
	check(t, err)
	for _, x := range tensors {
		name, component := strings.Replace(x.Name, "model.language_model.", "model.", 1), "decoder"
		switch {
		case strings.HasPrefix(name, "mtp."):
			continue
		case strings.HasPrefix(name, "model.visual."):
			component = "vision_encoder"
		case name == "model.embed_tokens.weight":
			component = "embedding"
		}
		params = append(params, checkpoint.Param{Component: component, Name: name, DType: dtype, Shape: x.Shape})
	}
	return params, tensors
}

func TestBindLayout(t *testing.T) {
	params, tensors := layoutParams(t, ir.BFloat16)
	c := open(t, write(t, tensors, 18))
	start := time.Now()
	b, faults := checkpoint.Bind(params, c, layoutRules)
	t.Logf("bound in %v", time.Since(start))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	sizes := map[string]int64{}
	for _, x := range b.Bound {
		sizes[x.Param.Component] += x.Source.Size()
	}
	if sizes["decoder"] != 51_249_200_128 || sizes["embedding"] != 2_542_796_800 || sizes["vision_encoder"] != 921_460_192 {
		t.Errorf("bytes %v", sizes)
	}
	if len(b.Bound) != 1184 || len(b.Ignored) != 15 {
		t.Errorf("%d bound, %d ignored", len(b.Bound), len(b.Ignored))
	}
	if p, faults := b.InPlace(0); len(faults) > 0 || len(p.Pointed) != 1184 || p.Bytes != 0 {
		t.Errorf("in place: %v, %+v", faults, p)
	}
	for _, all := range []bool{false, true} {
		var text bytes.Buffer
		check(t, b.WriteTable(&text, all))
		if all {
			if lines := strings.Count(text.String(), "\n"); lines != 1184+3+1+1 {
				t.Errorf("the whole table has %d lines", lines)
			}
			continue
		}
		golden.File(t, "testdata/layout_table.txt", text.String())
	}
}

// TestBindNothing binds a checkpoint whose names all lack a prefix: many
// findings, quickly.
func TestBindNothing(t *testing.T) {
	params, tensors := layoutParams(t, ir.BFloat16)
	for i := range params {
		params[i].Name = "transformer." + params[i].Name
	}
	c := open(t, write(t, tensors, 18))
	start := time.Now()
	_, faults := checkpoint.Bind(params, c, layoutRules)
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
	if n := len(faults); n < 60 || n > 120 {
		t.Errorf("%d findings", n)
	}
}
