package checkpoint_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/compiler/checkpoint"
	"mobiusc/ir"
)

// jobs places the bound parameters one after the other, each on a page, in a
// new file, and returns it.
func jobs(t *testing.T, b *checkpoint.Binding) (string, []checkpoint.Job) {
	t.Helper()
	var list []checkpoint.Job
	offset := int64(0)
	for _, x := range b.Bound {
		list = append(list, checkpoint.Job{Bound: x, Offset: offset})
		offset += (x.Source.Size() + 4095) &^ 4095
	}
	path := filepath.Join(t.TempDir(), "model.onnx.data")
	check(t, os.WriteFile(path, nil, 0o644))
	check(t, os.Truncate(path, offset))
	return path, list
}

// large is a bfloat16 tensor of more than a part, with values of every size.
func large(name string, rows, columns int64) tensor {
	data := make([]byte, 2*rows*columns)
	for i := range len(data) / 2 {
		x := uint32(i) * 2654435761
		data[2*i], data[2*i+1] = byte(x>>8), byte(x>>24)&0xbf // exponents below 128
	}
	return tensor{Name: name, DType: checkpoint.BF16, Shape: []int64{rows, columns}, Data: data}
}

func TestCopy(t *testing.T) {
	tensors := []tensor{large("big", 2100, 4096), large("t", 300, 9000), f32("small", count(0, 5), 5), f32("empty", nil, 0)}
	params := []checkpoint.Param{
		{Name: "big", DType: ir.BFloat16, Shape: []int64{2100, 4096}},
		{Name: "big", DType: ir.Float16, Shape: []int64{2100, 4096}},
		{Name: "big", DType: ir.Float32, Shape: []int64{2100, 4096}},
		{Name: "t", DType: ir.BFloat16, Shape: []int64{9000, 300}},
		{Name: "t", DType: ir.Float64, Shape: []int64{9000, 300}},
		param("small", 5), param("empty", 0),
	}
	b := bind(t, params, tensors, transform("t", checkpoint.Transpose{Perm: []int{1, 0}}))
	for _, workers := range []int{0, 1, 5} {
		path, list := jobs(t, b)
		var last, total int64
		lost, err := checkpoint.Copy(context.Background(), path, list, checkpoint.CopyOptions{Workers: workers,
			Progress: func(done, all int64) {
				if done <= last || done > all {
					t.Errorf("progress %d of %d after %d", done, all, last)
				}
				last, total = done, all
			}})
		check(t, err)
		if last != total || total == 0 {
			t.Errorf("progress ended at %d of %d", last, total)
		}
		data, err := os.ReadFile(path)
		check(t, err)
		for _, j := range list {
			got := data[j.Offset : j.Offset+j.Bound.Source.Size()]
			if !bytes.Equal(got, content(t, j.Bound)) {
				t.Errorf("%d workers: %s as %s differs", workers, j.Bound.Param.Name, j.Bound.Param.DType)
			}
		}
		compareFindings(t, lost, []string{"lossy-conversion note |big: of 8601600 values 0 overflow"})
	}
}

// TestCopyTransposed compares a transposed and converted tensor with a plain
// transposition.
func TestCopyTransposed(t *testing.T) {
	const rows, columns = 700, 4100
	x := large("t", rows, columns)
	b := bind(t, []checkpoint.Param{{Name: "t", DType: ir.Float32, Shape: []int64{columns, rows}}}, []tensor{x},
		transform("t", checkpoint.Transpose{Perm: []int{1, 0}}))
	path, list := jobs(t, b)
	_, err := checkpoint.Copy(context.Background(), path, list, checkpoint.CopyOptions{})
	check(t, err)
	data, err := os.ReadFile(path)
	check(t, err)
	for i := range rows {
		for j := range columns {
			from, to := 2*(i*columns+j), 4*(j*rows+i)
			if data[to] != 0 || data[to+1] != 0 || data[to+2] != x.Data[from] || data[to+3] != x.Data[from+1] {
				t.Fatalf("element %d, %d is %v", j, i, data[to:to+4])
			}
		}
	}
}

func TestCopyCounts(t *testing.T) {
	x := f32("n", f32s(70000, 1e-6, 1e-9, 1, float32(math.Inf(1))), 5)
	b := bind(t, []checkpoint.Param{{Name: "n", DType: ir.Float16, Shape: []int64{5}, Range: line(9)}}, []tensor{x}, checkpoint.Rules{})
	path, list := jobs(t, b)
	lost, err := checkpoint.Copy(context.Background(), path, list, checkpoint.CopyOptions{})
	check(t, err)
	compareFindings(t, lost, []string{"lossy-conversion warning spec.yaml:9:1|n: of 5 values 1 overflow to infinity, 1 become subnormal and 1 become zero (cast to float16)"})
}

// TestCopyOntoSource writes onto a shard by its path, a symbolic link and a hard
// link, all of which are refused before a byte is written.
func TestCopyOntoSource(t *testing.T) {
	dir := write(t, small(), 2)
	c := open(t, dir)
	shard := filepath.Join(dir, "model-00001-of-00002.safetensors")
	before, err := os.ReadFile(shard)
	check(t, err)
	links := t.TempDir()
	check(t, os.Symlink(shard, filepath.Join(links, "symbolic")))
	check(t, os.Link(shard, filepath.Join(links, "hard")))
	params := []checkpoint.Param{{Name: "b", DType: ir.Float32, Shape: []int64{2, 2}}}
	b, faults := checkpoint.Bind(params, c, checkpoint.Rules{Ignore: []checkpoint.IgnoreRule{{Match: "{a,c,d}"}}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, path := range []string{shard, filepath.Join(links, "symbolic"), filepath.Join(links, "hard")} {
		_, err := checkpoint.Copy(context.Background(), path, []checkpoint.Job{{Bound: b.Bound[0]}}, checkpoint.CopyOptions{})
		if !errors.Is(err, checkpoint.ErrSource) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if after, err := os.ReadFile(shard); err != nil || !bytes.Equal(before, after) {
		t.Error("the shard changed")
	}
}

func TestCopyErrors(t *testing.T) {
	b := bind(t, []checkpoint.Param{{Name: "big", DType: ir.Float16, Shape: []int64{512, 4096}}}, []tensor{large("big", 512, 4096)}, checkpoint.Rules{})
	path, list := jobs(t, b)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := checkpoint.Copy(cancelled, path, list, checkpoint.CopyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := checkpoint.Copy(context.Background(), filepath.Join(t.TempDir(), "absent"), list, checkpoint.CopyOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// TestCopyTruncated cuts the shard after it was opened, as a second download
// would.
func TestCopyTruncated(t *testing.T) {
	for _, dtype := range []ir.DataType{ir.BFloat16, ir.Float16} {
		dir := write(t, []tensor{large("big", 512, 4096)}, 1)
		b, faults := checkpoint.Bind([]checkpoint.Param{{Name: "big", DType: dtype, Shape: []int64{512, 4096}}}, open(t, dir), checkpoint.Rules{})
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		path, list := jobs(t, b)
		truncate(t, dir, "model.safetensors", 1000)
		if _, err := checkpoint.Copy(context.Background(), path, list, checkpoint.CopyOptions{}); err == nil || !strings.Contains(err.Error(), "big") {
			t.Errorf("as %s: %v", dtype, err)
		}
	}
}

func TestInPlace(t *testing.T) {
	tensors := []tensor{
		{Name: "qkv", DType: checkpoint.F32, Shape: []int64{3, 2}, Data: count(0, 6)},
		{Name: "norm", DType: checkpoint.BF16, Shape: []int64{2}, Data: []byte{0x80, 0x3f, 0, 0}},
		{Name: "w", DType: checkpoint.F32, Shape: []int64{2, 3}, Data: count(6, 6)},
	}
	rules := checkpoint.Rules{Transforms: []checkpoint.Transform{
		{Match: "qkv", Step: checkpoint.Split{Into: []string{"q", "k", "v"}}},
		{Match: "w", Step: checkpoint.Transpose{Perm: []int{1, 0}}}}}
	params := []checkpoint.Param{param("q", 1, 2), param("k", 1, 2), param("v", 1, 2), param("norm", 2), param("w", 3, 2)}
	dir := write(t, tensors, 1)
	b, faults := checkpoint.Bind(params, open(t, dir), rules)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	p, faults := b.InPlace(checkpoint.DefaultInPlaceLimit)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	file, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
	check(t, err)
	for i, want := range [][]byte{count(0, 2), count(2, 2), count(4, 2)} {
		e := p.Pointed[i].External
		if got := file[e.Offset : e.Offset+e.Length]; e.Location != "model.safetensors" || !bytes.Equal(got, want) {
			t.Errorf("%s points to %+v: %v", p.Pointed[i].Bound.Param.Name, e, got)
		}
	}
	if len(p.Pointed) != 3 || len(p.Copied) != 2 || p.Bytes != 32 {
		t.Errorf("%d pointed, %d copied, %d bytes", len(p.Pointed), len(p.Copied), p.Bytes)
	}
	_, faults = b.InPlace(31)
	compareFindings(t, faults, []string{"too-much-to-copy error |2 of 5 parameters|32 bytes would be written, at most 31"})
	if notes := faults[0].Notes; len(notes) != 2 || notes[0].Message != "w: transpose [1 0], 24 bytes" || notes[1].Message != "norm: cast to float, 8 bytes" {
		t.Errorf("notes %+v", notes)
	}
}

func TestInPlaceRefusesLinks(t *testing.T) {
	dir := write(t, small(), 2)
	moveOutside(t, dir, "model-00001-of-00002.safetensors")
	c, faults := checkpoint.Open(dir, checkpoint.Options{FollowLinks: true})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	defer c.Close()
	b, faults := checkpoint.Bind([]checkpoint.Param{param("d")}, c, checkpoint.Rules{Ignore: []checkpoint.IgnoreRule{{Match: "{a,b,c}"}}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if _, faults = b.InPlace(0); len(faults) > 0 {
		t.Errorf("d lies in a plain file: %v", faults)
	}
	b, _ = checkpoint.Bind([]checkpoint.Param{{Name: "b", DType: ir.Float16, Shape: []int64{2, 2}}}, c, checkpoint.Rules{Ignore: []checkpoint.IgnoreRule{{Match: "{a,c,d}"}}})
	_, faults = b.InPlace(0)
	compareFindings(t, faults, []string{"linked-shard error " + dir + "/model-00001-of-00002.safetensors"})
}

// TestCatalogue checks that every code is there once and has a name and a
// summary.
func TestCatalogue(t *testing.T) {
	codes, names := map[string]bool{}, map[string]bool{}
	for _, k := range checkpoint.Kinds() {
		if codes[k.Code] || names[k.Name] || k.Summary == "" || !strings.HasPrefix(k.Code, "MB08") {
			t.Errorf("%+v", k)
		}
		codes[k.Code], names[k.Name] = true, true
	}
	if len(codes) == 0 {
		t.Error("empty catalogue")
	}
}
