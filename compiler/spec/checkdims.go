package spec

import (
	"strconv"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// tensorType parses `dtype[dim, …]`, once.
func (c *checked) tensorType(n *tree.Node) *tensorType {
	if t, ok := c.types[n]; ok {
		return t
	}
	t := c.parseTensorType(n)
	c.types[n] = t
	return t
}

func (c *checked) parseTensorType(n *tree.Node) *tensorType {
	text := []rune(n.Text)
	open := strings.IndexRune(n.Text, '[')
	if open < 0 || text[len(text)-1] != ']' {
		c.report(fault.BadDim(n.Range, "a tensor type is written dtype[dim, …], such as int64[batch, sequence]"))
		return nil
	}
	word := n.Text[:open]
	open = len([]rune(word))
	t := &tensorType{model: word == "model", dtype: dtypeOf[word]}
	if !t.model && t.dtype == 0 {
		c.report(fault.UnknownDType(n.Span(0, open), word, append([]string{"model"}, dtypeWords...)))
		return nil
	}
	for _, piece := range splitDims(text, open+1, len(text)-1) {
		from := piece[0]
		e, d := expr.Parse(string(text[from:piece[1]]), func(a, b int) diag.Range { return n.Span(from+a, from+b) })
		if d != nil {
			c.report(d)
			return nil
		}
		t.dims = append(t.dims, e)
	}
	return t
}

// splitDims cuts text[from:to] at the commas outside brackets.
func splitDims(text []rune, from, to int) [][2]int {
	var pieces [][2]int
	depth, begin := 0, from
	for i := from; i < to; i++ {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				pieces = append(pieces, [2]int{begin, i})
				begin = i + 1
			}
		}
	}
	if strings.TrimSpace(string(text[begin:to])) != "" || len(pieces) > 0 {
		pieces = append(pieces, [2]int{begin, to})
	}
	return pieces
}

// dimExpr returns the expression of one dim; a number stands for itself.
func (c *checked) dimExpr(n *tree.Node) *expr.Expr {
	if e, ok := c.exprs[n]; ok {
		return e
	}
	if n.Kind == tree.Int || n.Kind == tree.String {
		text := n.Text
		if n.Kind == tree.Int {
			text = strconv.FormatInt(n.Int, 10)
		}
		e, d := expr.Parse(text, n.Span)
		c.report(d)
		c.exprs[n] = e
		return e
	}
	c.report(fault.WrongType(n.Range, "a number, a symbol or an expression", n.Describe()))
	return nil
}

// dim checks a dim: an expression in which a name that means nothing else is a
// symbol.
func (c *checked) dim(e *expr.Expr, ctx context) {
	ctx.words = nil
	c.dimNode(e, e.Root, ctx)
}

func (c *checked) dimNode(e *expr.Expr, n expr.Node, ctx context) {
	if !c.hasSymbol(n, ctx) {
		part := *e
		part.Root = n
		c.typed(&part, expr.FloatT, ctx)
		return
	}
	switch n := n.(type) {
	case *expr.Name:
		c.uses.symbols[n.Name] = append(c.uses.symbols[n.Name], e.Range(n))
		return
	case *expr.Binary:
		switch n.Op {
		case "+", "-", "*", "/", "//":
			c.dimNode(e, n.X, ctx)
			c.dimNode(e, n.Y, ctx)
			return
		}
	}
	c.report(fault.BadDim(e.Range(n), "a dim is a sum, difference, product or quotient of numbers and symbols"))
}

// hasSymbol reports whether a part of a dim mentions a symbol.
func (c *checked) hasSymbol(n expr.Node, ctx context) bool {
	for _, path := range expr.Paths(n) {
		head, _, dotted := strings.Cut(path, ".")
		if _, defined := c.definition(head, ctx); !defined && !dotted && head != "layer" && head != "kind" {
			return true
		}
	}
	return false
}
