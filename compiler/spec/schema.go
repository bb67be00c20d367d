package spec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mobiusc/lowering"
)

type object = map[string]any

// draft7 is the metaschema that editors know best.
const draft7 = "http://json-schema.org/draft-07/schema#"

// Schema returns the JSON Schema of specs, generated from the language's forms
// and the block declarations. Every union is decided by if/then on a key or by
// the type of the value, so that one mistake gives one error. Whatever a parent
// may state can be null, which deletes it.
func Schema() []byte {
	text, err := json.MarshalIndent(language().schema(), "", " ")
	if err != nil {
		panic(err) // the schema is made of maps, lists and words
	}
	return append(text, '\n')
}

func (g *grammar) schema() object {
	s := &schemaWriter{g: g, definitions: object{}, byContent: map[string]string{}}
	root := s.record(g.document)
	root["$schema"] = draft7
	root["title"] = "mobiusc architecture spec, v1"
	root["type"] = "object"
	s.body()
	root["definitions"] = s.definitions
	return root
}

type schemaWriter struct {
	g           *grammar
	definitions object
	byContent   map[string]string // names of shared definitions
}

// of returns a reference to the definition of a place's schema. Places with
// equal schemas share a definition: the document stays small, and validating it
// against its metaschema, which the library insists on, stays cheap.
func (s *schemaWriter) of(f *form) object {
	name := f.name
	switch _, known := s.definitions[name]; {
	case name == "":
		name = s.shared(f)
	case !known && f.kind != formBody:
		s.definitions[name] = object{} // stops the recursion
		s.definitions[name] = s.inline(f)
	}
	return object{"$ref": "#/definitions/" + name}
}

// shared returns the name of the definition of a form without a name.
func (s *schemaWriter) shared(f *form) string {
	o := s.inline(f)
	text, _ := json.Marshal(o) // maps, lists and words
	if name, ok := s.byContent[string(text)]; ok {
		return name
	}
	name := strings.ReplaceAll(strings.TrimPrefix(f.title, "option "), " ", "_")
	if types, ok := o["type"].([]string); ok && len(o) == 1 {
		name = strings.Join(types[:len(types)-1], "_or_")
	}
	for base, n := name, 2; s.definitions[name] != nil; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	s.byContent[string(text)], s.definitions[name] = name, o
	return name
}

func nullable(types ...string) object { return object{"type": append(types, "null")} }

func (s *schemaWriter) inline(f *form) object {
	switch f.kind {
	case formText, formType:
		return nullable("string")
	case formWord:
		return object{"enum": f.words}
	case formFlag:
		return nullable("boolean")
	case formInt:
		return nullable("integer")
	case formNumber:
		return nullable("number")
	case formAny:
		return nullable("string", "number", "boolean", "array")
	case formExpr, formName, formValue, formFunction:
		return s.option(f)
	case formConfig:
		o := nullable("string")
		o["pattern"] = configTypePattern
		o["patternErrorMessage"] = "a type of config key is " + strings.Join(configTypeWords, ", ") + ", list<T> or map<T>, each also optional T" // editors show it
		o["anyOf"] = []any{object{"enum": configTypes}, object{}}                                                                                 // what is offered; more is allowed
		return o
	case formMap:
		o := nullable("object")
		o["additionalProperties"] = s.of(f.each)
		if len(f.fields) > 0 {
			o["properties"] = s.properties(f)
		}
		return o
	case formList:
		o := nullable("array")
		if !f.strict {
			one := s.inline(f.each)
			o["type"] = union(o["type"], one["type"])
		}
		o["items"] = s.entry(f.each)
		return o
	}
	return s.record(f)
}

// entry is the schema of an entry of a list. There is nothing that a null among
// them deletes; where any value may stand it is one.
func (s *schemaWriter) entry(f *form) object {
	if f.kind == formAny {
		return s.of(f)
	}
	s.definitions["not_null"] = object{"not": object{"type": "null"}, "errorMessage": "a list has no null entries"} // editors show it
	return object{"allOf": []any{s.of(f), object{"$ref": "#/definitions/not_null"}}}
}

// union joins two type lists.
func union(a, b any) []string {
	out := slices.Clone(a.([]string))
	for _, t := range b.([]string) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// option is the schema of what an option takes: a literal, or text that is an
// expression.
func (s *schemaWriter) option(f *form) object {
	if f.opt == nil || f.kind != formExpr {
		return nullable("string")
	}
	switch f.opt.Kind {
	case lowering.IntOption, lowering.IntsOption, lowering.TokensOption, lowering.DimsOption:
		return nullable("integer", "string")
	case lowering.FloatOption:
		return nullable("number", "string")
	case lowering.BoolOption:
		return nullable("boolean", "string")
	case anyKind:
		return nullable("string", "number", "boolean", "array")
	}
	o := nullable("string")
	if words := wordsOf(f.opt); len(words) > 0 {
		o["anyOf"] = []any{object{"enum": words}, object{}} // the words are offered, an expression is allowed
	}
	return o
}

// record is the schema of a mapping with fixed keys, or of its short form.
func (s *schemaWriter) record(f *form) object {
	long := object{"properties": s.properties(f), "additionalProperties": false}
	if f.doc != "" {
		long["description"] = f.doc
	}
	var required []string
	for _, fd := range f.fields {
		if fd.required && f.opt == nil && f.decl == nil { // options may come from the parent or from defaults
			required = append(required, fd.name)
		}
	}
	if len(required) > 0 {
		long["required"] = required
	}
	if f.oneStep {
		long["minProperties"], long["maxProperties"] = len(required)+1, len(required)+1
	}
	short := f.field(f.short)
	switch {
	case short == nil:
		long["type"] = []string{"object", "null"}
	case short.form.kind == formBody:
		var isLong []any
		for _, fd := range f.fields {
			isLong = append(isLong, object{"required": []string{fd.name}})
		}
		return object{"if": object{"type": "object", "anyOf": isLong}, "then": long, "else": s.of(short.form)}
	default:
		one := s.inline(short.form)
		long["type"] = union([]string{"object"}, one["type"])
		for _, keyword := range []string{"items", "pattern", "patternErrorMessage", "anyOf"} { // they concern lists and text alone
			if v, ok := one[keyword]; ok {
				long[keyword] = v
			}
		}
	}
	return long
}

func (s *schemaWriter) properties(f *form) object {
	props := object{}
	for _, fd := range f.fields {
		p := s.of(fd.form)
		if fd.doc != "" { // draft 7 ignores what stands beside $ref; editors show it
			p["description"] = fd.doc
		}
		props[fd.name] = p
	}
	return props
}

// body is the definition of a body: a name, a list of bodies, or one block.
func (s *schemaWriter) body() {
	blocks := object{}
	for _, t := range s.g.types {
		if t != "if" {
			blocks[t] = s.of(s.g.blocks[t])
		}
	}
	conditional := s.record(s.g.blocks["if"])
	conditional["required"] = []string{"if"}
	isConditional := object{"type": "object", "required": []string{"if"}}
	s.definitions["body"] = object{
		"description": "a block, the name of a block of this spec, or a list of them in sequence",
		"type":        []string{"object", "array", "string", "null"},
		"items":       s.entry(s.g.body),
		"if":          isConditional,
		"then":        conditional,
		"else":        object{"properties": blocks, "additionalProperties": false},
		// Apart from the properties: an editor that completes a key writes one for a
		// start, and would find the mapping full.
		"allOf": []any{object{"if": isConditional, "else": object{"minProperties": 1, "maxProperties": 1}}},
	}
}
