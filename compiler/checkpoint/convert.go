package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"mobiusc/internal/float16"
	"mobiusc/ir"
)

// Counts says how many values a conversion could not keep. A value is counted
// once.
type Counts struct {
	Overflow  int64 // finite, became infinite
	Subnormal int64 // normal, became subnormal: some of its precision is lost
	Zero      int64 // not zero, became zero
}

// Add adds the counts of another part.
func (c *Counts) Add(o Counts) {
	c.Overflow += o.Overflow
	c.Subnormal += o.Subnormal
	c.Zero += o.Zero
}

// Any reports whether any value was counted.
func (c Counts) Any() bool { return c != Counts{} }

// Convertible reports whether Convert knows the pair: both are float, double,
// float16 or bfloat16.
func Convertible(from, to ir.DataType) bool { return from.IsFloat() && to.IsFloat() }

// Convert converts the little-endian elements of src to type to, into dst, of
// which the length must be that of the result. Values are rounded once, to
// nearest, ties to even; package float16 says what becomes of NaN.
func Convert(dst []byte, to ir.DataType, src []byte, from ir.DataType) (Counts, error) {
	if !Convertible(from, to) {
		return Counts{}, fmt.Errorf("there is no conversion from %s to %s", from, to)
	}
	n := len(src) * 8 / from.Bits()
	if len(src) != n*from.Bits()/8 || len(dst) != n*to.Bits()/8 {
		return Counts{}, fmt.Errorf("%d bytes of %s do not fill %d bytes of %s", len(src), from, len(dst), to)
	}
	if from == to {
		copy(dst, src)
		return Counts{}, nil
	}
	return converters[pair{from, to}](dst, src), nil
}

type pair struct{ from, to ir.DataType }

// converters has every pair of two different types.
var converters = map[pair]func(dst, src []byte) Counts{
	{ir.BFloat16, ir.Float16}: bf16ToF16,
	{ir.BFloat16, ir.Float32}: bf16ToF32,
	{ir.BFloat16, ir.Float64}: func(dst, src []byte) Counts { return widen16(dst, src, float16.F64FromBF16) },
	{ir.Float16, ir.BFloat16}: f16ToBF16,
	{ir.Float16, ir.Float32}:  f16ToF32,
	{ir.Float16, ir.Float64}:  func(dst, src []byte) Counts { return widen16(dst, src, float16.F64FromF16) },
	{ir.Float32, ir.BFloat16}: f32ToBF16,
	{ir.Float32, ir.Float16}:  f32ToF16,
	{ir.Float32, ir.Float64}:  f32ToF64,
	{ir.Float64, ir.BFloat16}: func(dst, src []byte) Counts { return f64To16(dst, src, float16.BF16FromF64, 0x7f80) },
	{ir.Float64, ir.Float16}:  func(dst, src []byte) Counts { return f64To16(dst, src, float16.F16FromF64, 0x7c00) },
	{ir.Float64, ir.Float32}:  f64ToF32,
}

var le = binary.LittleEndian

// bf16ToF16Table holds, for every bfloat16, the float16 in the low half and a
// count in the high half: of overflow, subnormal and zero, 4 bits each.
var bf16ToF16Table = sync.OnceValue(func() *[1 << 16]uint32 {
	t := new([1 << 16]uint32)
	for i := range t {
		h := float16.F16FromBF16(uint16(i))
		var c Counts
		c.classify(uint64(i&0x7fff), 0x7f80, uint64(h&0x7fff), 0x7c00)
		t[i] = uint32(h) | uint32(c.Overflow|c.Subnormal<<4|c.Zero<<8)<<16
	}
	return t
})

// Constants for four 16-bit floats in a word.
const (
	lanes     = 0x0001_0001_0001_0001 // a number times lanes is in every lane
	signs     = 0x8000 * lanes
	lowest    = 0x3880 // bfloat16 2^-14, the smallest normal float16
	beyond    = 0x4780 // bfloat16 65536
	rebaseF16 = (127 - 15) << 7
)

// fitF16 sets the sign bit of each lane whose bfloat16 is a normal number of
// float16 too. The sums reach the sign bit where the magnitude is large enough.
func fitF16(v uint64) uint64 {
	a := v &^ signs
	return (a + (0x8000-lowest)*lanes) &^ (a + (0x8000-beyond)*lanes)
}

// fittingF16 converts four values that fit: the exponents are rebased and the
// fractions moved, in all four at once; nothing is rounded.
func fittingF16(v uint64) uint64 { return v&signs | (v&^signs-rebaseF16*lanes)<<3 }

// bf16ToF16 converts 16 values at a time if all fit, which nearly all weights
// do; it looks the others up.
func bf16ToF16(dst, src []byte) (c Counts) {
	t := bf16ToF16Table()
	for len(src) >= 32 && len(dst) >= 32 {
		s, d := (*[32]byte)(src), (*[32]byte)(dst)
		v, w, x, y := le.Uint64(s[:]), le.Uint64(s[8:]), le.Uint64(s[16:]), le.Uint64(s[24:])
		if fitF16(v)&fitF16(w)&fitF16(x)&fitF16(y)&signs == signs {
			le.PutUint64(d[:], fittingF16(v))
			le.PutUint64(d[8:], fittingF16(w))
			le.PutUint64(d[16:], fittingF16(x))
			le.PutUint64(d[24:], fittingF16(y))
		} else {
			bf16ToF16Each(d[:], s[:], t, &c)
		}
		src, dst = src[32:], dst[32:]
	}
	bf16ToF16Each(dst, src, t, &c)
	return c
}

func bf16ToF16Each(dst, src []byte, t *[1 << 16]uint32, c *Counts) {
	for ; len(src) >= 2; src, dst = src[2:], dst[2:] {
		h := t[le.Uint16(src)]
		le.PutUint16(dst, uint16(h))
		c.addPacked(h >> 16)
	}
}

func (c *Counts) addPacked(p uint32) {
	c.Overflow += int64(p & 15)
	c.Subnormal += int64(p >> 4 & 15)
	c.Zero += int64(p >> 8 & 15)
}

// classify counts a conversion by the magnitudes (the bits without the sign)
// before and after and the magnitudes of infinity in both formats.
func (c *Counts) classify(before, infBefore, after, infAfter uint64) {
	normal := func(inf uint64) uint64 { return inf & -inf } // the smallest normal: exponent 1
	switch {
	case before >= infBefore || before == 0:
	case after == infAfter:
		c.Overflow++
	case after == 0:
		c.Zero++
	case after < normal(infAfter) && before >= normal(infBefore):
		c.Subnormal++
	}
}

func bf16ToF32(dst, src []byte) Counts {
	for len(src) >= 8 && len(dst) >= 16 {
		v := le.Uint64(src)
		le.PutUint64(dst, v&0xffff<<16|v>>16<<48)
		le.PutUint64(dst[8:], v>>32&0xffff<<16|v>>48<<48)
		src, dst = src[8:], dst[16:]
	}
	for ; len(src) >= 2; src, dst = src[2:], dst[4:] {
		le.PutUint32(dst, float16.F32FromBF16(le.Uint16(src)))
	}
	return Counts{}
}

var f16ToF32Table = sync.OnceValue(func() *[1 << 16]uint32 {
	t := new([1 << 16]uint32)
	for i := range t {
		t[i] = float16.F32FromF16(uint16(i))
	}
	return t
})

func f16ToF32(dst, src []byte) Counts {
	t := f16ToF32Table()
	for len(src) >= 8 && len(dst) >= 16 {
		v := le.Uint64(src)
		le.PutUint64(dst, uint64(t[uint16(v)])|uint64(t[uint16(v>>16)])<<32)
		le.PutUint64(dst[8:], uint64(t[uint16(v>>32)])|uint64(t[v>>48])<<32)
		src, dst = src[8:], dst[16:]
	}
	for ; len(src) >= 2; src, dst = src[2:], dst[4:] {
		le.PutUint32(dst, t[le.Uint16(src)])
	}
	return Counts{}
}

var f16ToBF16Table = sync.OnceValue(func() *[1 << 16]uint16 {
	t := new([1 << 16]uint16)
	for i := range t {
		t[i] = float16.BF16FromF16(uint16(i))
	}
	return t
})

func f16ToBF16(dst, src []byte) Counts { // the range of bfloat16 holds every float16
	t := f16ToBF16Table()
	for ; len(src) >= 2 && len(dst) >= 2; src, dst = src[2:], dst[2:] {
		le.PutUint16(dst, t[le.Uint16(src)])
	}
	return Counts{}
}

func widen16(dst, src []byte, convert func(uint16) uint64) Counts {
	for ; len(src) >= 2; src, dst = src[2:], dst[8:] {
		le.PutUint64(dst, convert(le.Uint16(src)))
	}
	return Counts{}
}

func f32ToBF16(dst, src []byte) (c Counts) {
	for ; len(src) >= 4 && len(dst) >= 2; src, dst = src[4:], dst[2:] {
		f := le.Uint32(src)
		h := float16.BF16FromF32(f)
		le.PutUint16(dst, h)
		if e := h & 0x7f80; e == 0 || e == 0x7f80 {
			c.classify(uint64(f&math.MaxInt32), 0x7f800000, uint64(h&0x7fff), 0x7f80)
		}
	}
	return c
}

func f32ToF16(dst, src []byte) (c Counts) {
	for ; len(src) >= 4 && len(dst) >= 2; src, dst = src[4:], dst[2:] {
		f := le.Uint32(src)
		h := float16.F16FromF32(f)
		le.PutUint16(dst, h)
		if e := h & 0x7c00; e == 0 || e == 0x7c00 {
			c.classify(uint64(f&math.MaxInt32), 0x7f800000, uint64(h&0x7fff), 0x7c00)
		}
	}
	return c
}

func f32ToF64(dst, src []byte) Counts {
	for ; len(src) >= 4; src, dst = src[4:], dst[8:] {
		le.PutUint64(dst, float16.F64FromF32(le.Uint32(src)))
	}
	return Counts{}
}

func f64To16(dst, src []byte, convert func(uint64) uint16, inf uint16) (c Counts) {
	for ; len(src) >= 8; src, dst = src[8:], dst[2:] {
		d := le.Uint64(src)
		h := convert(d)
		le.PutUint16(dst, h)
		c.classify(d&math.MaxInt64, 0x7ff<<52, uint64(h&0x7fff), uint64(inf))
	}
	return c
}

func f64ToF32(dst, src []byte) (c Counts) {
	for ; len(src) >= 8; src, dst = src[8:], dst[4:] {
		d := le.Uint64(src)
		f := float16.F32FromF64(d)
		le.PutUint32(dst, f)
		c.classify(d&math.MaxInt64, 0x7ff<<52, uint64(f&math.MaxInt32), 0x7f800000)
	}
	return c
}
