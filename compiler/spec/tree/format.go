package tree

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"
)

// Format lays a YAML file out in the one way of the project: two spaces a level,
// list items deeper than their key, one space after a colon, a comma and a dash,
// none inside brackets, no blanks at the ends of lines, at most one blank line,
// line feeds alone, one of them at the end. Text, comments, anchors, the order
// of keys and the breaks between lines stay as they are; a comment behind text
// keeps its column where it can.
//
// The result holds the same values as the text, and formatting it again changes
// nothing. A text that has findings is not formatted: they are returned.
func Format(file string, text []byte) ([]byte, diag.List) {
	before, found := ParseYAML(file, text)
	if len(found) > 0 {
		return nil, found
	}
	tokens, ok := Tokens(text)
	if !ok {
		return nil, diag.List{*fault.CannotFormat(before.Range)}
	}
	f := &formatter{source: newSource(file, []byte(strings.TrimPrefix(string(text), "\ufeff"))), tokens: tokens, levels: []level{{0, -1}}}
	out := []byte(f.run())
	if after, found := ParseYAML(file, out); len(found) > 0 || !Equal(before, after) {
		return nil, diag.List{*fault.CannotFormat(before.Range)}
	}
	return out, nil
}

// level is a list or a mapping in block style: the column in which its entries
// begin, as written and as laid out. A dash of a list has a level of its own.
type level struct{ old, new int }

// bracket is an open list or mapping in flow style.
type bracket struct {
	// base is what the lines inside are relative to: the bracket, or, when the
	// bracket ends its line, the beginning of the line.
	base level
}

type formatter struct {
	*source
	tokens   []Token
	levels   []level
	dashes   []int // columns, as written, of the levels that are lists
	brackets []bracket
	line     level // where the line in hand begins
	out      strings.Builder
	col      int // of the next character of out, from 1
}

func (f *formatter) run() string {
	f.col = 1
	for i, t := range f.tokens {
		if i == 0 || t.Start.Line > f.tokens[i-1].End.Line {
			f.newLine(i)
		} else {
			f.space(f.tokens[i-1], t)
		}
		f.enter(i)
		f.write(t)
	}
	if last := f.tokens[len(f.tokens)-1]; last.Kind == BlockToken && last.End.Line == len(f.lines) {
		return f.out.String() // a line feed would belong to the scalar
	}
	return f.out.String() + "\n"
}

func (f *formatter) put(text string) {
	f.out.WriteString(text)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		f.col, text = 1, text[i+1:]
	}
	f.col += utf8.RuneCountInString(text)
}

// newLine ends the line before token i and indents the next.
func (f *formatter) newLine(i int) {
	t := f.tokens[i]
	if i > 0 {
		f.put("\n")
		if t.Start.Line > f.tokens[i-1].End.Line+1 {
			f.put("\n")
		}
	}
	col := 0
	switch {
	case len(f.brackets) > 0:
		base, least := f.brackets[len(f.brackets)-1].base, f.top().new+1
		if t.Kind == PunctToken && strings.Contains("}]", t.Text) {
			least = f.top().new // a closing bracket may stand below the key
		}
		col = max(base.new+t.Start.Col-base.old, least)
	case t.Kind == CommentToken:
		col = f.commentColumn(i)
	case isMarkerToken(t):
		col = 1
	default:
		f.close(t)
		col = f.column(t)
	}
	f.put(strings.Repeat(" ", col-1))
	f.line = level{t.Start.Col, col}
}

func isMarkerToken(t Token) bool { return t.Kind == PunctToken && len(t.Text) == 3 }

func isDash(t Token) bool { return t.Kind == PunctToken && t.Text == "-" }

func (f *formatter) top() level { return f.levels[len(f.levels)-1] }

// close closes the levels that a token at the beginning of a line ends.
func (f *formatter) close(t Token) {
	for {
		top := f.top()
		list := len(f.dashes) > 0 && f.dashes[len(f.dashes)-1] == len(f.levels)
		// A list may stand in the column of the key above it.
		if top.old < t.Start.Col || top.old == t.Start.Col && (!list || isDash(t)) {
			return
		}
		f.levels = f.levels[:len(f.levels)-1]
		if list {
			f.dashes = f.dashes[:len(f.dashes)-1]
		}
	}
}

// column returns where a token at the beginning of a line goes, levels that it
// ends being closed.
func (f *formatter) column(t Token) int {
	if top := f.top(); top.old == t.Start.Col && !f.opensList(t) {
		return top.new
	}
	return f.top().new + 2
}

// opensList reports whether a dash begins a list, and is no further entry of one.
func (f *formatter) opensList(t Token) bool {
	list := len(f.dashes) > 0 && f.dashes[len(f.dashes)-1] == len(f.levels)
	return isDash(t) && !(list && f.top().old == t.Start.Col)
}

// commentColumn returns where a comment on a line of its own goes: with the
// line that follows, or with the level that it is written at.
func (f *formatter) commentColumn(i int) int {
	t := f.tokens[i]
	next := slices.IndexFunc(f.tokens[i:], func(t Token) bool { return t.Kind != CommentToken })
	if next >= 0 {
		follower := f.tokens[i+next]
		deeper := follower.Start.Col > f.top().old && t.Start.Col > f.top().old
		if t.Start.Col <= follower.Start.Col || deeper || isMarkerToken(follower) {
			after := *f
			after.levels, after.dashes = slices.Clone(f.levels), slices.Clone(f.dashes)
			after.close(follower)
			return after.column(follower)
		}
	}
	col := 1
	for _, l := range f.levels[1:] {
		if l.old <= t.Start.Col {
			col = l.new
		}
	}
	return col
}

// enter opens the level that a token begins.
func (f *formatter) enter(i int) {
	t := f.tokens[i]
	if len(f.brackets) > 0 || t.Kind == CommentToken || isMarkerToken(t) || t.Kind == PunctToken && t.Text != "-" && t.Text != "{" && t.Text != "[" {
		return
	}
	first := i == 0 || t.Start.Line > f.tokens[i-1].End.Line
	afterDash := !first && isDash(f.tokens[i-1])
	switch {
	case f.opensList(t):
		f.levels = append(f.levels, level{t.Start.Col, f.col})
		f.dashes = append(f.dashes, len(f.levels))
	case !isDash(t) && t.Kind != BlockToken && (first && f.top().old != t.Start.Col || afterDash):
		f.levels = append(f.levels, level{t.Start.Col, f.col})
	}
}

// space separates two tokens of one line.
func (f *formatter) space(before, t Token) {
	open := before.Kind == PunctToken && (before.Text == "{" || before.Text == "[")
	switch {
	case t.Kind == CommentToken:
		f.put(strings.Repeat(" ", max(2, t.Start.Col-f.col)))
	case open, t.Kind == PunctToken && strings.Contains(",}]", t.Text), t.Kind == PunctToken && t.Text == ":" && before.Kind != NameToken:
	default:
		f.put(" ")
	}
}

func (f *formatter) write(t Token) {
	start := level{t.Start.Col, f.col}
	switch {
	case t.Kind == CommentToken:
		f.put(comment(t.Text))
		return
	case t.Kind == BlockToken:
		f.put(t.Text)
		f.blockLines(t)
		return
	case t.Kind == PunctToken && strings.Contains("{[", t.Text):
		base := start
		if f.endsLine(t) {
			base = f.line
		}
		f.brackets = append(f.brackets, bracket{base})
	case t.Kind == PunctToken && strings.Contains("}]", t.Text) && len(f.brackets) > 0:
		f.brackets = f.brackets[:len(f.brackets)-1]
	}
	f.put(t.Text)
	for l := t.Start.Line + 1; l <= t.End.Line; l++ { // text over several lines
		line := f.source.line(l)
		if l == t.End.Line {
			line = line[:t.End.Col-1]
		}
		rest := strings.TrimLeft(string(line), " \t")
		f.put("\n")
		if rest = strings.TrimRight(rest, " \t"); rest != "" {
			indent := len(line) - utf8.RuneCountInString(strings.TrimLeft(string(line), " \t"))
			f.put(strings.Repeat(" ", max(indent+start.new-start.old, f.top().new)) + rest)
		}
	}
}

// endsLine reports whether nothing but a comment follows a token on its line.
func (f *formatter) endsLine(t Token) bool {
	i, _ := slices.BinarySearchFunc(f.tokens, t.Start, func(a Token, at diag.Pos) int { return compare(a.Start, at) })
	return i+1 == len(f.tokens) || f.tokens[i+1].Start.Line > t.End.Line || f.tokens[i+1].Kind == CommentToken
}

// blockLines writes the lines of a scalar behind | or >, one level deeper than
// what holds it. What is relative to their common indentation stays.
func (f *formatter) blockLines(t Token) {
	old, indent := max(f.top().old-1, 0), max(f.top().new-1, 0)
	blank := true
	for l := t.Start.Line + 1; l <= t.End.Line; l++ {
		blank = blank && strings.Trim(string(f.source.line(l)), " ") == ""
	}
	if digit := strings.IndexAny(t.Text, "123456789"); digit >= 0 && !strings.Contains(t.Text[:digit], "#") {
		old += int(t.Text[digit] - '0')
		indent += int(t.Text[digit] - '0')
	} else {
		indent += 2
		for l := t.Start.Line + 1; l <= t.End.Line; l++ {
			line := string(f.source.line(l))
			if text := strings.TrimLeft(line, " "); text != "" {
				old = len(line) - len(text)
				break
			}
		}
	}
	for l := t.Start.Line + 1; l <= t.End.Line; l++ {
		line := string(f.source.line(l))
		f.put("\n")
		if len(line) > old && !blank {
			f.put(strings.Repeat(" ", indent) + line[old:])
		}
	}
}

// comment puts a blank behind the #.
func comment(text string) string {
	if len(text) > 1 && !strings.ContainsRune(" #!\t", rune(text[1])) {
		return "# " + text[1:]
	}
	return text
}
