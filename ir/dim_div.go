package ir

import "slices"

// divide divides p by d, which is not 0: p = q*d + r, where the leading term of
// d divides no term of r. With whole set both have denominator 1 and q has too;
// then coefficients in r that d's leading term could reduce are only smaller
// than d's leading coefficient, which must be positive: they keep their sign,
// except that a constant is at least 0.
func divide(p, d *poly, whole bool) (q, r *poly) {
	q, r = constant(0), constant(0)
	lead := d.terms[0]
	for range 4 * maxTerms {
		if p == nil || q == nil || r == nil {
			return nil, nil
		}
		if len(p.terms) == 0 {
			return q, r
		}
		top := p.terms[0]
		step := newPoly([]term{top}, p.den)
		if atoms, ok := withoutAtoms(top.atoms, lead.atoms); ok {
			t := quotientTerm(top, p.den, lead.coef, d.den, whole)
			if t == nil {
				return nil, nil
			}
			if len(t.terms) > 0 {
				t.terms[0].atoms = atoms
				q, p = add(q, t, 1), add(p, mul(t, d), -1)
				continue
			}
		}
		r, p = add(r, step, 1), add(p, step, -1)
	}
	return nil, nil
}

// quotientTerm returns the coefficient (t.coef/tDen) / (b/bDen) as a constant.
// With whole set it is rounded: down for a constant term, else towards 0, so
// that floor(-e/n) does not turn into floor((n-1)*e/n) - e.
func quotientTerm(t term, tDen, b, bDen int64, whole bool) *poly {
	num, ok1 := mulInt(t.coef, bDen)
	den, ok2 := mulInt(tDen, b)
	if !ok1 || !ok2 {
		return nil
	}
	if den < 0 {
		num, den = -num, -den
	}
	switch {
	case !whole:
		return newPoly([]term{{coef: num}}, den)
	case len(t.atoms) == 0:
		return constant(floorQuo(num, den))
	default:
		return constant(num / den)
	}
}

// exactDiv returns p/d where that is a polynomial, which may be a fraction, else
// floor(p/d).
func exactDiv(p, d *poly) *poly {
	if p == nil || d == nil || len(d.terms) == 0 {
		return nil
	}
	q, r := divide(p, d, false)
	if r == nil {
		return nil
	}
	if len(r.terms) == 0 {
		return q
	}
	return floorDiv(p, d)
}

// floorDiv returns floor(p/d).
func floorDiv(p, d *poly) *poly {
	if p == nil || d == nil || len(d.terms) == 0 {
		return nil
	}
	if n, den, ok := d.constant(); ok && n == 1 && den == 1 {
		if _, pDen, isConst := p.constant(); !isConst || pDen == 1 {
			return p
		}
	}
	num, den := quotient{p, d}.wholeParts()
	if num == nil || den == nil {
		return nil
	}
	if den.terms[0].coef < 0 {
		num, den = num.negated(), den.negated()
	}
	num, den = reduce(num, den)
	q, r := divide(num, den, true)
	if r == nil || len(r.terms) == 0 {
		return q
	}
	return add(q, floorOfRemainder(r, den), 1)
}

// floorOfRemainder returns floor(r/d) for r that d leaves as it is.
func floorOfRemainder(r, d *poly) *poly {
	if n, _, ok := d.constant(); ok {
		if _, _, isConst := r.constant(); isConst {
			return constant(0) // 0 ≤ r < n
		}
		if inner, c := floorPlusConstant(r); inner != nil {
			return floorOfFloor(inner, c, n)
		}
	}
	if r.terms[0].coef > 0 || !d.nonNegative() {
		return floorPoly(r, d)
	}
	// For d > 0, floor(r/d) = -ceil(-r/d) = -floor((-r + d - 1)/d).
	up := floorDiv(add(add(d, r, -1), constant(1), -1), d)
	if up == nil {
		return nil
	}
	return up.negated()
}

// floorPoly returns the atom floor(r/d) as it stands.
func floorPoly(r, d *poly) *poly {
	a := &atom{kind: floorAtom, args: []*poly{r, d}}
	a.nonNeg = r.nonNegative() && d.nonNegative()
	return a.sealed()
}

// floorPlusConstant returns the atom and c when p is floor(e/m) + c with a
// number m.
func floorPlusConstant(p *poly) (inner *atom, c int64) {
	c = p.constantTerm()
	if rest := add(p, constant(c), -1); rest != nil {
		if a := rest.soleAtom(); a != nil && a.kind == floorAtom {
			if _, _, ok := a.args[1].constant(); ok {
				return a, c
			}
		}
	}
	return nil, 0
}

// floorOfFloor returns floor((floor(e/m) + c)/n) = floor((e + c*m)/(m*n)).
func floorOfFloor(inner *atom, c, n int64) *poly {
	e, m := inner.args[0], inner.args[1]
	return floorDiv(add(e, mul(constant(c), m), 1), mul(m, constant(n)))
}

// reduce cancels common factors of floor(num/den): atoms that every term has,
// and the greatest common divisor of all coefficients. By a number den, the
// constant term of num need not have that divisor: floor((2e+1)/4) = floor(e/2).
func reduce(num, den *poly) (*poly, *poly) {
	for _, a := range den.terms[0].atoms {
		n, ok1 := num.withoutFactor(a)
		d, ok2 := den.withoutFactor(a)
		if ok1 && ok2 {
			num, den = n, d
		}
	}
	_, _, byNumber := den.constant()
	g := int64(0)
	for _, t := range den.terms {
		g = gcd(g, t.coef)
	}
	for _, t := range num.terms {
		if len(t.atoms) > 0 || !byNumber {
			g = gcd(g, t.coef)
		}
	}
	if g <= 1 {
		return num, den
	}
	return num.scaledDown(g), den.scaledDown(g)
}

func (p *poly) scaledDown(g int64) *poly {
	terms := slices.Clone(p.terms)
	for i := range terms {
		terms[i].coef = floorQuo(terms[i].coef, g)
	}
	return newPoly(terms, 1)
}

func (p *poly) withoutFactor(a *atom) (*poly, bool) {
	terms := make([]term, len(p.terms))
	for i, t := range p.terms {
		rest, ok := withoutAtoms(t.atoms, []*atom{a})
		if !ok {
			return nil, false
		}
		terms[i] = term{t.coef, rest}
	}
	return newPoly(terms, p.den), true
}

// ceilDiv returns ceil(p/d) = -floor(-p/d).
func ceilDiv(p, d *poly) *poly {
	if p == nil || d == nil {
		return nil
	}
	if q := floorDiv(p.negated(), d); q != nil {
		return q.negated()
	}
	return nil
}

// mod returns p - d*floor(p/d).
func mod(p, d *poly) *poly { return add(p, mul(d, floorDiv(p, d)), -1) }

// quotient is num/den before it is known how it is rounded.
type quotient struct{ num, den *poly }

// resolve returns the exact quotient.
func (q quotient) resolve() *poly { return exactDiv(q.num, q.den) }

// wholeParts returns the quotient as one of polynomials with denominator 1.
func (q quotient) wholeParts() (num, den *poly) {
	if q.num == nil || q.den == nil {
		return nil, nil
	}
	return mul(q.num.numerator(), constant(q.den.den)), mul(q.den.numerator(), constant(q.num.den))
}
