package validate

import (
	"math"

	"mobiusc/ir"
	"mobiusc/ops"
)

// initializer checks a graph's constant: its content, and that it is what the
// graph declares under its name.
func (w *walk) initializer(g *ir.Graph, v *ir.Value, s *scope) {
	if v.Init == nil {
		w.report(tensorData, "the initializer %q has no content", v.Name)
		return
	}
	w.namedTensor(v.Name, v.Init)
	if v.Init.Sparse != nil {
		w.feature(6, "sparse initializers")
	}
	input := inputNamed(g, v.Name)
	if w.model.IRVersion > 0 && w.model.IRVersion < 4 && input == nil && w.fn == nil {
		w.reportHint(initializerOnly, "raise the IR version to 4 or more", "the initializer %q is not a graph input, which IR version %d demands", v.Name, w.model.IRVersion)
	}
	have := tensorType(v.Init)
	declared := v.Type
	if input != nil {
		declared = input.Type
	}
	switch {
	case declared == nil:
		w.env.SetType(v, have)
	case !agree(declared, have):
		w.report(initializerType, "the initializer %q is %s, but is declared as %s", v.Name, ops.TypeName(have), ops.TypeName(declared))
	default:
		if reason := shapeConflict(declared, have); reason != "" {
			w.report(initializerType, "the initializer %q has another shape than declared: %s", v.Name, reason)
		} else {
			w.env.SetType(v, merge(declared, have))
		}
	}
	if input == nil { // else it is only the input's default
		w.env.Declare(v)
	}
}

func inputNamed(g *ir.Graph, name string) *ir.Value {
	for _, v := range g.Inputs {
		if v != nil && v.Name == name {
			return v
		}
	}
	return nil
}

// tensor checks a constant that is an attribute.
func (w *walk) tensor(t *ir.Tensor) { w.namedTensor(t.Name, t) }

// namedTensor checks that a tensor has a type, dims and content that fit each
// other.
func (w *walk) namedTensor(name string, t *ir.Tensor) {
	switch {
	case t.Type == ir.Undefined:
		w.report(tensorElem, "the tensor %q has no element type", name)
		return
	case !t.Type.Valid():
		w.report(tensorElem, "the element type of the tensor %q is number %d, which ONNX does not define", name, int32(t.Type))
		return
	}
	w.feature(elemSince[t.Type], "type "+t.Type.String())
	for i, d := range t.Dims {
		if d < 0 {
			w.report(tensorShape, "dim %d of the tensor %q is %d", i, name, d)
			return
		}
	}
	n := t.Len()
	if n < 0 || t.Type.Bits() > 0 && t.ByteLen() < 0 {
		w.report(tensorShape, "the tensor %q of shape %v has more elements than can be counted", name, t.Dims)
		return
	}
	switch {
	case t.Sparse != nil:
		w.sparse(name, t)
	case t.External != nil:
		w.external(name, t)
	case t.Type == ir.String:
		if int64(len(t.Strings)) != n || len(t.Raw) > 0 {
			w.report(tensorData, "the tensor %q holds %d strings, its shape %v has %d elements", name, len(t.Strings), t.Dims, n)
		}
	default:
		w.content(name, t, t.ByteLen())
	}
}

// content compares the bytes of a tensor in memory with those it needs.
func (w *walk) content(name string, t *ir.Tensor, want int64) {
	if int64(len(t.Raw)) != want || len(t.Strings) > 0 {
		w.report(tensorData, "the tensor %q holds %d bytes, %s%v takes %d", name, len(t.Raw), t.Type, t.Dims, want)
	}
	w.bytes += int64(len(t.Raw))
}

// sparse checks a sparse tensor: as many values as indices, and indices in
// order, each once and inside the shape. Indices are positions in the flattened
// tensor (shape [n]) or one position a dim (shape [n, rank]).
func (w *walk) sparse(name string, t *ir.Tensor) {
	rank, indices := len(t.Dims), t.Sparse
	for _, d := range t.Dims {
		if d <= 0 {
			w.report(sparseTensor, "the sparse tensor %q has the shape %v, dims must be positive", name, t.Dims)
			return
		}
	}
	columns := 1
	if len(indices.Dims) == 2 {
		columns = rank
	}
	switch {
	case rank == 0:
		w.report(sparseTensor, "the sparse tensor %q is a scalar", name)
		return
	case len(indices.Dims) != 1 && (len(indices.Dims) != 2 || indices.Dims[1] != int64(rank)):
		w.report(sparseTensor, "the indices of the sparse tensor %q have the shape %v, expected [n] or [n, %d]", name, indices.Dims, rank)
		return
	case indices.Type != ir.Int64:
		w.report(sparseTensor, "the indices of the sparse tensor %q are %s, expected int64", name, indices.Type)
		return
	}
	at, err := indices.AsInts()
	if err != nil {
		w.report(sparseTensor, "the indices of the sparse tensor %q cannot be read: %v", name, err)
		return
	}
	stored := indices.Dims[0]
	if bits := int64(t.Type.Bits()); bits > 0 && stored <= math.MaxInt64/bits-7 {
		w.content(name, t, (stored*bits+7)/8)
	}
	w.sparseOrder(name, t, at, columns)
}

func (w *walk) sparseOrder(name string, t *ir.Tensor, at []int64, columns int) {
	before := int64(-1)
	for i := 0; i+columns <= len(at); i += columns {
		position, inside := at[i], at[i] >= 0 && at[i] < t.Len()
		if columns > 1 {
			position, inside = 0, true
			for j, d := range t.Dims {
				inside = inside && at[i+j] >= 0 && at[i+j] < d
				position = position*d + at[i+j]
			}
		}
		if !inside {
			w.report(sparseTensor, "index %d of the sparse tensor %q lies outside its shape %v", i/columns, name, t.Dims)
			return
		}
		if position <= before {
			w.report(sparseTensor, "the indices of the sparse tensor %q are not in ascending order at %d", name, i/columns)
			return
		}
		before = position
	}
}
