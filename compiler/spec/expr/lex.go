package expr

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"mobiusc/internal/diag"
)

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokNumber
	tokText
	tokName
	tokOp // operators, brackets, keywords
)

type token struct {
	span
	kind  tokenKind
	text  string // of a name or an operator
	value Value  // of a number or text
}

// keywords may not be names.
var keywords = map[string]bool{"and": true, "or": true, "not": true, "in": true, "if": true, "else": true}

// Reserved reports whether a word has a meaning of its own in expressions, so
// that no config key and no named expression may have it as its name.
func Reserved(word string) bool {
	return keywords[word] || word == "true" || word == "false" || word == "none" || Functions[word] != nil ||
		word == "layer" || word == "kind" || word == "result"
}

// IsName reports whether a word can be a name.
func IsName(word string) bool {
	for i, r := range word {
		if !nameRune(r, i == 0) {
			return false
		}
	}
	return word != ""
}

func nameRune(r rune, first bool) bool {
	return r == '_' || unicode.IsLetter(r) || !first && unicode.IsDigit(r)
}

// operators, longest first.
var operators = []string{"**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "<", ">", "(", ")", "[", "]", ",", ":", "."}

// token reads the next token.
func (p *parser) scan() token {
	for p.i < len(p.text) && unicode.IsSpace(p.text[p.i]) {
		p.i++
	}
	start := p.i
	if start == len(p.text) {
		return token{span: span{start, start}}
	}
	r := p.text[start]
	switch {
	case unicode.IsDigit(r) || r == '.' && start+1 < len(p.text) && unicode.IsDigit(p.text[start+1]):
		return p.number()
	case r == '\'':
		return p.quoted()
	case nameRune(r, true):
		for p.i < len(p.text) && nameRune(p.text[p.i], false) {
			p.i++
		}
		word := string(p.text[start:p.i])
		kind := tokName
		if keywords[word] {
			kind = tokOp
		}
		return token{span: span{start, p.i}, kind: kind, text: word}
	}
	rest := string(p.text[start:min(start+2, len(p.text))])
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			p.i += len(op)
			return token{span: span{start, p.i}, kind: tokOp, text: op}
		}
	}
	p.i++
	if p.bad == nil {
		p.fail(span{start, p.i}, unexpected(r))
		p.bad.Fix = p.foreign(start)
	}
	return p.scan()
}

// foreign returns the fix for an operator of another language whose meaning is
// certain, or nil.
func (p *parser) foreign(start int) *diag.Fix {
	rest := string(p.text[start:min(start+2, len(p.text))])
	for _, op := range [][2]string{{"&&", "and"}, {"||", "or"}, {"!", "not"}, {"=", "=="}} {
		if !strings.HasPrefix(rest, op[0]) {
			continue
		}
		end, ours := start+len(op[0]), op[1]
		if nameRune([]rune(ours)[0], true) { // a word keeps its distance
			if start > 0 && p.text[start-1] != ' ' {
				ours = " " + ours
			}
			if end < len(p.text) && p.text[end] != ' ' {
				ours += " "
			}
		}
		return &diag.Fix{Range: p.at(start, end), NewText: ours, Title: "write `" + op[1] + "`"}
	}
	return nil
}

func unexpected(r rune) string {
	switch r {
	case '"':
		return "text stands in single quotes in an expression"
	case '=':
		return "one = has no meaning in an expression: == compares"
	case '&', '|', '!':
		return "conditions are joined by `and`, `or` and `not`"
	case '^':
		return "** raises to a power"
	case '?':
		return "a choice is written `a if condition else b`"
	case '{', '}':
		return "braces have no meaning in an expression"
	}
	return "`" + string(r) + "` has no meaning in an expression"
}

func (p *parser) number() token {
	start, float := p.i, false
	digits := func() {
		for p.i < len(p.text) && p.text[p.i] >= '0' && p.text[p.i] <= '9' {
			p.i++
		}
	}
	digits()
	if p.i < len(p.text) && p.text[p.i] == '.' {
		float = true
		p.i++
		digits()
	}
	if p.i < len(p.text) && (p.text[p.i] == 'e' || p.text[p.i] == 'E') {
		float = true
		if p.i++; p.i < len(p.text) && (p.text[p.i] == '-' || p.text[p.i] == '+') {
			p.i++
		}
		digits()
	}
	for p.i < len(p.text) && nameRune(p.text[p.i], false) {
		p.i++ // 3x, 1_000: one bad number, not a number and a name
	}
	t := token{span: span{start, p.i}, kind: tokNumber}
	text := string(p.text[start:p.i])
	if f, err := strconv.ParseFloat(text, 64); float && err == nil && !math.IsInf(f, 0) && plainNumber(text) {
		t.value = f
	} else if i, err := strconv.ParseInt(text, 10, 64); !float && err == nil {
		t.value = i
	} else {
		p.fail(t.span, "`"+text+"` is not a number")
		t.value = int64(0)
	}
	return t
}

// plainNumber excludes the hexadecimal floats and underscores of Go.
func plainNumber(text string) bool { return !strings.ContainsAny(text, "xXpP_") }

// quoted reads 'text'; a doubled quote is one quote.
func (p *parser) quoted() token {
	start := p.i
	var out []rune
	for p.i++; p.i < len(p.text); p.i++ {
		if p.text[p.i] != '\'' {
			out = append(out, p.text[p.i])
			continue
		}
		if p.i+1 == len(p.text) || p.text[p.i+1] != '\'' {
			p.i++
			return token{span: span{start, p.i}, kind: tokText, value: string(out)}
		}
		p.i++
		out = append(out, '\'')
	}
	p.fail(span{start, p.i}, "the text has no closing quote")
	return token{span: span{start, p.i}, kind: tokText, value: string(out)}
}
