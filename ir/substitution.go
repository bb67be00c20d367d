package ir

import "slices"

// Substitution replaces symbols in many types by the same dims.
type Substitution struct {
	sizes map[string]Dim
	done  map[string]Dim // results by the text of the dim: types repeat few
}

// NewSubstitution returns one that replaces every symbol which has an entry.
func NewSubstitution(sizes map[string]Dim) *Substitution {
	return &Substitution{sizes, map[string]Dim{}}
}

// Dim returns d with its symbols replaced.
func (s *Substitution) Dim(d Dim) Dim {
	if !s.applies(d) {
		return d
	}
	key := d.e.key
	out, ok := s.done[key]
	if !ok {
		out = d.Substitute(s.sizes)
		s.done[key] = out
	}
	return out
}

func (s *Substitution) applies(d Dim) bool {
	return len(s.sizes) > 0 && d.kind == dimSymbolic && d.e.mentions(s.sizes)
}

// Type returns the type with the symbols of its dims replaced; the type itself
// if there are none.
func (s *Substitution) Type(t *Type) *Type {
	if t == nil {
		return nil
	}
	inner := s.Type(t.Inner)
	if inner == t.Inner && !slices.ContainsFunc(t.Shape, s.applies) {
		return t
	}
	c := *t
	c.Inner = inner
	c.Shape = slices.Clone(t.Shape)
	for i, d := range c.Shape {
		c.Shape[i] = s.Dim(d)
	}
	return &c
}
