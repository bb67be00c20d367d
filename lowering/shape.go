package lowering

import (
	"slices"
	"strings"

	"mobiusc/ir"
)

// Reshape gives a value new dims. What the shape input can say by itself (0:
// the dim stays, -1: what is left) it says; only where two or more sizes are
// unknown and move is a shape computed.
func (b *Builder) Reshape(v *ir.Value, dims ...ir.Dim) *ir.Value {
	old := v.Type.Shape
	if ir.Shape(dims).Equal(old) {
		return v
	}
	target := make([]int64, len(dims))
	open := 0
	for i, d := range dims {
		n, known := d.Int()
		switch {
		case known:
			target[i] = n
		case i < len(old) && old[i].Equal(d):
			target[i] = 0
		default:
			target[i] = -1
			open++
		}
	}
	if open <= 1 {
		return b.Op("Reshape", []*ir.Value{v, b.Ints(target...)})
	}
	shape := slices.Clone(dims)
	if _, known := dims[len(dims)-1].Int(); known {
		shape[len(dims)-1] = ir.Int(-1) // one computed shape serves every width
	}
	return b.Op("Reshape", []*ir.Value{v, b.ShapeOf(shape...)})
}

// ShapeOf returns an int64 [len(dims)] value that holds the sizes. A symbolic
// dim is read off the input of the component that carries it, or off the value
// in which it first appears.
func (b *Builder) ShapeOf(dims ...ir.Dim) *ir.Value {
	var key strings.Builder
	for _, d := range dims {
		key.WriteString(d.String() + ",")
	}
	return once(b, "shape "+key.String(), "shape", func() *ir.Value {
		var parts []*ir.Value
		for i := 0; i < len(dims); {
			part, n := b.shapePart(dims[i:])
			parts = append(parts, part)
			i += n
		}
		if len(parts) == 1 {
			return parts[0]
		}
		return b.Op("Concat", parts, ir.IntAttr("axis", 0))
	})
}

// shapePart returns the sizes of the longest run at the start of dims that one
// constant or one Shape node gives, and the length of the run.
func (b *Builder) shapePart(dims []ir.Dim) (*ir.Value, int) {
	var numbers []int64
	for _, d := range dims {
		n, ok := d.Int()
		if !ok {
			break
		}
		numbers = append(numbers, n)
	}
	if len(numbers) > 0 {
		return b.Ints(numbers...), len(numbers)
	}
	for _, v := range slices.Concat(b.graph.Inputs, b.sized) {
		shape := v.Type.Shape
		for axis := range shape {
			n := 0
			for n < len(dims) && axis+n < len(shape) && shape[axis+n].Equal(dims[n]) {
				n++
			}
			if n > 0 {
				return b.Op("Shape", []*ir.Value{v}, ir.IntAttr("start", int64(axis)), ir.IntAttr("end", int64(axis+n))), n
			}
		}
	}
	if symbol, rest, ok := summand(dims[0]); ok { // past + sequence, where no input is as long as both
		return b.Binary("Add", b.ShapeOf(symbol), b.ShapeOf(rest)), 1
	}
	b.Fail("no input of component %s has a dim %s to read the size from", b.component.Name, dims[0])
	return nil, 0
}

// summand splits a dim that is a sum with a symbol.
func summand(d ir.Dim) (symbol, rest ir.Dim, ok bool) {
	symbols := d.Symbols()
	for _, s := range symbols {
		rest := d.Sub(ir.Sym(s))
		if len(rest.Symbols()) < len(symbols) && len(symbols) > 1 {
			return ir.Sym(s), rest, true
		}
	}
	return ir.Dim{}, ir.Dim{}, false
}
