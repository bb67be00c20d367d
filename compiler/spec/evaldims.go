package spec

import (
	"math"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/ir"
)

// dim evaluates one dim. A name without a value is a symbol.
func (ev *evaluator) dim(e *expr.Expr, at place) (ir.Dim, bool) {
	at.words, at.owner = nil, nil
	return ev.dimNode(e, e.Root, at)
}

func (ev *evaluator) dimNode(e *expr.Expr, n expr.Node, at place) (ir.Dim, bool) {
	if !ev.hasSymbol(n, context{lets: at.lets}) {
		part := *e
		part.Root = n
		v, d := ev.eval(&part, at)
		if d != nil {
			ev.fail(d)
			return ir.Dim{}, false
		}
		return ev.dimOf(e, n, v)
	}
	switch n := n.(type) {
	case *expr.Name:
		return ir.Sym(n.Name), true
	case *expr.Binary:
		x, okX := ev.dimNode(e, n.X, at)
		y, okY := ev.dimNode(e, n.Y, at)
		if !okX || !okY {
			return ir.Dim{}, false
		}
		out := map[string]func(ir.Dim, ir.Dim) ir.Dim{
			"+": ir.Dim.Add, "-": ir.Dim.Sub, "*": ir.Dim.Mul, "/": ir.Dim.Div, "//": ir.Dim.FloorDiv,
		}[n.Op](x, y)
		if !out.Known() {
			ev.fail(fault.BadDim(e.Range(n), "this dim cannot be computed"))
		}
		return out, out.Known()
	}
	ev.fail(fault.BadDim(e.Range(n), "a dim is a sum, difference, product or quotient of numbers and symbols"))
	return ir.Dim{}, false
}

// dimOf makes a dim of a number.
func (ev *evaluator) dimOf(e *expr.Expr, n expr.Node, v expr.Value) (ir.Dim, bool) {
	switch v := v.(type) {
	case int64:
		return ir.Int(v), true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return ir.Int(int64(v)), true
		}
	}
	ev.fail(fault.BadDim(e.Range(n), "a dim must be a whole number, and this is "+expr.Format(v)))
	return ir.Dim{}, false
}

// tensor evaluates a tensor type.
func (ev *evaluator) tensor(n *tree.Node, at place) *ir.Type {
	t := ev.tensorType(n)
	if t == nil {
		return nil
	}
	elem := t.dtype
	if t.model {
		elem = dtypeOf[ev.compute]
	}
	dims := make([]ir.Dim, len(t.dims))
	for i, e := range t.dims {
		before := len(ev.errs)
		d, ok := ev.dim(e, at)
		if !ok {
			ev.explain(before, at, e)
			return nil
		}
		if size, isNumber := d.Int(); isNumber && size < 0 {
			ev.fail(fault.BadNumber(e.Range(e.Root), "a dim", "0 or more", expr.Format(size)))
			ev.explain(before, at, e)
			return nil
		}
		dims[i] = d
	}
	return ir.TensorOf(elem, dims...)
}
