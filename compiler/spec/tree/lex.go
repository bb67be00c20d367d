package tree

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"mobiusc/internal/diag"

	"gopkg.in/yaml.v3"
)

// TokenKind says what a token of a YAML file is.
type TokenKind uint8

// The kinds of tokens.
const (
	ScalarToken  TokenKind = iota // a key or a value, quotes included
	BlockToken                    // a scalar behind | or >, its lines included
	PunctToken                    // - ? : , { } [ ] --- ...
	NameToken                     // &anchor, *alias
	CommentToken                  // # to the end of the line
)

// Token is a piece of a YAML file as written. Blanks are between tokens.
type Token struct {
	Kind       TokenKind
	Start, End diag.Pos
	Text       string // of one line; of several, the first
}

// Tokens cuts a file that ParseYAML reads without a finding into its tokens, in
// order. ok is false where the text cannot be followed.
func Tokens(text []byte) (tokens []Token, ok bool) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var doc yaml.Node
	if err := decode(yaml.NewDecoder(bytes.NewReader(text)), &doc); err != nil {
		return nil, false
	}
	l := &lexer{source: newSource("", text)}
	if l.collect(&doc); l.lost {
		return nil, false
	}
	slices.SortFunc(l.scalars, func(a, b Token) int { return compare(a.Start, b.Start) })
	return l.run()
}

type lexer struct {
	*source
	scalars []Token // that YAML found, in the order of the file once sorted
	lost    bool
}

func compare(a, b diag.Pos) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}

// collect finds every scalar below a node.
func (l *lexer) collect(y *yaml.Node) {
	if y.Kind != yaml.ScalarNode {
		for _, child := range y.Content { // not what an alias stands for
			l.collect(child)
		}
		return
	}
	p := yamlReader{source: l.source}
	start := p.contentStart(y)
	spots, end := l.scalarSpots(start, y.Style, y.Value)
	t := Token{Kind: ScalarToken, Start: start, End: end}
	switch {
	case spots == nil:
		l.lost = true
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		t.Kind = BlockToken
		t.End = l.blockEnd(start, end)
	case start == end: // a value that is not there
		return
	}
	l.scalars = append(l.scalars, t)
}

// blockEnd returns the end of the last line of a scalar behind | or >. Blank
// lines at its end belong to it if its header says + .
func (l *lexer) blockEnd(start, end diag.Pos) diag.Pos {
	last := min(max(start.Line, end.Line), len(l.lines))
	header, _, _ := strings.Cut(string(l.line(start.Line)[start.Col-1:]), "#")
	for strings.Contains(header, "+") && last < len(l.lines) && strings.TrimSpace(string(l.line(last+1))) == "" {
		last++
	}
	return diag.Pos{Line: last, Col: len(l.line(last)) + 1}
}

func (l *lexer) run() (tokens []Token, ok bool) {
	c := l.at(diag.Pos{Line: 1, Col: 1})
	for c.skipBlank(); !c.done(); c.skipBlank() {
		t := Token{Kind: PunctToken, Start: c.pos()}
		switch r := c.peek(); {
		case len(l.scalars) > 0 && compare(c.pos(), l.scalars[0].Start) >= 0:
			t = l.scalars[0]
			if t.Start != c.pos() || compare(t.End, t.Start) <= 0 {
				return nil, false
			}
			l.scalars = l.scalars[1:]
			c = l.at(t.End)
		case r == '#':
			t.Kind = CommentToken
			c.col = len(l.line(c.line)) + 1
		case r == '&' || r == '*':
			t.Kind = NameToken
			for !isBlank(c.peek()) && !strings.ContainsRune(",[]{}", c.peek()) {
				c.next()
			}
		case c.col == 1 && isMarker(string(l.line(c.line))):
			c.col += 3
		case strings.ContainsRune("-?:,{}[]", r):
			c.next()
		default:
			return nil, false
		}
		if t.End == (diag.Pos{}) {
			t.End = c.pos()
		}
		t.Text = l.textOf(t)
		tokens = append(tokens, t)
	}
	return tokens, len(l.scalars) == 0
}

// isMarker reports whether a line begins with --- or ... .
func isMarker(line string) bool {
	rest, ok := strings.CutPrefix(line, "---")
	if !ok {
		rest, ok = strings.CutPrefix(line, "...")
	}
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// textOf returns the text of a token, or what it has on its first line.
func (l *lexer) textOf(t Token) string {
	line, end := l.line(t.Start.Line), t.End.Col-1
	if t.End.Line > t.Start.Line {
		end = len(line)
	}
	return strings.TrimRight(string(line[t.Start.Col-1:min(end, len(line))]), " \t")
}

// Lines returns the lines of a text as ranges count them, without their ends.
func Lines(text []byte) []string {
	s := newSource("", bytes.TrimPrefix(text, []byte("\ufeff")))
	lines := make([]string, len(s.lines))
	for i := range lines {
		lines[i] = string(s.lines[i])
	}
	return lines
}
