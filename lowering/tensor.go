package lowering

import "mobiusc/ir"

// Tensor is the stream during lowering: a value whose leading dims may be
// written out ([batch, sequence, hidden]) or folded into one
// ([batch*sequence, hidden]).
//
// Matrix products read the folded form (Gemm takes matrices only) and most
// blocks do not care, so that a decoder of any depth runs on one form and the
// reshapes between are few. Builder.Flat and Builder.Full give the form that a
// block needs and keep it for the next one that asks.
type Tensor struct {
	v    *ir.Value
	lead []ir.Dim // logical leading dims; v has either these or their product
}

// IsZero reports whether there is no tensor: the stream of a component whose
// body begins with a block that ignores it.
func (t Tensor) IsZero() bool { return t.v == nil }

// Lead returns the logical leading dims: [batch, sequence].
func (t Tensor) Lead() []ir.Dim { return t.lead }

// DType returns the element type.
func (t Tensor) DType() ir.DataType { return t.v.Type.Elem }

// Last returns the last dim.
func (t Tensor) Last() ir.Dim { return t.v.Type.Shape[len(t.v.Type.Shape)-1] }

// Dims returns the logical shape: the leading dims and the last.
func (t Tensor) Dims() []ir.Dim {
	if len(t.v.Type.Shape) == 0 {
		return nil
	}
	return append(append([]ir.Dim{}, t.lead...), t.Last())
}

// Type returns the dtype and the logical shape.
func (t Tensor) Type() *ir.Type { return ir.TensorOf(t.DType(), t.Dims()...) }

// tensorOf returns the tensor whose logical shape is the value's own.
func tensorOf(v *ir.Value) Tensor {
	s := v.Type.Shape
	if len(s) == 0 {
		return Tensor{v: v}
	}
	return Tensor{v, s[:len(s)-1]}
}

// with returns a tensor of the same leading dims.
func (t Tensor) with(v *ir.Value) Tensor { return Tensor{v, t.lead} }

// Flat returns the tensor as a matrix [product of the leading dims, last].
func (b *Builder) Flat(t Tensor) *ir.Value {
	if len(t.v.Type.Shape) == 2 {
		return t.v
	}
	if f := b.flat[t.v]; f != nil {
		return f
	}
	last := b.static(t.Last(), "the width of the stream")
	f := b.Op("Reshape", []*ir.Value{t.v, b.Ints(-1, last)})
	b.flat[t.v], b.full[f] = f, t.v
	return f
}

// Full returns the tensor with its logical shape written out.
func (b *Builder) Full(t Tensor) *ir.Value {
	if len(t.v.Type.Shape) == len(t.lead)+1 {
		return t.v
	}
	if f := b.full[t.v]; f != nil {
		return f
	}
	f := b.Reshape(t.v, t.Dims()...)
	b.full[t.v], b.flat[f] = f, t.v
	return f
}

// elementwise brings two tensors to one form, folded if either already is.
func (b *Builder) elementwise(x, y Tensor) (*ir.Value, *ir.Value) {
	if len(x.v.Type.Shape) == len(y.v.Type.Shape) {
		return x.v, y.v
	}
	return b.Flat(x), b.Flat(y)
}
