package emit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"mobiusc/ir"
)

// tensorBytes returns what the manifest says is the content of a tensor.
func tensorBytes(t *testing.T, dir string, tensor ManifestTensor) []byte {
	t.Helper()
	return readFile(t, filepath.Join(dir, tensor.Location))[tensor.Offset:][:tensor.Length]
}

func TestChecksums(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var last, total int64
	write(t, testPackage(1, "model"), dir, WriteOptions{Checksums: true, Hashed: func(n, of int64) { last, total = n, of }})
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	bytes := int64(0)
	for _, x := range m.Components[0].Tensors {
		sum := sha256.Sum256(tensorBytes(t, dir, x))
		if x.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("tensor %s has sha256 %s, its content %x", x.Name, x.SHA256, sum)
		}
		bytes += x.Length
	}
	if last != bytes || total != bytes {
		t.Errorf("progress ended at %d of %d, want %d", last, total, bytes)
	}
	differ, err := VerifyChecksums(t.Context(), dir, m, nil)
	if err != nil || len(differ) > 0 {
		t.Errorf("an untouched package: %v, %v", differ, err)
	}

	// One bit of one tensor.
	data := filepath.Join(dir, "model.onnx.data")
	broken := m.Components[0].Tensors[1]
	text := readFile(t, data)
	text[broken.Offset+broken.Length-1] ^= 1
	if err := os.WriteFile(data, text, 0o666); err != nil {
		t.Fatal(err)
	}
	differ, err = VerifyChecksums(t.Context(), dir, m, nil)
	if err != nil || len(differ) != 1 || differ[0] != (Mismatch{data, broken.Name}) {
		t.Errorf("after flipping a bit of %s: %v, %v", broken.Name, differ, err)
	}
}

// An in-place package points into files that are not its own.
func TestChecksumsInPlace(t *testing.T) {
	dir := t.TempDir()
	shard := filepath.Join(dir, "shard.safetensors")
	if err := os.WriteFile(shard, make([]byte, 10_000), 0o666); err != nil {
		t.Fatal(err)
	}
	p := testPackage(1, "model")
	c := p.Components[0]
	w := c.Model.Graph.Initializers[0]
	w.Init.External = &ir.External{Location: "shard.safetensors", Offset: 100, Length: w.Init.ByteLen()}
	c.Fill, c.Weights = nil, map[string]Weight{w.Name: {Bound: true}}
	if err := p.WriteInPlace(t.Context(), dir, WriteOptions{Checksums: true}); err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range m.Components[0].Tensors {
		want := ""
		if x.Bound {
			sum := sha256.Sum256(tensorBytes(t, dir, x))
			want = hex.EncodeToString(sum[:])
		}
		if x.SHA256 != want {
			t.Errorf("tensor %s in %s has sha256 %q, want %q", x.Name, x.Location, x.SHA256, want)
		}
	}
	if differ, err := VerifyChecksums(t.Context(), dir, m, nil); err != nil || len(differ) > 0 {
		t.Errorf("an untouched package: %v, %v", differ, err)
	}
}

func TestNoChecksums(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	write(t, testPackage(1, "model"), dir, WriteOptions{})
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := VerifyChecksums(t.Context(), dir, m, nil); !errors.Is(err, ErrNoChecksums) {
		t.Errorf("a package without checksums: %v", err)
	}
	for i := range m.Components[0].Tensors {
		m.Components[0].Tensors[i].SHA256 = "00"
		m.Components[0].Tensors[i].Location = "../elsewhere"
	}
	if _, err := VerifyChecksums(t.Context(), dir, m, nil); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("data outside the package: %v", err)
	}
}
