package float16

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
	"os"
	"testing"
)

// reference reads testdata/reference.bin.gz, section by section: what NumPy and
// ml_dtypes make of each input. testdata/reference.py says what is in it.
type reference struct {
	t *testing.T
	r io.Reader
}

func openReference(t *testing.T) *reference {
	f, err := os.Open("testdata/reference.bin.gz")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return &reference{t, r}
}

type word interface{ uint16 | uint32 | uint64 }

// section reads n words, each stored as the difference to the one before.
func section[W word](ref *reference, n int) []W {
	words := make([]W, n)
	if err := binary.Read(ref.r, binary.LittleEndian, words); err != nil {
		ref.t.Fatal(err)
	}
	for i := 1; i < n; i++ {
		words[i] += words[i-1]
	}
	return words
}

// compare checks a conversion against the reference's results for the inputs.
func compare[S, D word](ref *reference, name string, inputs []S, convert func(S) D) {
	ref.t.Helper()
	wrong := 0
	for i, want := range section[D](ref, len(inputs)) {
		if got := convert(inputs[i]); got != want {
			if wrong++; wrong <= 5 {
				ref.t.Errorf("%s(%#x) = %#x, want %#x", name, inputs[i], got, want)
			}
		}
	}
	if wrong > 0 {
		ref.t.Errorf("%s: %d of %d differ", name, wrong, len(inputs))
	}
}

func TestReference(t *testing.T) {
	ref := openReference(t)
	every := make([]uint16, 1<<16)
	for i := range every {
		every[i] = uint16(i)
	}
	compare(ref, "F32FromF16", every, F32FromF16)
	compare(ref, "F64FromF16", every, F64FromF16)
	compare(ref, "BF16FromF16", every, BF16FromF16)
	compare(ref, "F32FromBF16", every, F32FromBF16)
	compare(ref, "F64FromBF16", every, F64FromBF16)
	compare(ref, "F16FromBF16", every, F16FromBF16)

	f32 := section[uint32](ref, int(section[uint64](ref, 1)[0]))
	compare(ref, "F64FromF32", f32, F64FromF32)
	compare(ref, "F16FromF32", f32, F16FromF32)
	compare(ref, "BF16FromF32", f32, BF16FromF32)

	f64 := section[uint64](ref, int(section[uint64](ref, 1)[0]))
	compare(ref, "F32FromF64", f64, F32FromF64)
	compare(ref, "F16FromF64", f64, F16FromF64)
	compare(ref, "BF16FromF64", f64, BF16FromF64)
	if len(f32) < 400_000 || len(f64) < 400_000 {
		t.Errorf("only %d and %d inputs", len(f32), len(f64))
	}
	if n, err := io.Copy(io.Discard, ref.r); n != 0 || err != nil {
		t.Errorf("%d bytes of the reference remain, %v", n, err)
	}
}

// TestRoundTrip widens and narrows every 16-bit pattern that is not a NaN.
func TestRoundTrip(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		if h&0x7fff <= 0x7c00 && (F16FromF32(F32FromF16(h)) != h || F16FromF64(F64FromF16(h)) != h) {
			t.Fatalf("f16 %#x does not return", h)
		}
		if h&0x7fff <= 0x7f80 && (BF16FromF32(F32FromBF16(h)) != h || BF16FromF64(F64FromBF16(h)) != h) {
			t.Fatalf("bf16 %#x does not return", h)
		}
	}
}

// TestOnce checks inputs that come out wrong when rounded by way of f32.
func TestOnce(t *testing.T) {
	x := 1 + math.Ldexp(1, -8) + math.Ldexp(1, -40) // just above the middle of two bf16
	if got := BF16FromF64(math.Float64bits(x)); got != 0x3f81 {
		t.Errorf("bf16(%v) = %#x, want 0x3f81", x, got)
	}
	x = 1 + math.Ldexp(1, -11) + math.Ldexp(1, -40) // the same for f16
	if got := F16FromF64(math.Float64bits(x)); got != 0x3c01 {
		t.Errorf("f16(%v) = %#x, want 0x3c01", x, got)
	}
}
