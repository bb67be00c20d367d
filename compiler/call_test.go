package compiler_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/verify"
	"mobiusc/internal/ort"
)

// calling is a spec whose last norm is a function of its own, which calls
// another one, reads a weight, a value of the component and attributes.
const calling = `spec: v1
name: calling
extends: llama
summary: The final norm is written as a function.
model_types: [llama]
blocks:
  final_norm:
    - save: seen
    - call:
        function: own_norm
        with: {again: seen}
        weights: {scale: {name: model.norm.weight, shape: [hidden_size]}}
        attributes: {epsilon: rms_norm_eps, axis: 1 - 2}
functions:
  own_norm: |
    <opset_import: ["": 21]>
    own_norm <axis, epsilon> (x, scale, again) => (y) {
      mean = mean_square <axis: int = @axis> (again)
      e = Constant <value_float: float = @epsilon> ()
      m = CastLike (e, x)
      shifted = Add (mean, m)
      root = Sqrt (shifted)
      normed = Div (x, root)
      y = Mul (normed, scale)
    }
  mean_square: |
    <opset_import: ["": 21]>
    mean_square <axis> (x) => (m) {
      square = Mul (x, x)
      axes = Constant <value_int: int = @axis> ()
      one = Constant <value_ints: ints = [1]> ()
      list = Reshape (axes, one)
      m = ReduceMean (square, list)
    }
`

// writeSpec writes a spec and returns its path.
func writeSpec(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFunctionsOfASpec checks that what a spec writes as a function computes
// what the block computes that it stands for, at every target.
func TestFunctionsOfASpec(t *testing.T) {
	spec := writeSpec(t, "calling", calling)
	dir := filepath.Join(referenceDir, "llama")
	for _, opset := range []int64{21, 24} {
		out := filepath.Join(t.TempDir(), "out")
		found, err := compiler.Compile(context.Background(), compiler.Options{
			Spec: spec, Config: filepath.Join(dir, "config.json"), DType: "float32", Opset: opset,
			Weights: compiler.Weights{Mode: compiler.Copy, Dir: dir}, Out: out,
		})
		if err != nil || found.HasErrors() {
			t.Fatal(err, found)
		}
		p, err := verify.Open(out, ort.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		for _, m := range readIndex(t).Models {
			if m.Name == "llama" {
				for _, c := range m.Cases {
					checkFloat32(t, compareCase(t, p, c, float32Tolerance))
				}
			}
		}
	}
}

// TestCallFaults checks what only lowering can find in a call.
func TestCallFaults(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"missing input", "        with: {again: seen}\n", "", "call: function own_norm needs its input again: give it under `with` or `weights`"},
		{"unknown input", "again: seen", "agian: seen", "call: function own_norm has no input agian; it has x, scale, again"},
		{"the stream given", "again: seen", "x: seen", "call: input x of function own_norm is the stream"},
		{"given twice", "again: seen", "again: seen, scale: seen", "call: input scale of function own_norm is given twice"},
		{"unknown attribute", "axis: 1 - 2", "axes: 1 - 2", "call: function own_norm has no attribute axes, or does not read it"},
		{"fraction for a whole number", "axis: 1 - 2", "axis: 0.5", "call: attribute axis of function own_norm is of type int, and cannot be 0.5"},
		{"opset", `["": 21]`, `["": 26]`, "the body of mobiusc.spec.own_norm imports opset 26"},
		{"contradiction", "Mul (normed, scale)", "MatMul (normed, scale)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(calling, c.old, c.new, 1)
			if text == calling {
				t.Fatal("nothing is replaced")
			}
			out := filepath.Join(t.TempDir(), "out")
			found, err := compiler.Compile(context.Background(), compiler.Options{
				Spec: writeSpec(t, "calling", text), Config: filepath.Join(referenceDir, "llama", "config.json"), Out: out,
			})
			if err != nil {
				t.Fatal(err)
			}
			if !found.HasErrors() || !strings.Contains(found[0].String(), c.want) {
				t.Errorf("found %v\nwant %s", found, c.want)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("a package was written")
			}
		})
	}
}
