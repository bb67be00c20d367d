package ops

import (
	"errors"
	"fmt"

	"mobiusc/ir"
)

// ErrNotEvaluable is wrapped by the errors of Eval that only say that the
// operator, or its use with these types, is not among those Eval knows.
var ErrNotEvaluable = errors.New("not evaluable")

// MaxEvalElements is the largest number of elements Eval gives one output.
const MaxEvalElements = 1 << 22

// Eval computes a node's outputs from constant inputs: what folding of shape
// arithmetic, masks and conditions needs. An input is nil where the node has
// none. Floating-point operations are computed in float64 and rounded once to
// the element type; integers wrap around; integer division truncates.
//
// The tensors must hold their content in memory, but for Shape and Size, which
// look at dims only. Attributes of the node must not be references.
func Eval(n *ir.Node, inputs []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalCall(call{node: n}, inputs)
}

// Evaluable reports whether Eval knows the node's operator.
func Evaluable(n *ir.Node) bool {
	return IsDefault(n.Domain) && (evaluators[n.OpType] != nil || moves[n.OpType] != nil)
}

func evalCall(c call, inputs []*ir.Tensor) (out []*ir.Tensor, err error) {
	if !Evaluable(c.node) {
		return nil, fmt.Errorf("%s: %w", label(c.node), ErrNotEvaluable)
	}
	if move := moves[c.node.OpType]; move != nil {
		out, err = evalMove(c, move, inputs)
	} else {
		e := &evaluation{call: c, in: inputs}
		out, err = evaluators[c.node.OpType](e)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", label(c.node), err)
	}
	return out, nil
}

// evaluator computes the outputs of one operator.
type evaluator func(e *evaluation) ([]*ir.Tensor, error)

type evaluation struct {
	call
	in []*ir.Tensor
}

// tensorAt returns input i, or nil.
func tensorAt(inputs []*ir.Tensor, i int) *ir.Tensor {
	if i < len(inputs) {
		return inputs[i]
	}
	return nil
}

// content decodes input i, which must be there.
func (e *evaluation) content(i int) (*content, error) {
	t := tensorAt(e.in, i)
	if t == nil {
		return nil, fmt.Errorf("input %d is missing", i)
	}
	return decode(t)
}

// contents decodes all inputs, which must be there.
func (e *evaluation) contents(atLeast int) ([]*content, error) {
	xs := make([]*content, max(len(e.in), atLeast))
	for i := range xs {
		x, err := e.content(i)
		if err != nil {
			return nil, err
		}
		xs[i] = x
	}
	return xs, nil
}

// intsAt returns the elements of integer input i; ok is false if it is absent.
func (e *evaluation) intsAt(i int) (values []int64, ok bool, err error) {
	t := tensorAt(e.in, i)
	if t == nil {
		return nil, false, nil
	}
	values, err = t.AsInts()
	return values, true, err
}

// needInts returns the elements of integer input i, which must be there.
func (e *evaluation) needInts(i int) ([]int64, error) {
	values, ok, err := e.intsAt(i)
	if err == nil && !ok {
		err = fmt.Errorf("input %d is missing", i)
	}
	return values, err
}

// evaluators holds the operators that compute; those that only move elements
// are in moves.
var evaluators map[string]evaluator

func init() {
	evaluators = map[string]evaluator{
		"Constant":           evalConstant,
		"ConstantOfShape":    evalConstantOfShape,
		"EyeLike":            evalEyeLike,
		"Range":              evalRange,
		"Shape":              evalShape,
		"Size":               evalSize,
		"OptionalHasElement": evalOptionalHasElement,
		"Cast":               evalCast,
		"CastLike":           evalCastLike,
		"CumSum":             evalCumSum,
		"ReduceSum":          evalReduce,
		"ReduceProd":         evalReduce,
		"ReduceMax":          evalReduce,
		"ReduceMin":          evalReduce,
		"ReduceMean":         evalReduce,
	}
	for op := range floatUnary {
		evaluators[op] = evalUnary
	}
	for op := range intUnary {
		evaluators[op] = evalUnary
	}
	for _, op := range []string{"IsNaN", "IsInf"} {
		evaluators[op] = evalTest
	}
	for op := range binaries {
		evaluators[op] = evalBinary
	}
	for op := range comparisons {
		evaluators[op] = evalCompare
	}
}

// checkedDims returns dims if a tensor of that many elements may be made.
func checkedDims(dims []int64) ([]int64, error) {
	n := int64(1)
	for _, d := range dims {
		if d < 0 {
			return nil, fmt.Errorf("dims %v: %d is negative", dims, d)
		}
		if d > 0 && n > MaxEvalElements/d {
			return nil, fmt.Errorf("%w: dims %v are more than %d elements", ErrNotEvaluable, dims, MaxEvalElements)
		}
		n *= d
	}
	return dims, nil
}

func one(x *content) ([]*ir.Tensor, error) { return []*ir.Tensor{x.tensor()}, nil }
