package tree

import (
	"slices"
	"strings"

	"mobiusc/internal/diag"
)

// Step leads from a value to one inside it: by a key, or to an item of a list.
type Step struct {
	Key  string
	Item bool
}

// Cursor says what stands, or may come to stand, at a place of a file that need
// not be YAML: it is being written.
type Cursor struct {
	// Path leads to the mapping that a key would belong to, or to the value.
	Path []Step
	// Key is set where a key of a mapping may stand, Value where a value may. At
	// the beginning of a line both may.
	Key, Value bool
	Keys       []string // of the mapping that a key would belong to, but the one in hand
	Token      string   // what stands before the place, of the key or the value in hand
	Start      diag.Pos // where that begins
}

// level is an open list or mapping.
type open struct {
	col   int  // where its entries begin, in block style
	flow  rune // { or [, or 0 for block style
	list  bool
	key   string // of the entry in hand
	value bool   // the colon of the entry in hand was read
	full  bool   // and a value after it
	keys  []string
}

// CursorAt finds what stands at a place by indentation, colons and brackets
// alone, so that it works in every state of a file.
func CursorAt(text []byte, at diag.Pos) Cursor {
	s := &scanner{source: newSource("", []byte(strings.TrimPrefix(string(text), "\ufeff"))), at: at}
	for n := 1; n <= min(at.Line, len(s.lines)); n++ {
		if s.scanLine(n) {
			break
		}
	}
	if !s.found {
		return Cursor{}
	}
	if c := &s.cursor; c.Key && len(s.stack) > 0 && s.top().flow == 0 {
		c.Keys = append(c.Keys, s.following()...)
	}
	return s.cursor
}

type scanner struct {
	*source
	at     diag.Pos
	stack  []*open
	quote  rune // an open quote of a text over several lines
	block  int  // lines deeper than this are those of a scalar behind | or >; −1: none
	inText bool
	found  bool
	cursor Cursor
}

func (s *scanner) top() *open { return s.stack[len(s.stack)-1] }

func (s *scanner) inFlow() bool { return len(s.stack) > 0 && s.top().flow != 0 }

// path leads to the value that the innermost level is.
func (s *scanner) path() []Step {
	var path []Step
	for _, l := range s.stack[:max(len(s.stack)-1, 0)] {
		path = append(path, l.step())
	}
	return path
}

func (l *open) step() Step {
	if l.list {
		return Step{Item: true}
	}
	return Step{Key: l.key}
}

// scanLine reads a line; it reports whether the place was met.
func (s *scanner) scanLine(n int) bool {
	line := s.line(n)
	here := n == s.at.Line
	limit := len(line)
	if here {
		limit = min(limit, s.at.Col-1)
	}
	indent := 0
	for indent < len(line) && line[indent] == ' ' {
		indent++
	}
	if s.inText {
		blank := strings.TrimSpace(string(line)) == ""
		if indent > s.block || blank && !(here && limit <= s.block) {
			return here
		}
		s.inText = false
	}
	switch {
	case s.quote != 0 || s.inFlow():
		return s.inline(line, 0, limit, n, here)
	case indent == len(line) || line[indent] == '#' || here && limit < indent:
		if here && (indent == len(line) || limit <= indent) {
			s.closeTo(limit, false)
			s.fresh(limit, n, "")
		}
		return here
	}
	return s.blockLine(line, indent, limit, n, here)
}

// closeTo ends the levels that an entry at a column is not inside of.
func (s *scanner) closeTo(col int, dash bool) {
	for len(s.stack) > 0 {
		top := s.top()
		if top.col < col || top.col == col && top.list == dash {
			return
		}
		if top.col == col && dash && !top.list && top.value && !top.full {
			return // a list in the column of its key
		}
		s.stack = s.stack[:len(s.stack)-1]
	}
}

// blockLine reads a line in block style from its first character on.
func (s *scanner) blockLine(line []rune, i, limit, n int, here bool) bool {
	for i < len(line) && line[i] == '-' && (i+1 == len(line) || line[i+1] == ' ') {
		if here && limit <= i {
			return true
		}
		s.closeTo(i, true)
		if len(s.stack) == 0 || !s.top().list || s.top().col != i {
			s.fill()
			s.stack = append(s.stack, &open{col: i, list: true})
		}
		s.top().full = false
		i++
		for i < len(line) && line[i] == ' ' {
			i++
		}
	}
	if here && limit < i || i == len(line) {
		if here {
			s.closeTo(limit, false)
			s.fresh(limit, n, "")
		}
		return here
	}
	key, after, ok := keyAt(line, i)
	if !ok {
		s.closeTo(i, false)
		if here && limit <= s.plainEnd(line, i) && !strings.ContainsRune("{['\"|>", line[i]) {
			s.fresh(i, n, string(line[i:limit]))
			return true
		}
		return s.inline(line, i, limit, n, here)
	}
	s.closeTo(i, false)
	if len(s.stack) == 0 || s.top().list || s.top().col != i {
		s.fill()
		s.stack = append(s.stack, &open{col: i})
	}
	top := s.top()
	if here && limit < after {
		s.meet(Cursor{Path: s.path(), Key: true, Keys: slices.Clone(top.keys), Token: string(line[i:limit]), Start: diag.Pos{Line: n, Col: i + 1}})
		return true
	}
	top.key, top.value, top.full = key, true, false
	top.keys = append(top.keys, key)
	return s.inline(line, after, limit, n, here)
}

// fill notes that the entry in hand has a value.
func (s *scanner) fill() {
	if len(s.stack) > 0 {
		s.top().full = true
	}
}

func (s *scanner) meet(c Cursor) { s.found, s.cursor = true, c }

// fresh meets a place where a line begins with something that may become a key
// or a value. Levels that it is not inside of are closed.
func (s *scanner) fresh(col, n int, token string) {
	c := Cursor{Token: token, Start: diag.Pos{Line: n, Col: col + 1}}
	switch {
	case len(s.stack) == 0:
		c.Key = true
	case !s.top().list && s.top().col == col:
		c.Key, c.Path, c.Keys = true, s.path(), slices.Clone(s.top().keys)
	case s.top().list && s.top().full, !s.top().list && (!s.top().value || s.top().full):
		return // a text that goes on
	default:
		c.Key, c.Value, c.Path = true, true, append(s.path(), s.top().step())
	}
	s.meet(c)
}

// keyAt reads a key with its colon; after is behind the colon.
func keyAt(line []rune, i int) (key string, after int, ok bool) {
	start := i
	if q := line[i]; q == '"' || q == '\'' {
		for i++; i < len(line) && line[i] != q; i++ {
			if q == '"' && line[i] == '\\' {
				i++
			}
		}
		if i++; i >= len(line) || line[i] != ':' {
			return "", 0, false
		}
		return string(line[start+1 : i-1]), i + 1, true
	}
	if strings.ContainsRune("{[#|>&*!%@`", line[i]) {
		return "", 0, false
	}
	for ; i < len(line); i++ {
		if line[i] == '#' && i > start && line[i-1] == ' ' {
			return "", 0, false
		}
		if line[i] == ':' && (i+1 == len(line) || line[i+1] == ' ') {
			return strings.TrimSpace(string(line[start:i])), i + 1, true
		}
	}
	return "", 0, false
}

// plainEnd returns where a plain text on a line ends.
func (s *scanner) plainEnd(line []rune, i int) int {
	for ; i < len(line); i++ {
		if line[i] == '#' && i > 0 && line[i-1] == ' ' {
			return i
		}
	}
	return len(line)
}

// inline reads what follows a key or a dash, and lines in flow style.
func (s *scanner) inline(line []rune, i, limit, n int, here bool) bool {
	for {
		if s.quote == 0 {
			for i < len(line) && line[i] == ' ' && !(here && i == limit) {
				i++
			}
		}
		if here && limit <= i && s.quote == 0 {
			s.gap(limit, n)
			return true
		}
		if i >= len(line) {
			return here
		}
		start := i
		switch r := line[i]; {
		case s.quote != 0 || r == '"' || r == '\'':
			i = s.quoted(line, i)
			if here && (limit < i || s.quote != 0) {
				s.text(line, min(start+1, limit), limit, n)
				return true
			}
			s.scalar(string(line[start:i]))
		case r == '#':
			return here
		case r == '{' || r == '[':
			s.fill()
			s.stack = append(s.stack, &open{flow: r, list: r == '['})
			i++
		case (r == '}' || r == ']') && s.inFlow():
			s.stack = s.stack[:len(s.stack)-1]
			i++
		case r == ',' && s.inFlow():
			s.top().value, s.top().full, s.top().key = false, false, ""
			i++
		case r == ':' && s.inFlow():
			s.colon()
			i++
		case (r == '|' || r == '>') && !s.inFlow():
			s.inText, s.block = true, s.blockIndent()
			s.fill()
			return here
		case r == '&' || r == '!' || r == '*':
			for i < len(line) && !strings.ContainsRune(" ,]}", line[i]) {
				i++
			}
			if r == '*' {
				s.fill()
			}
			if here && limit <= i {
				return true
			}
		default:
			i = s.plain(line, i)
			if here && limit <= i {
				s.text(line, start, limit, n)
				return true
			}
			s.scalar(strings.TrimSpace(string(line[start:i])))
		}
	}
}

// blockIndent is the indentation of what holds a scalar behind | or >.
func (s *scanner) blockIndent() int {
	if len(s.stack) == 0 {
		return -1
	}
	return s.top().col
}

// quoted returns the end of a quoted text on this line; s.quote stays set where
// the text goes on.
func (s *scanner) quoted(line []rune, i int) int {
	if s.quote == 0 {
		s.quote = line[i]
		i++
	}
	for ; i < len(line); i++ {
		switch {
		case line[i] == '\\' && s.quote == '"':
			i++
		case line[i] == s.quote && s.quote == '\'' && i+1 < len(line) && line[i+1] == '\'':
			i++
		case line[i] == s.quote:
			s.quote = 0
			return i + 1
		}
	}
	return len(line)
}

// plain returns the end of a plain text.
func (s *scanner) plain(line []rune, i int) int {
	for start := i; i < len(line); i++ {
		switch r := line[i]; {
		case s.inFlow() && strings.ContainsRune(",{}[]", r), r == '#' && i > start && line[i-1] == ' ':
			return i
		case s.inFlow() && r == ':' && (i+1 == len(line) || strings.ContainsRune(" ,{}[]", line[i+1])):
			return i
		}
	}
	return len(line)
}

// colon ends the key of a flow mapping.
func (s *scanner) colon() {
	top := s.top()
	if top.flow == '{' {
		top.value, top.full = true, false
		top.keys = append(top.keys, top.key)
	}
}

// scalar notes a text that was read: a key of a flow mapping, or a value.
func (s *scanner) scalar(text string) {
	if s.inFlow() && s.top().flow == '{' && !s.top().value {
		s.top().key = strings.Trim(text, `"'`)
		return
	}
	s.fill()
}

// gap meets a place between texts.
func (s *scanner) gap(limit, n int) {
	s.text(nil, limit, limit, n)
}

// text meets a place in a text that begins at start, or where one may begin.
func (s *scanner) text(line []rune, start, limit, n int) {
	c := Cursor{Start: diag.Pos{Line: n, Col: start + 1}}
	if line != nil {
		c.Token = string(line[start:limit])
	}
	switch {
	case len(s.stack) == 0:
		return
	case s.top().flow == '{' && !s.top().value:
		if line == nil && s.top().key != "" {
			return // behind a key that lacks its colon
		}
		c.Key, c.Path, c.Keys = true, s.path(), slices.Clone(s.top().keys)
	case s.top().full:
		return
	default:
		c.Value, c.Path = true, append(s.path(), s.top().step())
	}
	s.meet(c)
}

// following returns the keys below the place that belong to the same mapping.
func (s *scanner) following() []string {
	var keys []string
	col := s.cursor.Start.Col - 1
	for n := s.at.Line + 1; n <= len(s.lines); n++ {
		line := s.line(n)
		indent := 0
		for indent < len(line) && line[indent] == ' ' {
			indent++
		}
		switch {
		case indent == len(line) || line[indent] == '#' || indent > col:
			continue
		case indent < col || line[indent] == '-':
			return keys
		}
		key, _, ok := keyAt(line, indent)
		if !ok {
			return keys
		}
		keys = append(keys, key)
	}
	return keys
}
