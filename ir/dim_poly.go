package ir

import (
	"slices"
	"strings"
)

// poly is a polynomial with rational coefficients in canonical form. A nil
// *poly is unknown and makes every result unknown. What overflows or exceeds one
// of the limits below is nil too.
type poly struct {
	// terms are sorted by degree, highest first, then by the keys of their
	// atoms: an admissible order, as polynomial division needs. Coefficients
	// are not 0 and have no factor in common with den.
	terms []term
	den   int64  // common denominator, at least 1
	key   string // canonical text, set by dim
}

// term is coef times the product of atoms, which are sorted by key and
// repeated for powers.
type term struct {
	coef  int64
	atoms []*atom
}

type atomKind uint8

const (
	symbolAtom atomKind = iota
	floorAtom           // floor(args[0]/args[1]), both with denominator 1
	minAtom
	maxAtom
)

// atom is an indivisible factor whose value is a whole number.
type atom struct {
	kind   atomKind
	name   string // symbolAtom
	args   []*poly
	key    string // canonical text
	nonNeg bool   // known to be at least 0
}

// Limits of what is represented, far above what shapes need.
const (
	maxTerms  = 64
	maxDegree = 16
	maxArgs   = 8    // of min and max
	maxText   = 2048 // bytes of canonical text
)

func constant(n int64) *poly {
	if n == 0 {
		return &poly{den: 1}
	}
	return &poly{terms: []term{{coef: n}}, den: 1}
}

func atomPoly(a *atom) *poly {
	return &poly{terms: []term{{1, []*atom{a}}}, den: 1}
}

// sealed fixes the key of a floor, min or max and returns it as a polynomial.
func (a *atom) sealed() *poly {
	if a.key = a.text(); len(a.key) > maxText {
		return nil
	}
	return atomPoly(a)
}

func symbolPoly(name string) *poly {
	return atomPoly(&atom{kind: symbolAtom, name: name, key: symbolKey(name), nonNeg: true})
}

// dim returns the polynomial as a dim and fixes its key. A constant that is no
// whole number contradicts a promise of exact division: it is unknown.
func (p *poly) dim() Dim {
	if p == nil {
		return Dim{}
	}
	if n, den, ok := p.constant(); ok {
		if den != 1 {
			return Dim{}
		}
		return Int(n)
	}
	if p.key == "" {
		if p.key = p.text(); len(p.key) > maxText {
			return Dim{}
		}
	}
	return Dim{kind: dimSymbolic, e: p}
}

// constant returns the value num/den of a polynomial without atoms.
func (p *poly) constant() (num, den int64, ok bool) {
	switch {
	case len(p.terms) == 0:
		return 0, 1, true
	case len(p.terms) == 1 && len(p.terms[0].atoms) == 0:
		return p.terms[0].coef, p.den, true
	}
	return 0, 1, false
}

// constantTerm returns the coefficient of the term without atoms.
func (p *poly) constantTerm() int64 {
	if k := len(p.terms); k > 0 && len(p.terms[k-1].atoms) == 0 {
		return p.terms[k-1].coef
	}
	return 0
}

// soleAtom returns the atom a when p is 1*a.
func (p *poly) soleAtom() *atom {
	if p.den == 1 && len(p.terms) == 1 && p.terms[0].coef == 1 && len(p.terms[0].atoms) == 1 {
		return p.terms[0].atoms[0]
	}
	return nil
}

// symbol returns the name when p is one symbol.
func (p *poly) symbol() (name string, ok bool) {
	if a := p.soleAtom(); a != nil && a.kind == symbolAtom {
		return a.name, true
	}
	return "", false
}

func compareAtoms(a, b *atom) int {
	if a == b {
		return 0
	}
	return strings.Compare(a.key, b.key)
}

// compareTerms orders terms by degree, highest first, then by atoms.
func compareTerms(a, b term) int {
	if d := len(b.atoms) - len(a.atoms); d != 0 {
		return d
	}
	return slices.CompareFunc(a.atoms, b.atoms, compareAtoms)
}

// newPoly returns the sum of the terms divided by den > 0. It takes the slice
// over.
func newPoly(terms []term, den int64) *poly {
	slices.SortFunc(terms, compareTerms)
	merged := terms[:0]
	for _, t := range terms {
		if k := len(merged); k > 0 && compareTerms(merged[k-1], t) == 0 {
			c, ok := addInt(merged[k-1].coef, t.coef)
			if !ok {
				return nil
			}
			merged[k-1].coef = c
			continue
		}
		merged = append(merged, t)
	}
	g := den
	kept := merged[:0]
	for _, t := range merged {
		if t.coef != 0 {
			g = gcd(g, t.coef)
			kept = append(kept, t)
		}
	}
	if len(kept) > maxTerms {
		return nil
	}
	for i := range kept {
		kept[i].coef /= g
	}
	return &poly{terms: kept, den: den / g}
}

// add returns p + sign*q, with sign 1 or -1.
func add(p, q *poly, sign int64) *poly {
	if p == nil || q == nil {
		return nil
	}
	g := gcd(p.den, q.den)
	den, ok := mulInt(p.den, q.den/g)
	if !ok {
		return nil
	}
	terms := make([]term, 0, len(p.terms)+len(q.terms))
	if terms = appendScaled(terms, p, q.den/g); terms == nil {
		return nil
	}
	if terms = appendScaled(terms, q, sign*(p.den/g)); terms == nil {
		return nil
	}
	return newPoly(terms, den)
}

func appendScaled(terms []term, p *poly, factor int64) []term {
	for _, t := range p.terms {
		c, ok := mulInt(t.coef, factor)
		if !ok {
			return nil
		}
		terms = append(terms, term{c, t.atoms})
	}
	return terms
}

func mul(p, q *poly) *poly {
	if p == nil || q == nil || len(p.terms)*len(q.terms) > maxTerms*8 {
		return nil
	}
	den, ok := mulInt(p.den, q.den)
	if !ok {
		return nil
	}
	terms := make([]term, 0, len(p.terms)*len(q.terms))
	for _, a := range p.terms {
		for _, b := range q.terms {
			c, ok := mulInt(a.coef, b.coef)
			if !ok || len(a.atoms)+len(b.atoms) > maxDegree {
				return nil
			}
			terms = append(terms, term{c, mergeAtoms(a.atoms, b.atoms)})
		}
	}
	return newPoly(terms, den)
}

func mergeAtoms(a, b []*atom) []*atom {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	all := append(slices.Clone(a), b...)
	slices.SortStableFunc(all, compareAtoms)
	return all
}

// withoutAtoms returns a without the atoms of b; ok is false when one of b's
// is not there.
func withoutAtoms(a, b []*atom) (rest []*atom, ok bool) {
	if len(b) > len(a) {
		return nil, false
	}
	for _, x := range a {
		if len(b) > 0 && compareAtoms(x, b[0]) == 0 {
			b = b[1:]
			continue
		}
		rest = append(rest, x)
	}
	return rest, len(b) == 0
}

// numerator and denominator split p into polynomials with denominator 1.
func (p *poly) numerator() *poly { return &poly{terms: p.terms, den: 1} }

func (p *poly) negated() *poly { return add(constant(0), p, -1) }

func (p *poly) symbols() []string {
	var names []string
	p.eachAtom(func(a *atom) {
		if a.kind == symbolAtom {
			names = append(names, a.name)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

func (p *poly) eachAtom(visit func(*atom)) {
	for _, t := range p.terms {
		for _, a := range t.atoms {
			visit(a)
			for _, arg := range a.args {
				arg.eachAtom(visit)
			}
		}
	}
}

// mentions reports whether a symbol of p has an entry.
func (p *poly) mentions(values map[string]Dim) bool {
	for _, t := range p.terms {
		for _, a := range t.atoms {
			if _, ok := values[a.name]; ok && a.kind == symbolAtom {
				return true
			}
			for _, arg := range a.args {
				if arg.mentions(values) {
					return true
				}
			}
		}
	}
	return false
}

func (p *poly) substitute(values map[string]Dim) *poly {
	sum := constant(0)
	for _, t := range p.terms {
		product := newPoly([]term{{coef: t.coef}}, p.den)
		for _, a := range t.atoms {
			product = mul(product, a.substitute(values))
		}
		sum = add(sum, product, 1)
	}
	return sum
}

func (a *atom) substitute(values map[string]Dim) *poly {
	if a.kind == symbolAtom {
		if d, ok := values[a.name]; ok {
			return d.poly()
		}
		return atomPoly(a)
	}
	args := make([]*poly, len(a.args))
	for i, arg := range a.args {
		args[i] = arg.substitute(values)
	}
	if a.kind == floorAtom {
		return floorDiv(args[0], args[1])
	}
	return extremum(a.kind, args)
}
