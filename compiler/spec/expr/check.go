package expr

import (
	"maps"
	"slices"

	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"
)

// Scope says what the names of an expression are, before any config is read.
type Scope interface {
	// NameType returns the type of a name. A name that may not be used at r
	// gives a finding; the type is then AnyT.
	NameType(name string, r diag.Range) (Type, *diag.Diagnostic)
	// Missing may add to a finding about a field that a section of the config
	// does not have.
	Missing(d *diag.Diagnostic, section, field string)
}

// Check finds the type of an expression, and every unknown name, wrong type and
// wrong call in it.
func Check(e *Expr, s Scope) (Type, diag.List) {
	c := &checker{e: e, s: s}
	t := c.of(e.Root)
	return t, c.found
}

type checker struct {
	e     *Expr
	s     Scope
	found diag.List
}

func (c *checker) report(d *diag.Diagnostic) Type {
	if d != nil {
		c.found.Add(*d)
	}
	return AnyT
}

// want checks that a part has a type, and returns its own.
func (c *checker) want(n Node, want Type) Type {
	t := c.of(n)
	if !t.Fits(want) {
		if t.Kind == FloatType && want.Kind == IntType {
			return c.report(fault.FloatForInt(c.e.Range(n)))
		}
		return c.report(fault.TypeMismatch(c.e.Range(n), want.String(), t.String()))
	}
	if t.Kind == NoneType {
		return c.report(fault.NoValue(c.e.Range(n), "this"))
	}
	return t
}

func (c *checker) of(n Node) Type {
	switch n := n.(type) {
	case *Literal:
		return typeOf(n.Value)
	case *Name:
		t, d := c.s.NameType(n.Name, c.e.Range(n))
		c.report(d)
		return t
	case *Attr:
		return c.attr(n)
	case *Index:
		return c.index(n)
	case *Slice:
		t := c.of(n.X)
		for _, bound := range []Node{n.From, n.To} {
			if bound != nil {
				c.want(bound, IntT)
			}
		}
		if t.Kind != ListType && t.Kind != StringType && t.Kind != Any {
			return c.report(fault.TypeMismatch(c.e.Range(n.X), "a list", t.String()))
		}
		return t
	case *Call:
		return c.call(n)
	case *Unary:
		if n.Op == "not" {
			c.of(n.X)
			return BoolT
		}
		return c.want(n.X, FloatT)
	case *Binary:
		return c.binary(n)
	case *Cond:
		c.of(n.If)
		if n.Else == nil {
			return join(c.of(n.Then), NoneT)
		}
		return join(c.of(n.Then), c.of(n.Else))
	case *ListOf:
		elem := AnyT
		for i, item := range n.Items {
			if t := c.of(item); i == 0 {
				elem = t
			} else {
				elem = join(elem, t)
			}
		}
		return ListOfT(elem)
	}
	return AnyT
}

// typeOf returns the type of a literal.
func typeOf(v Value) Type {
	switch v := v.(type) {
	case nil:
		return NoneT
	case bool:
		return BoolT
	case int64:
		return IntT
	case float64:
		return FloatT
	case string:
		return StringT
	case []Value:
		elem := AnyT
		if len(v) > 0 {
			elem = typeOf(v[0])
		}
		return ListOfT(elem)
	}
	return AnyT
}

func (c *checker) attr(n *Attr) Type {
	t := c.of(n.X)
	at := c.e.at(n.NameAt.from, n.NameAt.to)
	switch t.Kind {
	case Any:
		return AnyT
	case RecordType:
		if f, ok := t.Fields[n.Name]; ok {
			return f
		}
		name, _ := Path(n.X)
		d := fault.UnknownField(at, "section "+name, n.Name, t.names())
		c.s.Missing(d, name, n.Name)
		return c.report(d)
	case MapType:
		return *t.Elem
	}
	return c.report(fault.TypeMismatch(c.e.Range(n.X), "a section of the config", t.String()))
}

func (c *checker) index(n *Index) Type {
	t := c.of(n.X)
	switch t.Kind {
	case ListType:
		c.want(n.I, IntT)
		return *t.Elem
	case MapType:
		c.want(n.I, StringT)
		return *t.Elem
	case Any:
		c.of(n.I)
		return AnyT
	}
	c.of(n.I)
	return c.report(fault.TypeMismatch(c.e.Range(n.X), "a list", t.String()))
}

func (c *checker) call(n *Call) Type {
	f := Functions[n.Func]
	if f == nil {
		for _, a := range n.Args {
			c.of(a)
		}
		return c.report(fault.UnknownFunction(c.e.at(n.FuncAt.from, n.FuncAt.to), n.Func, slices.Sorted(maps.Keys(Functions))))
	}
	if len(n.Args) < f.Min || f.Max >= 0 && len(n.Args) > f.Max {
		return c.report(fault.BadArguments(c.e.Range(n), n.Func, f.Takes, len(n.Args)))
	}
	args := make([]Type, len(n.Args))
	for i, a := range n.Args {
		args[i] = c.want(a, f.arg(i))
	}
	return f.Result(args)
}

func (c *checker) binary(n *Binary) Type {
	switch n.Op {
	case "and", "or":
		return join(c.of(n.X), c.of(n.Y))
	case "==", "!=":
		if a, b := c.of(n.X), c.of(n.Y); !comparable(a, b) {
			c.report(fault.NeverEqual(c.e.Range(n), a.String(), b.String()))
		}
		return BoolT
	case "<", "<=", ">", ">=":
		c.want(n.X, FloatT)
		c.want(n.Y, FloatT)
		return BoolT
	case "in", "not in":
		c.membership(n)
		return BoolT
	}
	a := c.of(n.X)
	if n.Op == "+" && (a.Kind == StringType || a.Kind == ListType) {
		c.want(n.Y, a)
		return a
	}
	a, b := c.numeric(n.X, a), c.want(n.Y, FloatT)
	return arithmetic(n, a, b)
}

// numeric checks a part whose type is known already.
func (c *checker) numeric(n Node, t Type) Type {
	if t.Kind == NoneType {
		return c.report(fault.NoValue(c.e.Range(n), "this"))
	}
	if !t.numeric() {
		return c.report(fault.TypeMismatch(c.e.Range(n), FloatT.String(), t.String()))
	}
	return t
}

// arithmetic returns the type of a result: / and a negative power give a
// fraction, whole numbers give whole numbers otherwise.
func arithmetic(n *Binary, a, b Type) Type {
	if n.Op == "/" || a.Kind == FloatType || b.Kind == FloatType {
		return FloatT
	}
	if u, ok := n.Y.(*Unary); ok && n.Op == "**" && u.Op == "-" {
		return FloatT
	}
	if a.Kind == Any || b.Kind == Any {
		return AnyT
	}
	return IntT
}

func (c *checker) membership(n *Binary) {
	x, in := c.of(n.X), c.of(n.Y)
	switch in.Kind {
	case Any, NoneType, MapType:
	case ListType:
		if !comparable(x, *in.Elem) {
			c.report(fault.NeverEqual(c.e.Range(n.X), x.String(), "an entry of this list"))
		}
	case StringType:
		if !x.Fits(StringT) {
			c.report(fault.TypeMismatch(c.e.Range(n.X), "text", x.String()))
		}
	default:
		c.report(fault.TypeMismatch(c.e.Range(n.Y), "a list", in.String()))
	}
}
