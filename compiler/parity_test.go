package compiler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/verify"
	"mobiusc/internal/ort"
	"mobiusc/ops"
)

// referenceDir holds the reference tensors; its README says what they are.
const referenceDir = "../testdata/reference"

// The bars of parity. Every element is within the tolerance, absolute plus
// relative, of the float64 run; for float16 see [checkFloat16] too.
const (
	float32Tolerance = 1e-4
	float16Tolerance = 1e-2
	float16Ratio     = 1.1
)

// referenceIndex is what the tests read of testdata/reference/index.json.
type referenceIndex struct{ Models []referenceModel }

type referenceModel struct {
	Name, Description, Config, Weights string
	Cases                              []referenceCase
}

type referenceCase struct {
	Name, Description, File string
	// Errors holds, by run and by component and kind of value, the reference's
	// own errors against its float64 run.
	Errors map[string]map[string]referenceError `json:"reference_error"`
}

type referenceError struct {
	Count    int
	Max, RMS float64
}

func readIndex(t *testing.T) referenceIndex {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(referenceDir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index referenceIndex
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	return index
}

// compileReference compiles a reference model with its weights through the
// whole pipeline and loads the package that was written.
func compileReference(t *testing.T, model, spec string, o compiler.Options) *verify.Package {
	t.Helper()
	return compileCheckpoint(t, filepath.Join(referenceDir, model), spec, o)
}

// compileCheckpoint does so with any directory that holds config.json and weights.
func compileCheckpoint(t *testing.T, dir, spec string, o compiler.Options) *verify.Package {
	t.Helper()
	o.Spec = filepath.Join("..", "specs", spec+".yaml")
	o.Config = filepath.Join(dir, "config.json")
	o.Weights = compiler.Weights{Mode: compiler.Copy, Dir: dir}
	o.Out = filepath.Join(t.TempDir(), "package")
	found, err := compiler.Compile(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if found.HasErrors() {
		t.Fatalf("%s does not compile:\n%s", dir, found)
	}
	p, err := verify.Open(o.Out, ort.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func readReference(t *testing.T, c referenceCase) *verify.Reference {
	t.Helper()
	ref, err := verify.ReadReference(filepath.Join(referenceDir, c.File))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// compareCase plays one case and compares every output of every step.
func compareCase(t *testing.T, p *verify.Package, c referenceCase, tolerance float64) []verify.Result {
	t.Helper()
	ref := readReference(t, c)
	results, err := p.Compare(ref, verify.Tolerance{Abs: tolerance, Rel: tolerance})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// checkTolerance checks that no element that counts is outside the tolerance.
func checkTolerance(t *testing.T, results []verify.Result, tolerance float64) {
	t.Helper()
	if len(results) == 0 {
		t.Error("the case compares nothing")
	}
	for _, r := range results {
		if r.Error.Outside > 0 {
			t.Errorf("step %d, %s %s: max error %.3g, %.3g%% of the elements are more than %g off", r.Step, r.Component, r.Value, r.MaxAbs, 100*r.Error.Outside, tolerance)
		}
	}
}

// checkFloat32 checks the tolerance and that every row of logits has the largest
// element where the reference has it.
func checkFloat32(t *testing.T, results []verify.Result) {
	t.Helper()
	checkTolerance(t, results, float32Tolerance)
	for _, r := range results {
		if r.Argmax >= 0 && r.Argmax < 1 {
			t.Errorf("step %d, %s %s: the greedy choice agrees in %.3g%% of the rows", r.Step, r.Component, r.Value, 100*r.Argmax)
		}
	}
}

// checkFloat16 checks the tolerance, and that our errors against the float64 run
// are at most float16Ratio times those that the reference makes in float16 on
// the same input: the largest of each kind of value, and the RMS of each value,
// states layer by layer.
func checkFloat16(t *testing.T, results []verify.Result) {
	t.Helper()
	checkTolerance(t, results, float16Tolerance)
	for _, r := range verify.Summarise(results) {
		switch {
		case r.Reference == nil:
			t.Errorf("%s %s: the case holds no float16 run", r.Component, r.Value)
		case r.MaxAbs > float16Ratio*r.Reference.MaxAbs:
			t.Errorf("%s %s: max error %.3g, the reference's own is %.3g", r.Component, r.Value, r.MaxAbs, r.Reference.MaxAbs)
		}
	}
	for _, r := range verify.SummariseSteps(results) {
		if r.Reference != nil && r.RMS > float16Ratio*r.Reference.RMS {
			t.Errorf("%s %s: RMS error %.3g, the reference's own is %.3g", r.Component, r.Value, r.RMS, r.Reference.RMS)
		}
	}
}

// checkStates checks that states of a float16 package have the dtypes that the
// reference gives them in float16: those that it keeps in float32 are not halved.
func checkStates(t *testing.T, results []verify.Result, ref *verify.Reference) {
	t.Helper()
	for _, r := range results {
		if !strings.HasPrefix(r.Value, "present.") {
			continue
		}
		want := ref.Steps[r.Step].Components[r.Component].Float16[r.Value].Type.String()
		if r.DType != want {
			t.Errorf("step %d, %s %s is %s, and %s in the reference", r.Step, r.Component, r.Value, r.DType, want)
		}
	}
}

// parity runs every case of a reference model in both dtypes.
func parity(t *testing.T, model, spec string) {
	t.Helper()
	cases := 0
	for _, m := range readIndex(t).Models {
		if m.Name != model {
			continue
		}
		t.Run("float32", func(t *testing.T) {
			p := compileReference(t, model, spec, compiler.Options{DType: "float32"})
			for _, c := range m.Cases {
				t.Run(c.Name, func(t *testing.T) { checkFloat32(t, compareCase(t, p, c, float32Tolerance)) })
			}
		})
		t.Run("float16", func(t *testing.T) {
			p := compileReference(t, model, spec, compiler.Options{DType: "float16"})
			for _, c := range m.Cases {
				t.Run(c.Name, func(t *testing.T) {
					results := compareCase(t, p, c, float16Tolerance)
					checkFloat16(t, results)
					checkStates(t, results, readReference(t, c))
				})
			}
		})
		cases += len(m.Cases)
	}
	if cases == 0 {
		t.Fatalf("testdata/reference has no cases of %s", model)
	}
}

func TestParityHybridText(t *testing.T)           { parity(t, "qwen3_5_text", "qwen3_5") }
func TestParityHybridDepth(t *testing.T)          { parity(t, "qwen3_5_depth", "qwen3_5") }
func TestParityHybridVisionLanguage(t *testing.T) { parity(t, "qwen3_5_vl", "qwen3_5") }
func TestParityFeatureTaps(t *testing.T)          { parity(t, "qwen3_vl", "qwen3_vl") }

// TestParityRecurrent checks the per-token form of linear attention, which is
// the fallback and the baseline of the benchmarks.
func TestParityRecurrent(t *testing.T) {
	for _, m := range readIndex(t).Models {
		if m.Name != "qwen3_5_text" {
			continue
		}
		p := compileReference(t, m.Name, "qwen3_5", compiler.Options{DType: "float32", LinearAttention: "recurrent"})
		for _, c := range m.Cases {
			t.Run(c.Name, func(t *testing.T) { checkFloat32(t, compareCase(t, p, c, float32Tolerance)) })
		}
	}
}

// TestParityOpsets checks that every target computes the same. What is newer
// than the runtime's newest opset it loads when it is asked to.
func TestParityOpsets(t *testing.T) {
	for _, m := range readIndex(t).Models {
		if m.Name != "qwen3_5_text" && m.Name != "qwen3_5_vl" {
			continue
		}
		for opset := int64(compiler.MinOpset); opset <= ops.MaxOpset(""); opset++ {
			t.Run(fmt.Sprintf("%s/%d", m.Name, opset), func(t *testing.T) {
				if opset > ort.MaxOpset {
					t.Setenv(ort.UnreleasedVariable, "0")
				}
				p := compileReference(t, m.Name, "qwen3_5", compiler.Options{DType: "float32", Opset: opset})
				for _, c := range m.Cases {
					t.Run(c.Name, func(t *testing.T) { checkFloat32(t, compareCase(t, p, c, float32Tolerance)) })
				}
			})
		}
	}
}
