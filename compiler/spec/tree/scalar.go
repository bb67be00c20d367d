package tree

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"

	"gopkg.in/yaml.v3"
)

var (
	intForm   = regexp.MustCompile(`^[-+]?[0-9]+$`)
	floatForm = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
)

// resolve sets the value of a plain scalar by the core schema of YAML 1.2, with
// one restriction: a number may not begin with a needless 0, which YAML 1.1
// readers take for octal.
func resolve(n *Node) *diag.Diagnostic {
	switch n.Text {
	case "", "~", "null", "Null", "NULL":
		n.Kind, n.Missing = Null, n.Text == ""
		return nil
	case "true", "True", "TRUE", "false", "False", "FALSE":
		n.Kind, n.Bool = Bool, n.Text[0]|0x20 == 't'
		return nil
	}
	if c := n.Text[0]; c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') {
		n.Kind = String
		return nil
	}
	switch {
	case intForm.MatchString(n.Text):
		digits := strings.TrimLeft(n.Text, "+-")
		if len(digits) > 1 && digits[0] == '0' {
			return fault.LeadingZero(n.Range, n.Text)
		}
		i, err := strconv.ParseInt(n.Text, 10, 64)
		if err != nil {
			return fault.NumberTooLarge(n.Range, n.Text)
		}
		n.Kind, n.Int, n.Float = Int, i, float64(i)
	case floatForm.MatchString(n.Text):
		f, err := strconv.ParseFloat(n.Text, 64)
		if err != nil || math.IsInf(f, 0) {
			return fault.NumberTooLarge(n.Range, n.Text)
		}
		n.Kind, n.Float = Float, f
	default:
		n.Kind = String
	}
	return nil
}

// scalarSpots returns the place of every character of a scalar's decoded text,
// and of its end, and the place after the scalar with its quotes. When the
// source cannot be followed the spots are nil.
func (s *source) scalarSpots(start diag.Pos, style yaml.Style, text string) (spots []diag.Pos, end diag.Pos) {
	c := s.at(start)
	switch {
	case style&yaml.DoubleQuotedStyle != 0:
		return c.doubleQuoted(text)
	case style&yaml.SingleQuotedStyle != 0:
		c.next()
		spots = c.follow(text, true)
		for !c.done() && isBlank(c.peek()) { // folded away
			c.next()
		}
		c.next()
		return spots, c.pos()
	case style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		c.line, c.col = c.line+1, 1
		spots = c.follow(strings.TrimRight(text, "\n"), false)
		end = c.pos()
		for spots != nil && len(spots) <= len([]rune(text)) {
			spots = append(spots, end)
		}
		return spots, end
	}
	spots = c.follow(text, false)
	return spots, c.pos()
}

// follow walks the source along a decoded text. A blank of the text need not
// stand in the source (lines are folded), and blanks of the source need not
// stand in the text (indentation); in single quotes ” is one quote.
func (c *cursor) follow(text string, single bool) []diag.Pos {
	spots := make([]diag.Pos, 0, len(text)+1)
	for _, r := range text {
		if isBlank(r) {
			spots = append(spots, c.pos())
			if c.peek() == r {
				c.next()
			}
			continue
		}
		for !c.done() && isBlank(c.peek()) && c.peek() != r {
			c.next()
		}
		if c.peek() != r {
			return nil
		}
		spots = append(spots, c.pos())
		c.next()
		if single && r == '\'' {
			c.next()
		}
	}
	return append(spots, c.pos())
}

// doubleQuoted walks a double-quoted scalar along its decoded text.
func (c *cursor) doubleQuoted(text string) (spots []diag.Pos, end diag.Pos) {
	c.next()
	ok := true
	for _, r := range text {
		if isBlank(r) && c.peek() != r && c.peek() != '\\' { // a folded line
			spots = append(spots, c.pos())
			continue
		}
		for ok && isBlank(c.peek()) && c.peek() != r && !c.done() {
			c.next()
		}
		for c.peek() == '\\' && c.col == len(c.s.line(c.line)) { // an escaped line end
			c.next()
			c.skipBlank()
		}
		spots = append(spots, c.pos())
		switch {
		case c.peek() == '\\':
			c.escape()
		case c.peek() == r:
			c.next()
		default:
			ok = false
		}
		if !ok {
			break
		}
	}
	spots = append(spots, c.pos())
	for !c.done() && c.peek() != '"' {
		if c.peek() == '\\' {
			c.next()
		}
		c.next()
	}
	c.next()
	if !ok {
		spots = nil
	}
	return spots, c.pos()
}

// escape passes over one escape of a double-quoted scalar.
func (c *cursor) escape() {
	c.next()
	digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[c.peek()]
	for c.next(); digits > 0; digits-- {
		c.next()
	}
}

// IsText reports whether a plain scalar is text, and not null, a boolean or a
// number.
func IsText(text string) bool {
	n := &Node{Text: text}
	return resolve(n) == nil && n.Kind == String
}
