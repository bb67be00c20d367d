package ir

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The notation of dims, which String writes and ParseDim reads:
//
//	expression = ["-"] product { ("+" | "-") product }
//	product    = factor { ("*" | "/" | "//" | "mod") factor }
//	factor     = number | symbol | "(" expression ")"
//	           | ("floor" | "ceil") "(" expression ")"
//	           | ("min" | "max") "(" expression { "," expression } ")"
//	symbol     = letter or "_", then letters, digits, "_", "." | Go string
//
// a/b is the exact quotient, a//b is floor(a/b). String writes spaces around +
// and - only, positive terms first, then higher degrees first, then in
// alphabetical order: past + sequence, batch*sequence, patches/4,
// 32*ceil(sequence/32), floor((height + 2)/3), min(past, 4096).

// symbolKey returns a symbol's name, quoted where it is no plain symbol.
func symbolKey(name string) string {
	for i, r := range name {
		if !isSymbolRune(r, i == 0) || r == utf8.RuneError {
			return strconv.Quote(name)
		}
	}
	if name == "mod" {
		return strconv.Quote(name)
	}
	return name
}

func isSymbolRune(r rune, first bool) bool {
	return r == '_' || unicode.IsLetter(r) || !first && (r == '.' || unicode.IsDigit(r))
}

// text returns the canonical text of the polynomial.
func (p *poly) text() string {
	if p.den == 1 {
		return numeratorText(p.terms)
	}
	num := numeratorText(p.terms)
	if len(p.terms) > 1 {
		num = "(" + num + ")"
	}
	return num + "/" + strconv.FormatInt(p.den, 10)
}

func numeratorText(terms []term) string {
	if len(terms) == 0 {
		return "0"
	}
	var b strings.Builder
	for _, t := range terms {
		if t.coef > 0 {
			if b.Len() > 0 {
				b.WriteString(" + ")
			}
			b.WriteString(t.text())
		}
	}
	for _, t := range terms {
		if t.coef < 0 {
			if b.Len() > 0 {
				b.WriteString(" - ")
			} else {
				b.WriteByte('-')
			}
			b.WriteString(t.text())
		}
	}
	return b.String()
}

// text returns the term without its sign.
func (t term) text() string {
	var factors []string
	number := strings.TrimPrefix(strconv.FormatInt(t.coef, 10), "-")
	if number != "1" || len(t.atoms) == 0 {
		factors = append(factors, number)
	}
	for _, a := range t.atoms {
		factors = append(factors, a.key)
	}
	return strings.Join(factors, "*")
}

func (a *atom) text() string {
	if a.kind == floorAtom {
		return floorText(a.args[0], a.args[1])
	}
	args := make([]string, len(a.args))
	for i, p := range a.args {
		args[i] = p.text()
	}
	name := "min"
	if a.kind == maxAtom {
		name = "max"
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// floorText writes floor(e/d), or ceil where e ends in the number d - 1.
func floorText(e, d *poly) string {
	name := "floor"
	if n, _, ok := d.constant(); ok && e.constantTerm() == n-1 {
		name, e = "ceil", add(e, constant(n-1), -1)
	}
	return name + "(" + operandText(e, false) + "/" + operandText(d, true) + ")"
}

// operandText puts what would read differently beside a "/" in parentheses.
func operandText(p *poly, divisor bool) string {
	s := p.text()
	if len(p.terms) > 1 || divisor && strings.Contains(s, "*") {
		return "(" + s + ")"
	}
	return s
}

// ParseDim reads a dim in the notation that String writes: numbers, symbols,
// + - * /, // and mod, parentheses, floor, ceil, min and max. Text in another
// notation is an error; readers of foreign files make it an opaque symbol with
// Sym.
func ParseDim(text string) (Dim, error) {
	if len(text) > maxText {
		return Dim{}, fmt.Errorf("dim of %d bytes: at most %d are read", len(text), maxText)
	}
	p := &dimParser{text: text}
	e := p.expression().resolve()
	p.space()
	if p.err == nil && p.pos < len(text) {
		p.fail("an operator")
	}
	if p.err != nil {
		return Dim{}, p.err
	}
	d := e.dim()
	if !d.Known() {
		return Dim{}, fmt.Errorf("dim %q has no whole value that can be represented", text)
	}
	return d, nil
}

const maxDimDepth = 64 // of parentheses

type dimParser struct {
	text  string
	pos   int
	depth int
	err   error
}

// whole returns a quotient that has been resolved.
func whole(p *poly) quotient { return quotient{p, constant(1)} }

func (p *dimParser) fail(expected string) {
	if p.err != nil {
		return
	}
	found := "the end"
	if p.pos < len(p.text) {
		r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
		found = strconv.QuoteRune(r)
	}
	p.err = fmt.Errorf("dim %q: found %s at byte %d, expected %s", p.text, found, p.pos, expected)
}

func (p *dimParser) space() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
}

// accept skips the token if it comes next.
func (p *dimParser) accept(token string) bool {
	p.space()
	if strings.HasPrefix(p.text[p.pos:], token) {
		p.pos += len(token)
		return true
	}
	return false
}

func (p *dimParser) expect(token string) {
	if !p.accept(token) {
		p.fail(strconv.Quote(token))
	}
}

func (p *dimParser) expression() quotient {
	if p.depth++; p.depth > maxDimDepth {
		p.fail("fewer parentheses")
	}
	defer func() { p.depth-- }()
	negative := p.accept("-")
	q := p.product()
	if negative {
		q.num = add(constant(0), q.num, -1)
	}
	for p.err == nil {
		switch {
		case p.accept("+"):
			q = whole(add(q.resolve(), p.product().resolve(), 1))
		case p.accept("-"):
			q = whole(add(q.resolve(), p.product().resolve(), -1))
		default:
			return q
		}
	}
	return whole(nil)
}

func (p *dimParser) product() quotient {
	q := p.factor()
	for p.err == nil {
		switch {
		case p.accept("*"):
			q = whole(mul(q.resolve(), p.factor().resolve()))
		case p.accept("//"):
			q = whole(floorDiv(q.resolve(), p.factor().resolve()))
		case p.accept("/"):
			q = quotient{q.resolve(), p.factor().resolve()}
		case p.acceptMod():
			q = whole(mod(q.resolve(), p.factor().resolve()))
		default:
			return q
		}
	}
	return whole(nil)
}

func (p *dimParser) acceptMod() bool {
	p.space()
	start := p.pos
	if p.name() == "mod" {
		return true
	}
	p.pos = start
	return false
}

func (p *dimParser) factor() quotient {
	p.space()
	if p.err != nil || p.pos >= len(p.text) {
		p.fail("a number, a symbol or \"(\"")
		return whole(nil)
	}
	switch c := p.text[p.pos]; {
	case c == '(':
		p.pos++
		q := p.expression()
		p.expect(")")
		return q
	case c >= '0' && c <= '9':
		return whole(p.number())
	case c == '"':
		return whole(p.quoted())
	}
	name := p.name()
	switch {
	case name == "" || name == "mod":
		p.fail("a number, a symbol or \"(\"")
		return whole(nil)
	case isFunction(name) && p.accept("("):
		return whole(p.call(name))
	}
	return whole(symbolPoly(name))
}

func isFunction(name string) bool {
	return name == "floor" || name == "ceil" || name == "min" || name == "max"
}

func (p *dimParser) name() string {
	start := p.pos
	for p.pos < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.pos:])
		if r == utf8.RuneError || !isSymbolRune(r, p.pos == start) {
			break
		}
		p.pos += size
	}
	return p.text[start:p.pos]
}

func (p *dimParser) number() *poly {
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	n, err := strconv.ParseInt(p.text[start:p.pos], 10, 64)
	if err != nil {
		p.pos = start
		p.fail("a number of 64 bits")
	}
	return constant(n)
}

func (p *dimParser) quoted() *poly {
	token, err := strconv.QuotedPrefix(p.text[p.pos:])
	if err != nil {
		p.fail("a closing quote")
		return nil
	}
	name, err := strconv.Unquote(token)
	if err != nil || name == "" {
		p.fail("a name in quotes")
		return nil
	}
	p.pos += len(token)
	return symbolPoly(name)
}

// call reads the arguments of a function whose "(" has been read.
func (p *dimParser) call(name string) *poly {
	args := []quotient{p.expression()}
	for (name == "min" || name == "max") && p.accept(",") {
		args = append(args, p.expression())
	}
	p.expect(")")
	if p.err != nil {
		return nil
	}
	switch name {
	case "floor":
		return floorDiv(args[0].wholeParts())
	case "ceil":
		return ceilDiv(args[0].wholeParts())
	}
	kind, values := minAtom, make([]*poly, len(args))
	if name == "max" {
		kind = maxAtom
	}
	for i, q := range args {
		values[i] = q.resolve()
	}
	return extremum(kind, values)
}
