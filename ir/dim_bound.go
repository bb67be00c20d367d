package ir

import (
	"slices"
	"strings"
)

// A proof replaces atoms by bounds, at most proofDepth one after the other, and
// gives up after proofSteps: it must not take longer than what it simplifies is
// worth.
const (
	proofDepth = 3
	proofSteps = 24
)

// nonNegative reports whether p ≥ 0 is known to hold for all sizes of the
// symbols.
func (p *poly) nonNegative() bool {
	steps := proofSteps
	return p.proveNonNegative(proofDepth, &steps)
}

// proveNonNegative looks at the signs of the terms. Where they do not show it,
// one atom after the other is replaced by a bound.
func (p *poly) proveNonNegative(depth int, steps *int) bool {
	*steps--
	if p == nil || *steps < 0 {
		return false
	}
	if p.plainlyNonNegative() {
		return true
	}
	if depth == 0 {
		return false
	}
	for _, a := range p.boundableAtoms() {
		factor, rest, ok := p.linearIn(a)
		if !ok {
			continue
		}
		rising := factor.plainlyNonNegative()
		if !rising && !factor.negated().plainlyNonNegative() {
			continue
		}
		if a.boundProves(rising, func(bound *poly) bool {
			return add(mul(factor, bound), rest, 1).proveNonNegative(depth-1, steps)
		}) {
			return true
		}
	}
	return false
}

// plainlyNonNegative reports whether every coefficient and every atom is at
// least 0.
func (p *poly) plainlyNonNegative() bool {
	for _, t := range p.terms {
		if t.coef < 0 {
			return false
		}
		for _, a := range t.atoms {
			if !a.nonNeg {
				return false
			}
		}
	}
	return true
}

// boundProves reports whether p ≥ 0 follows for a polynomial p that rises or
// falls with a, given a test of p with a replaced.
func (a *atom) boundProves(rising bool, holds func(*poly) bool) bool {
	switch {
	case a.kind == floorAtom:
		return holds(a.floorBound(rising))
	case (a.kind == maxAtom) == rising:
		return slices.ContainsFunc(a.args, holds) // each argument is a bound
	default: // the atom is one of its arguments, which one is not known
		return !slices.ContainsFunc(a.args, func(p *poly) bool { return !holds(p) })
	}
}

// floorBound returns the lower bound (e - d + 1)/d or the upper bound e/d of
// floor(e/d); nil where d is no number.
func (a *atom) floorBound(lower bool) *poly {
	e, d := a.args[0], a.args[1]
	n, _, ok := d.constant()
	if !ok {
		return nil
	}
	if lower {
		e = add(e, constant(n-1), -1)
	}
	return exactDiv(e, d)
}

// boundableAtoms returns the atoms of p's terms that are no symbols.
func (p *poly) boundableAtoms() []*atom {
	var found []*atom
	for _, t := range p.terms {
		for _, a := range t.atoms {
			same := func(b *atom) bool { return compareAtoms(a, b) == 0 }
			if a.kind != symbolAtom && !slices.ContainsFunc(found, same) {
				found = append(found, a)
			}
		}
	}
	return found
}

// linearIn splits p = factor*a + rest; ok is false if p has a higher power of a.
func (p *poly) linearIn(a *atom) (factor, rest *poly, ok bool) {
	var with, without []term
	for _, t := range p.terms {
		others, has := withoutAtoms(t.atoms, []*atom{a})
		if !has {
			without = append(without, t)
			continue
		}
		if _, again := withoutAtoms(others, []*atom{a}); again {
			return nil, nil, false
		}
		with = append(with, term{t.coef, others})
	}
	return newPoly(with, p.den), newPoly(without, p.den), true
}

// extremum returns the smallest (minAtom) or largest (maxAtom) of the
// arguments, leaving out those that are known not to decide it.
func extremum(kind atomKind, args []*poly) *poly {
	var flat []*poly
	for _, p := range args {
		if p == nil {
			return nil
		}
		if a := p.soleAtom(); a != nil && a.kind == kind {
			flat = append(flat, a.args...)
		} else {
			flat = append(flat, p)
		}
	}
	var kept []*poly
	for _, p := range flat {
		if slices.ContainsFunc(kept, func(k *poly) bool { return decides(kind, k, p) }) {
			continue
		}
		kept = slices.DeleteFunc(kept, func(k *poly) bool { return decides(kind, p, k) })
		kept = append(kept, p)
	}
	if len(kept) == 1 {
		return kept[0]
	}
	if len(kept) > maxArgs {
		return nil
	}
	return newExtremum(kind, kept)
}

// decides reports whether p is known to stand before q: p ≤ q for a minimum,
// p ≥ q for a maximum.
func decides(kind atomKind, p, q *poly) bool {
	if kind == minAtom {
		p, q = q, p
	}
	return add(p, q, -1).nonNegative()
}

// newExtremum returns the atom as it stands.
func newExtremum(kind atomKind, args []*poly) *poly {
	for _, p := range args {
		if p.key == "" {
			p.key = p.text()
		}
	}
	slices.SortFunc(args, func(p, q *poly) int { return strings.Compare(p.key, q.key) })
	isNonNeg := func(p *poly) bool { return p.nonNegative() }
	a := &atom{kind: kind, args: args}
	if kind == maxAtom {
		a.nonNeg = slices.ContainsFunc(args, isNonNeg)
	} else {
		a.nonNeg = !slices.ContainsFunc(args, func(p *poly) bool { return !isNonNeg(p) })
	}
	return a.sealed()
}
