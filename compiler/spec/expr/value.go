package expr

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Value is a value of the language: nil (none), bool, int64, float64, string,
// []Value, Record, or an opaque value that only options take (a rope record).
type Value = any

// Record is a section of the config, or a mapping from words to values.
type Record map[string]Value

// Format returns a value as the language writes it.
func Format(v Value) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []Value:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = Format(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case Record:
		return "a record of " + strings.Join(slices.Sorted(maps.Keys(v)), ", ")
	}
	return fmt.Sprint(v)
}

// Truth says whether a condition holds: none, false, 0 and what is empty do not.
func Truth(v Value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case []Value:
		return len(v) > 0
	}
	return true
}

// Equal compares two values; an int equals a float of the same size.
func Equal(a, b Value) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	x, isList := a.([]Value)
	y, both := b.([]Value)
	if isList || both {
		return isList && both && slices.EqualFunc(x, y, Equal)
	}
	if _, ok := a.(Record); ok {
		return false
	}
	if _, ok := b.(Record); ok {
		return false
	}
	return a == b
}

func number(v Value) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
