package ops

import (
	"fmt"

	"mobiusc/ir"
)

// mergeTypes returns what both types say of a value; nil says nothing.
func mergeTypes(declared, inferred *ir.Type) (*ir.Type, error) {
	if declared == nil || declared == inferred {
		return inferred, nil
	}
	if inferred == nil || sameType(declared, inferred) {
		return declared, nil
	}
	t, ok := intersect(declared, inferred)
	if !ok {
		return nil, fmt.Errorf("is declared as %s but computed as %s", declared, inferred)
	}
	return t, nil
}

// intersect combines two types of one value; ok is false if they contradict.
func intersect(declared, inferred *ir.Type) (t *ir.Type, ok bool) {
	if declared == nil || inferred == nil {
		t, _ = mergeTypes(declared, inferred)
		return t, true
	}
	if declared.Kind != inferred.Kind {
		return nil, false
	}
	merged := *inferred
	if inferred.Elem == ir.Undefined {
		merged.Elem = declared.Elem
	} else if declared.Elem != ir.Undefined && declared.Elem != inferred.Elem {
		return nil, false
	}
	if merged.Inner, ok = intersect(declared.Inner, inferred.Inner); !ok {
		return nil, false
	}
	if !declared.Ranked {
		return &merged, true
	}
	if !inferred.Ranked {
		merged.Ranked, merged.Shape = true, declared.Shape
		return &merged, true
	}
	if len(declared.Shape) != len(inferred.Shape) {
		return nil, false
	}
	merged.Shape = make(ir.Shape, len(inferred.Shape))
	for i, d := range inferred.Shape {
		if d.Differs(declared.Shape[i]) {
			return nil, false
		}
		merged.Shape[i] = preciser(d, declared.Shape[i])
	}
	return &merged, true
}

// preciser returns the dim that says more of two that stand for one size: a
// number, else a, unless it is unknown.
func preciser(a, b ir.Dim) ir.Dim {
	if _, ok := b.Int(); ok || !a.Known() {
		return b
	}
	return a
}

// union returns the type that values of either type have: what two branches or
// two turns of a loop agree on.
func union(a, b *ir.Type) *ir.Type {
	if a == nil || b == nil || a.Kind != b.Kind || a.Elem != b.Elem {
		return nil
	}
	if a == b {
		return a
	}
	t := *a
	if a.Inner != nil || b.Inner != nil {
		if t.Inner = union(a.Inner, b.Inner); t.Inner == nil {
			return nil
		}
	}
	if !a.Ranked || !b.Ranked || len(a.Shape) != len(b.Shape) {
		t.Ranked, t.Shape = false, nil
		return &t
	}
	t.Shape = make(ir.Shape, len(a.Shape))
	for i, d := range a.Shape {
		if d.Equal(b.Shape[i]) {
			t.Shape[i] = d
		}
	}
	return &t
}

// sameType reports whether two types say the same; unknown dims count as equal.
func sameType(a, b *ir.Type) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.Elem != b.Elem || a.Ranked != b.Ranked || len(a.Shape) != len(b.Shape) {
		return false
	}
	for i, d := range a.Shape {
		if d.Known() != b.Shape[i].Known() || d.Known() && !d.Equal(b.Shape[i]) {
			return false
		}
	}
	return sameType(a.Inner, b.Inner)
}

// shapeText writes a shape for messages: [batch, 4].
func shapeText(s ir.Shape) string { return s.String() }

// product returns the product of dims.
func product(dims []ir.Dim) ir.Dim {
	p := ir.Int(1)
	for _, d := range dims {
		p = p.Mul(d)
	}
	return p
}

// broadcastDims returns the shape that two shapes broadcast to.
func broadcastDims(a, b ir.Shape) (ir.Shape, error) {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := append(ir.Shape{}, a...)
	pad := len(a) - len(b)
	for i, d := range b {
		o, ok := broadcastDim(a[pad+i], d)
		if !ok {
			return nil, fmt.Errorf("shapes %s and %s do not broadcast: %s against %s", shapeText(a), shapeText(b), a[pad+i], d)
		}
		out[pad+i] = o
	}
	return out, nil
}

// broadcastDim returns what two dims broadcast to; unknown when it depends on
// sizes; ok is false when they never do.
func broadcastDim(a, b ir.Dim) (d ir.Dim, ok bool) {
	if a.Equal(b) {
		return a, true
	}
	m, aNumber := a.Int()
	n, bNumber := b.Int()
	switch {
	case aNumber && m == 1:
		return b, true
	case bNumber && n == 1:
		return a, true
	case aNumber && bNumber:
		return ir.Dim{}, false
	case aNumber:
		return a, true // b is 1 or the same
	case bNumber:
		return b, true
	}
	return ir.Dim{}, true
}
