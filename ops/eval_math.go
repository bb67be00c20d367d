package ops

import (
	"fmt"
	"math"

	"mobiusc/ir"
)

// floatUnary holds elementwise functions of floats.
var floatUnary = map[string]func(float64) float64{
	"Abs":        math.Abs,
	"Neg":        func(x float64) float64 { return -x },
	"Sign":       func(x float64) float64 { return signOf(x) },
	"Floor":      math.Floor,
	"Ceil":       math.Ceil,
	"Round":      math.RoundToEven,
	"Sqrt":       math.Sqrt,
	"Reciprocal": func(x float64) float64 { return 1 / x },
	"Exp":        math.Exp,
	"Log":        math.Log,
	"Sin":        math.Sin,
	"Cos":        math.Cos,
	"Tanh":       math.Tanh,
	"Sigmoid":    func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	"Relu":       func(x float64) float64 { return math.Max(x, 0) },
	"Erf":        math.Erf,
}

func signOf(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

// intUnary holds elementwise functions of integers and bools.
var intUnary = map[string]func(int64) int64{
	"Abs":        func(x int64) int64 { return max(x, -x) },
	"Neg":        func(x int64) int64 { return -x },
	"Sign":       func(x int64) int64 { return int64(signOf(float64(x))) },
	"Relu":       func(x int64) int64 { return max(x, 0) },
	"BitwiseNot": func(x int64) int64 { return ^x },
	"Not":        func(x int64) int64 { return 1 - x },
}

func evalUnary(e *evaluation) ([]*ir.Tensor, error) {
	x, err := e.content(0)
	if err != nil {
		return nil, err
	}
	out := newContent(x.elem, x.dims)
	onFloat, onInt := floatUnary[e.node.OpType], intUnary[e.node.OpType]
	switch {
	case x.floats != nil && onFloat != nil:
		for i, f := range x.floats {
			out.floats[i] = onFloat(f)
		}
	case x.ints != nil && onInt != nil && (e.node.OpType == "Not") == (x.elem == ir.Bool):
		for i, n := range x.ints {
			out.ints[i] = onInt(n)
		}
	default:
		return nil, fmt.Errorf("%w with elements of type %s", ErrNotEvaluable, x.elem)
	}
	return one(out)
}

// evalTest evaluates IsNaN and IsInf.
func evalTest(e *evaluation) ([]*ir.Tensor, error) {
	x, err := e.content(0)
	if err != nil {
		return nil, err
	}
	out := newContent(ir.Bool, x.dims)
	for i, f := range x.floats {
		yes := math.IsNaN(f)
		if e.node.OpType == "IsInf" {
			yes = e.int("detect_positive", 1) != 0 && math.IsInf(f, 1) ||
				e.int("detect_negative", 1) != 0 && math.IsInf(f, -1)
		}
		out.ints[i] = boolInt(yes)
	}
	return one(out)
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// arithmetic is an elementwise function of two operands of one type, for each kind
// of elements it is defined for.
type arithmetic struct {
	floats func(x, y float64) float64
	ints   func(x, y int64) int64
	bools  func(x, y int64) int64
	// divides says that the second integer must not be 0.
	divides bool
}

var binaries = map[string]arithmetic{
	"Add": {floats: func(x, y float64) float64 { return x + y }, ints: func(x, y int64) int64 { return x + y }},
	"Sub": {floats: func(x, y float64) float64 { return x - y }, ints: func(x, y int64) int64 { return x - y }},
	"Mul": {floats: func(x, y float64) float64 { return x * y }, ints: func(x, y int64) int64 { return x * y }},
	"Div": {floats: func(x, y float64) float64 { return x / y }, ints: func(x, y int64) int64 { return x / y }, divides: true},
	// Mod without fmod takes the sign of the divisor; see evalBinary.
	"Mod":        {floats: math.Mod, ints: floorMod, divides: true},
	"Pow":        {floats: math.Pow, ints: intPow},
	"Min":        {floats: math.Min, ints: func(x, y int64) int64 { return min(x, y) }},
	"Max":        {floats: math.Max, ints: func(x, y int64) int64 { return max(x, y) }},
	"And":        {bools: func(x, y int64) int64 { return x & y }},
	"Or":         {bools: func(x, y int64) int64 { return x | y }},
	"Xor":        {bools: func(x, y int64) int64 { return x ^ y }},
	"BitwiseAnd": {ints: func(x, y int64) int64 { return x & y }},
	"BitwiseOr":  {ints: func(x, y int64) int64 { return x | y }},
	"BitwiseXor": {ints: func(x, y int64) int64 { return x ^ y }},
}

func floorMod(x, y int64) int64 {
	m := x % y
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m
}

// intPow returns x to the power of y; 0 for negative powers but those of 1 and
// -1, as truncation gives.
func intPow(x, y int64) int64 {
	if y < 0 {
		switch {
		case x == 1 || x == -1 && y%2 == 0:
			return 1
		case x == -1:
			return -1
		}
		return 0
	}
	result := int64(1)
	for ; y > 0; y >>= 1 {
		if y&1 == 1 {
			result *= x
		}
		x *= x
	}
	return result
}

// evalBinary folds the operands from the left: Min and Max take any number.
func evalBinary(e *evaluation) ([]*ir.Tensor, error) {
	op := binaries[e.node.OpType]
	variadic := e.node.OpType == "Min" || e.node.OpType == "Max"
	xs, err := e.contents(2 - int(boolInt(variadic)))
	if err != nil {
		return nil, err
	}
	if !variadic && len(xs) != 2 {
		return nil, fmt.Errorf("%d inputs, expected 2", len(xs))
	}
	if e.node.OpType == "Mod" && e.int("fmod", 0) != 0 {
		op.ints = func(x, y int64) int64 { return x % y }
	} else if e.node.OpType == "Mod" && xs[0].floats != nil {
		return nil, fmt.Errorf("floats need fmod=1")
	}
	result := xs[0]
	for _, y := range xs[1:] {
		if e.node.OpType == "Pow" {
			y = y.as(result.elem)
		}
		if result, err = op.apply(result, y); err != nil {
			return nil, err
		}
	}
	return one(result)
}

func (op arithmetic) apply(x, y *content) (*content, error) {
	if x.elem != y.elem {
		return nil, fmt.Errorf("element types %s and %s differ", x.elem, y.elem)
	}
	dims, err := broadcastStatic(x.dims, y.dims)
	if err != nil {
		return nil, err
	}
	out := newContent(x.elem, dims)
	onInts := op.ints
	if x.elem == ir.Bool {
		onInts = op.bools
	}
	if x.elem == ir.Uint64 || x.floats != nil && op.floats == nil || x.ints != nil && onInts == nil || x.text != nil {
		return nil, fmt.Errorf("%w with elements of type %s", ErrNotEvaluable, x.elem)
	}
	xi, yi := broadcastIndex(dims, x.dims), broadcastIndex(dims, y.dims)
	for i := range xi {
		if x.floats != nil {
			out.floats[i] = round(x.elem, op.floats(x.floats[xi[i]], y.floats[yi[i]]))
			continue
		}
		b := y.ints[yi[i]]
		if op.divides && b == 0 {
			return nil, fmt.Errorf("division by 0")
		}
		out.ints[i] = wrapInt(x.elem, onInts(x.ints[xi[i]], b))
	}
	return out, nil
}

// wrapInt returns n as the integer type holds it.
func wrapInt(t ir.DataType, n int64) int64 {
	switch t {
	case ir.Int32:
		return int64(int32(n))
	case ir.Int16:
		return int64(int16(n))
	case ir.Int8:
		return int64(int8(n))
	case ir.Uint32:
		return int64(uint32(n))
	case ir.Uint16:
		return int64(uint16(n))
	case ir.Uint8:
		return int64(uint8(n))
	}
	return n
}

// comparisons hold what an order of two elements (-1, 0, 1; 2 with NaN) must be.
var comparisons = map[string]func(order int) bool{
	"Equal":          func(o int) bool { return o == 0 },
	"Less":           func(o int) bool { return o == -1 },
	"LessOrEqual":    func(o int) bool { return o == -1 || o == 0 },
	"Greater":        func(o int) bool { return o == 1 },
	"GreaterOrEqual": func(o int) bool { return o == 1 || o == 0 },
}

func evalCompare(e *evaluation) ([]*ir.Tensor, error) {
	xs, err := e.contents(2)
	if err != nil {
		return nil, err
	}
	x, y := xs[0], xs[1]
	if x.elem != y.elem {
		return nil, fmt.Errorf("element types %s and %s differ", x.elem, y.elem)
	}
	if e.node.OpType != "Equal" && (x.text != nil || x.elem == ir.Bool || x.elem == ir.Uint64) {
		return nil, fmt.Errorf("%w with elements of type %s", ErrNotEvaluable, x.elem)
	}
	dims, err := broadcastStatic(x.dims, y.dims)
	if err != nil {
		return nil, err
	}
	out := newContent(ir.Bool, dims)
	xi, yi := broadcastIndex(dims, x.dims), broadcastIndex(dims, y.dims)
	for i := range xi {
		out.ints[i] = boolInt(comparisons[e.node.OpType](order(x, xi[i], y, yi[i])))
	}
	return one(out)
}

// order compares element i of x with element j of y.
func order(x *content, i int, y *content, j int) int {
	switch {
	case x.text != nil:
		if string(x.text[i]) == string(y.text[j]) {
			return 0
		}
		return 1
	case x.floats != nil:
		return compare(x.floats[i], y.floats[j])
	}
	return compare(x.ints[i], y.ints[j])
}

func compare[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return 2
}
