package ops

import (
	"maps"
	"slices"
	"strconv"

	"mobiusc/ir"
)

// Overlay returns an environment that knows what env knows and keeps what it
// infers to itself: neither env nor any value is changed. It infers a million
// nodes at most, trial runs of loop bodies included; later ones get no types.
func (env *Env) Overlay() *Env {
	t := env.trial()
	budget := trialBudget
	t.budget = &budget
	return t
}

// InFunction returns an overlay for the body of a function with the given
// values of its attribute parameters.
func (env *Env) InFunction(f *ir.Function, attrs map[string]*ir.Attr) *Env {
	t := env.trial()
	t.depth++
	t.bind = attrs
	t.opsets = maps.Clone(env.opsets)
	for _, o := range f.Opsets {
		t.opsets[canonical(o.Domain)] = o.Version
	}
	return t
}

// SetType makes t what an overlay knows of a value's type, whatever the value
// declares; nil is nothing.
func (env *Env) SetType(v *ir.Value, t *ir.Type) { env.types[v] = t }

// Assume makes what env knows of one value's content known of another: of an
// argument and a function's parameter.
func (env *Env) Assume(v, like *ir.Value, in *Env) {
	if f := in.fact(like); f.tensor != nil || f.sizes != nil {
		env.facts[v] = f
	}
}

// Adopt gives v the type and the content that another environment knows of like,
// with symbols replaced.
func (env *Env) Adopt(v, like *ir.Value, in *Env, symbols *ir.Substitution) error {
	f := in.fact(like)
	if f.sizes != nil {
		f.sizes = slices.Clone(f.sizes)
		for i, d := range f.sizes {
			f.sizes[i] = symbols.Dim(d)
		}
	}
	if f.tensor != nil || f.sizes != nil {
		env.facts[v] = f
	}
	return env.Refine(v, symbols.Type(in.Type(like)))
}

// AppendContent appends to b what env knows of a value's content. Two values of
// one type with equal texts are alike to inference.
func (env *Env) AppendContent(b []byte, v *ir.Value) []byte {
	if t := env.Constant(v); t != nil {
		b = append(b, '=')
		b = append(b, t.Raw...)
		for _, s := range t.Strings {
			b = strconv.AppendQuote(b, string(s))
		}
		return b
	}
	for _, d := range env.Sizes(v) {
		b = append(b, ' ')
		b = append(b, d.String()...)
	}
	return b
}
