package checkpoint_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler/checkpoint"
	"mobiusc/internal/diag"
)

// layers are tensors [1, 3] of one kind.
func layers(dtype checkpoint.DType, n int) []tensor {
	var out []tensor
	for i := range n {
		out = append(out, tensor{Name: fmt.Sprintf("l.%d.w", i), DType: dtype, Shape: []int64{1, 3}})
	}
	return out
}

// named are tensors with the given names.
func named(names ...string) []tensor {
	var out []tensor
	for _, name := range names {
		out = append(out, tensor{Name: name, DType: checkpoint.F32, Shape: []int64{1}})
	}
	return out
}

func TestBindFaults(t *testing.T) {
	weights := func(n int) []tensor { return []tensor{f32("a.weight", count(0, n), int64(n))} }
	tests := []struct {
		name    string
		tensors []tensor
		rules   checkpoint.Rules
		params  []checkpoint.Param
		want    []string // name, severity, then parts of the finding, a finding
	}{
		{"parameter without tensor, tensor without parameter",
			[]tensor{f32("model.layers.0.mlp.w", count(0, 2), 2), f32("model.layers.1.mlp.w", count(0, 2), 2), f32("other", count(0, 1), 1)},
			checkpoint.Rules{},
			[]checkpoint.Param{param("layers.0.mlp.w", 2), param("layers.1.mlp.w", 2)},
			[]string{"unbound-parameter error spec.yaml:7:3|layers.*.mlp.w (2, from layers.0.mlp.w to layers.1.mlp.w) [2]|the nearest tensor without parameter is model.layers.*.mlp.w [2]",
				"unbound-tensor error |tensor model.layers.*.mlp.w (2, from|the nearest parameter without tensor is layers.*.mlp.w",
				"unbound-tensor error |tensor other [1]|ignore it with a reason"}},
		{"misspelt", []tensor{f32("norm.wieght", count(0, 1), 1)}, checkpoint.Rules{}, []checkpoint.Param{param("norm.weight", 1)},
			[]string{"unbound-parameter error |norm.weight|nearest tensor without parameter is norm.wieght", "unbound-tensor error |norm.wieght|is norm.weight"}},
		{"shape", weights(6), checkpoint.Rules{}, []checkpoint.Param{param("a.weight", 2, 3)},
			[]string{"weight-shape error spec.yaml:7:3|a.weight is [2 3], tensor \"a.weight\" is [6]|a reshape"}},
		{"shape, transposed", []tensor{f32("a", count(0, 6), 2, 3)}, checkpoint.Rules{}, []checkpoint.Param{param("a", 3, 2)},
			[]string{"weight-shape error |stored transposed"}},
		{"shape, larger than any memory", weights(1), checkpoint.Rules{}, []checkpoint.Param{param("a.weight", math.MaxInt64, 4)},
			[]string{"weight-shape error |a.weight"}},
		{"dtype", []tensor{{Name: "a", DType: checkpoint.I8, Shape: []int64{2}}, {Name: "b", DType: checkpoint.F6E2M3, Shape: []int64{4}}}, checkpoint.Rules{},
			[]checkpoint.Param{param("a", 2), param("b", 4)},
			[]string{"weight-dtype error |a is float, tensor \"a\" is int8", "weight-dtype error |tensor \"b\" is F6_E2M3"}},
		{"ignored parameter", weights(2), checkpoint.Rules{Ignore: []checkpoint.IgnoreRule{{Match: "a.*", Range: line(3)}}}, []checkpoint.Param{param("a.weight", 2)},
			[]string{"ignored-parameter error spec.yaml:3:1|\"a.weight\", which is a parameter"}},
		{"copies that differ in one byte of many", []tensor{{Name: "a", DType: checkpoint.F32, Shape: []int64{9 << 18}},
			{Name: "b", DType: checkpoint.F32, Shape: []int64{9 << 18}, Data: append(make([]byte, 6<<20), append([]byte{1}, make([]byte, 3<<20-1)...)...)}},
			checkpoint.Rules{Ties: []checkpoint.Tie{{From: "b", To: "a"}}}, []checkpoint.Param{param("a", 9<<18), param("b", 9<<18)},
			[]string{"weight-collision error |are both \"a\", but differ: their values"}},
		{"two tensors, one name", []tensor{f32("x.a", count(0, 1), 1), f32("y.a", count(1, 1), 1)},
			checkpoint.Rules{Rename: []checkpoint.RenameRule{{From: "{x,y}.a", To: "a"}}}, []checkpoint.Param{param("a", 1)},
			[]string{"weight-collision error |\"x.a\" and \"y.a\" are both \"a\", but differ: their values"}},
		{"tied, but of another shape", []tensor{f32("e", count(0, 1), 1), f32("head", count(0, 2), 2)},
			checkpoint.Rules{Ties: []checkpoint.Tie{{From: "head", To: "e"}}}, []checkpoint.Param{param("e", 1)},
			[]string{"weight-collision error |\"e\" and \"head\"|shapes [1] and [2]"}},
		{"ties in a circle", weights(1), checkpoint.Rules{Ties: []checkpoint.Tie{{From: "x", To: "y"}, {From: "y", To: "x"}}},
			[]checkpoint.Param{param("a.weight", 1), param("x", 1)}, []string{"unbound-parameter error |x [1]"}},
		{"rules that match nothing, all else sound", weights(2), checkpoint.Rules{
			Rename: []checkpoint.RenameRule{{From: "b.*", To: "*", Range: line(1)}}, Ignore: []checkpoint.IgnoreRule{{Match: "c", Range: line(2)}},
			Transforms: []checkpoint.Transform{{Match: "d", Step: checkpoint.Add{Value: 1}, Range: line(3)}}, Ties: []checkpoint.Tie{{From: "e", To: "f", Range: line(4)}}},
			[]checkpoint.Param{param("a.weight", 2)},
			[]string{"unused-weight-rule note spec.yaml:2:1|ignore rule \"c\"", "unused-weight-rule note spec.yaml:1:1|rename rule \"b.*\"",
				"unused-weight-rule note spec.yaml:3:1|transform rule \"d\""}},
		{"ignore rule that matches nothing, with an error", weights(1), checkpoint.Rules{Ignore: []checkpoint.IgnoreRule{{Match: "c", Range: line(1)}}},
			[]checkpoint.Param{param("b", 2)}, []string{"unused-weight-rule note", "unbound-parameter error", "unbound-tensor error"}},
		{"one finding for the layers of a shape", layers(checkpoint.F32, 3), checkpoint.Rules{},
			[]checkpoint.Param{param("l.0.w", 3, 1), param("l.1.w", 3, 1), param("l.2.w", 3, 1)},
			[]string{"weight-shape error |parameter l.*.w (3, from l.0.w to l.2.w) is [3 1], tensor \"l.*.w\" is [1 3]|stored transposed"}},
		{"one finding for the layers of a type", layers(checkpoint.F8E4M3, 2), checkpoint.Rules{}, []checkpoint.Param{param("l.0.w", 1, 3), param("l.1.w", 1, 3)},
			[]string{"weight-dtype error |parameter l.*.w (2, from l.0.w to l.1.w) is float, tensor \"l.*.w\" is float8e4m3fn|may be quantised"}},
		{"names that a terminal would obey", named("", "a\x1b[31mb", "c\nd", "e f", "\u202eg", "h\"", strings.Repeat("x", 500)), checkpoint.Rules{}, nil,
			[]string{`unbound-tensor error |tensor "" [1]`, `unbound-tensor error |tensor "a\x1b[31mb" [1]`, `unbound-tensor error |tensor "c\nd" [1]`, `unbound-tensor error |tensor "e f" [1]`,
				`unbound-tensor error |tensor "h\"" [1]`, "unbound-tensor error |tensor " + strings.Repeat("x", 160) + "… [1]", `unbound-tensor error |tensor "\u202eg" [1]`}},
		{"shape of many dims", []tensor{{Name: "a", DType: checkpoint.U8, Shape: slices.Repeat([]int64{1}, 5000)}}, checkpoint.Rules{}, nil,
			[]string{"unbound-tensor error |tensor a [1 1 1 1 1 1 1 1 1 1 … 5000 dims]"}},
		{"rule that matches nothing, with an error", weights(2), checkpoint.Rules{Rename: []checkpoint.RenameRule{{From: "a.wieght", To: "b", Range: line(1)}}},
			[]checkpoint.Param{param("a.weight", 2), param("b", 2)}, []string{"unbound-parameter error |b [2]", "unused-weight-rule warning spec.yaml:1:1|a.wieght"}},
		{"malformed rules", weights(1), checkpoint.Rules{
			Rename:     []checkpoint.RenameRule{{From: "{a", To: "b"}, {From: "a}", To: "b"}, {From: "{a,}", To: "b"}, {From: "a", To: "*"}, {From: "{a,b}", To: "{2}"}, {From: "a", To: "{x}"}, {From: "a", To: "b}"}},
			Ignore:     []checkpoint.IgnoreRule{{Match: "{*}"}},
			Transforms: []checkpoint.Transform{{Match: "{", Step: checkpoint.Add{}}, {Match: "a.weight", Step: checkpoint.Split{Into: []string{"*"}}}}},
			nil, slicesOf(10, "bad-weight-rule error ")},
		{"transforms that do not fit", []tensor{f32("a", count(0, 6), 2, 3), {Name: "f4", DType: checkpoint.F4, Shape: []int64{2, 2}}, {Name: "i", DType: checkpoint.I32, Shape: []int64{2}}},
			checkpoint.Rules{Transforms: []checkpoint.Transform{
				{Match: "i", Step: checkpoint.Add{Value: 1}}, {Match: "f4", Step: checkpoint.Transpose{Perm: []int{1, 0}}}, {Match: "a", Step: checkpoint.Transpose{Perm: []int{0, 0}}}}},
			[]checkpoint.Param{param("a", 2, 3), param("i", 2), param("f4", 2, 2)},
			[]string{"bad-weight-rule error |add 1 does not fit tensor \"i\": there is no arithmetic on int32", "bad-weight-rule error |elements of float4e2m1 are no whole bytes",
				"bad-weight-rule error |[0 0] does not permute 2 axes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, faults := checkpoint.Bind(tt.params, open(t, write(t, tt.tensors, 1)), tt.rules)
			if (b == nil) != faults.HasErrors() {
				t.Errorf("binding %v with %v", b, faults)
			}
			compareFindings(t, faults, tt.want)
		})
	}
}

func slicesOf(n int, s string) (list []string) {
	for range n {
		list = append(list, s)
	}
	return list
}

// compareFindings compares findings with lines of name, severity, place and
// parts of the text separated by |.
func compareFindings(t *testing.T, faults diag.List, want []string) {
	t.Helper()
	if len(faults) != len(want) {
		t.Fatalf("findings:\n%v\nwant %q", faults, want)
	}
	for i, f := range faults {
		parts := strings.Split(want[i], "|")
		text := f.Name + " " + f.Severity.String() + " " + f.String()
		if !strings.HasPrefix(text, parts[0]) {
			t.Errorf("finding %q does not begin with %q", text, parts[0])
		}
		for _, p := range parts[1:] {
			if !strings.Contains(text, p) {
				t.Errorf("finding %q does not say %q", text, p)
			}
		}
	}
}
