// Package float16 converts between the bit patterns of IEEE 754 binary16 (f16),
// bfloat16 (bf16), binary32 (f32) and binary64 (f64). Narrowing rounds once, to
// nearest, ties to even; what exceeds the range becomes an infinity.
//
// A NaN stays a NaN of the same sign. Its payload is what NumPy and ml_dtypes
// make of it, so that results can be compared with theirs bit for bit:
//
//	f16, bf16 → f32   kept
//	f16 → f64         kept
//	bf16, f32 → f64   kept, made quiet, as processors do
//	f64 → f32         its upper bits, made quiet, as processors do
//	f32, f64 → f16    its upper bits; where they are 0, the lowest bit is set
//	anything → bf16   that of the default quiet NaN
//	bf16 → f16        that of the default quiet NaN
package float16

import "math"

// F32FromBF16 returns the f32 equal to a bf16.
func F32FromBF16(h uint16) uint32 { return uint32(h) << 16 }

// F32FromF16 returns the f32 equal to an f16.
func F32FromF16(h uint16) uint32 {
	const magic = 113 << 23 // 2^-14, the smallest normal f16, as f32
	sign := uint32(h&0x8000) << 16
	bits := uint32(h&0x7fff) << 13
	switch exp := bits & (0x7c00 << 13); exp {
	case 0x7c00 << 13: // infinity, NaN
		bits += (255 - 31) << 23
	case 0: // zero, subnormal: 2^-14 is put before the fraction and taken away again
		bits = math.Float32bits(math.Float32frombits(bits+magic) - math.Float32frombits(magic))
	default:
		bits += (127 - 15) << 23
	}
	return sign | bits
}

// F64FromF32 returns the f64 equal to an f32.
func F64FromF32(f uint32) uint64 {
	if f&^signF32 > infF32 {
		return uint64(f&signF32)<<32 | 0x7ff8<<48 | uint64(f&0x7fffff)<<29
	}
	return math.Float64bits(float64(math.Float32frombits(f)))
}

// F64FromF16 returns the f64 equal to an f16.
func F64FromF16(h uint16) uint64 {
	if h&0x7fff > 0x7c00 {
		return uint64(h&0x8000)<<48 | 0x7ff<<52 | uint64(h&0x3ff)<<42
	}
	return F64FromF32(F32FromF16(h))
}

// F64FromBF16 returns the f64 equal to a bf16.
func F64FromBF16(h uint16) uint64 { return F64FromF32(F32FromBF16(h)) }

const (
	signF32 = 1 << 31
	infF32  = 255 << 23
)

// BF16FromF32 returns the bf16 nearest to an f32.
func BF16FromF32(f uint32) uint16 {
	if f&^signF32 > infF32 {
		return uint16(f>>16)&0x8000 | 0x7fc0
	}
	return uint16((f + 0x7fff + f>>16&1) >> 16)
}

// F16FromF32 returns the f16 nearest to an f32.
func F16FromF32(f uint32) uint16 {
	const (
		overflow  = (127 + 16) << 23            // 65536
		minNormal = (127 - 14) << 23            // 2^-14
		rebias    = (15 - 127 + 512) << 23      // modulo 2^32
		magic     = ((127 - 15) + 13 + 1) << 23 // 0.5: an ulp of it is the smallest subnormal f16
	)
	sign := uint16(f>>16) & 0x8000
	f &^= signF32
	switch {
	case f > infF32:
		return sign | 0x7c00 | max(1, uint16(f>>13)&0x3ff)
	case f >= overflow:
		return sign | 0x7c00
	case f < minNormal: // the addition rounds
		sum := math.Float32frombits(f) + math.Float32frombits(magic)
		return sign | uint16(math.Float32bits(sum)-magic)
	}
	return sign | uint16((f+rebias+0xfff+f>>13&1)>>13)
}

// F32FromF64 returns the f32 nearest to an f64.
func F32FromF64(d uint64) uint32 {
	if d&^signF64 > infF64 {
		return uint32(d>>32)&signF32 | 0x7fc<<20 | uint32(d>>29)&0x3fffff
	}
	return math.Float32bits(float32(math.Float64frombits(d)))
}

const (
	signF64 = 1 << 63
	infF64  = 0x7ff << 52
)

// F16FromF64 returns the f16 nearest to an f64.
func F16FromF64(d uint64) uint16 {
	sign := uint16(d>>48) & 0x8000
	if d &^= signF64; d > infF64 {
		return sign | 0x7c00 | max(1, uint16(d>>42)&0x3ff)
	}
	return sign | narrow(d, 10, 15)
}

// BF16FromF64 returns the bf16 nearest to an f64.
func BF16FromF64(d uint64) uint16 {
	sign := uint16(d>>48) & 0x8000
	if d &^= signF64; d > infF64 {
		return sign | 0x7fc0
	}
	return sign | narrow(d, 7, 127)
}

// narrow rounds a non-negative f64 to a 16-bit format with the given number of
// fraction bits and exponent bias.
func narrow(d uint64, fraction, bias uint64) uint16 {
	shift := 52 - fraction
	inf := uint64(1)<<15 - 1<<fraction
	minNormal := (1023 - bias + 1) << 52
	if d < minNormal {
		// An ulp of magic is the smallest subnormal, so that the addition rounds.
		magic := math.Float64frombits(minNormal + shift<<52)
		return uint16(math.Float64bits(math.Float64frombits(d)+magic) - math.Float64bits(magic))
	}
	d -= (1023 - bias) << 52
	return uint16(min(inf, (d+1<<(shift-1)-1+d>>shift&1)>>shift))
}

// F16FromBF16 returns the f16 nearest to a bf16.
func F16FromBF16(h uint16) uint16 {
	if h&0x7fff > 0x7f80 {
		return h&0x8000 | 0x7e00
	}
	return F16FromF32(F32FromBF16(h))
}

// BF16FromF16 returns the bf16 nearest to an f16.
func BF16FromF16(h uint16) uint16 { return BF16FromF32(F32FromF16(h)) }

// F16FromValue returns the f16 nearest to x.
func F16FromValue(x float32) uint16 { return F16FromF32(math.Float32bits(x)) }

// BF16FromValue returns the bf16 nearest to x.
func BF16FromValue(x float32) uint16 { return BF16FromF32(math.Float32bits(x)) }

// F16Value returns the value of an f16.
func F16Value(h uint16) float32 { return math.Float32frombits(F32FromF16(h)) }

// BF16Value returns the value of a bf16.
func BF16Value(h uint16) float32 { return math.Float32frombits(F32FromBF16(h)) }
