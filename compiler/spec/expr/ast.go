// Package expr reads, checks and evaluates the expressions of specs: a total
// language over numbers, words, lists and records, without loops, assignments or
// tensors. Every finding points into the text, as exactly as the text's place in
// its file is known.
package expr

import "mobiusc/internal/diag"

// Expr is a parsed expression.
type Expr struct {
	Root Node
	Text string
	at   func(from, to int) diag.Range
}

// Range returns the place of a node.
func (e *Expr) Range(n Node) diag.Range { return e.at(n.Span()) }

// NameRange returns the place of the name behind the dot of an attribute.
func (e *Expr) NameRange(a *Attr) diag.Range { return e.at(a.NameAt.from, a.NameAt.to) }

// Node is one part of an expression. Span counts characters of the text.
type Node interface{ Span() (from, to int) }

type span struct{ from, to int }

// Span returns the characters from, to (not included).
func (s span) Span() (from, to int) { return s.from, s.to }

// The parts of expressions.
type (
	// Literal is a number, text, true, false or none.
	Literal struct {
		span
		Value Value
	}
	// Name is a config key, a named expression, layer, kind or a word.
	Name struct {
		span
		Name string
	}
	// Attr is x.name.
	Attr struct {
		span
		X      Node
		Name   string
		NameAt span
	}
	// Index is x[i].
	Index struct {
		span
		X, I Node
	}
	// Slice is x[from:to]; either bound may be nil.
	Slice struct {
		span
		X, From, To Node
	}
	// Call is a call of one of the Functions.
	Call struct {
		span
		Func   string
		FuncAt span
		Args   []Node
	}
	// Unary is not x or -x.
	Unary struct {
		span
		Op string
		X  Node
	}
	// Binary is x op y, comparisons, in, and, or included.
	Binary struct {
		span
		Op   string
		X, Y Node
	}
	// Cond is a if c else b; Else is nil when absent, which means none.
	Cond struct {
		span
		If, Then, Else Node
	}
	// ListOf is [a, b, …].
	ListOf struct {
		span
		Items []Node
	}
)

// Walk calls f for every part of an expression, outermost first.
func Walk(n Node, f func(Node)) {
	if n == nil {
		return
	}
	f(n)
	switch n := n.(type) {
	case *Attr:
		Walk(n.X, f)
	case *Index:
		Walk(n.X, f)
		Walk(n.I, f)
	case *Slice:
		Walk(n.X, f)
		Walk(n.From, f)
		Walk(n.To, f)
	case *Call:
		for _, a := range n.Args {
			Walk(a, f)
		}
	case *Unary:
		Walk(n.X, f)
	case *Binary:
		Walk(n.X, f)
		Walk(n.Y, f)
	case *Cond:
		Walk(n.Then, f)
		Walk(n.If, f)
		Walk(n.Else, f)
	case *ListOf:
		for _, item := range n.Items {
			Walk(item, f)
		}
	}
}

// Path returns the dotted name that an expression is, such as vision.depth.
func Path(n Node) (string, bool) {
	switch n := n.(type) {
	case *Name:
		return n.Name, true
	case *Attr:
		if head, ok := Path(n.X); ok {
			return head + "." + n.Name, true
		}
	}
	return "", false
}

// Paths returns every dotted name that an expression reads, in order: of
// vision.depth the whole, not vision alone.
func Paths(n Node) []string {
	var paths []string
	inner := map[Node]bool{}
	Walk(n, func(n Node) {
		if path, ok := Path(n); ok && !inner[n] {
			paths = append(paths, path)
			for a, ok := n.(*Attr); ok; a, ok = a.X.(*Attr) {
				inner[a.X] = true
			}
		}
	})
	return paths
}

// Results returns the literals that an expression may yield as they are: itself,
// or a branch of a condition.
func Results(n Node) []*Literal {
	switch n := n.(type) {
	case *Literal:
		return []*Literal{n}
	case *Cond:
		return append(Results(n.Then), Results(n.Else)...)
	case *Binary:
		if n.Op == "or" {
			return append(Results(n.X), Results(n.Y)...)
		}
		if n.Op == "and" {
			return Results(n.Y)
		}
	}
	return nil
}
