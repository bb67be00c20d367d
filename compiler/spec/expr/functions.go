package expr

import (
	"math"
	"slices"
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"
)

// Function is a function of the language.
type Function struct {
	Min, Max int    // number of arguments; Max < 0 is no limit
	Takes    string // the arguments in words, for messages
	Doc      string
	None     bool // arguments may be none
	Args     []Type
	Result   func(args []Type) Type
	Apply    func(args []Value) (Value, func(diag.Range) *diag.Diagnostic)
}

// arg returns the type of an argument; the last one stands for all that follow.
func (f *Function) arg(i int) Type { return f.Args[min(i, len(f.Args)-1)] }

func always(t Type) func([]Type) Type { return func([]Type) Type { return t } }

// Functions lists the functions by name.
var Functions = map[string]*Function{
	"len": {Min: 1, Max: 1, Takes: "one list or text", Doc: "the number of entries", Args: []Type{AnyT}, Result: always(IntT),
		Apply: length},
	"min": {Min: 1, Max: -1, Takes: "numbers, or a list of them", Doc: "the least of its arguments", Args: []Type{AnyT},
		Result: widest, Apply: extreme(-1)},
	"max": {Min: 1, Max: -1, Takes: "numbers, or a list of them", Doc: "the greatest of its arguments", Args: []Type{AnyT},
		Result: widest, Apply: extreme(1)},
	"ceil": {Min: 1, Max: 1, Takes: "one number", Doc: "the number rounded up to a whole one", Args: []Type{FloatT},
		Result: always(IntT), Apply: whole(math.Ceil)},
	"floor": {Min: 1, Max: 1, Takes: "one number", Doc: "the number rounded down to a whole one", Args: []Type{FloatT},
		Result: always(IntT), Apply: whole(math.Floor)},
	"sqrt": {Min: 1, Max: 1, Takes: "one number", Doc: "the square root", Args: []Type{FloatT}, Result: always(FloatT),
		Apply: real(math.Sqrt)},
	"log": {Min: 1, Max: 1, Takes: "one number", Doc: "the natural logarithm", Args: []Type{FloatT}, Result: always(FloatT),
		Apply: real(math.Log)},
	"index": {Min: 2, Max: 2, Takes: "a list and a value", Doc: "where the value first stands in the list",
		Args: []Type{ListOfT(AnyT), AnyT}, Result: always(IntT), Apply: find(slices.IndexFunc[[]Value])},
	"last_index": {Min: 2, Max: 2, Takes: "a list and a value", Doc: "where the value last stands in the list",
		Args: []Type{ListOfT(AnyT), AnyT}, Result: always(IntT), Apply: find(lastIndex)},
	"remove_prefix": {Min: 2, Max: 2, Takes: "a text and a prefix", Doc: "the text without the prefix, if it begins with it",
		Args: []Type{StringT}, Result: always(StringT), Apply: removePrefix},
}

type bad = func(diag.Range) *diag.Diagnostic

func length(args []Value) (Value, bad) {
	switch x := args[0].(type) {
	case []Value:
		return int64(len(x)), nil
	case string:
		return int64(len([]rune(x))), nil
	}
	return nil, func(r diag.Range) *diag.Diagnostic {
		return fault.TypeMismatch(r, "a list", typeOf(args[0]).String())
	}
}

// widest returns the type of the least or the greatest of the arguments.
func widest(args []Type) Type {
	t := Type{Kind: IntType}
	for _, a := range args {
		if a.Kind == ListType {
			a = *a.Elem
		}
		t = join(t, a)
	}
	return t
}

func extreme(sign float64) func([]Value) (Value, bad) {
	return func(args []Value) (Value, bad) {
		var all []Value
		for _, a := range args {
			if list, ok := a.([]Value); ok {
				all = append(all, list...)
			} else {
				all = append(all, a)
			}
		}
		var best Value
		for _, v := range all {
			x, ok := number(v)
			if !ok {
				return nil, func(r diag.Range) *diag.Diagnostic { return fault.TypeMismatch(r, "a number", Format(v)) }
			}
			if y, _ := number(best); best == nil || sign*x > sign*y {
				best = v
			}
		}
		if best == nil {
			return nil, func(r diag.Range) *diag.Diagnostic { return fault.NoValue(r, "the least or greatest entry") }
		}
		return best, nil
	}
}

func whole(round func(float64) float64) func([]Value) (Value, bad) {
	return func(args []Value) (Value, bad) {
		if i, ok := args[0].(int64); ok {
			return i, nil
		}
		f := round(args[0].(float64))
		if math.Abs(f) >= 1<<62 {
			return nil, fault.Overflow
		}
		return int64(f), nil
	}
}

func real(f func(float64) float64) func([]Value) (Value, bad) {
	return func(args []Value) (Value, bad) {
		x, _ := number(args[0])
		y := f(x)
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return nil, fault.Overflow
		}
		return y, nil
	}
}

func find(index func([]Value, func(Value) bool) int) func([]Value) (Value, bad) {
	return func(args []Value) (Value, bad) {
		i := index(args[0].([]Value), func(v Value) bool { return Equal(v, args[1]) })
		if i < 0 {
			return nil, func(r diag.Range) *diag.Diagnostic { return fault.NotInList(r, Format(args[1])) }
		}
		return int64(i), nil
	}
}

func lastIndex(list []Value, f func(Value) bool) int {
	for i := len(list) - 1; i >= 0; i-- {
		if f(list[i]) {
			return i
		}
	}
	return -1
}

func removePrefix(args []Value) (Value, bad) {
	return strings.TrimPrefix(args[0].(string), args[1].(string)), nil
}
