package spec

import (
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/ir"
	"mobiusc/lowering"
)

// dtypeWords are the dtypes by their names in specs and configs.
var dtypeWords = []string{"float32", "float16", "bfloat16", "float64", "int64", "int32", "int8", "uint8", "bool"}

var dtypeOf = map[string]ir.DataType{
	"float32": ir.Float32, "float16": ir.Float16, "bfloat16": ir.BFloat16, "float64": ir.Float64,
	"int64": ir.Int64, "int32": ir.Int32, "int8": ir.Int8, "uint8": ir.Uint8, "bool": ir.Bool,
}

// DTypeOf returns the dtype that a word of specs and configs names, or Undefined.
func DTypeOf(word string) ir.DataType { return dtypeOf[word] }

// DTypeWord returns the word that specs and configs use for a dtype, or "".
func DTypeWord(t ir.DataType) string {
	for _, word := range dtypeWords {
		if dtypeOf[word] == t {
			return word
		}
	}
	return ""
}

// computeDTypes are those that a package can compute in.
var computeDTypes = []string{"float32", "float16", "bfloat16"}

// activationNames maps the names of activations in the wild to the language's.
var activationNames = map[string]string{
	"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu_fast": "gelu_tanh", "gelu_tanh": "gelu_tanh",
	"gelu": "gelu", "gelu_python": "gelu", "swish": "silu", "silu": "silu",
	"relu": "relu", "sigmoid": "sigmoid", "tanh": "tanh",
}

// configTypeWords are the simple types of config keys.
var configTypeWords = []string{"int", "float", "bool", "string", "activation", "dtype", "token", "rope", "object"}

// configTypes are the types that an editor offers.
var configTypes = slices.Concat(configTypeWords, []string{
	"list<int>", "list<float>", "list<string>", "map<rope>", "optional int", "optional float", "optional bool", "optional string", "optional list<string>",
})

// configTypePattern matches the type of a config key, for editors.
const configTypePattern = `^(optional )?((int|float|bool|string|activation|dtype|token|rope|object)|(list|map)<(int|float|bool|string|activation|dtype|token|rope)>)$`

// configType is the type of a config key.
type configType struct {
	word     string // one of configTypeWords: of the elements, for a list or a map
	outer    string // "", list or map
	optional bool
}

// parseConfigType reads `optional list<int>`.
func parseConfigType(text string) (t configType, ok bool) {
	text, t.optional = strings.CutPrefix(text, "optional ")
	for _, outer := range []string{"list", "map"} {
		if inner, is := strings.CutPrefix(text, outer+"<"); is {
			if text, ok = strings.CutSuffix(inner, ">"); !ok || text == "object" {
				return t, false
			}
			t.outer = outer
		}
	}
	t.word = text
	return t, slices.Contains(configTypeWords, text)
}

// String returns the type as specs write it.
func (t configType) String() string {
	s := t.word
	if t.outer != "" {
		s = t.outer + "<" + s + ">"
	}
	if t.optional {
		s = "optional " + s
	}
	return s
}

// ropeT is the type of a rope record in expressions.
var ropeT = expr.Type{Kind: expr.OpaqueType, Name: "rope"}

// static returns the type in expressions.
func (t configType) static() expr.Type {
	inner := map[string]expr.Type{
		"int": expr.IntT, "float": expr.FloatT, "bool": expr.BoolT, "string": expr.StringT, "activation": expr.StringT,
		"dtype": expr.StringT, "token": expr.ListOfT(expr.IntT), "rope": ropeT, "object": expr.AnyT,
	}[t.word]
	out := inner
	switch t.outer {
	case "list":
		out = expr.ListOfT(inner)
	case "map":
		out = expr.Type{Kind: expr.MapType, Elem: &inner}
	}
	out.Optional = t.optional
	return out
}

// expectedOf says in words what an option takes.
func expectedOf(o *lowering.Option) string {
	switch o.Kind {
	case lowering.IntOption, lowering.IntsOption, lowering.TokensOption:
		return "a whole number or an expression"
	case lowering.FloatOption:
		return "a number or an expression"
	case lowering.BoolOption:
		return "true, false or a condition"
	case lowering.DimsOption:
		return "a dim: a number, a symbol or an expression"
	case lowering.DTypeOption, lowering.WordOption:
		if words := wordsOf(o); len(words) > 0 {
			return "one of " + strings.Join(words, ", ")
		}
		return "an expression that yields a word"
	}
	return "a value or an expression"
}
