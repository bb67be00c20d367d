package ir

import "strconv"

// maxDepth limits how deeply graphs and types nest in a text, so that no text
// can exhaust the stack.
const maxDepth = 64

// ParseModel reads a model in ONNX's textual syntax. name stands for the text
// in errors, which are of type *SyntaxError.
//
// The grammar is that of onnx/docs/Syntax.md. Beyond it, what [Printer] writes
// is understood. An input refers to the innermost graph that defines its name,
// at whatever position; a name that nothing defines becomes a value without a
// definition, one for a graph and name.
func ParseModel(name string, src []byte) (*Model, error) {
	return parseText(name, src, (*parser).model)
}

// ParseGraph reads one graph; see [ParseModel].
func ParseGraph(name string, src []byte) (*Graph, error) {
	return parseText(name, src, (*parser).topGraph)
}

// ParseFunctions reads any number of functions; see [ParseModel].
func ParseFunctions(name string, src []byte) ([]*Function, error) {
	return parseText(name, src, (*parser).functions)
}

func parseText[T any](name string, src []byte, parse func(*parser) T) (result T, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *SyntaxError:
			var none T
			result, err = none, r
		default:
			panic(r)
		}
	}()
	p := &parser{lexer: lexer{file: name, src: string(src)}}
	p.next()
	result = parse(p)
	if p.tok.kind != tokEOF {
		p.unexpected("the end of the text")
	}
	return result, nil
}

// parser is a recursive-descent parser with one token of lookahead. Its methods
// stop at the first error by way of fail.
type parser struct {
	lexer
	tok      token
	depth    int
	mentions Mentions // or nil
}

func (p *parser) next() { p.tok = p.lex() }

func (p *parser) unexpected(want string) {
	p.fail(p.tok.pos, "found %s, expected %s", p.tok.describe(), want)
}

// enter counts one level of nesting; the caller defers leave.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.tok.pos, "found more than %d levels of nesting", maxDepth)
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) at(punct string) bool { return p.tok.kind == tokPunct && p.tok.text == punct }

// accept consumes a punctuation mark if it is next.
func (p *parser) accept(punct string) bool {
	if !p.at(punct) {
		return false
	}
	p.next()
	return true
}

// expect consumes a punctuation mark; context completes the error message.
func (p *parser) expect(punct, context string) {
	if !p.accept(punct) {
		p.unexpected("'" + punct + "' " + context)
	}
}

// atName reports whether a name, plain or quoted, is next.
func (p *parser) atName() bool { return p.tok.kind == tokIdent || p.tok.kind == tokString }

// name reads a plain or quoted name; what says of what.
func (p *parser) name(what string) string {
	if !p.atName() {
		p.unexpected(what)
	}
	s := p.tok.text
	p.next()
	return s
}

func (p *parser) ident(what string) string {
	if p.tok.kind != tokIdent {
		p.unexpected(what)
	}
	return p.name(what)
}

func (p *parser) str(what string) string {
	if p.tok.kind != tokString {
		p.unexpected(what + " in quotes")
	}
	return p.name(what)
}

func (p *parser) int64(what string) int64 {
	if p.tok.kind != tokInt {
		p.unexpected(what)
	}
	n, err := strconv.ParseInt(p.tok.text, 10, 64)
	if err != nil {
		p.fail(p.tok.pos, "found %s, expected a number that fits 64 bits", p.tok.text)
	}
	p.next()
	return n
}

// list reads item (',' item)* between two marks, or nothing between them.
func (p *parser) list(opening, closing, what string, item func()) {
	p.expect(opening, "to begin "+what)
	if p.accept(closing) {
		return
	}
	for {
		item()
		if p.accept(closing) {
			return
		}
		if !p.accept(",") {
			p.unexpected("',' or '" + closing + "' in " + what)
		}
	}
}

func (p *parser) model() *Model {
	m := &Model{}
	p.header("model", nil, map[string]func(){
		"ir_version":       func() { m.IRVersion = p.int64("the IR version") },
		"opset_import":     func() { m.Opsets = p.opsets(nil) },
		"producer_name":    func() { m.ProducerName = p.str("a name") },
		"producer_version": func() { m.ProducerVersion = p.str("a version") },
		"domain":           func() { m.Domain = p.str("a domain") },
		"model_version":    func() { m.ModelVersion = p.int64("the model version") },
		"doc_string":       func() { m.Doc = p.str("a text") },
		"metadata_props":   func() { m.Meta = p.properties() },
	})
	m.Graph = p.topGraph()
	m.Functions = p.functions()
	return m
}

// header reads the optional <key: value, …> in front of a model, or of a function
// with its body.
func (p *parser) header(of string, body *Graph, keys map[string]func()) {
	if !p.at("<") {
		return
	}
	seen := map[string]bool{}
	p.list("<", ">", "the header of the "+of, func() {
		key := p.tok
		p.mention(Mention{Graph: body, Role: HeaderMention})
		p.ident("a key of the header of the " + of)
		read, ok := keys[key.text]
		if !ok {
			p.fail(key.pos, "found the key %s, which the header of a %s does not have", key.text, of)
		}
		if seen[key.text] {
			p.fail(key.pos, "found the key %s a second time", key.text)
		}
		seen[key.text] = true
		p.expect(":", "after "+key.text)
		read()
	})
}

// opsets reads imports: of a model, or of a function with its body.
func (p *parser) opsets(body *Graph) (opsets []Opset) {
	p.list("[", "]", "the imported opsets", func() {
		p.mention(Mention{Graph: body, Role: DomainMention})
		domain := p.str("a domain")
		p.expect(":", "after the domain")
		opsets = append(opsets, Opset{domain, p.int64("an opset version")})
	})
	return opsets
}

func (p *parser) properties() (props Properties) {
	p.list("[", "]", "the properties", func() {
		key := p.str("a key")
		p.expect(":", "after the key")
		props = append(props, Property{key, p.str("a value")})
	})
	return props
}

func (p *parser) functions() (functions []*Function) {
	for p.tok.kind != tokEOF {
		functions = append(functions, p.function())
	}
	return functions
}

func (p *parser) function() *Function {
	f := &Function{}
	s := newScope(nil, "")
	p.header("function", s.graph, map[string]func(){
		"domain":         func() { f.Domain = p.str("a domain") },
		"overload":       func() { f.Overload = p.str("an overload") },
		"opset_import":   func() { f.Opsets = p.opsets(s.graph) },
		"doc_string":     func() { f.Doc = p.str("a text") },
		"metadata_props": func() { f.Meta = p.properties() },
	})
	p.mention(Mention{Graph: s.graph, Role: OperatorMention})
	f.Name = p.name("the name of a function")
	s.graph.Name = f.Name
	if p.at("<") {
		defaults := newScope(nil, "")
		p.list("<", ">", "the attribute parameters", func() {
			p.mention(Mention{Graph: s.graph, Role: AttributeMention})
			p.parameter(f, defaults)
		})
		p.resolve(defaults)
	}
	p.graphRest(s)
	p.resolve(s)
	f.Body = s.graph
	return f
}

// parameter reads one attribute parameter: a name, or an attribute whose value
// is the default.
func (p *parser) parameter(f *Function, s *scope) {
	name := p.name("the name of an attribute parameter")
	if !p.at(":") && !p.at("=") {
		f.Attributes = append(f.Attributes, name)
		return
	}
	pos := p.tok.pos
	a := p.attrAfterName(name, s)
	if a.Ref != "" {
		p.fail(pos, "found a reference to @%s, expected a value as the default of %s", a.Ref, name)
	}
	f.Defaults = append(f.Defaults, a)
}

// topGraph reads a graph that no other graph surrounds.
func (p *parser) topGraph() *Graph {
	s := newScope(nil, p.name("the name of a graph"))
	p.graphRest(s)
	p.resolve(s)
	return s.graph
}

// graphRest reads what follows the name of a graph or the attributes of a
// function: interface, initializers and value types, nodes.
func (p *parser) graphRest(s *scope) {
	p.enter()
	defer p.leave()
	p.list("(", ")", "the inputs", func() { p.input(s) })
	p.expect("=>", "after the inputs")
	p.list("(", ")", "the outputs", func() {
		d := p.declaration("an output", Mention{Graph: s.graph, Role: OutputMention})
		s.outputs = append(s.outputs, d)
	})
	if p.at("<") {
		p.list("<", ">", "the initializers and value types", func() { p.valueInfo(s) })
	}
	p.expect("{", "to begin the nodes")
	for !p.accept("}") {
		p.node(s)
	}
}

// declaration reads an optional type and a name, which is mentioned as m says.
func (p *parser) declaration(what string, m Mention) declaration {
	var t *Type
	if p.atType() {
		t = p.typ()
	}
	d := declaration{typ: t, pos: p.tok.pos}
	p.mention(m)
	d.name = p.name("the name of " + what)
	return d
}

func (p *parser) input(s *scope) {
	d := p.declaration("an input", Mention{Graph: s.graph, Role: InputMention})
	v := NewValue(d.name, d.typ)
	if p.accept("=") {
		v.Init = p.tensorOf(d)
		s.graph.Initializers = append(s.graph.Initializers, v)
	}
	s.graph.Inputs = append(s.graph.Inputs, v)
	s.define(v)
}

// valueInfo reads the type of a value, or an initializer. An initializer of the
// name of an input is the default of that input.
func (p *parser) valueInfo(s *scope) {
	d := p.declaration("a value", Mention{Graph: s.graph, Role: InputMention})
	if !p.accept("=") {
		s.infos = append(s.infos, d)
		return
	}
	t := p.tensorOf(d)
	if v := s.defs[d.name]; v != nil && v.Init == nil {
		v.Init = t
		s.graph.Initializers = append(s.graph.Initializers, v)
		return
	}
	s.define(s.graph.AddInitializer(d.name, t))
}
