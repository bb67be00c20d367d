package tree

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"
)

// maxJSONBytes bounds a config.json; label maps make some a few MB.
const maxJSONBytes = 64 << 20

// ParseJSON reads one JSON document. file is the name that ranges carry. The
// tree is nil when the text is not JSON.
func ParseJSON(file string, text []byte) (*Node, diag.List) {
	whole := diag.Range{File: file}
	if len(text) > maxJSONBytes {
		return nil, diag.List{*fault.TooLarge(whole, maxJSONBytes)}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if pos, bad := invalidUTF8(text); bad {
		return nil, diag.List{*fault.NotUTF8(diag.Range{File: file, Start: pos, End: diag.Pos{Line: pos.Line, Col: pos.Col + 1}})}
	}
	p := &jsonReader{file: file, text: []rune(string(text)), line: 1, col: 1}
	p.space()
	if p.end() {
		return nil, diag.List{*fault.EmptyFile(whole)}
	}
	root := p.value(0)
	if p.space(); p.bad == nil && !p.end() {
		p.fail("the document goes on after its value")
	}
	if p.bad != nil {
		return nil, append(p.found, *p.bad)
	}
	return root, p.found
}

type jsonReader struct {
	file      string
	text      []rune
	i         int
	line, col int
	found     diag.List        // duplicate keys
	bad       *diag.Diagnostic // the first syntax fault: reading stops there
}

func (p *jsonReader) end() bool     { return p.i >= len(p.text) }
func (p *jsonReader) pos() diag.Pos { return diag.Pos{Line: p.line, Col: p.col} }

// peek returns the next character, 0 at the end.
func (p *jsonReader) peek() rune {
	if p.end() {
		return 0
	}
	return p.text[p.i]
}

func (p *jsonReader) next() rune {
	r := p.peek()
	if p.end() {
		return 0
	}
	p.i++
	p.col++
	if r == '\n' || r == '\r' && p.peek() != '\n' {
		p.line, p.col = p.line+1, 1
	}
	return r
}

func (p *jsonReader) space() {
	for r := p.peek(); r == ' ' || r == '\t' || r == '\n' || r == '\r'; r = p.peek() {
		p.next()
	}
}

func (p *jsonReader) from(start diag.Pos) diag.Range {
	return diag.Range{File: p.file, Start: start, End: p.pos()}
}

// fail records the first fault, at the next character.
func (p *jsonReader) fail(what string) {
	if p.bad == nil {
		r := p.from(p.pos())
		if !p.end() {
			r.End.Col++
		}
		p.bad = fault.MalformedJSON(r, what)
	}
}

func (p *jsonReader) value(depth int) *Node {
	start := p.pos()
	n := &Node{Range: diag.Range{File: p.file, Start: start}}
	switch r := p.peek(); {
	case depth > maxDepth:
		p.fail("nested too deeply")
	case p.end():
		p.fail("the document ends where a value is expected")
	case r == '{':
		p.object(n, depth)
	case r == '[':
		p.array(n, depth)
	case r == '"':
		n.Kind, n.Text = String, p.str()
	case r == '-' || r >= '0' && r <= '9':
		p.number(n)
	case r == '\'':
		p.fail("text stands in double quotes in JSON")
	case r == '/' || r == '#':
		p.fail("JSON has no comments")
	case r == '}' || r == ']' || r == ',':
		p.fail("a value is expected here")
	default:
		p.word(n)
	}
	n.Range.End = p.pos()
	return n
}

func (p *jsonReader) object(n *Node, depth int) {
	n.Kind = Map
	p.next()
	seen := map[string]*Node{}
	for p.space(); p.bad == nil; p.space() {
		if p.peek() == '}' && len(n.Entries) == 0 {
			p.next()
			return
		}
		start := p.pos()
		if p.peek() != '"' {
			p.fail(expectedKey(p.peek()))
			return
		}
		key := &Node{Kind: String, Text: p.str()}
		key.Range = p.from(start)
		if p.space(); p.peek() != ':' {
			p.fail("a colon is expected after a key")
			return
		}
		p.next()
		p.space()
		e := Entry{key, p.value(depth + 1)}
		if first := seen[key.Text]; first != nil {
			p.found.Add(*fault.DuplicateKey(key.Range, key.Text, first.Range))
		} else {
			seen[key.Text] = key
			n.Entries = append(n.Entries, e)
		}
		if !p.more('}', "a comma or } is expected after a value") {
			return
		}
	}
}

func expectedKey(r rune) string {
	switch r {
	case '}':
		return "a comma before } is not allowed in JSON"
	case 0:
		return "the document ends inside an object"
	}
	return "a key in double quotes is expected here"
}

func (p *jsonReader) array(n *Node, depth int) {
	n.Kind = List
	p.next()
	for p.space(); p.bad == nil; p.space() {
		if p.peek() == ']' {
			if len(n.Items) > 0 {
				p.fail("a comma before ] is not allowed in JSON")
			}
			p.next()
			return
		}
		n.Items = append(n.Items, p.value(depth+1))
		if !p.more(']', "a comma or ] is expected after a value") {
			return
		}
	}
}

// more passes over a comma, or over the closing bracket.
func (p *jsonReader) more(closing rune, expected string) bool {
	p.space()
	switch {
	case p.bad != nil:
		return false
	case p.peek() == ',':
		p.next()
		return true
	case p.peek() == closing:
		p.next()
		return false
	case p.end():
		p.fail("the document ends inside " + map[rune]string{'}': "an object", ']': "a list"}[closing])
	default:
		p.fail(expected)
	}
	return false
}

// str reads a string whose opening quote is next.
func (p *jsonReader) str() string {
	var out []rune
	p.next()
	for p.bad == nil {
		switch r := p.peek(); {
		case p.end() || r == '\n' || r == '\r':
			p.fail("the text has no closing quote")
		case r == '"':
			p.next()
			return string(out)
		case r < 0x20:
			p.fail("a control character stands in text: write an escape")
		case r == '\\':
			out = append(out, p.escape()...)
		default:
			out = append(out, p.next())
		}
	}
	return string(out)
}

// escape reads one escape, or the two of a surrogate pair. Half a pair is the
// replacement character.
func (p *jsonReader) escape() []rune {
	p.next()
	switch r := p.peek(); r {
	case '"', '\\', '/':
		return []rune{p.next()}
	case 'b', 'f', 'n', 'r', 't':
		p.next()
		return []rune{map[rune]rune{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}[r]}
	case 'u':
		first := p.hex4()
		if !utf16.IsSurrogate(first) || p.i+1 >= len(p.text) || p.peek() != '\\' || p.text[p.i+1] != 'u' {
			return []rune{first}
		}
		p.next()
		second := p.hex4()
		if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
			return []rune{pair}
		}
		return []rune{first, second}
	}
	p.fail("not an escape of JSON")
	return nil
}

func (p *jsonReader) hex4() (r rune) {
	p.next()
	for range 4 {
		d, err := strconv.ParseUint(string(p.peek()), 16, 8)
		if err != nil {
			p.fail("four hexadecimal digits are expected after \\u")
			return 0
		}
		r = r<<4 | rune(d)
		p.next()
	}
	return r
}

var (
	jsonNumber  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	leadingZero = regexp.MustCompile(`^-?0[0-9]`)
)

func (p *jsonReader) number(n *Node) {
	start := p.i
	for r := p.peek(); r == '-' || r == '+' || r == '.' || r == 'e' || r == 'E' || r >= '0' && r <= '9'; r = p.peek() {
		p.next()
	}
	n.Text = string(p.text[start:p.i])
	if !jsonNumber.MatchString(n.Text) {
		what := "not a number"
		if leadingZero.MatchString(n.Text) {
			what = "a number may not begin with 0"
		}
		p.fail(what)
		return
	}
	if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
		n.Kind, n.Int, n.Float = Int, i, float64(i)
		return
	}
	f, _ := strconv.ParseFloat(n.Text, 64) // fails for a number beyond the largest, which is then infinite
	n.Kind, n.Float = Float, f
	if math.IsInf(f, 0) {
		p.fail("the number is too large")
	}
}

func (p *jsonReader) word(n *Node) {
	start := p.pos()
	from := p.i
	for r := p.peek(); r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'; r = p.peek() {
		p.next()
	}
	n.Text = string(p.text[from:p.i])
	switch n.Text {
	case "null":
		n.Kind = Null
	case "true", "false":
		n.Kind, n.Bool = Bool, n.Text == "true"
	case "":
		p.fail("a value is expected here")
	default:
		p.bad = fault.MalformedJSON(p.from(start), "`"+n.Text+"` is not JSON: a value is an object, a list, text in double quotes, a number, true, false or null")
	}
}
