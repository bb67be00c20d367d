package compiler_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/emit"
	"mobiusc/internal/checkpointtest"
)

// TestPublishedCheckpoint compiles a checkpoint of the exact layout of a
// published one, 55 GB in 18 shards that are holes, in place: every weight lies
// in the shards, and each component has the bytes that the published facts say.
func TestPublishedCheckpoint(t *testing.T) {
	tensors, err := checkpointtest.ReadLayout("../testdata/checkpoints/qwen3_8.layout")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config, err := os.ReadFile("../testdata/configs/qwen3_8/config.json")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), config, 0o666)
	}
	if err == nil {
		err = checkpointtest.WriteDir(dir, tensors, 18)
	}
	if err != nil {
		t.Fatal(err)
	}
	found, err := compiler.Compile(context.Background(), compiler.Options{Spec: "../specs/qwen3_8.yaml", Weights: compiler.Weights{Mode: compiler.InPlace, Dir: dir}})
	if err != nil || found.HasErrors() {
		t.Fatalf("%v\n%s", err, found)
	}
	m, err := emit.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"decoder": 51_249_200_128, "vision_encoder": 921_460_192, "embedding": 2_542_796_800}
	for _, c := range m.Components {
		var bytes int64
		for _, x := range c.Tensors {
			if x.Constant {
				continue
			}
			if bytes += x.Length; filepath.Ext(x.Location) != ".safetensors" || !x.Bound {
				t.Errorf("%s of %s lies in %q", x.Name, c.Name, x.Location)
			}
		}
		if bytes != want[c.Name] {
			t.Errorf("%s: %d bytes, want %d", c.Name, bytes, want[c.Name])
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("components that are not there: %v", want)
	}
}
