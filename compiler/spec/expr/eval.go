package expr

import (
	"maps"
	"math"
	"slices"
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"
)

// Env gives names their values.
type Env interface {
	// Value returns the value of a name. r is where it is used.
	Value(name string, r diag.Range) (Value, *diag.Diagnostic)
}

// Eval computes an expression. The finding is the first that prevents a value.
// An expression that Check accepts can still fail: an index may be out of range.
func Eval(e *Expr, env Env) (Value, *diag.Diagnostic) {
	ev := &evaluator{e: e, env: env}
	v := ev.of(e.Root)
	if ev.bad != nil {
		return nil, ev.bad
	}
	return v, nil
}

// maxResult is how many bytes a text, or entries a list, may have that an
// expression makes: named expressions that double it would soon fill the memory.
const maxResult = 1 << 16

type evaluator struct {
	e   *Expr
	env Env
	bad *diag.Diagnostic
}

func (ev *evaluator) fail(d *diag.Diagnostic) Value {
	if ev.bad == nil {
		ev.bad = d
	}
	return nil
}

func (ev *evaluator) of(n Node) Value {
	if ev.bad != nil {
		return nil
	}
	switch n := n.(type) {
	case *Literal:
		return n.Value
	case *Name:
		v, d := ev.env.Value(n.Name, ev.e.Range(n))
		if d != nil {
			return ev.fail(d)
		}
		return v
	case *Attr:
		return ev.attr(n)
	case *Index:
		return ev.index(n)
	case *Slice:
		return ev.slice(n)
	case *Call:
		return ev.call(n)
	case *Unary:
		return ev.unary(n)
	case *Binary:
		return ev.binary(n)
	case *Cond:
		if Truth(ev.of(n.If)) {
			return ev.of(n.Then)
		}
		if n.Else != nil {
			return ev.of(n.Else)
		}
		return nil
	case *ListOf:
		list := make([]Value, len(n.Items))
		for i, item := range n.Items {
			list[i] = ev.of(item)
		}
		return list
	}
	return nil
}

func (ev *evaluator) mismatch(n Node, want string, v Value) Value {
	if v == nil {
		return ev.fail(fault.NoValue(ev.e.Range(n), "this"))
	}
	return ev.fail(fault.TypeMismatch(ev.e.Range(n), want, typeOf(v).String()))
}

func (ev *evaluator) attr(n *Attr) Value {
	switch x := ev.of(n.X).(type) {
	case Record:
		v, ok := x[n.Name]
		if !ok {
			name, _ := Path(n.X)
			return ev.fail(fault.UnknownField(ev.e.at(n.NameAt.from, n.NameAt.to), name, n.Name, slices.Sorted(maps.Keys(x))))
		}
		return v
	case nil:
		name, _ := Path(n.X)
		return ev.fail(fault.AbsentSection(ev.e.Range(n), name))
	default:
		return ev.mismatch(n.X, "a section of the config", x)
	}
}

// int evaluates a part that must be a whole number.
func (ev *evaluator) int(n Node) int64 {
	v := ev.of(n)
	i, ok := v.(int64)
	if !ok && ev.bad == nil {
		ev.mismatch(n, IntT.String(), v)
	}
	return i
}

func (ev *evaluator) index(n *Index) Value {
	switch x := ev.of(n.X).(type) {
	case []Value:
		i := ev.int(n.I)
		if ev.bad == nil && (i < 0 || i >= int64(len(x))) {
			return ev.fail(fault.IndexRange(ev.e.Range(n), i, len(x)))
		}
		if ev.bad != nil {
			return nil
		}
		return x[i]
	case Record:
		key := ev.of(n.I)
		word, ok := key.(string)
		if !ok {
			return ev.mismatch(n.I, "text", key)
		}
		v, ok := x[word]
		if !ok {
			return ev.fail(fault.MissingKeyOfMap(ev.e.Range(n), word, slices.Sorted(maps.Keys(x))))
		}
		return v
	default:
		return ev.mismatch(n.X, "a list", x)
	}
}

// slice cuts x[from:to]; bounds beyond the ends are the ends.
func (ev *evaluator) slice(n *Slice) Value {
	x := ev.of(n.X)
	var length int
	switch x := x.(type) {
	case []Value:
		length = len(x)
	case string:
		length = len([]rune(x))
	default:
		return ev.mismatch(n.X, "a list", x)
	}
	from, to := int64(0), int64(length)
	if n.From != nil {
		from = ev.int(n.From)
	}
	if n.To != nil {
		to = ev.int(n.To)
	}
	from = min(max(from, 0), int64(length))
	to = min(max(to, from), int64(length))
	if list, ok := x.([]Value); ok {
		return list[from:to]
	}
	return string([]rune(x.(string))[from:to])
}

func (ev *evaluator) call(n *Call) Value {
	f := Functions[n.Func]
	if f == nil || len(n.Args) < f.Min || f.Max >= 0 && len(n.Args) > f.Max {
		return ev.fail(fault.UnknownFunction(ev.e.at(n.FuncAt.from, n.FuncAt.to), n.Func, slices.Sorted(maps.Keys(Functions))))
	}
	args := make([]Value, len(n.Args))
	for i, a := range n.Args {
		args[i] = ev.of(a)
		if ev.bad == nil && (args[i] == nil && !f.None || !typeOf(args[i]).Fits(f.arg(i))) {
			return ev.mismatch(a, f.arg(i).String(), args[i])
		}
	}
	if ev.bad != nil {
		return nil
	}
	v, bad := f.Apply(args)
	if bad != nil {
		return ev.fail(bad(ev.e.Range(n)))
	}
	return v
}

func (ev *evaluator) unary(n *Unary) Value {
	v := ev.of(n.X)
	if n.Op == "not" {
		return !Truth(v)
	}
	switch v := v.(type) {
	case int64:
		if v == math.MinInt64 {
			return ev.fail(fault.Overflow(ev.e.Range(n)))
		}
		return -v
	case float64:
		return -v
	}
	if ev.bad != nil {
		return nil
	}
	return ev.mismatch(n.X, FloatT.String(), v)
}

func (ev *evaluator) binary(n *Binary) Value {
	x := ev.of(n.X)
	switch { // the right side is not computed where the left one decides
	case n.Op == "and" && !Truth(x), n.Op == "or" && Truth(x):
		return x
	}
	y := ev.of(n.Y)
	if ev.bad != nil {
		return nil
	}
	switch n.Op {
	case "and", "or":
		return y
	case "==":
		return Equal(x, y)
	case "!=":
		return !Equal(x, y)
	case "in", "not in":
		return ev.contains(n, x, y) == (n.Op == "in")
	case "+":
		if a, ok := x.(string); ok {
			if b, ok := y.(string); ok {
				if len(a)+len(b) > maxResult {
					return ev.fail(fault.TooLong(ev.e.Range(n), maxResult))
				}
				return a + b
			}
		}
		if a, ok := x.([]Value); ok {
			if b, ok := y.([]Value); ok {
				if len(a)+len(b) > maxResult {
					return ev.fail(fault.TooLong(ev.e.Range(n), maxResult))
				}
				return append(slices.Clone(a), b...)
			}
		}
	}
	return ev.numbers(n, x, y)
}

// contains says whether y has x; none has nothing.
func (ev *evaluator) contains(n *Binary, x, y Value) bool {
	switch y := y.(type) {
	case nil:
		return false
	case []Value:
		return slices.ContainsFunc(y, func(v Value) bool { return Equal(v, x) })
	case Record:
		word, ok := x.(string)
		_, has := y[word]
		return ok && has
	case string:
		if word, ok := x.(string); ok {
			return strings.Contains(y, word)
		}
		ev.mismatch(n.X, "text", x)
		return false
	}
	ev.mismatch(n.Y, "a list", y)
	return false
}

func (ev *evaluator) numbers(n *Binary, x, y Value) Value {
	a, aok := number(x)
	b, bok := number(y)
	if !aok {
		return ev.mismatch(n.X, FloatT.String(), x)
	}
	if !bok {
		return ev.mismatch(n.Y, FloatT.String(), y)
	}
	switch n.Op {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	}
	if (n.Op == "/" || n.Op == "//" || n.Op == "%") && b == 0 {
		return ev.fail(fault.DivisionByZero(ev.e.Range(n.Y)))
	}
	i, iok := x.(int64)
	j, jok := y.(int64)
	var v Value
	ok := true
	if iok && jok && n.Op != "/" && !(n.Op == "**" && j < 0) {
		v, ok = ints(n.Op, i, j)
	} else {
		f := floats(n.Op, a, b)
		v, ok = f, !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	if !ok {
		return ev.fail(fault.Overflow(ev.e.Range(n)))
	}
	return v
}

// ints computes with whole numbers; // and % round down. ok is false when the
// result does not fit.
func ints(op string, a, b int64) (v Value, ok bool) {
	switch op {
	case "+":
		return a + b, (a+b > a) == (b > 0)
	case "-":
		return a - b, (a-b < a) == (b > 0)
	case "*":
		return times(a, b)
	case "//", "%":
		if a == math.MinInt64 && b == -1 {
			return nil, false
		}
		q, r := a/b, a%b
		if r != 0 && (r < 0) != (b < 0) {
			q, r = q-1, r+b
		}
		if op == "%" {
			return r, true
		}
		return q, true
	}
	return power(a, b)
}

func times(a, b int64) (Value, bool) {
	if a == 0 || b == 0 {
		return int64(0), true
	}
	c := a * b
	return c, c/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
}

// power raises a to a power b ≥ 0.
func power(a, b int64) (Value, bool) {
	switch {
	case a == 0 && b > 0 || a == 1:
		return a, true
	case a == -1:
		return 1 - 2*(b%2), true
	}
	result := int64(1)
	for ; b > 0; b-- { // at most 63 times: a grows by 2 at least
		v, ok := times(result, a)
		if !ok {
			return nil, false
		}
		result = v.(int64)
	}
	return result, true
}

func floats(op string, a, b float64) float64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "//":
		return math.Floor(a / b)
	case "%":
		return a - b*math.Floor(a/b)
	}
	return math.Pow(a, b)
}
