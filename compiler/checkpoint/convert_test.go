package checkpoint_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"mobiusc/compiler/checkpoint"
	"mobiusc/internal/float16"
	"mobiusc/ir"
)

var floats = []ir.DataType{ir.BFloat16, ir.Float16, ir.Float32, ir.Float64}

// bits returns the words of a type as little-endian bytes.
func bits(t ir.DataType, words ...uint64) []byte {
	var b []byte
	for _, w := range words {
		b = append(b, binary.LittleEndian.AppendUint64(nil, w)[:t.Bits()/8]...)
	}
	return b
}

// scalar converts one word by package float16, which is tested against NumPy
// and ml_dtypes.
func scalar(w uint64, from, to ir.DataType) uint64 {
	type pair struct{ from, to ir.DataType }
	switch (pair{from, to}) {
	case pair{ir.BFloat16, ir.Float16}:
		return uint64(float16.F16FromBF16(uint16(w)))
	case pair{ir.BFloat16, ir.Float32}:
		return uint64(float16.F32FromBF16(uint16(w)))
	case pair{ir.BFloat16, ir.Float64}:
		return float16.F64FromBF16(uint16(w))
	case pair{ir.Float16, ir.BFloat16}:
		return uint64(float16.BF16FromF16(uint16(w)))
	case pair{ir.Float16, ir.Float32}:
		return uint64(float16.F32FromF16(uint16(w)))
	case pair{ir.Float16, ir.Float64}:
		return float16.F64FromF16(uint16(w))
	case pair{ir.Float32, ir.BFloat16}:
		return uint64(float16.BF16FromF32(uint32(w)))
	case pair{ir.Float32, ir.Float16}:
		return uint64(float16.F16FromF32(uint32(w)))
	case pair{ir.Float32, ir.Float64}:
		return float16.F64FromF32(uint32(w))
	case pair{ir.Float64, ir.BFloat16}:
		return uint64(float16.BF16FromF64(w))
	case pair{ir.Float64, ir.Float16}:
		return uint64(float16.F16FromF64(w))
	case pair{ir.Float64, ir.Float32}:
		return uint64(float16.F32FromF64(w))
	}
	return w
}

// TestConvert compares every pair of types with the conversion of one value, for
// every upper half of a word: first in order, then scattered, so that words that
// are treated together fall into different cases. An odd number of elements
// takes every loop's tail.
func TestConvert(t *testing.T) {
	for _, from := range floats {
		var words []uint64
		low := from.Bits() - 16
		for i := range uint64(2<<16 + 3) {
			high := i
			if i >= 1<<16 {
				high = i * 40503 // odd: every half comes once
			}
			words = append(words, high&0xffff<<low|i*0x9e3779b97f4a7c15>>(64-low))
		}
		src := bits(from, words...)
		for _, to := range floats {
			dst := make([]byte, len(words)*to.Bits()/8)
			if _, err := checkpoint.Convert(dst, to, src, from); err != nil {
				t.Fatal(err)
			}
			want := make([]uint64, len(words))
			for i, w := range words {
				want[i] = scalar(w, from, to)
			}
			if !slices.Equal(dst, bits(to, want...)) {
				t.Errorf("%s to %s differs", from, to)
			}
		}
	}
}

func TestConvertCounts(t *testing.T) {
	f32 := func(x float64) uint64 { return uint64(math.Float32bits(float32(x))) }
	bf16 := func(x float64) uint64 { return uint64(float16.BF16FromF64(math.Float64bits(x))) }
	f64 := math.Float64bits
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		from, to ir.DataType
		words    []uint64
		want     checkpoint.Counts
	}{
		{ir.Float32, ir.Float16, []uint64{f32(0), f32(1), f32(-65504), f32(inf), f32(nan), f32(6.2e-5)}, checkpoint.Counts{}},
		{ir.Float32, ir.Float16, []uint64{f32(65520), f32(-1e30), f32(6e-5), f32(-1e-6), f32(1e-9)}, checkpoint.Counts{Overflow: 2, Subnormal: 2, Zero: 1}},
		{ir.Float32, ir.BFloat16, []uint64{f32(3.4e38), f32(1e-38), f32(1e-45)}, checkpoint.Counts{Overflow: 1, Zero: 1}},
		{ir.BFloat16, ir.Float16, []uint64{bf16(0), bf16(-1), bf16(inf), bf16(nan)}, checkpoint.Counts{}},
		{ir.BFloat16, ir.Float16, []uint64{bf16(70000), bf16(-70000), bf16(1e-5), bf16(1e-9), bf16(1e-40), bf16(1e38), bf16(2)},
			checkpoint.Counts{Overflow: 3, Subnormal: 1, Zero: 2}},
		{ir.Float64, ir.Float32, []uint64{f64(1e39), f64(1e-40), f64(1e-60), f64(1)}, checkpoint.Counts{Overflow: 1, Subnormal: 1, Zero: 1}},
		{ir.Float64, ir.Float16, []uint64{f64(-65520), f64(1e-5), f64(1e-300), f64(inf)}, checkpoint.Counts{Overflow: 1, Subnormal: 1, Zero: 1}},
		{ir.Float64, ir.BFloat16, []uint64{f64(1e39), f64(1e-39), f64(5e-324), f64(nan)}, checkpoint.Counts{Overflow: 1, Subnormal: 1, Zero: 1}},
		{ir.Float16, ir.BFloat16, []uint64{0x0001, 0x7bff, 0x7c00}, checkpoint.Counts{}},
	}
	for _, tt := range tests {
		dst := make([]byte, len(tt.words)*tt.to.Bits()/8)
		got, err := checkpoint.Convert(dst, tt.to, bits(tt.from, tt.words...), tt.from)
		if err != nil || got != tt.want {
			t.Errorf("%s to %s: %+v, want %+v (%v)", tt.from, tt.to, got, tt.want, err)
		}
	}
}

func TestConvertRefuses(t *testing.T) {
	for _, tt := range []struct {
		from, to ir.DataType
		src, dst int
	}{{ir.Int8, ir.Float32, 1, 4}, {ir.Float32, ir.Int64, 4, 8}, {ir.Float32, ir.Float16, 6, 3}, {ir.Float32, ir.Float16, 4, 4}} {
		if _, err := checkpoint.Convert(make([]byte, tt.dst), tt.to, make([]byte, tt.src), tt.from); err == nil {
			t.Errorf("%d bytes of %s to %d of %s: no error", tt.src, tt.from, tt.dst, tt.to)
		}
	}
}

func BenchmarkConvert(b *testing.B) {
	src := make([]byte, 1<<20)
	for _, from := range floats {
		for i, step := 0, from.Bits()/8; i < len(src); i += step { // like weights: normal numbers around 0.02
			x := math.Float64bits(0.02 * math.Sin(float64(i)*1.7))
			copy(src[i:], bits(from, scalar(x, ir.Float64, from)))
		}
		for _, to := range floats {
			dst := make([]byte, len(src)/from.Bits()*to.Bits())
			b.Run(from.String()+"_"+to.String(), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					checkpoint.Convert(dst, to, src, from) //nolint:errcheck // the sizes fit
				}
			})
		}
	}
}
