// Package half converts between float32 and the 16-bit floating-point types.
package half

import "math"

// Float16 returns the IEEE 754 binary16 bits of x, rounded to the nearest, ties
// to even. Values beyond the range become infinities; NaN stays NaN.
func Float16(x float32) uint16 {
	bits := math.Float32bits(x)
	sign := uint16(bits>>16) & 0x8000
	abs := bits & 0x7fffffff
	switch {
	case abs > 0x7f800000:
		return sign | 0x7e00 | uint16(abs>>13)&0x1ff
	case abs >= 0x47800000: // 2^16 and above, infinity
		return sign | 0x7c00
	case abs < 0x38800000: // below 2^-14: subnormal, in steps of 2^-24
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(abs))*(1<<24)))
	}
	// Rebias the exponent from 127 to 15 and round off 13 bits; a carry out of
	// the fraction raises the exponent, as it must.
	rebased := abs - 112<<23
	return sign | uint16((rebased+0xfff+rebased>>13&1)>>13)
}

// FromFloat16 returns the value of binary16 bits, which is exact.
func FromFloat16(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0:
		v := math.Float32bits(float32(fraction) / (1 << 24))
		return math.Float32frombits(sign | v)
	case 0x1f:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// BFloat16 returns the bfloat16 bits of x, rounded to the nearest, ties to
// even. NaN stays NaN.
func BFloat16(x float32) uint16 {
	bits := math.Float32bits(x)
	if bits&0x7fffffff > 0x7f800000 {
		return uint16(bits>>16) | 0x40
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// FromBFloat16 returns the value of bfloat16 bits, which is exact.
func FromBFloat16(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }
