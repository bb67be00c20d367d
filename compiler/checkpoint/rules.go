package checkpoint

import (
	"fmt"
	"strings"

	"mobiusc/internal/diag"
	"mobiusc/ir"
)

// Rules say how the tensors of a checkpoint become the parameters of a model:
// the section weights of a spec. They are applied in this order: Rename, Ignore,
// Transforms, Ties; each in the order written. In patterns * is any text and
// {a,b} one of some words.
type Rules struct {
	Rename     []RenameRule
	Ignore     []IgnoreRule
	Transforms []Transform
	Ties       []Tie
}

// RenameRule gives tensors whose name matches From the name To, in which * and
// {1} stand for the text of the pattern's * and alternatives. Each rule is
// applied once, to the result of the one before. Tensors that come to have the
// same name must be copies of each other.
type RenameRule struct {
	From, To string
	Range    diag.Range
}

// IgnoreRule leaves out the tensors whose name, after renaming, matches.
type IgnoreRule struct {
	Match, Reason string
	Range         diag.Range
}

// Tie says that the parameter From is the parameter To: From may be absent from
// the checkpoint; if it is there, it must be a copy.
type Tie struct {
	From, To string
	Range    diag.Range
}

// Transform says how the tensors whose name, after renaming, matches are
// stored: Step undoes it.
type Transform struct {
	Match string
	Step  Step
	Range diag.Range
}

// Step is one change of tensors.
type Step interface {
	fmt.Stringer
	step()
}

// single steps change each tensor alone. node returns the changed tensor, or
// what is wrong.
type single interface {
	Step
	node(n node) (node, string)
}

// The steps that change one tensor.
type (
	// Cast rounds to a type before what follows; the type of the parameter is
	// reached without it.
	Cast struct{ To ir.DataType }
	// Reshape gives other dims; one of them may be −1.
	Reshape struct{ Dims []int64 }
	// Transpose permutes the axes: axis i of the result is axis Perm[i].
	Transpose struct{ Perm []int }
	// PermuteHeads reorders the rows (axis 0) of each head for rotary
	// embeddings. From "adjacent": rows are stored as pairs 2i, 2i+1 and become
	// pairs i, i + half. From "half" is the inverse.
	PermuteHeads struct {
		Heads int64
		From  string
	}
	// Add adds a constant, in float32 (float64 for tensors of that type).
	Add struct{ Value float64 }
	// Scale multiplies by a constant, in the same precision.
	Scale struct{ Value float64 }
)

// The steps that make one tensor of several, or several of one. Into holds
// names as RenameRule.To does.
type (
	// Split cuts a tensor along an axis. Without Sizes the parts are equal.
	Split struct {
		Into  []string
		Sizes []int64
		Axis  int
	}
	// Concat joins the tensors whose names give the same Into, in the order of
	// the pattern's alternatives: {q,k,v}_proj.weight into qkv.weight.
	Concat struct {
		Into string
		Axis int
	}
	// Stack joins tensors that are numbered after the path segment Segment
	// along a new axis 0: experts.0.w, experts.1.w, … become experts.w.
	Stack struct{ Segment string }
	// Unstack is the inverse of Stack.
	Unstack struct{ Segment string }
)

func (Cast) step()         {}
func (Reshape) step()      {}
func (Transpose) step()    {}
func (PermuteHeads) step() {}
func (Add) step()          {}
func (Scale) step()        {}
func (Split) step()        {}
func (Concat) step()       {}
func (Stack) step()        {}
func (Unstack) step()      {}

func (s Cast) String() string      { return "cast to " + s.To.String() }
func (s Reshape) String() string   { return fmt.Sprintf("reshape to %v", s.Dims) }
func (s Transpose) String() string { return fmt.Sprintf("transpose %v", s.Perm) }
func (s PermuteHeads) String() string {
	return fmt.Sprintf("permute rows of %d heads, stored %s", s.Heads, s.From)
}
func (s Add) String() string   { return fmt.Sprintf("add %v", s.Value) }
func (s Scale) String() string { return fmt.Sprintf("scale by %v", s.Value) }
func (s Split) String() string {
	return fmt.Sprintf("split along axis %d into %s", s.Axis, strings.Join(s.Into, ", "))
}
func (s Concat) String() string  { return fmt.Sprintf("concatenate along axis %d", s.Axis) }
func (s Stack) String() string   { return "stack " + s.Segment }
func (s Unstack) String() string { return "unstack " + s.Segment }

func (s Cast) node(n node) (node, string) {
	if n.dtype() != s.To && !Convertible(n.dtype(), s.To) {
		return nil, fmt.Sprintf("there is no conversion from %s to %s", n.dtype(), s.To)
	}
	return castOf(n, s.To), ""
}

func (s Reshape) node(n node) (node, string) {
	have := elements(n.dims())
	dims, known, open := append([]int64{}, s.Dims...), int64(1), -1
	for i, d := range dims {
		switch {
		case d == -1 && open < 0:
			open = i
		case d < 0 || d > 0 && known > max(have, 1)/d:
			return nil, fmt.Sprintf("%d elements cannot be reshaped to %v", have, s.Dims)
		default:
			known *= d
		}
	}
	if open >= 0 && known > 0 {
		dims[open] = have / known
		known *= dims[open]
	}
	if known != have {
		return nil, fmt.Sprintf("%d elements cannot be reshaped to %v", have, s.Dims)
	}
	return reshapeOf(n, dims), ""
}

func (s Transpose) node(n node) (node, string) {
	seen := make([]bool, len(n.dims()))
	for _, p := range s.Perm {
		if p < 0 || p >= len(seen) || seen[p] {
			return nil, fmt.Sprintf("%v does not permute %d axes", s.Perm, len(seen))
		}
		seen[p] = true
	}
	if len(s.Perm) != len(seen) {
		return nil, fmt.Sprintf("%v does not permute %d axes", s.Perm, len(seen))
	}
	if width(n) == 0 {
		return nil, noBytes(n)
	}
	return transposeOf(n, s.Perm), ""
}

// noBytes says why the elements of a tensor cannot be moved alone.
func noBytes(n node) string { return fmt.Sprintf("elements of %s are no whole bytes", n.dtype()) }

func (s PermuteHeads) node(n node) (node, string) {
	dims := n.dims()
	if len(dims) == 0 || s.Heads < 1 || dims[0]%(2*s.Heads) != 0 {
		return nil, fmt.Sprintf("%s has no %d heads of an even number of rows", shape(dims), s.Heads)
	}
	if width(n) == 0 {
		return nil, noBytes(n)
	}
	half := dims[0] / (2 * s.Heads)
	inner := elements(dims[1:])
	split := []int64{s.Heads, half, 2, inner}
	if s.From == "half" {
		split = []int64{s.Heads, 2, half, inner}
	}
	return reshapeOf(transposeOf(reshapeOf(n, split), []int{0, 2, 1, 3}), dims), ""
}

func (s Add) node(n node) (node, string)   { return affineStep(n, 1, s.Value) }
func (s Scale) node(n node) (node, string) { return affineStep(n, s.Value, 0) }

func affineStep(n node, scale, shift float64) (node, string) {
	if !n.dtype().IsFloat() {
		return nil, fmt.Sprintf("there is no arithmetic on %s", n.dtype())
	}
	return affineOf(n, scale, shift), ""
}
