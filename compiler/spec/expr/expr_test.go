package expr

import (
	"fmt"
	"strings"
	"testing"

	"mobiusc/internal/diag"
)

func span0(from, to int) diag.Range {
	return diag.Range{File: "e", Start: diag.Pos{Line: 1, Col: from + 1}, End: diag.Pos{Line: 1, Col: to + 1}}
}

// world is an environment and a scope of a few names.
type world map[string]Value

var names = world{
	"hidden": int64(64), "heads": int64(8), "eps": 1e-5, "act": "silu", "tied": true, "window": nil, "layer": int64(3),
	"kinds": []Value{"full", "linear", "full"}, "taps": []Value{}, "vision": Record{"depth": int64(27), "taps": []Value{int64(1), int64(5)}}, "audio": nil,
	"ropes": Record{"full": "a", "linear": "b"}, "big": int64(1) << 62,
}

var types = map[string]Type{
	"hidden": IntT, "heads": IntT, "eps": FloatT, "act": StringT, "tied": BoolT, "window": {Kind: IntType, Optional: true}, "layer": IntT,
	"kinds": ListOfT(StringT), "taps": ListOfT(IntT),
	"vision": {Kind: RecordType, Fields: map[string]Type{"depth": IntT, "taps": ListOfT(IntT)}},
	"audio":  {Kind: RecordType, Optional: true, Fields: map[string]Type{"depth": IntT}},
	"ropes":  {Kind: MapType, Elem: &Type{Kind: StringType}}, "big": IntT, "rope": {Kind: OpaqueType, Name: "rope"},
}

func (w world) Value(name string, r diag.Range) (Value, *diag.Diagnostic) {
	if v, ok := w[name]; ok {
		return v, nil
	}
	return nil, &diag.Diagnostic{Range: r, Message: "unknown " + name}
}

func (w world) NameType(name string, r diag.Range) (Type, *diag.Diagnostic) {
	if t, ok := types[name]; ok {
		return t, nil
	}
	return AnyT, &diag.Diagnostic{Range: r, Message: "unknown " + name}
}

func (w world) Missing(*diag.Diagnostic, string, string) {}

func TestValues(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"1 + 2 * 3", "7"}, {"(1 + 2) * 3", "9"}, {"7 // 2", "3"}, {"-7 // 2", "-4"}, {"-7 % 3", "2"}, {"7 / 2", "3.5"}, {"8 / 2", "4"},
		{"2 ** 3 ** 2", "512"}, {"-2 ** 2", "-4"}, {"2 ** -1", "0.5"}, {"hidden ** 0.5", "8"}, {"hidden // heads", "8"}, {"10 - 2 - 3", "5"},
		{"1 < 2 and not 2 < 1", "true"}, {"0 or 'x'", "'x'"}, {"none or 5", "5"}, {"hidden == 64.0", "true"}, {"act == 'silu'", "true"},
		{"act != 'silu'", "false"}, {"'full' in kinds", "true"}, {"'none' not in kinds", "true"}, {"'il' in act", "true"}, {"1 in none", "false"},
		{"kinds[1]", "'linear'"}, {"kinds[:2]", "['full', 'linear']"}, {"kinds[1:]", "['linear', 'full']"}, {"kinds[5:]", "[]"}, {"act[1:3]", "'il'"},
		{"ropes['full']", "'a'"}, {"vision.depth + 1", "28"}, {"vision.taps[1]", "5"}, {"'full' in ropes", "true"},
		{"len(kinds)", "3"}, {"len(act)", "4"}, {"min(3, 1, 2)", "1"}, {"max(1, 2.5)", "2.5"}, {"max(vision.taps)", "5"}, {"ceil(2.1)", "3"}, {"floor(-2.1)", "-3"},
		{"ceil(4)", "4"}, {"sqrt(16)", "4"}, {"log(1)", "0"}, {"index(kinds, 'linear')", "1"}, {"last_index(kinds, 'full')", "2"},
		{"remove_prefix('gated-gelu', 'gated-')", "'gelu'"}, {"1 if tied else 2", "1"}, {"1 if window", "none"}, {"3 if window else 4", "4"},
		{"1 if false else 2 if false else 3", "3"}, {"[1, 'a', none]", "[1, 'a', none]"}, {"[1] + [2]", "[1, 2]"}, {"'a' + 'b'", "'ab'"},
		{"'it''s'", "'it''s'"}, {"1e-6", "1e-06"}, {".5", "0.5"}, {"(-1) ** 7", "-1"}, {"0 ** 0", "1"}, {"(-2) ** 3", "-8"}, {"not 0 == 1", "true"},
		{"window == none", "true"}, {"layer >= 3 and kinds[0] == 'full'", "true"}, {"false and kinds[99]", "false"}, {"true or 1 / 0", "true"},
	} {
		e, d := Parse(c.text, span0)
		if d != nil {
			t.Errorf("%s: %v", c.text, d)
			continue
		}
		if _, found := Check(e, names); len(found) > 0 {
			t.Errorf("%s does not check: %v", c.text, found)
		}
		v, d := Eval(e, names)
		if d != nil {
			t.Errorf("%s: %v", c.text, d)
		} else if Format(v) != c.want {
			t.Errorf("%s is %s, want %s", c.text, Format(v), c.want)
		}
	}
}

// TestFaults checks the place and wording of what is wrong: «» encloses it.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"«»", "an expression is expected"}, {"1 + «»", ""}, {"(1 «»", ""}, {"1 «2»", "the expression ends before `2`"},
		{"a«..»b", ""}, {"1 «$» 2", "`$` has no meaning in an expression"}, {"«3x»", "`3x` is not a number"}, {"«1_000»", "`1_000` is not a number"},
		{"«'open»", "the text has no closing quote"}, {"«\"»a\"", "text stands in single quotes in an expression"},
		{"hidden «?» 1", "a choice is written `a if condition else b`"}, {"hidden «^» 2", "** raises to a power"}, {"1 < 2 < «3»", "comparisons are joined by `and`"},
		{"«hiden» + 1", "unknown hiden"}, {"hidden + «act»", "a number is needed here, and this is text"}, {"«act» * 2", "a number is needed here, and this is text"},
		{"hidden + «none»", "this needs a value, and this is none"}, {"vision.«deepth»", "section vision has no `deepth`"}, {"«hidden».a", "a section of the config is needed here, and this is a whole number"},
		{"«hidden»[0]", "a list is needed here, and this is a whole number"}, {"kinds[«'a'»]", "a whole number is needed here, and this is text"},
		{"kinds[«1.5»]", "a whole number is needed here, and this is a fraction"}, {"«hidden == act»", "a whole number and text are never equal"},
		{"«1» in kinds", "a whole number and an entry of this list are never equal"}, {"1 in «hidden»", "a list is needed here, and this is a whole number"},
		{"«lenn»(kinds)", "there is no function `lenn`"}, {"«len(kinds, 1)»", "len takes one list or text, not 2"}, {"sqrt(«act»)", "a number is needed here, and this is text"},
		{"«rope == 1»", "a rope record and a whole number are never equal"},
	} {
		before, rest, _ := strings.Cut(c.text, "«")
		inside, after, _ := strings.Cut(rest, "»")
		text := before + inside + after
		var found diag.List
		e, d := Parse(text, span0)
		if d != nil {
			found.Add(*d)
		} else {
			_, found = Check(e, names)
		}
		if len(found) != 1 {
			t.Errorf("%s: %v", c.text, found)
			continue
		}
		got := found[0]
		if c.want == "" {
			continue
		}
		if from := len([]rune(before)); got.Message != c.want || got.Range.Start.Col != from+1 || inside != "" && got.Range.End.Col != from+1+len([]rune(inside)) {
			t.Errorf("%s: found %q at %d-%d", c.text, got.Message, got.Range.Start.Col, got.Range.End.Col)
		}
	}
}

// TestFailures are expressions that check and have no value.
func TestFailures(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"kinds[3]", "index 3 is outside the list, which has 3 entries"}, {"kinds[-1]", "index -1 is outside the list, which has 3 entries"},
		{"1 / 0", "division by zero"}, {"1 // 0", "division by zero"}, {"1 % 0", "division by zero"}, {"big * 4", "the result is not a number that fits in 64 bits"},
		{"2 ** 64", "the result is not a number that fits in 64 bits"}, {"10.0 ** 400", "the result is not a number that fits in 64 bits"},
		{"window + 1", "this needs a value, and this is none"}, {"audio.depth", "audio is read here, and the config does not have it"},
		{"ropes['none']", "the config states nothing for `none`"}, {"index(kinds, 'x')", "the list has no entry 'x'"}, {"max(taps)", "the least or greatest entry needs a value, and this is none"},
		{"sqrt(-1)", "the result is not a number that fits in 64 bits"}, {"len(window)", "this needs a value, and this is none"},
		{"-(-big - big) + big + big", "the result is not a number that fits in 64 bits"},
	} {
		e, d := Parse(c.text, span0)
		if d != nil {
			t.Fatal(d)
		}
		v, d := Eval(e, names)
		if d == nil || d.Message != c.want {
			t.Errorf("%s: %v, %v; want %s", c.text, v, d, c.want)
		}
	}
}

func TestTypes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"1", "a whole number"}, {"1 / 2", "a number"}, {"1 // 2", "a whole number"}, {"2 ** -1", "a number"}, {"2 ** 2", "a whole number"}, {"eps * 2", "a number"},
		{"1 if tied else 2.0", "a number"}, {"window", "a whole number"}, {"1 if tied else 'a'", "any value"}, {"kinds[0]", "text"}, {"[1, 2]", "a list"},
		{"not 1", "true or false"}, {"min(1, eps)", "a number"}, {"rope", "a rope record"}, {"none", "none"}, {"ropes['a']", "text"},
	} {
		e, d := Parse(c.text, span0)
		if d != nil {
			t.Fatal(d)
		}
		got, found := Check(e, names)
		if len(found) > 0 || got.String() != c.want {
			t.Errorf("%s is %s, want %s (%v)", c.text, got, c.want, found)
		}
	}
}

func TestPaths(t *testing.T) {
	e, d := Parse("vision.depth + a.b.c[layer] if len(x) else y", span0)
	if d != nil {
		t.Fatal(d)
	}
	if got := fmt.Sprint(Paths(e.Root)); got != "[vision.depth a.b.c layer x y]" {
		t.Errorf("paths %s", got)
	}
}

// FuzzExpression parses, checks and evaluates anything without a panic; what
// parses has spans inside its text.
func FuzzExpression(f *testing.F) {
	for _, s := range []string{"hidden // heads", "1 if a else b", "kinds[:2][0]", "not -2 ** -3", "f(a, 'b''c', [1, 2.5e-3])", "a.b.c in [none, true]", "((((", "1 <= 2", "é.ü"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, d := Parse(text, span0)
		if (e == nil) == (d == nil) {
			t.Fatal("neither an expression nor a finding, or both")
		}
		if e == nil {
			return
		}
		length := len([]rune(text))
		Walk(e.Root, func(n Node) {
			if from, to := n.Span(); from < 0 || to < from || to > length {
				t.Errorf("a part spans %d to %d of %d characters", from, to, length)
			}
		})
		Check(e, names)
		if v, d := Eval(e, names); d == nil {
			Format(v)
		}
	})
}
