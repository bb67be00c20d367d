package spec

import (
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// scope gives the names of an expression their types.
type scope struct {
	c   *checked
	ctx context
}

// NameType implements expr.Scope.
func (s *scope) NameType(name string, r diag.Range) (expr.Type, *diag.Diagnostic) {
	c, ctx := s.c, s.ctx
	if slices.Contains(ctx.words, name) {
		if at, taken := c.definition(name, ctx); taken {
			return expr.AnyT, fault.AmbiguousWord(r, name, at)
		}
		return expr.StringT, nil
	}
	switch name {
	case "layer":
		if !ctx.layers {
			return expr.AnyT, fault.OutsideLayers(r, name, ctx.use)
		}
		return expr.IntT, nil
	case "kind":
		if !ctx.kind {
			return expr.AnyT, fault.OutsideLayers(r, name, ctx.use)
		}
		return expr.StringT, nil
	}
	if n := ctx.lets.Get(name); n != nil {
		return c.letType(name, n, ctx, r)
	}
	if k := c.config.key(name); k != nil && k.refused == "" {
		return k.static(), nil
	}
	return expr.AnyT, c.lacking(fault.UnknownName(r, name, c.known(ctx)), "config."+name, "let."+name)
}

// Missing implements expr.Scope.
func (s *scope) Missing(d *diag.Diagnostic, section, field string) {
	keys := strings.Join((&configKey{path: section}).keyPath(), ".") + ".keys"
	s.c.lacking(d, keys+"."+field, keys)
}

// definition returns where a name of the spec is defined.
func (c *checked) definition(name string, ctx context) (diag.Range, bool) {
	if e := ctx.lets.Entry(name); e != nil {
		return e.Key.Range, true
	}
	if k := c.config.key(name); k != nil {
		return k.keyAt, true
	}
	return diag.Range{}, false
}

// isName reports whether a word means something in an expression.
func (c *checked) isName(name string, ctx context) bool {
	_, defined := c.definition(name, ctx)
	return defined || name == "layer" || name == "kind" || slices.Contains(ctx.words, name)
}

// known returns the names that an expression may mention.
func (c *checked) known(ctx context) []string {
	names := slices.Concat(c.config.names(), ctx.lets.Keys(), ctx.words)
	if ctx.layers {
		names = append(names, "layer")
	}
	if ctx.kind {
		names = append(names, "kind")
	}
	return names
}

// letType returns the type of a named expression, which is checked where it is
// used: it may mention layer and kind.
func (c *checked) letType(name string, n *tree.Node, ctx context, r diag.Range) (expr.Type, *diag.Diagnostic) {
	c.uses.lets[name] = true
	key := letVisit{n, ctx.lets, ctx.layers, ctx.kind}
	if t, ok := c.letTypes[key]; ok {
		return t, nil
	}
	if c.openLets[n] { // checkLets reports it
		return expr.AnyT, nil
	}
	c.openLets[n] = true
	defer delete(c.openLets, n)
	inner := ctx
	inner.words, inner.use = nil, r
	t := c.expression(n, anyResult, inner)
	c.letTypes[key] = t
	return t, nil
}
