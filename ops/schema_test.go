package ops

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mobiusc/ir"
)

// dumped is a schema as the C++ registry of ONNX 1.22.0 printed it; the table
// was generated from the Python package instead.
type dumped struct {
	Domain, Name string
	Since        int64
	Deprecated   bool
	MinIn        int `json:"min_in"`
	MaxIn        int `json:"max_in"`
	MinOut       int `json:"min_out"`
	MaxOut       int `json:"max_out"`
	In, Out      []dumpedParam
	Attrs        []dumpedAttr
	TC           map[string][]string
}

type dumpedParam struct {
	N, T string
	Opt  Option
	Hom  bool
	Min  int
}

type dumpedAttr struct {
	N   string
	T   ir.AttrType
	Req bool
	Def string
}

func readDump(t *testing.T) []dumped {
	f, err := os.Open("testdata/onnx-op-schemas-v1.22.0.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []dumped
	if err := json.NewDecoder(z).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTableMatchesRegistry compares every schema with the dump, field by field.
func TestTableMatchesRegistry(t *testing.T) {
	dump := readDump(t)
	if len(dump) != 639 {
		t.Fatalf("the dump has %d schemas, want 639", len(dump))
	}
	for _, d := range dump {
		s := Lookup(d.Domain, d.Name, d.Since)
		if s == nil {
			t.Errorf("%s %s-%d: not in the table", d.Domain, d.Name, d.Since)
			continue
		}
		if got, want := describe(s), d.describe(); got != want {
			t.Errorf("%s-%d:\n got %s\nwant %s", d.Name, d.Since, got, want)
		}
	}
	count := 0
	for _, domain := range Domains() {
		for _, name := range Operators(domain) {
			count += len(Versions(domain, name))
		}
	}
	if count != len(dump) {
		t.Errorf("the table has %d schemas, the dump %d", count, len(dump))
	}
}

func describe(s *Schema) string {
	var b strings.Builder
	fmt.Fprintln(&b, s.Domain, s.Name, s.Since, s.Deprecated, s.MinInputs, s.MaxInputs, s.MinOutputs, s.MaxOutputs)
	for _, params := range [][]Param{s.Inputs, s.Outputs} {
		for _, p := range params {
			fmt.Fprintln(&b, "param", p.Name, p.Type, p.Option, p.Homogeneous, p.MinArity, sortedNames(p.Allowed))
		}
	}
	for _, a := range s.Attrs {
		fmt.Fprintln(&b, "attr", a.Name, a.Type, a.Required, describeDefault(a.Default))
	}
	for _, c := range s.Constraints {
		fmt.Fprintln(&b, "constraint", c.Name, sortedNames(c.Types))
	}
	return b.String()
}

func describeDefault(a *ir.Attr) string {
	if a == nil {
		return ""
	}
	switch a.Type {
	case ir.AttrInt:
		return strconv.FormatInt(a.Int, 10)
	case ir.AttrFloat:
		return strconv.FormatFloat(float64(a.Float), 'g', 9, 32)
	case ir.AttrString:
		return "s:" + string(a.Bytes)
	case ir.AttrInts:
		return fmt.Sprint(a.Ints)
	}
	return fmt.Sprintf("%s", a.Strings)
}

func sortedNames(s *TypeSet) []string {
	names := s.Names()
	slices.Sort(names)
	return names
}

func (d dumped) describe() string {
	var b strings.Builder
	fmt.Fprintln(&b, d.Domain, d.Name, d.Since, d.Deprecated, d.MinIn, d.MaxIn, d.MinOut, d.MaxOut)
	for _, params := range [][]dumpedParam{d.In, d.Out} {
		for _, p := range params {
			types := d.TC[p.T]
			if types == nil {
				types = []string{p.T}
				p.T = short(p.T)
			}
			fmt.Fprintln(&b, "param", p.N, p.T, p.Opt, p.Hom, p.Min, shortNames(types))
		}
	}
	slices.SortFunc(d.Attrs, func(a, b dumpedAttr) int { return strings.Compare(a.N, b.N) })
	for _, a := range d.Attrs {
		fmt.Fprintln(&b, "attr", a.N, a.T, a.Req, strings.Replace(a.Def, " ]", "]", 1))
	}
	for _, name := range d.constraintOrder() {
		fmt.Fprintln(&b, "constraint", name, shortNames(d.TC[name]))
	}
	return b.String()
}

// constraintOrder returns the type variables in the table's order; the dump
// keeps none.
func (d dumped) constraintOrder() []string {
	var names []string
	for _, c := range Lookup(d.Domain, d.Name, d.Since).Constraints {
		if d.TC[c.Name] != nil {
			names = append(names, c.Name)
		}
	}
	for name := range d.TC {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func short(t string) string {
	for _, elem := range strings.FieldsFunc(t, func(r rune) bool { return strings.ContainsRune("(), ", r) }) {
		t = strings.ReplaceAll(t, "tensor("+elem+")", elem)
	}
	return strings.ReplaceAll(t, " ", "")
}

func shortNames(types []string) []string {
	var out []string
	for _, t := range types {
		out = append(out, short(t))
	}
	slices.Sort(out)
	return out
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		domain, op string
		opset      int64
		since      int64 // 0: no schema
	}{
		{"", "Add", 24, 14},
		{"ai.onnx", "Add", 13, 13},
		{"", "Add", 1, 1},
		{"", "Add", 0, 0},
		{"", "Add", -5, 0},
		{"", "Attention", 22, 0},
		{"", "Attention", 23, 23},
		{"", "Attention", 24, 24},
		{"", "LinearAttention", 26, 0},
		{"", "LinearAttention", 27, 27},
		{"", "Range", 26, 11},
		{"", "NoSuchOperator", 24, 0},
		{"ai.onnx.ml", "TreeEnsemble", 5, 5},
		{"com.microsoft", "Add", 24, 0},
	} {
		s := Lookup(c.domain, c.op, c.opset)
		switch {
		case s == nil && c.since != 0:
			t.Errorf("Lookup(%q, %q, %d) = nil, want %d", c.domain, c.op, c.opset, c.since)
		case s != nil && s.Since != c.since:
			t.Errorf("Lookup(%q, %q, %d).Since = %d, want %d", c.domain, c.op, c.opset, s.Since, c.since)
		}
	}
	if !Lookup("", "Upsample", 10).Deprecated || Lookup("", "Upsample", 9).Deprecated {
		t.Error("Upsample is deprecated from 10 on")
	}
}

func TestVersions(t *testing.T) {
	for domain, want := range map[string]int64{"": 27, "ai.onnx": 27, "ai.onnx.ml": 5, "ai.onnx.preview.training": 1, "com.x": 0} {
		if got := MaxOpset(domain); got != want {
			t.Errorf("MaxOpset(%q) = %d, want %d", domain, got, want)
		}
	}
	if MaxIRVersion() != 13 {
		t.Errorf("MaxIRVersion() = %d, want 13", MaxIRVersion())
	}
	for opset, want := range map[int64]int64{1: 3, 8: 3, 9: 4, 14: 7, 15: 8, 24: 12, 27: 13, 28: 0} {
		if got := MinIRVersion("", opset); got != want {
			t.Errorf("MinIRVersion(ai.onnx, %d) = %d, want %d", opset, got, want)
		}
	}
}

func TestSuggestions(t *testing.T) {
	if got := SuggestOperator("", "Matmul", 24); got != "MatMul" {
		t.Errorf("got %q", got)
	}
	if got := SuggestOperator("", "LinearAttenton", 24); got != "" {
		t.Errorf("LinearAttention does not exist at opset 24, got %q", got)
	}
	if got := Lookup("", "Gemm", 13).SuggestAttr("transb"); got != "transB" {
		t.Errorf("got %q", got)
	}
}

func TestTypeSet(t *testing.T) {
	s := parseTypes("float", "seq(int64)", "optional(float)", "optional(seq(int8))", "map(int64,string)")
	f, i := ir.Unranked(ir.Float32), ir.Unranked(ir.Int64)
	seq := func(t *ir.Type) *ir.Type { return &ir.Type{Kind: ir.SequenceKind, Inner: t} }
	opt := func(t *ir.Type) *ir.Type { return &ir.Type{Kind: ir.OptionalKind, Inner: t} }
	for _, c := range []struct {
		t    *ir.Type
		want bool
	}{
		{f, true}, {i, false}, {nil, true}, {ir.Unranked(ir.Undefined), true}, {ir.Unranked(99), false},
		{seq(i), true}, {seq(f), false}, {seq(nil), true}, {opt(f), true}, {opt(i), false},
		{opt(seq(ir.Unranked(ir.Int8))), true}, {opt(seq(f)), false}, {seq(seq(i)), false},
		{&ir.Type{Kind: ir.MapKind, Elem: ir.Int64, Inner: ir.Unranked(ir.String)}, true},
		{&ir.Type{Kind: ir.MapKind, Elem: ir.Int64, Inner: f}, false},
		{&ir.Type{Kind: ir.SparseTensorKind, Elem: ir.Float32}, false},
	} {
		if got := s.Has(c.t); got != c.want {
			t.Errorf("Has(%s) = %v", TypeName(c.t), got)
		}
	}
	if got, want := s.String(), "float, seq(int64), optional(float), optional(seq(int8)), map(int64,string)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !s.Contains(parseTypes("float", "seq(int64)")) || s.Contains(parseTypes("float", "int8")) {
		t.Error("Contains is wrong")
	}
	if parseTypes("int64").Only().Elem != ir.Int64 || s.Only() != nil {
		t.Error("Only is wrong")
	}
}

func BenchmarkParseTable(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		parseTable(schemasText)
	}
}
