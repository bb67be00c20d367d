package ops

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mobiusc/ir"
)

// schemasText is the table; ops/gen/schemas.py, which writes it, describes the
// notation. Reading it is cheap because only its index is built at first use:
// the lines of a schema are parsed when the schema is asked for.
//
//go:embed schemas.txt
var schemasText string

// standard returns the table of ONNX's operators.
var standard = sync.OnceValue(func() *table { return parseTable(schemasText) })

type key struct{ domain, op string }

type table struct {
	releases []release
	sets     []*TypeSet
	ops      map[key][]*entry // versions of an operator, oldest first
	domains  []string
	names    map[string][]string // domain → operators
	maxOpset map[string]int64
}

// release is what one or more ONNX releases have in common.
type release struct {
	ir    int64
	opset map[string]int64
}

// entry is one schema that may not have been parsed yet.
type entry struct {
	since  int64
	schema func() *Schema
}

// parseTable builds the index of a table. The table is part of the program, so
// that a line which cannot be read is a fault of the program: it panics.
func parseTable(text string) *table {
	t := &table{ops: make(map[key][]*entry, 256), names: map[string][]string{}, maxOpset: map[string]int64{}}
	domain := ""
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		word, args, _ := strings.Cut(line, " ")
		switch word {
		case "#", "onnx":
		case "release":
			t.releases = append(t.releases, parseRelease(args))
		case "set":
			t.sets = append(t.sets, parseSet(args))
		case "domain":
			domain = canonical(args)
			t.domains = append(t.domains, domain)
		case "op":
			body := rest[:endOfOp(rest)]
			rest = rest[len(body):]
			t.add(domain, args, body)
		default:
			malformed(line)
		}
		text = rest
	}
	for _, r := range t.releases {
		for d, v := range r.opset {
			t.maxOpset[d] = max(t.maxOpset[d], v)
		}
	}
	return t
}

// endOfOp returns the length of the lines that describe an operator.
func endOfOp(text string) int {
	end := 0
	for end < len(text) && !strings.HasPrefix(text[end:], "op ") && !strings.HasPrefix(text[end:], "domain ") {
		end += strings.IndexByte(text[end:], '\n') + 1
	}
	return end
}

func (t *table) add(domain, head, body string) {
	f := strings.Fields(head)
	s := Schema{Domain: domain, Name: f[0], Since: integer(f[1]), Deprecated: len(f) > 4}
	s.MinInputs, s.MaxInputs = parseArity(f[2])
	s.MinOutputs, s.MaxOutputs = parseArity(f[3])
	k := key{domain, s.Name}
	if t.ops[k] == nil {
		t.names[domain] = append(t.names[domain], s.Name)
	}
	t.maxOpset[domain] = max(t.maxOpset[domain], s.Since)
	t.ops[k] = append(t.ops[k], &entry{s.Since, sync.OnceValue(func() *Schema {
		parsed := s
		t.parseBody(&parsed, body)
		return &parsed
	})})
}

func (t *table) parseBody(s *Schema, body string) {
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		word, args, _ := strings.Cut(line, " ")
		kind := strings.TrimRight(word, "?*!")
		mark := word[len(kind):]
		switch kind {
		case "in":
			s.Inputs = append(s.Inputs, parseParam(args, mark))
		case "out":
			s.Outputs = append(s.Outputs, parseParam(args, mark))
		case "attr":
			s.Attrs = append(s.Attrs, parseAttr(args, mark == "!"))
		case "tc":
			name, id, _ := strings.Cut(args, " ")
			s.Constraints = append(s.Constraints, Constraint{name, t.sets[integer(id)]})
		default:
			malformed(line)
		}
	}
	for _, params := range [][]Param{s.Inputs, s.Outputs} {
		for i := range params {
			if params[i].Allowed = s.Constraint(params[i].Type); params[i].Allowed == nil {
				params[i].Allowed = parseTypes(params[i].Type)
			}
		}
	}
}

func parseParam(args, mark string) Param {
	f := strings.Fields(args)
	p := Param{Name: f[0], Type: f[1], Homogeneous: true, MinArity: 1}
	switch mark {
	case "?":
		p.Option = Optional
	case "*":
		p.Option = Variadic
	}
	for _, extra := range f[2:] {
		if n, ok := strings.CutPrefix(extra, "min="); ok {
			p.MinArity = int(integer(n))
		} else {
			p.Homogeneous = false
		}
	}
	return p
}

func parseAttr(args string, required bool) AttrSpec {
	head, def, hasDefault := strings.Cut(args, " = ")
	name, typeName, _ := strings.Cut(head, " ")
	t, ok := ir.AttrTypeOf(typeName)
	if !ok {
		malformed(args)
	}
	a := AttrSpec{Name: name, Type: t, Required: required}
	if hasDefault {
		a.Default = parseDefault(name, t, def)
	}
	return a
}

func parseDefault(name string, t ir.AttrType, text string) *ir.Attr {
	a := &ir.Attr{Name: name, Type: t}
	switch t {
	case ir.AttrInt:
		a.Int = integer(text)
	case ir.AttrFloat:
		f, err := strconv.ParseFloat(text, 32)
		if err != nil {
			malformed(text)
		}
		a.Float = float32(f)
	case ir.AttrString:
		a.Bytes = quoted(text)
	case ir.AttrInts:
		for _, w := range strings.Fields(text) {
			a.Ints = append(a.Ints, integer(w))
		}
	case ir.AttrStrings:
		for _, w := range strings.Fields(text) {
			a.Strings = append(a.Strings, quoted(w))
		}
	default:
		malformed(text)
	}
	return a
}

func parseRelease(args string) release {
	f := strings.Fields(args)
	return release{integer(f[0]), map[string]int64{
		"": integer(f[1]), "ai.onnx.ml": integer(f[2]), "ai.onnx.preview.training": integer(f[3])}}
}

func parseArity(text string) (lo, hi int) {
	a, b, _ := strings.Cut(text, ":")
	if b == "*" {
		return int(integer(a)), Unbounded
	}
	return int(integer(a)), int(integer(b))
}

func parseSet(args string) *TypeSet {
	_, types, _ := strings.Cut(args, " ")
	return parseTypes(strings.Fields(types)...)
}

func parseTypes(names ...string) *TypeSet {
	s := &TypeSet{}
	for _, name := range names {
		target, elem := &s.Tensors, name
		if in, ok := inner(name, "seq("); ok {
			target, elem = &s.Sequences, in
		} else if in, ok := inner(name, "optional(seq("); ok {
			target, elem = &s.OptionalSequences, in
		} else if in, ok := inner(name, "optional("); ok {
			target, elem = &s.Optionals, in
		}
		if t, ok := ir.DataTypeOf(elem); ok {
			*target |= 1 << uint(t)
		} else if strings.Contains(name, "map(") {
			s.Maps = append(s.Maps, name)
		} else {
			malformed(name)
		}
	}
	slices.Sort(s.Maps)
	return s
}

// inner returns what stands in the parentheses that prefix opens.
func inner(name, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	return strings.TrimRight(rest, ")"), ok
}

func integer(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		malformed(text)
	}
	return n
}

func quoted(text string) []byte {
	var s string
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		malformed(text)
	}
	return []byte(s)
}

func malformed(what string) {
	panic(fmt.Sprintf("ops/schemas.txt: cannot read %q", what))
}
