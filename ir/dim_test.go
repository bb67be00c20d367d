package ir

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDimText(t *testing.T) {
	batch, seq, past, patches := Sym("batch"), Sym("sequence"), Sym("past"), Sym("patches")
	chunks := seq.CeilDiv(Int(32))
	for _, c := range []struct {
		got  Dim
		want string
	}{
		{Dim{}, "?"},
		{Int(-3), "-3"},
		{Sym(""), "?"},
		{past.Add(seq), "past + sequence"},
		{seq.Add(past), "past + sequence"},
		{seq.Add(past).Sub(seq), "past"},
		{batch.Mul(seq), "batch*sequence"},
		{batch.Mul(seq).Mul(Int(6)).Div(Int(2).Mul(seq)), "3*batch"},
		{patches.Div(Int(4)), "patches/4"},
		{patches.Div(Int(4)).Mul(Int(4)), "patches"},
		{patches.Mul(Int(6144)).Div(Int(1536)), "4*patches"},
		{patches.Mul(Int(1536)).Div(Int(6144)), "patches/4"},
		{patches.FloorDiv(Int(4)), "floor(patches/4)"},
		{patches.FloorDiv(Int(4)).Mul(Int(4)), "4*floor(patches/4)"},
		{patches.Mul(Int(4)).Add(Int(3)).FloorDiv(Int(4)), "patches"},
		{chunks.Mul(Int(32)), "32*ceil(sequence/32)"},
		{chunks.Mul(Int(32)).Sub(seq), "32*ceil(sequence/32) - sequence"},
		{chunks.Mul(Int(32)).Min(seq), "sequence"},
		{seq.Max(chunks.Mul(Int(32))), "32*ceil(sequence/32)"},
		{seq.Min(past.Add(seq)), "sequence"},
		{seq.Min(seq), "sequence"},
		{seq.Max(Int(0)), "sequence"},
		{Int(0).Min(seq), "0"},
		{past.Min(Int(4096)), "min(4096, past)"},
		{past.Min(Int(4096)).Min(Int(512)), "min(512, past)"},
		{past.Min(seq).Max(past), "past"},
		{seq.Sub(Int(1)).FloorDiv(Int(2)).Add(Int(1)), "ceil(sequence/2)"},
		{seq.CeilDiv(Int(2)).CeilDiv(Int(2)), "ceil(sequence/4)"},
		{seq.FloorDiv(Int(3)).FloorDiv(Int(5)), "floor(sequence/15)"},
		{seq.Mul(Int(2)).Add(Int(1)).FloorDiv(Int(4)), "floor(sequence/2)"},
		{seq.Mod(Int(4)), "sequence - 4*floor(sequence/4)"},
		{seq.Mul(batch).Mod(batch), "0"},
		{seq.FloorDiv(batch), "floor(sequence/batch)"},
		{seq.Div(batch), "floor(sequence/batch)"},
		{seq.CeilDiv(batch), "floor((sequence - 1)/batch) + 1"},
		{Int(4).Sub(seq), "4 - sequence"},
		{Int(-1).Sub(seq), "-sequence - 1"},
		{seq.Add(Int(1)).Div(Int(2)), "(sequence + 1)/2"},
		{seq.Mul(seq), "sequence*sequence"},
		{Int(7).Div(Int(2)), "3"},
		{Int(-7).FloorDiv(Int(2)), "-4"},
		{Int(-7).Mod(Int(4)), "1"},
		{seq.Div(Int(0)), "?"},
		{seq.Mod(Dim{}), "?"},
		{Int(1 << 62).Mul(Int(4)), "?"},
		{Int(1 << 62).Mul(seq).Mul(Int(4)), "?"},
		{Integer("n").Max(Int(0)), "max(0, n)"},
		{Integer("n").Size().Max(Int(0)), "n"},
		{Integer("n").Sub(Sym("n")), "0"},
		{Integer("n").Add(Int(1)).Size().Max(Int(0)), "max(0, n + 1)"},
		{Sym("a-b"), `"a-b"`},
		{Sym("a b"), "a b"}, // no expression
		{Sym("a-b").Add(Int(1)), `"a-b" + 1`},
		{Sym("mod").Add(Int(1)), `"mod" + 1`},
		{Sym("max").Mul(Int(2)), "2*max"},
	} {
		if got := c.got.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestParseDim(t *testing.T) {
	for in, want := range map[string]string{
		"past+sequence":              "past + sequence",
		" sequence +past ":           "past + sequence",
		"patches / 4":                "patches/4",
		"4*(patches/4)":              "patches",
		"floor(7/2)":                 "3",
		"ceil(7/2)":                  "4",
		"ceil(a/b)":                  "floor((a - 1)/b) + 1",
		"floor(a/2 + 1/2)":           "ceil(a/2)",
		"floor(a/4*3)":               "floor(3*a/4)",
		"(s0 + 1)//2":                "ceil(s0/2)",
		"a mod 4":                    "a - 4*floor(a/4)",
		"min(past, 4096, past)":      "min(4096, past)",
		"max":                        "max",
		"max*floor":                  "floor*max",
		"-(a - b)":                   "b - a",
		"-a*2 + 3":                   "3 - 2*a",
		"encoder.layer_0.size":       "encoder.layer_0.size",
		`"a b" + "a b"`:              `2*"a b"`,
		"größe":                      "größe",
		"floor(-a/3)":                "-ceil(a/3)",
		"((((a))))":                  "a",
		"a*b/b":                      "a",
		"a/b*b":                      "b*floor(a/b)",
		"9223372036854775807":        "9223372036854775807",
		"32*ceil(s/32) - min(s, s)":  "32*ceil(s/32) - s",
		"max(s - 4, 0) + min(4, s)":  "max(0, s - 4) + min(4, s)",
		"min(4*ceil(s/4), s + 3, s)": "s",
	} {
		d, err := ParseDim(in)
		if err != nil || d.String() != want {
			t.Errorf("ParseDim(%q) = %s, %v; want %s", in, d, err, want)
		}
	}
	for in, want := range map[string]string{
		"":                    `dim "": found the end at byte 0, expected a number, a symbol or "("`,
		"a b":                 `dim "a b": found 'b' at byte 2, expected an operator`,
		"4x":                  `dim "4x": found 'x' at byte 1, expected an operator`,
		"(a":                  `dim "(a": found the end at byte 2, expected ")"`,
		"a-":                  `dim "a-": found the end at byte 2, expected a number, a symbol or "("`,
		"Max(1, s0)":          `dim "Max(1, s0)": found '(' at byte 3, expected an operator`,
		"9223372036854775808": `dim "9223372036854775808": found '9' at byte 0, expected a number of 64 bits`,
		"1/2":                 `dim "1/2" has no whole value that can be represented`,
		"a/0":                 `dim "a/0" has no whole value that can be represented`,
		`"a`:                  `dim "\"a": found '"' at byte 0, expected a closing quote`,
		"floor(a, b)":         `dim "floor(a, b)": found ',' at byte 7, expected ")"`,
		"?":                   `dim "?": found '?' at byte 0, expected a number, a symbol or "("`,
	} {
		if d, err := ParseDim(in); err == nil || err.Error() != want {
			t.Errorf("ParseDim(%q) = %s, %v; want error %s", in, d, err, want)
		}
	}
}

func TestDimRelations(t *testing.T) {
	dim := func(s string) Dim {
		d, err := ParseDim(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		a, b                   string
		equal, differs, atMost bool
	}{
		{"4", "4", true, false, true},
		{"4", "5", false, true, true},
		{"5", "4", false, true, false},
		{"a", "a", true, false, true},
		{"a", "b", false, false, false},
		{"a", "a + 1", false, true, true},
		{"a + 1", "a", false, true, false},
		{"a", "a + b", false, false, true},
		{"a", "4", false, false, false},
		{"a", "8*ceil(a/8)", false, false, true},
		{"8*floor(a/8)", "a", false, false, true},
		{"a - 7", "8*floor(a/8)", false, false, true},
		{"a - 6", "8*floor(a/8)", false, false, false},
		{"min(a, b)", "b", false, false, true},
		{"a", "max(a, b)", false, false, true},
		{"min(a, b)", "max(a, b)", false, false, true},
	} {
		a, b := dim(c.a), dim(c.b)
		if a.Equal(b) != c.equal || a.Differs(b) != c.differs || a.AtMost(b) != c.atMost {
			t.Errorf("%s against %s: equal %v, differs %v, at most %v; want %v, %v, %v",
				a, b, a.Equal(b), a.Differs(b), a.AtMost(b), c.equal, c.differs, c.atMost)
		}
	}
	if (Dim{}).Equal(Dim{}) || (Dim{}).Differs(Int(1)) || (Dim{}).Known() {
		t.Error("unknown dims must compare to nothing")
	}
}

func TestDimSubstitute(t *testing.T) {
	d, err := ParseDim("batch*32*ceil(sequence/32) + min(past, sequence)")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Symbols(); !slices.Equal(got, []string{"batch", "past", "sequence"}) {
		t.Errorf("symbols %v", got)
	}
	if got := d.Substitute(map[string]Dim{"sequence": Int(1)}).String(); got != "32*batch + min(1, past)" {
		t.Errorf("substituted: %s", got)
	}
	if n, ok := d.Eval(map[string]int64{"batch": 2, "sequence": 33, "past": 5}); !ok || n != 133 {
		t.Errorf("value %d, %v", n, ok)
	}
	if _, ok := d.Eval(map[string]int64{"batch": 2}); ok {
		t.Error("a missing size must give no value")
	}
	if _, ok := Sym("a").Div(Int(4)).Eval(map[string]int64{"a": 6}); ok {
		t.Error("a broken promise of exact division must give no value")
	}
}

// dimMachine builds a dim and its value side by side from a source of bytes.
type dimMachine struct {
	next  func() uint64
	sizes map[string]int64
}

var machineSymbols = []string{"a", "b", "c"}

// build returns a dim and its value; ok is false when the value is undefined.
func (m *dimMachine) build(depth int) (d Dim, v int64, ok bool) {
	if depth == 0 || m.next()%5 == 0 {
		if m.next()%3 == 0 {
			n := int64(m.next()%13) - 4
			return Int(n), n, true
		}
		name := machineSymbols[m.next()%3]
		return Sym(name), m.sizes[name], true
	}
	x, a, ok1 := m.build(depth - 1)
	y, b, ok2 := m.build(depth - 1)
	if !ok1 || !ok2 {
		return Dim{}, 0, false
	}
	switch op := m.next() % 8; {
	case op == 0:
		return x.Add(y), a + b, true
	case op == 1:
		return x.Sub(y), a - b, true
	case op == 2:
		return x.Mul(y), a * b, true
	case op == 3:
		return x.Min(y), min(a, b), true
	case op == 4:
		return x.Max(y), max(a, b), true
	case b == 0:
		return Dim{}, 0, false
	case op == 5:
		return x.FloorDiv(y), floorRef(a, b), true
	case op == 6:
		return x.CeilDiv(y), -floorRef(-a, b), true
	case a%b == 0:
		return x.Div(y), a / b, true
	default:
		return x.Mod(y), a - b*floorRef(a, b), true
	}
}

func floorRef(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// check compares the dim with its value, directly and through its text.
func (m *dimMachine) check(t *testing.T) (checked bool) {
	d, v, ok := m.build(4)
	if !ok || !d.Known() {
		return false
	}
	if got, ok := d.Eval(m.sizes); !ok || got != v {
		t.Errorf("%s with %v = %d, %v; want %d", d, m.sizes, got, ok, v)
	}
	back, err := ParseDim(d.String())
	if err != nil {
		t.Errorf("text does not parse: %v", err)
	} else if got, ok := back.Eval(m.sizes); !ok || got != v {
		t.Errorf("%s parsed as %s with %v = %d, %v; want %d", d, back, m.sizes, got, ok, v)
	}
	e, w, ok := m.build(3)
	if ok && e.Known() && (d.Equal(e) && v != w || d.Differs(e) && v == w || d.AtMost(e) && v > w) {
		t.Errorf("%s (%d) against %s (%d) with %v: equal %v, differs %v, at most %v",
			d, v, e, w, m.sizes, d.Equal(e), d.Differs(e), d.AtMost(e))
	}
	return true
}

func TestDimAgainstNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	checked := 0
	for range 10000 {
		sizes := map[string]int64{}
		for _, name := range machineSymbols {
			sizes[name] = rng.Int64N(20)
		}
		m := &dimMachine{next: rng.Uint64, sizes: sizes}
		if m.check(t) {
			checked++
		}
		if t.Failed() {
			return
		}
	}
	if checked < 5000 {
		t.Errorf("only %d of 10000 expressions had a value", checked)
	}
}

func FuzzDimArithmetic(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		i := 0
		next := func() uint64 {
			if i++; i > len(data) {
				return 0
			}
			return uint64(data[i-1])
		}
		m := &dimMachine{next: next, sizes: map[string]int64{}}
		for _, name := range machineSymbols {
			m.sizes[name] = int64(next() % 8) // a product of 16 of them and its expansions fit 64 bits
		}
		m.check(t)
	})
}

func FuzzParseDim(f *testing.F) {
	for _, s := range []string{"past + sequence", "32*ceil(s/32)", "min(a, b)*2 - c", `"x y"/4`, "a mod 4", "floor((a + 1)/(b*c))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDim(text)
		if err != nil {
			return
		}
		once := d.String()
		again, err := ParseDim(once)
		if err != nil {
			if _, opaque := d.poly().symbol(); opaque {
				return // the name of an opaque symbol alone is not quoted
			}
			t.Fatalf("%q prints as %q: %v", text, once, err)
		}
		if _, opaque := d.poly().symbol(); !opaque && again.String() != once {
			t.Errorf("%q prints as %q, then as %q", text, once, again)
		}
	})
}

func BenchmarkDimTotal(b *testing.B) {
	batch, seq := Sym("batch"), Sym("sequence")
	b.ReportAllocs()
	for b.Loop() {
		total := batch.Mul(seq).Mul(Int(4096))
		if !total.Div(Int(128).Mul(batch).Mul(seq)).Equal(Int(32)) {
			b.Fatal("wrong quotient")
		}
	}
}
