package half

import (
	"math"
	"testing"
)

// nearest finds the 16-bit value closest to x by search, ties to even bits.
func nearest(x float32, decode func(uint16) float32, limit uint16) uint16 {
	best, distance := uint16(0), math.Inf(1)
	for b := uint16(0); b <= limit; b++ {
		d := math.Abs(float64(decode(b)) - float64(x))
		if d < distance || d == distance && b%2 == 0 {
			best, distance = b, d
		}
	}
	return best
}

func TestRoundTrip(t *testing.T) {
	for i := range 1 << 16 {
		b := uint16(i)
		if x := FromFloat16(b); x == x && Float16(x) != b {
			t.Fatalf("float16 %#04x reads %g, writes %#04x", b, x, Float16(x))
		}
		if x := FromBFloat16(b); x == x && BFloat16(x) != b {
			t.Fatalf("bfloat16 %#04x reads %g, writes %#04x", b, x, BFloat16(x))
		}
	}
}

func TestRounding(t *testing.T) {
	for _, x := range []float32{
		1, 1.0004883, 1.0005, 1.00146484375, 65503, 0.1, 3.14159, 6.1e-5, 6.0e-5, 5.96e-8, 2.98e-8, 2.9802322e-8, 8.9e-8, 1e-9, 2047.5, 2048.5,
	} {
		if got, want := Float16(x), nearest(x, FromFloat16, 0x7bff); got != want {
			t.Errorf("float16 of %g = %#04x, want %#04x", x, got, want)
		}
		if got, want := BFloat16(x), nearest(x, FromBFloat16, 0x7f7f); got != want {
			t.Errorf("bfloat16 of %g = %#04x, want %#04x", x, got, want)
		}
		if Float16(-x) != Float16(x)|0x8000 || BFloat16(-x) != BFloat16(x)|0x8000 {
			t.Errorf("the sign of %g changes more than the sign bit", x)
		}
	}
}

func TestSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name      string
		got, want uint16
	}{
		{"float16 of +inf", Float16(inf), 0x7c00},
		{"float16 of -inf", Float16(-inf), 0xfc00},
		{"float16 of 65519.99", Float16(65519.99), 0x7bff},
		{"float16 of 65520", Float16(65520), 0x7c00},
		{"float16 of 1e30", Float16(1e30), 0x7c00},
		{"bfloat16 of +inf", BFloat16(inf), 0x7f80},
		{"bfloat16 of the largest float", BFloat16(math.MaxFloat32), 0x7f80},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#04x, want %#04x", c.name, c.got, c.want)
		}
	}
	if x := FromFloat16(Float16(nan)); x == x {
		t.Errorf("float16 of NaN reads %g", x)
	}
	if x := FromBFloat16(BFloat16(nan)); x == x {
		t.Errorf("bfloat16 of NaN reads %g", x)
	}
}
