package ir

import (
	"math"
	"strconv"
)

// Dim is one dimension of a shape, or one element of a shape tensor: a number,
// a symbolic expression over named sizes ("past + sequence"), or unknown (the
// zero value). Dims are immutable and kept in one canonical form, so that the
// same size written in two ways is one dim with one name.
//
// A symbolic dim is a polynomial over symbols and over three kinds of atoms:
// floor(e/d), min(…) and max(…). Everything else is expressed through them:
//
//	ceil(e/n)  =  floor((e + n - 1)/n)
//	e mod d    =  e - d*floor(e/d)
//
// Coefficients may be fractions: patches/4 is an exact quotient, whose author
// promises that 4 divides patches, so that 4*(patches/4) is patches. Symbols
// stand for sizes and are therefore taken to be at least 0, unless they are made
// by Integer; expressions may be negative. An operation with an unknown operand,
// on overflow or with a divisor of 0 gives an unknown dim.
type Dim struct {
	n    int64
	kind dimKind
	e    *poly // kind symbolic; sealed
}

type dimKind uint8

const (
	dimUnknown dimKind = iota
	dimNumber
	dimSymbolic
)

// Int returns the dim that is the number n.
func Int(n int64) Dim { return Dim{n: n, kind: dimNumber} }

// Sym returns the dim that is the symbol with the given name. Any name is
// allowed: text that ParseDim rejects becomes an opaque symbol in this way. The
// empty name gives the unknown dim.
func Sym(name string) Dim {
	if name == "" {
		return Dim{}
	}
	return symbolPoly(name).dim()
}

// Integer returns the dim that is the symbol with the given name, standing for a
// whole number that may be negative: the content of a tensor, where Sym's is a
// size. It equals Sym's.
func Integer(name string) Dim {
	if name == "" {
		return Dim{}
	}
	return atomPoly(&atom{kind: symbolAtom, name: name, key: symbolKey(name)}).dim()
}

// Size returns d as the size of an axis: a symbol of Integer is none of a
// negative number there.
func (d Dim) Size() Dim {
	if d.kind == dimSymbolic {
		if a := d.e.soleAtom(); a != nil && a.kind == symbolAtom && !a.nonNeg {
			return Sym(a.name)
		}
	}
	return d
}

// Int returns the number; ok is false when the dim is symbolic or unknown.
func (d Dim) Int() (n int64, ok bool) { return d.n, d.kind == dimNumber }

// Known reports whether d is a number or a symbolic expression.
func (d Dim) Known() bool { return d.kind != dimUnknown }

// Equal reports whether both dims are known to be the same. Unknown dims equal
// nothing.
func (d Dim) Equal(o Dim) bool {
	if d.kind != o.kind || d.kind == dimUnknown {
		return false
	}
	if d.kind == dimNumber {
		return d.n == o.n
	}
	return d.e == o.e || d.e.key == o.e.key
}

// Differs reports whether the dims are known to differ whatever the sizes of
// their symbols. Dims may neither be Equal nor Differ: batch and sequence.
func (d Dim) Differs(o Dim) bool {
	if d.kind == dimNumber && o.kind == dimNumber {
		return d.n != o.n
	}
	if d.Equal(o) {
		return false
	}
	n, ok := d.Sub(o).Int()
	return ok && n != 0
}

// AtMost reports whether d ≤ o is known to hold whatever the sizes of the
// symbols.
func (d Dim) AtMost(o Dim) bool {
	if d.kind == dimNumber && o.kind == dimNumber {
		return d.n <= o.n
	}
	if d.Equal(o) {
		return true
	}
	return add(o.poly(), d.poly(), -1).nonNegative()
}

// poly returns the polynomial of a known dim, nil for an unknown one.
func (d Dim) poly() *poly {
	switch d.kind {
	case dimNumber:
		return constant(d.n)
	case dimSymbolic:
		return d.e
	}
	return nil
}

// Add returns d + o.
func (d Dim) Add(o Dim) Dim {
	if d.kind == dimNumber && o.kind == dimNumber {
		if n, ok := addInt(d.n, o.n); ok {
			return Int(n)
		}
		return Dim{}
	}
	return add(d.poly(), o.poly(), 1).dim()
}

// Sub returns d - o.
func (d Dim) Sub(o Dim) Dim {
	if d.kind == dimNumber && o.kind == dimNumber && o.n != math.MinInt64 {
		return d.Add(Int(-o.n))
	}
	return add(d.poly(), o.poly(), -1).dim()
}

// Mul returns d * o.
func (d Dim) Mul(o Dim) Dim {
	if d.kind == dimNumber && o.kind == dimNumber {
		if n, ok := mulInt(d.n, o.n); ok {
			return Int(n)
		}
		return Dim{}
	}
	if d.kind == dimNumber && d.n == 1 {
		return o
	}
	if o.kind == dimNumber && o.n == 1 {
		return d
	}
	return mul(d.poly(), o.poly()).dim()
}

// Div returns the exact quotient d / o of dims that the caller knows to divide:
// by a number as a fraction (patches/4), by an expression where polynomial
// division leaves no remainder. Where neither is possible it returns
// floor(d/o).
func (d Dim) Div(o Dim) Dim {
	if d.kind == dimNumber && o.kind == dimNumber && o.n > 0 {
		return Int(floorQuo(d.n, o.n))
	}
	if q := exactDiv(d.poly(), o.poly()).dim(); q.Known() {
		return q
	}
	return d.FloorDiv(o)
}

// FloorDiv returns the quotient d / o rounded towards minus infinity.
func (d Dim) FloorDiv(o Dim) Dim {
	if d.kind == dimNumber && o.kind == dimNumber && o.n > 0 {
		return Int(floorQuo(d.n, o.n))
	}
	return floorDiv(d.poly(), o.poly()).dim()
}

// CeilDiv returns the quotient d / o rounded towards plus infinity.
func (d Dim) CeilDiv(o Dim) Dim { return ceilDiv(d.poly(), o.poly()).dim() }

// Mod returns d - o*floor(d/o), which has the sign of o.
func (d Dim) Mod(o Dim) Dim { return mod(d.poly(), o.poly()).dim() }

// Min returns the smaller of d and o.
func (d Dim) Min(o Dim) Dim { return extremum(minAtom, []*poly{d.poly(), o.poly()}).dim() }

// Max returns the larger of d and o.
func (d Dim) Max(o Dim) Dim { return extremum(maxAtom, []*poly{d.poly(), o.poly()}).dim() }

// Symbols returns the names of the symbols in d, sorted, each once.
func (d Dim) Symbols() []string {
	if d.kind != dimSymbolic {
		return nil
	}
	return d.e.symbols()
}

// Substitute returns d with every symbol that has an entry replaced by it.
func (d Dim) Substitute(values map[string]Dim) Dim {
	if d.kind != dimSymbolic || !d.e.mentions(values) {
		return d
	}
	return d.e.substitute(values).dim()
}

// Eval returns the value of d under the given sizes; ok is false when d is
// unknown, a symbol has no size, a quotient is not whole, or an intermediate
// result overflows.
func (d Dim) Eval(sizes map[string]int64) (n int64, ok bool) {
	values := make(map[string]Dim, len(sizes))
	for name, size := range sizes {
		values[name] = Int(size)
	}
	return d.Substitute(values).Int()
}

// String returns the dim as ONNX's dim_param names it: a number in decimal, an
// expression in the notation of ParseDim, "?" for an unknown dim.
func (d Dim) String() string {
	switch d.kind {
	case dimNumber:
		return strconv.FormatInt(d.n, 10)
	case dimSymbolic:
		if s, ok := d.e.symbol(); ok && s != d.e.key {
			// A foreign name stays as it is, unless it would be read as an expression.
			if _, err := ParseDim(s); err != nil {
				return s
			}
		}
		return d.e.key
	}
	return "?"
}

// addInt, mulInt and their like report overflow.
func addInt(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}

func mulInt(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	if a == math.MinInt64 || b == math.MinInt64 {
		return 0, false
	}
	c := a * b
	return c, c/b == a
}

// floorQuo returns a/b rounded towards minus infinity; b is positive.
func floorQuo(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// gcd returns the greatest common divisor, at least 0.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}
