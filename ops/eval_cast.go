package ops

import (
	"fmt"
	"math"

	"mobiusc/ir"
)

func evalCast(e *evaluation) ([]*ir.Tensor, error) {
	return e.cast(ir.DataType(e.int("to", 0)))
}

func evalCastLike(e *evaluation) ([]*ir.Tensor, error) {
	like := tensorAt(e.in, 1)
	if like == nil {
		return nil, fmt.Errorf("input 1 is missing")
	}
	return e.cast(like.Type)
}

func (e *evaluation) cast(to ir.DataType) ([]*ir.Tensor, error) {
	x, err := e.content(0)
	if err != nil {
		return nil, err
	}
	if to == x.elem {
		return one(x)
	}
	if x.text != nil || to.Bits() < 8 || !isNumber(to) || !isNumber(x.elem) {
		return nil, fmt.Errorf("%w from %s to %s", ErrNotEvaluable, x.elem, to)
	}
	return one(x.as(to))
}

// isNumber reports whether content holds elements of the type as numbers.
func isNumber(t ir.DataType) bool {
	switch t {
	case ir.Bool, ir.Int8, ir.Int16, ir.Int32, ir.Int64, ir.Uint8, ir.Uint16, ir.Uint32, ir.Uint64:
		return true
	}
	return t.IsFloat()
}

// as returns numbers converted to another type: floats to integers by
// truncation, anything to bool by comparison with 0.
func (x *content) as(to ir.DataType) *content {
	out := newContent(to, x.dims)
	for i, f := range x.floats {
		switch {
		case out.floats != nil:
			out.floats[i] = round(to, f)
		case to == ir.Bool:
			out.ints[i] = boolInt(f != 0)
		default:
			out.ints[i] = wrapInt(to, floatToInt(f))
		}
	}
	for i, n := range x.ints {
		switch {
		case to == ir.Bool:
			out.ints[i] = boolInt(n != 0)
		case out.ints != nil:
			out.ints[i] = wrapInt(to, n)
		case x.elem == ir.Uint64:
			out.floats[i] = round(to, float64(uint64(n)))
		case to == ir.Float32:
			out.floats[i] = float64(float32(n)) // rounds once
		default:
			out.floats[i] = round(to, float64(n))
		}
	}
	return out
}

// floatToInt truncates towards 0. NaN and what is out of range give the
// smallest integer, as conversion instructions do.
func floatToInt(f float64) int64 {
	if f >= -(1<<63) && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}
