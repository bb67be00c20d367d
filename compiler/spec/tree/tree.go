// Package tree holds structured text with positions: one node type, read from
// YAML (specs) or JSON (config.json). It is the only package that sees a YAML
// library, whose nodes have no end, keep duplicate keys and resolve 017 and bare
// dates in their own way: here scalars follow the core schema of YAML 1.2, and
// every node, and every stretch inside a scalar, has an exact range.
package tree

import (
	"strconv"

	"mobiusc/internal/diag"
)

// Kind says what a node holds.
type Kind uint8

// The kinds of nodes.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

// String names the kind as messages do: a list, a mapping, …
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "an integer", "a number", "text", "a list", "a mapping"}[k]
}

// Node is one value. Nodes are immutable: aliases of an anchor share one node,
// and what changes a tree builds a new one.
type Node struct {
	Kind  Kind
	Range diag.Range // the value as written, quotes and brackets included
	// Text is a scalar as text, unquoted: `017`, `true`, `hidden_size // 2`.
	Text  string
	Bool  bool
	Int   int64
	Float float64 // Int and Float
	// Missing is set for the null of an entry without a value (`key:`).
	Missing bool
	Items   []*Node // List
	Entries []Entry // Map, in the order written; keys are unique
	spots   func() []diag.Pos
}

// Entry is one key of a mapping with its value.
type Entry struct {
	Key   *Node // a String
	Value *Node
}

// Get returns the value of a key, or nil. It may be called on any node, nil too.
func (n *Node) Get(key string) *Node {
	if e := n.Entry(key); e != nil {
		return e.Value
	}
	return nil
}

// At returns the value under a path of keys, or nil.
func (n *Node) At(path ...string) *Node {
	for _, key := range path {
		n = n.Get(key)
	}
	return n
}

// Entry returns the entry of a key, or nil.
func (n *Node) Entry(key string) *Entry {
	if n == nil {
		return nil
	}
	for i := range n.Entries {
		if n.Entries[i].Key.Text == key {
			return &n.Entries[i]
		}
	}
	return nil
}

// Keys returns the keys of a mapping in order.
func (n *Node) Keys() []string {
	if n == nil {
		return nil
	}
	keys := make([]string, len(n.Entries))
	for i, e := range n.Entries {
		keys[i] = e.Key.Text
	}
	return keys
}

// IsScalar reports whether the node is neither a list nor a mapping.
func (n *Node) IsScalar() bool { return n.Kind < List }

// Span returns the range of the characters from, to (not included) of Text in
// the file, through quotes, escapes and folded lines.
func (n *Node) Span(from, to int) diag.Range {
	r := n.Range
	if n.spots == nil {
		return r
	}
	spots := n.spots()
	if spots == nil || from < 0 || to < from || to >= len(spots) {
		return r
	}
	r.Start, r.End = spots[from], spots[to]
	if to > from { // not past a line break that follows the last character
		last := spots[to-1]
		r.End = diag.Pos{Line: last.Line, Col: last.Col + 1}
		if next := spots[to]; next.Line == last.Line {
			r.End = next
		}
	}
	return r
}

// Interface returns the node as encoding/json would decode it: nil, bool, int64,
// float64, string, []any, map[string]any.
func (n *Node) Interface() any {
	switch n.Kind {
	case Null:
		return nil
	case Bool:
		return n.Bool
	case Int:
		return n.Int
	case Float:
		return n.Float
	case String:
		return n.Text
	case List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = item.Interface()
		}
		return list
	}
	m := make(map[string]any, len(n.Entries))
	for _, e := range n.Entries {
		m[e.Key.Text] = e.Value.Interface()
	}
	return m
}

// Equal reports whether two trees hold the same values, wherever they stand.
// The order of keys does not matter.
func Equal(a, b *Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) || len(a.Entries) != len(b.Entries) {
		return false
	}
	for i := range a.Items {
		if !Equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for _, e := range a.Entries {
		if other := b.Get(e.Key.Text); other == nil || !Equal(e.Value, other) {
			return false
		}
	}
	return a.Kind >= List || a.Text == b.Text
}

// NewText returns a text node that stands at a given place.
func NewText(text string, at diag.Range) *Node {
	return &Node{Kind: String, Text: text, Range: at}
}

// NewMap returns a mapping that stands at a given place.
func NewMap(at diag.Range, entries ...Entry) *Node {
	return &Node{Kind: Map, Range: at, Entries: entries}
}

// With returns a copy of a mapping in which key has the given value, in its old
// place or at the end; a nil value removes the key.
func (n *Node) With(key, value *Node) *Node {
	out := *n
	out.Entries = make([]Entry, 0, len(n.Entries)+1)
	found := false
	for _, e := range n.Entries {
		if e.Key.Text != key.Text {
			out.Entries = append(out.Entries, e)
			continue
		}
		found = true
		if value != nil {
			out.Entries = append(out.Entries, Entry{key, value})
		}
	}
	if !found && value != nil {
		out.Entries = append(out.Entries, Entry{key, value})
	}
	return &out
}

// Describe returns the node as a message quotes it: a short scalar in backquotes,
// else the name of its kind.
func (n *Node) Describe() string {
	switch {
	case n.Kind >= List:
		return n.Kind.String()
	case n.Kind == Null:
		return "null"
	case len([]rune(n.Text)) > 40:
		return strconv.Quote(string([]rune(n.Text)[:37]) + "…")
	case n.Kind == String:
		return strconv.Quote(n.Text)
	}
	return n.Text
}
