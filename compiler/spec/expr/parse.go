package expr

import (
	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"
)

// Bounds of an expression: nested forms, and characters.
const (
	maxNesting = 100
	maxLength  = 4000
)

// Parse reads an expression. at turns a stretch of the text into its place in
// the file. The finding is the first fault of syntax; then there is no Expr.
func Parse(text string, at func(from, to int) diag.Range) (*Expr, *diag.Diagnostic) {
	p := &parser{text: []rune(text), at: at}
	if len(p.text) > maxLength {
		return nil, fault.BadSyntax(at(0, 1), "the expression is too long")
	}
	p.advance()
	if p.tok.kind == tokEnd {
		p.fail(p.tok.span, "an expression is expected")
	}
	root := p.expression()
	if p.tok.kind != tokEnd {
		p.fail(p.tok.span, "the expression ends before `"+p.word()+"`")
	}
	if p.bad != nil {
		return nil, p.bad
	}
	return &Expr{Root: root, Text: text, at: at}, nil
}

type parser struct {
	text  []rune
	i     int
	tok   token
	last  int // end of the token before
	depth int
	at    func(from, to int) diag.Range
	bad   *diag.Diagnostic
}

func (p *parser) fail(s span, what string) {
	if p.bad == nil {
		p.bad = fault.BadSyntax(p.at(s.from, max(s.to, s.from)), what)
	}
}

func (p *parser) advance() {
	p.last = p.tok.to
	p.tok = p.scan()
}

// word returns the text of the current token.
func (p *parser) word() string { return string(p.text[p.tok.from:p.tok.to]) }

// take passes over an operator or keyword if it is next.
func (p *parser) take(op string) bool {
	if p.tok.kind != tokOp || p.tok.text != op {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(op string) {
	if !p.take(op) {
		p.fail(p.tok.span, "`"+op+"` is expected here")
	}
}

func (p *parser) since(from int) span { return span{from, p.last} }

// enter bounds the recursion; every call is followed by leave.
func (p *parser) enter() bool {
	if p.depth++; p.depth > maxNesting {
		p.fail(p.tok.span, "the expression is nested too deeply")
	}
	return p.bad == nil
}

func (p *parser) leave() { p.depth-- }

// expression reads `a if c else b`, the loosest form.
func (p *parser) expression() Node {
	defer p.leave()
	if !p.enter() {
		return &Literal{span: p.tok.span}
	}
	from := p.tok.from
	x := p.binary(0)
	if !p.take("if") {
		return x
	}
	c := &Cond{Then: x, If: p.binary(0)}
	if p.take("else") {
		c.Else = p.expression()
	}
	c.span = p.since(from)
	return c
}

// levels lists the binary operators, loosest first; `not` stands between and
// and the comparisons, `-x` and `**` after the products.
var levels = [][]string{
	{"or"}, {"and"}, {"in", "not", "==", "!=", "<", "<=", ">", ">="}, {"+", "-"}, {"*", "/", "//", "%"},
}

const comparison = 2

func (p *parser) binary(level int) Node {
	if level == len(levels) {
		return p.unary()
	}
	if level == comparison && p.tok.kind == tokOp && p.tok.text == "not" {
		return p.not()
	}
	from := p.tok.from
	x := p.binary(level + 1)
	for count := 0; p.bad == nil; count++ {
		op, ok := p.operator(levels[level])
		if !ok {
			return x
		}
		if level == comparison && count > 0 {
			p.fail(p.tok.span, "comparisons are joined by `and`")
		}
		y := p.binary(level + 1)
		x = &Binary{span: p.since(from), Op: op, X: x, Y: y}
	}
	return x
}

// operator takes one of the operators; `not` only as `not in`.
func (p *parser) operator(ops []string) (string, bool) {
	for _, op := range ops {
		if p.take(op) {
			if op == "not" {
				p.expect("in")
				return "not in", true
			}
			return op, true
		}
	}
	return "", false
}

func (p *parser) not() Node {
	from := p.tok.from
	p.advance()
	defer p.leave()
	if !p.enter() {
		return &Literal{span: p.tok.span}
	}
	x := p.binary(comparison)
	return &Unary{span: p.since(from), Op: "not", X: x}
}

func (p *parser) unary() Node {
	defer p.leave()
	if !p.enter() {
		return &Literal{span: p.tok.span}
	}
	from := p.tok.from
	if p.tok.kind == tokOp && p.tok.text == "-" {
		p.advance()
		x := p.unary()
		return &Unary{span: p.since(from), Op: "-", X: x}
	}
	x := p.postfix()
	if p.take("**") { // to the right, and tighter than a sign on its left
		y := p.unary()
		return &Binary{span: p.since(from), Op: "**", X: x, Y: y}
	}
	return x
}

func (p *parser) postfix() Node {
	from := p.tok.from
	x := p.primary()
	for p.bad == nil {
		switch {
		case p.take("."):
			at := p.tok.span
			if p.tok.kind != tokName {
				p.fail(at, "a name is expected after the dot")
				return x
			}
			name := p.tok.text
			p.advance()
			x = &Attr{span: p.since(from), X: x, Name: name, NameAt: at}
		case p.take("["):
			x = p.brackets(x, from)
		default:
			return x
		}
	}
	return x
}

// brackets reads the rest of x[i] or x[from:to].
func (p *parser) brackets(x Node, start int) Node {
	var from, to Node
	if !(p.tok.kind == tokOp && p.tok.text == ":") {
		from = p.expression()
	}
	if !p.take(":") {
		p.expect("]")
		return &Index{span: p.since(start), X: x, I: from}
	}
	if !(p.tok.kind == tokOp && p.tok.text == "]") {
		to = p.expression()
	}
	p.expect("]")
	return &Slice{span: p.since(start), X: x, From: from, To: to}
}

func (p *parser) primary() Node {
	t := p.tok
	switch {
	case t.kind == tokNumber || t.kind == tokText:
		p.advance()
		return &Literal{t.span, t.value}
	case t.kind == tokName:
		p.advance()
		if p.take("(") {
			args := p.list(")")
			return &Call{span: p.since(t.from), Func: t.text, FuncAt: t.span, Args: args}
		}
		switch t.text {
		case "true", "false":
			return &Literal{t.span, t.text == "true"}
		case "none":
			return &Literal{t.span, nil}
		}
		return &Name{t.span, t.text}
	case p.take("("):
		x := p.expression()
		p.expect(")")
		return x
	case p.take("["):
		items := p.list("]")
		return &ListOf{p.since(t.from), items}
	case t.kind == tokEnd:
		p.fail(span{max(p.last-1, 0), p.last}, "the expression ends too early")
	default:
		p.fail(t.span, "a value is expected before `"+p.word()+"`")
	}
	return &Literal{span: t.span}
}

// list reads values up to the closing bracket.
func (p *parser) list(closing string) []Node {
	var items []Node
	for p.bad == nil && !p.take(closing) {
		items = append(items, p.expression())
		if !p.take(",") {
			p.expect(closing)
			break
		}
	}
	return items
}
