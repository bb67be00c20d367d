package checkpoint_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mobiusc/compiler/checkpoint"
	"mobiusc/internal/checkpointtest"
	"mobiusc/internal/diag"
)

type tensor = checkpointtest.Tensor

// small is a checkpoint of four tensors; two shards split it in the middle.
func small() []tensor {
	return []tensor{
		{Name: "b", DType: checkpoint.F16, Shape: []int64{2, 2}, Data: []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{Name: "a", DType: checkpoint.U8, Shape: []int64{8}, Data: []byte("abcdefgh")},
		{Name: "d", DType: checkpoint.F32, Shape: []int64{}, Data: []byte{0, 0, 128, 63}},
		{Name: "c", DType: checkpoint.I8, Shape: []int64{12}, Data: bytes.Repeat([]byte{9}, 12)},
	}
}

func write(t testing.TB, tensors []tensor, shards int) string {
	t.Helper()
	dir := t.TempDir()
	if err := checkpointtest.WriteDir(dir, tensors, shards); err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t testing.TB, path string) *checkpoint.Checkpoint {
	t.Helper()
	c, faults := checkpoint.Open(path, checkpoint.Options{})
	if len(faults) > 0 {
		t.Fatalf("faults: %v", faults)
	}
	t.Cleanup(c.Close)
	return c
}

func TestOpen(t *testing.T) {
	for _, shards := range []int{1, 2} {
		dir := write(t, small(), shards)
		c := open(t, dir)
		if got := len(c.Files()); got != []int{1, 3}[shards-1] {
			t.Errorf("%d shards: %d files", shards, got)
		}
		var names []string
		for _, info := range c.Tensors() {
			names = append(names, info.Name)
		}
		if got := strings.Join(names, " "); got != "a b c d" {
			t.Errorf("%d shards: tensors %s", shards, got)
		}
		for _, w := range small() {
			info, ok := c.Tensor(w.Name)
			if !ok || info.DType != w.DType || info.Length != w.Size() {
				t.Fatalf("%d shards: tensor %q is %+v", shards, w.Name, info)
			}
			got, err := c.Bytes(info)
			if err != nil || !bytes.Equal(got, w.Data) {
				t.Errorf("%d shards: %s holds %v, %v", shards, w.Name, got, err)
			}
		}
		if _, ok := c.Tensor("e"); ok {
			t.Error("there is no tensor e")
		}
		if _, err := c.Bytes(checkpoint.TensorInfo{Name: "x", File: "model.safetensors", Offset: 1 << 40}); err == nil {
			t.Error("a tensor of no checkpoint has bytes")
		}
	}
}

func TestOpenOneFile(t *testing.T) {
	dir := write(t, small(), 2)
	for name, want := range map[string]int{"model-00001-of-00002.safetensors": 2, "model.safetensors.index.json": 4} {
		if got := len(open(t, filepath.Join(dir, name)).Tensors()); got != want {
			t.Errorf("%s: %d tensors, want %d", name, got, want)
		}
	}
}

const index = "model.safetensors.index.json"

func TestOpenFaults(t *testing.T) {
	first, second := "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	tests := []struct {
		name   string
		change func(t *testing.T, dir string)
		want   []string // file, then a part of the message, a fault
	}{
		{"no checkpoint", func(t *testing.T, dir string) { remove(t, dir, index) }, []string{"", "neither model.safetensors nor"}},
		{"missing shard", func(t *testing.T, dir string) { remove(t, dir, second) }, []string{second, "no such file"}},
		{"both shards missing", func(t *testing.T, dir string) { remove(t, dir, first); remove(t, dir, second) },
			[]string{first, "no such file", second, "no such file"}},
		{"truncated shards", func(t *testing.T, dir string) { truncate(t, dir, first, -1); truncate(t, dir, second, -1) },
			[]string{first, "truncated", second, "truncated"}},
		{"empty shard", func(t *testing.T, dir string) { truncate(t, dir, first, 0) }, []string{first, "0 bytes"}},
		{"directory", func(t *testing.T, dir string) {
			remove(t, dir, first)
			check(t, os.Mkdir(filepath.Join(dir, first), 0o755))
		}, []string{first, "not a regular file"}},
		{"pipe", func(t *testing.T, dir string) {
			remove(t, dir, first)
			check(t, syscall.Mkfifo(filepath.Join(dir, first), 0o644))
		}, []string{first, "not a regular file"}},
		{"link outside", func(t *testing.T, dir string) { moveOutside(t, dir, first) }, []string{first, "outside the checkpoint's directory"}},
		{"index is a link outside", func(t *testing.T, dir string) { moveOutside(t, dir, index) }, []string{index, "outside the checkpoint's directory"}},
		{"dangling link", func(t *testing.T, dir string) {
			remove(t, dir, first)
			check(t, os.Symlink("nowhere", filepath.Join(dir, first)))
		}, []string{first, "no such file"}},
		{"traversal", edit(`"a": "`+first, `"a": "../`+first), []string{index + ":6:5", `"../model-00001`}},
		{"absolute", edit(`"a": "`+first, `"a": "/`+first), []string{index + ":6:5", `"/model-00001`}},
		{"backslash", edit(`"a": "`+first, `"a": "x\\`+first), []string{index + ":6:5", "not a file below"}},
		{"not clean", edit(`"a": "`+first, `"a": "./`+first), []string{index + ":6:5", "not a file below"}},
		{"number", edit(`"a": "`+first+`"`, `"a": 7`), []string{index + ":6:5", "7 is not a file name"}},
		{"twice", edit(`"a":`, `"b":`), []string{index + ":7:5", `"b" is there twice`, first, `"a" is not in the index`}},
		{"wrong shard", edit(`"a": "`+first, `"a": "`+second), []string{index + ":6:5", `"a" is in ` + first + ", not in " + second}},
		{"unknown tensor", edit(`"a":`, `"x":`), []string{first, `"a" is not in the index`, index + ":6:5", `does not hold tensor "x"`}},
		{"no map", edit(`"weight_map"`, `"weights"`), []string{index + ":5:3", `"weights" is none`, index, "no weight_map"}},
		{"no JSON", edit(`{`, `<`), []string{index + ":1:1", "not the JSON"}},
		{"other total", edit(`"total_size": 32`, `"total_size": 33`), []string{index, "total_size is 33, the shards hold 32"}},
		{"both layouts", func(t *testing.T, dir string) {
			check(t, checkpointtest.WriteFile(filepath.Join(dir, "model.safetensors"), small()))
		}, []string{index, "is there too"}},
		{"two shards hold a tensor", func(t *testing.T, dir string) {
			check(t, checkpointtest.WriteFile(filepath.Join(dir, second), append(small()[1:2:2], small()[2:]...)))
		}, []string{second, `"a" is in ` + first + " too", index + ":6:5", `"a" is in ` + second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := write(t, small(), 2)
			tt.change(t, dir)
			c, faults := checkpoint.Open(dir, checkpoint.Options{})
			if (c == nil) != faults.HasErrors() {
				t.Errorf("checkpoint %v with faults %v", c, faults)
			}
			c.Close()
			expect(t, dir, faults, tt.want)
		})
	}
}

// expect compares findings with pairs of place and part of the message.
func expect(t *testing.T, dir string, faults diag.List, want []string) {
	t.Helper()
	if len(faults) != len(want)/2 {
		t.Fatalf("findings:\n%v\nwant %q", faults, want)
	}
	for i, f := range faults {
		place := strings.TrimPrefix(strings.TrimPrefix(f.Range.String(), dir), "/")
		if place != want[2*i] || !strings.Contains(f.Message, want[2*i+1]) {
			t.Errorf("finding %q at %q, want %q at %q", f.Message, place, want[2*i+1], want[2*i])
		}
	}
}

func TestFollowLinks(t *testing.T) {
	dir := write(t, small(), 2)
	moveOutside(t, dir, "model-00001-of-00002.safetensors")
	c, faults := checkpoint.Open(dir, checkpoint.Options{FollowLinks: true})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	c.Close()
}

func TestLinkInside(t *testing.T) {
	dir := write(t, small(), 2)
	name := filepath.Join(dir, "model-00001-of-00002.safetensors")
	check(t, os.Rename(name, filepath.Join(dir, "blob")))
	check(t, os.Symlink("blob", name))
	open(t, dir)
}

// TestLayout opens a sparse checkpoint of a published 27B model's exact layout.
func TestLayout(t *testing.T) {
	tensors, err := checkpointtest.ReadLayout("../../testdata/checkpoints/qwen3_8.layout")
	check(t, err)
	dir := write(t, tensors, 18)
	start := time.Now()
	c := open(t, dir)
	t.Logf("opened in %v", time.Since(start))
	var total int64
	for _, info := range c.Tensors() {
		total += info.Length
	}
	if len(c.Files()) != 19 || len(c.Tensors()) != 1199 || total != 55_562_855_904 {
		t.Errorf("%d files, %d tensors, %d bytes", len(c.Files()), len(c.Tensors()), total)
	}
}

func BenchmarkOpen(b *testing.B) {
	tensors, err := checkpointtest.ReadLayout("../../testdata/checkpoints/qwen3_8.layout")
	check(b, err)
	dir := write(b, tensors, 18)
	for b.Loop() {
		c, _ := checkpoint.Open(dir, checkpoint.Options{})
		c.Close()
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, dir, name string) {
	t.Helper()
	check(t, os.Remove(filepath.Join(dir, name)))
}

// truncate cuts a file to size bytes, or by as many where size is negative.
func truncate(t testing.TB, dir, name string, size int64) {
	t.Helper()
	path := filepath.Join(dir, name)
	if size < 0 {
		info, err := os.Stat(path)
		check(t, err)
		size += info.Size()
	}
	check(t, os.Truncate(path, size))
}

// moveOutside moves a file to another directory and leaves a link.
func moveOutside(t testing.TB, dir, name string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "blob")
	check(t, os.Rename(filepath.Join(dir, name), to))
	check(t, os.Symlink(to, filepath.Join(dir, name)))
}

// edit returns a change that replaces text in the index.
func edit(old, new string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		path := filepath.Join(dir, index)
		text, err := os.ReadFile(path)
		check(t, err)
		changed := strings.Replace(string(text), old, new, 1)
		if changed == string(text) {
			t.Fatalf("index has no %q", old)
		}
		check(t, os.WriteFile(path, []byte(changed), 0o644))
	}
}
