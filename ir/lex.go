package ir

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SyntaxError says where ONNX text is malformed.
type SyntaxError struct {
	File      string
	Line, Col int // from 1; columns count characters
	Msg       string
}

// Error returns file:line:col and what was found and expected.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokIdent
	tokInt
	tokFloat
	tokString
	tokPunct
)

// token is one lexical element. The text of a string is its content without
// quotes and escapes.
type token struct {
	kind tokenKind
	text string
	pos  int // byte offset
}

// describe names the token in an error message.
func (t token) describe() string {
	switch t.kind {
	case tokEOF:
		return "the end of the text"
	case tokString:
		return "the string " + quote(t.text)
	case tokIdent:
		return t.text
	case tokInt, tokFloat:
		return "the number " + t.text
	}
	return "'" + t.text + "'"
}

// lexer splits ONNX text into tokens. A comment runs from # to the end of the line.
type lexer struct {
	file string
	src  string
	off  int
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// fail stops the parse: the entry points recover the error.
func (l *lexer) fail(pos int, format string, args ...any) {
	before := l.src[:pos]
	line := strings.LastIndexByte(before, '\n') + 1
	panic(&SyntaxError{
		File: l.file,
		Line: 1 + strings.Count(before, "\n"),
		Col:  1 + utf8.RuneCountInString(before[line:]),
		Msg:  fmt.Sprintf(format, args...),
	})
}

func (l *lexer) skipSpace() {
	for l.off < len(l.src) {
		switch l.src[l.off] {
		case ' ', '\t', '\n', '\v', '\f', '\r':
			l.off++
		case '#':
			end := strings.IndexByte(l.src[l.off:], '\n')
			if end < 0 {
				l.off = len(l.src)
				return
			}
			l.off += end
		default:
			return
		}
	}
}

func (l *lexer) lex() token {
	l.skipSpace()
	if l.off == len(l.src) {
		return token{tokEOF, "", l.off}
	}
	start := l.off
	switch c := l.src[start]; {
	case isLetter(c):
		l.word()
		return token{tokIdent, l.src[start:l.off], start}
	case isDigit(c) || c == '-':
		return l.number()
	case c == '"':
		return l.stringLiteral()
	case strings.IndexByte("<>()[]{}=,:.?@", c) >= 0:
		l.off++
		if strings.HasPrefix(l.src[start:], "=>") {
			l.off++
		}
		return token{tokPunct, l.src[start:l.off], start}
	}
	r, _ := utf8.DecodeRuneInString(l.src[start:])
	l.fail(start, "found the character %q; a name with other characters than letters, digits and _ is quoted", r)
	panic("unreachable")
}

func (l *lexer) word() {
	for l.off < len(l.src) && (isLetter(l.src[l.off]) || isDigit(l.src[l.off])) {
		l.off++
	}
}

func (l *lexer) digits() (n int) {
	for l.off < len(l.src) && isDigit(l.src[l.off]) {
		l.off++
		n++
	}
	return n
}

func (l *lexer) peekAny(chars string) bool {
	return l.off < len(l.src) && strings.IndexByte(chars, l.src[l.off]) >= 0
}

// number reads -?digits[.digits][e[+-]digits], -inf or -nan.
func (l *lexer) number() token {
	start, kind := l.off, tokInt
	if l.src[l.off] == '-' {
		l.off++
	}
	if l.digits() == 0 {
		word := l.off
		l.word()
		if isSpecialFloat(l.src[word:l.off]) {
			return token{tokFloat, l.src[start:l.off], start}
		}
		l.fail(start, "found '-' without a number")
	}
	if l.peekAny(".") {
		kind = tokFloat
		l.off++
		l.digits()
	}
	if l.peekAny("eE") {
		kind = tokFloat
		l.off++
		if l.peekAny("+-") {
			l.off++
		}
		if l.digits() == 0 {
			l.fail(start, "found the number %s without digits in its exponent", l.src[start:l.off])
		}
	}
	if l.off < len(l.src) && isLetter(l.src[l.off]) {
		l.word()
		l.fail(start, "found %s, which is neither a number nor a name", l.src[start:l.off])
	}
	return token{kind, l.src[start:l.off], start}
}

// isSpecialFloat reports whether a word is a float literal, in any case.
func isSpecialFloat(word string) bool {
	switch strings.ToLower(word) {
	case "inf", "infinity", "nan":
		return true
	}
	return false
}

// stringLiteral reads a quoted string. A backslash makes the next byte plain:
// there are no other escapes, and a string may span lines.
func (l *lexer) stringLiteral() token {
	start := l.off
	var b strings.Builder
	for l.off++; l.off < len(l.src); l.off++ {
		switch c := l.src[l.off]; c {
		case '"':
			l.off++
			return token{tokString, b.String(), start}
		case '\\':
			if l.off++; l.off < len(l.src) {
				b.WriteByte(l.src[l.off])
			}
		default:
			b.WriteByte(c)
		}
	}
	l.off = len(l.src)
	l.fail(start, "found a string without a closing quote")
	panic("unreachable")
}

// quote writes s as a string of ONNX's textual syntax.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// isIdent reports whether s can be written without quotes wherever a name is expected.
func isIdent(s string) bool {
	if s == "" || !isLetter(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if !isLetter(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}
