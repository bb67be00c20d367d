package compiler_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/checkpoint"
	"mobiusc/compiler/emit"
	"mobiusc/compiler/verify"
	"mobiusc/internal/checkpointtest"
	"mobiusc/internal/ort"
)

// TestInPlace compiles reference models with shards beside the graphs, and with
// a copy of the weights, and runs both: every output of every call must have the
// same bits. What is tied, fused, stored in parts, or of several components is
// among them.
func TestInPlace(t *testing.T) {
	specs := map[string]string{"llama": "llama", "qwen2": "qwen2", "gemma2": "gemma2", "gpt2": "gpt2", "phi3": "phi3", "mamba": "mamba",
		"qwen3_moe": "qwen3_moe", "qwen3_next": "qwen3_next", "qwen3_5_text": "qwen3_5", "qwen3_5_vl": "qwen3_5", "bert": "bert", "t5": "t5", "whisper": "whisper", "gemma3_vl": "gemma3_vl"}
	for _, m := range readIndex(t).Models {
		spec, ok := specs[m.Name]
		if !ok {
			continue
		}
		delete(specs, m.Name)
		t.Run(m.Name, func(t *testing.T) {
			dir := shardedReference(t, m.Name, 3)
			before := contentOf(t, dir)
			copied := compileShards(t, spec, dir, compiler.Copy)
			inPlace := compileShards(t, spec, dir, compiler.InPlace)
			for name, content := range before {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s of the checkpoint has changed (%v)", name, err)
				}
			}
			for _, c := range m.Cases {
				sameBits(t, c, copied, inPlace)
			}
		})
	}
	if len(specs) > 0 {
		t.Errorf("testdata/reference has no cases of %v", specs)
	}
}

// TestInPlaceOddOffsets runs models in place whose weights begin at odd bytes of
// their files: the format allows headers of any length.
func TestInPlaceOddOffsets(t *testing.T) {
	specs := map[string]string{"llama": "llama", "qwen3_5_text": "qwen3_5"} // stored in bfloat16 and in float32
	for _, m := range readIndex(t).Models {
		if spec, ok := specs[m.Name]; ok {
			dir := shardedReference(t, m.Name, 1)
			copied := compileShards(t, spec, dir, compiler.Copy)
			lengthenHeader(t, filepath.Join(dir, "model.safetensors"))
			sameBits(t, m.Cases[0], copied, compileShards(t, spec, dir, compiler.InPlace))
		}
	}
}

// lengthenHeader adds a space to the header of a safetensors file.
func lengthenHeader(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(data)
	if n%2 != 0 {
		t.Fatalf("the header has %d bytes already", n)
	}
	longer := binary.LittleEndian.AppendUint64(nil, n+1)
	longer = append(append(longer, data[8:8+n]...), ' ')
	if err := os.WriteFile(path, append(longer, data[8+n:]...), 0o666); err != nil {
		t.Fatal(err)
	}
}

// shardedReference writes a reference model's checkpoint as several shards.
func shardedReference(t *testing.T, model string, shards int) string {
	t.Helper()
	return rewriteReference(t, model, shards, func(*checkpointtest.Tensor) {})
}

// rewriteReference returns a copy of a reference model's directory, in shards,
// in which change has edited every tensor; one that loses its name is left out.
func rewriteReference(t *testing.T, model string, shards int, change func(*checkpointtest.Tensor)) string {
	t.Helper()
	c, found := checkpoint.Open(filepath.Join(referenceDir, model), checkpoint.Options{})
	if found.HasErrors() {
		t.Fatal(found)
	}
	defer c.Close()
	var tensors []checkpointtest.Tensor
	for _, x := range c.Tensors() {
		data, err := c.Bytes(x)
		if err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, checkpointtest.Tensor{Name: x.Name, DType: x.DType, Shape: x.Shape, Data: data})
		change(&tensors[len(tensors)-1])
		if tensors[len(tensors)-1].Name == "" {
			tensors = tensors[:len(tensors)-1]
		}
	}
	dir := t.TempDir()
	if err := checkpointtest.WriteDir(dir, tensors, shards); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(referenceDir, model, "config.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), config, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// contentOf reads the files of a directory.
func contentOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// compileShards compiles a checkpoint with its weights as they are stored, to be
// computed with in float32, and opens the package.
func compileShards(t *testing.T, spec, dir string, mode compiler.WeightMode) *verify.Package {
	t.Helper()
	o := compiler.Options{Spec: filepath.Join("..", "specs", spec+".yaml"), DType: "float32", Storage: storedDType(t, dir),
		Weights: compiler.Weights{Mode: mode, Dir: dir}, Out: filepath.Join(t.TempDir(), "out")}
	found, err := compiler.Compile(context.Background(), o)
	if err != nil || found.HasErrors() {
		t.Fatalf("%s does not compile: %v\n%s", dir, err, found)
	}
	checkPlaces(t, o.Dir(), mode)
	p, err := verify.Open(o.Dir(), ort.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// storedDType returns the dtype of a checkpoint's first tensor.
func storedDType(t *testing.T, dir string) string {
	t.Helper()
	c, found := checkpoint.Open(dir, checkpoint.Options{})
	if found.HasErrors() {
		t.Fatal(found)
	}
	defer c.Close()
	return map[checkpoint.DType]string{checkpoint.BF16: "bfloat16", checkpoint.F32: "float32"}[c.Tensors()[0].DType]
}

// checkPlaces checks that most weights of an in-place package lie in the
// shards, and none of a copy.
func checkPlaces(t *testing.T, dir string, mode compiler.WeightMode) {
	t.Helper()
	m, err := emit.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	var shared, own int64
	for _, c := range m.Components {
		for _, x := range c.Tensors {
			switch {
			case strings.HasSuffix(x.Location, ".safetensors"):
				shared += x.Length
			case !x.Constant:
				own += x.Length
			}
		}
	}
	if inPlace := mode == compiler.InPlace; inPlace && shared <= own || !inPlace && shared > 0 {
		t.Errorf("%d bytes of the weights lie in the shards, %d in the package", shared, own)
	}
}

// sameBits plays a case through two packages.
func sameBits(t *testing.T, c referenceCase, a, b *verify.Package) {
	t.Helper()
	ref, err := verify.ReadReference(filepath.Join(referenceDir, c.File))
	if err != nil {
		t.Fatal(err)
	}
	want, err := a.Run(ref)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Run(ref)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i, step := range want {
		for component, outputs := range step {
			for _, name := range slices.Sorted(maps.Keys(outputs)) {
				x, y := outputs[name], got[i][component][name]
				compared += len(x.Raw)
				if x.Type != y.Type || !slices.Equal(x.Dims, y.Dims) || !bytes.Equal(x.Raw, y.Raw) {
					t.Errorf("%s, step %d: %s of %s differs", c.Name, i, name, component)
				}
			}
		}
	}
	if compared == 0 {
		t.Errorf("%s compares nothing", c.Name)
	}
}
