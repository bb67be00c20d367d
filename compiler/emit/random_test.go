package emit

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"mobiusc/internal/float16"
	"mobiusc/ir"
)

// randomFile fills a data file with one weight after another and returns it.
func randomFile(t testing.TB, seed uint64, weights ...RandomWeight) []byte {
	t.Helper()
	g := ir.NewGraph("g")
	for _, w := range weights {
		w.Tensor.External = &ir.External{}
		g.AddInitializer(w.Name, w.Tensor)
	}
	l, err := plan(g, "data")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, l.size); err != nil {
		t.Fatal(err)
	}
	var written atomic.Int64
	if err := FillRandom(t.Context(), path, seed, weights, func(n int64) { written.Add(n) }); err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, w := range weights {
		sum += w.Tensor.External.Length
	}
	if written.Load() != sum {
		t.Errorf("progress adds up to %d bytes, want %d", written.Load(), sum)
	}
	return readFile(t, path)
}

func weight(name string, dtype ir.DataType, mean, std float64, dims ...int64) RandomWeight {
	return RandomWeight{Name: name, Tensor: &ir.Tensor{Type: dtype, Dims: dims}, Mean: mean, Std: std}
}

// floats decodes the content of a weight.
func floats(data []byte, t *ir.Tensor) []float64 {
	le := binary.LittleEndian
	b := data[t.External.Offset : t.External.Offset+t.External.Length]
	out := make([]float64, t.Len())
	for i := range out {
		switch t.Type {
		case ir.Float16:
			out[i] = float64(float16.F16Value(le.Uint16(b[2*i:])))
		case ir.BFloat16:
			out[i] = float64(float16.BF16Value(le.Uint16(b[2*i:])))
		case ir.Float32:
			out[i] = float64(math.Float32frombits(le.Uint32(b[4*i:])))
		}
	}
	return out
}

// TestRandomMoments checks mean, deviation, skewness, kurtosis and the
// correlation of neighbours over 1.5 million numbers, more than one chunk.
func TestRandomMoments(t *testing.T) {
	const n = 1_500_003
	for _, dtype := range []ir.DataType{ir.Float32, ir.Float16, ir.BFloat16} {
		w := weight("w", dtype, 0.5, 2, n)
		x := floats(randomFile(t, 7, w), w.Tensor)
		var m [5]float64
		var neighbours float64
		for i, v := range x {
			z := (v - 0.5) / 2
			power := 1.0
			for k := range m {
				m[k] += power / n
				power *= z
			}
			if i > 0 {
				neighbours += z * (x[i-1] - 0.5) / 2 / n
			}
		}
		for k, want := range []float64{1, 0, 1, 0, 3} {
			if math.Abs(m[k]-want) > 0.02 {
				t.Errorf("%s: moment %d is %.4f, want %g", dtype, k, m[k], want)
			}
		}
		if math.Abs(neighbours) > 0.005 {
			t.Errorf("%s: neighbours correlate by %.4f", dtype, neighbours)
		}
	}
}

// TestRandomIsStable checks that a weight depends on its name, the seed and the
// position alone: not on its place, its neighbours, its dtype or the chunks.
func TestRandomIsStable(t *testing.T) {
	alone := weight("w", ir.Float32, 0, 1, 3, 100_001)
	first := floats(randomFile(t, 1, alone), alone.Tensor)
	among := weight("w", ir.Float32, 0, 1, 100_001, 3)
	other := weight("v", ir.Float32, 0, 1, 300_003)
	data := randomFile(t, 1, weight("u", ir.Float16, 0, 1, 33), other, among)
	second, third := floats(data, among.Tensor), floats(data, other.Tensor)
	narrow := weight("w", ir.Float16, 0, 1, 300_003)
	rounded := floats(randomFile(t, 1, narrow), narrow.Tensor)
	seeded := weight("w", ir.Float32, 0, 1, 300_003)
	fourth := floats(randomFile(t, 2, seeded), seeded.Tensor)
	var likeOther, likeSeed int
	for i, v := range first {
		if second[i] != v {
			t.Fatalf("element %d is %g alone and %g among others", i, v, second[i])
		}
		if want := float64(float16.F16Value(float16.F16FromValue(float32(v)))); rounded[i] != want {
			t.Fatalf("element %d is %g in float16, want %g rounded", i, rounded[i], v)
		}
		if third[i] == v {
			likeOther++
		}
		if fourth[i] == v {
			likeSeed++
		}
	}
	if likeOther > 1000 || likeSeed > 1000 {
		t.Errorf("of 300,003 elements %d are those of another name, %d of another seed", likeOther, likeSeed)
	}
}

func TestRandomZerosAndOnes(t *testing.T) {
	zeros, ones := weight("z", ir.BFloat16, 0, 0, 10), weight("o", ir.Float16, 1, 0, 10)
	data := randomFile(t, 1, zeros, ones)
	for i := range 10 {
		if z, o := floats(data, zeros.Tensor)[i], floats(data, ones.Tensor)[i]; z != 0 || o != 1 {
			t.Errorf("element %d: %g and %g, want 0 and 1", i, z, o)
		}
	}
}

func TestRandomErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if err := FillRandom(t.Context(), path, 1, nil, nil); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	ints := weight("i", ir.Int32, 0, 1, 2)
	ints.Tensor.External = &ir.External{Length: 8}
	for _, c := range []struct {
		w    RandomWeight
		want string
	}{{weight("w", ir.Float32, 0, 1, 2), "no place in the data file"}, {ints, "type int32 are not supported"}} {
		if err := FillRandom(t.Context(), path, 1, []RandomWeight{c.w}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", err, c.want)
		}
	}
}

func BenchmarkFillRandom(b *testing.B) {
	const n = 128 << 20
	w := weight("w", ir.BFloat16, 0, 0.02, n)
	w.Tensor.External = &ir.External{Length: 2 * n}
	path := filepath.Join(b.TempDir(), "data")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(2 * n)
	b.ReportAllocs()
	for b.Loop() {
		if err := FillRandom(b.Context(), path, 1, []RandomWeight{w}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGenerate measures the generator without the file.
func BenchmarkGenerate(b *testing.B) {
	w := weight("w", ir.BFloat16, 0, 0.02, chunkSize/2)
	w.Tensor.External = &ir.External{Length: chunkSize}
	jobs, err := randomJobs(1, []RandomWeight{w})
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, chunkSize)
	b.SetBytes(chunkSize)
	for b.Loop() {
		jobs[0].generate16(buf)
	}
}
