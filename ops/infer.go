package ops

import (
	"fmt"
	"slices"

	"mobiusc/ir"
)

// Env infers the types of values. It is used node by node while a graph is
// built, or for whole graphs and models. Types are kept in Value.Type; besides,
// the environment knows the content of small tensors: constants, and integers
// such as shapes whose elements are symbolic sizes. The latter make the shapes
// of Reshape, Expand, Slice, Range and others exact.
//
// What cannot be known stays unknown (a nil type, an unranked tensor, an unknown
// dim); operators that are neither standard nor among the model's functions
// have outputs of unknown type. Only contradictions are errors: shapes or types
// that cannot go together whatever the sizes of symbols.
type Env struct {
	// Symbol names sizes that cannot be inferred, so that values computed from
	// them share the name: the size of v along an axis, or with axis -1 the
	// content of v, one integer. It gives each the same name whenever it is
	// asked. If it is nil, or returns "", such sizes stay unknown. Runtimes plan
	// memory by these names.
	Symbol func(v *ir.Value, axis int) string

	opsets    map[string]int64
	functions map[functionKey]*ir.Function
	facts     map[*ir.Value]fact
	named     map[string]*ir.Value // what symbols were named after

	// An overlay keeps the types of a trial run apart: of a loop body whose
	// shapes are not settled yet, or of a function body for one call.
	outer  *Env
	types  map[*ir.Value]*ir.Type
	bind   map[string]*ir.Attr // attributes of the call, in a function body
	depth  int                 // of function calls
	budget *int                // nodes that trial runs may still look at
}

type functionKey struct{ domain, name, overload string }

// fact is what is known of a value's content: the whole tensor, or the elements
// of an integer or bool tensor as sizes, unknown ones among them.
type fact struct {
	tensor *ir.Tensor
	sizes  []ir.Dim
	absent bool // a parameter of a function that the call does not give
}

const (
	maxCallDepth = 32
	trialBudget  = 1 << 20
	// maxSizes is the largest number of elements of tensors whose content is
	// followed: more than shapes, pads and permutations ever have.
	maxSizes = 64
)

// NewEnv returns an environment for nodes of the standard operators at the given
// opset version.
func NewEnv(opset int64) *Env {
	budget := trialBudget
	return &Env{
		opsets: map[string]int64{"": opset}, facts: map[*ir.Value]fact{}, named: map[string]*ir.Value{}, budget: &budget,
	}
}

// Fresh returns an environment for another graph with the same opsets and
// functions. Of values it knows nothing.
func (env *Env) Fresh() *Env {
	fresh := NewEnv(0)
	fresh.opsets, fresh.functions = env.opsets, env.functions
	return fresh
}

// NewModelEnv returns an environment for the nodes of a model: its opsets and
// its functions.
func NewModelEnv(m *ir.Model) *Env {
	env := NewEnv(m.OpsetVersion(""))
	for _, o := range m.Opsets {
		env.opsets[canonical(o.Domain)] = o.Version
	}
	env.functions = make(map[functionKey]*ir.Function, len(m.Functions))
	for _, f := range m.Functions {
		env.functions[functionKey{canonical(f.Domain), f.Name, f.Overload}] = f
	}
	return env
}

// InferModel infers the types of all values of a model's graph and returns the
// environment, which knows their contents. Function bodies, whose types depend
// on the call, are left alone. It stops at the first contradiction.
func InferModel(m *ir.Model) (*Env, error) {
	env := NewModelEnv(m)
	if m.Graph == nil {
		return env, nil
	}
	return env, env.InferGraph(m.Graph)
}

// InferGraph infers the types of all values of a graph and its subgraphs. The
// graph's inputs must have been given types.
func (env *Env) InferGraph(g *ir.Graph) error {
	inputs := make(map[*ir.Value]bool, len(g.Inputs))
	for _, v := range g.Inputs {
		inputs[v] = true
	}
	for _, v := range g.Initializers {
		if v == nil || v.Init == nil {
			continue
		}
		if err := env.setMerged(v, constantType(v.Init)); err != nil {
			return fmt.Errorf("initializer %q: %w", v.Name, err)
		}
		if !inputs[v] { // an input's initializer is only its default
			env.Declare(v)
		}
	}
	for n := range g.Nodes() {
		if err := env.Infer(n); err != nil {
			return err
		}
	}
	return nil
}

func constantType(t *ir.Tensor) *ir.Type {
	return ir.TensorOf(t.Type, dimsOf(t.Dims)...)
}

// Declare records the content of an initializer; without it only the type is
// known. For other values it does nothing.
func (env *Env) Declare(v *ir.Value) {
	if t := v.Init; t != nil && t.Len() >= 0 && t.Len() <= maxSizes && inMemory(t) == nil {
		env.facts[v] = fact{tensor: t}
	}
}

// SetConstant makes a value an initializer with the given content.
func (env *Env) SetConstant(v *ir.Value, t *ir.Tensor) error {
	v.Init = t
	env.Declare(v)
	return env.Refine(v, constantType(t))
}

// Infer sets the types of the node's outputs from its inputs, whose types must
// have been set before, and records the outputs' contents. Subgraphs are
// inferred with it. A type that an output has already must agree; of two dims
// the more precise one is kept, a number before an expression, and the inferred
// expression before the declared one.
func (env *Env) Infer(n *ir.Node) error {
	if env.types != nil {
		if *env.budget--; *env.budget < 0 {
			return nil
		}
	}
	if err := env.InferInputs(n); err != nil {
		return err
	}
	for g := range env.takenGraphs(n) {
		if err := env.InferGraph(g); err != nil {
			return fmt.Errorf("%s: %w", label(n), err)
		}
	}
	return env.InferOutputs(n)
}

// InferInputs sets the types of the inputs of a node's subgraphs. It is the
// first half of Infer, for callers that visit the nodes of subgraphs themselves.
func (env *Env) InferInputs(n *ir.Node) error {
	rule := bodyRules[n.OpType]
	if rule == nil || !IsDefault(n.Domain) {
		return nil
	}
	c := &inference{call: call{n, env.bind}, env: env}
	rule(c)
	return c.wrapped()
}

// InferOutputs sets the types of a node's outputs, given those of its inputs and
// of the values in its subgraphs. It is the last part of Infer.
func (env *Env) InferOutputs(n *ir.Node) error {
	c := &inference{call: call{n, env.bind}, env: env}
	if k := len(n.Outputs()); k <= len(c.few) {
		c.out = c.few[:k]
	} else {
		c.out = make([]*ir.Type, k)
	}
	f := env.functions[functionKey{canonical(n.Domain), n.OpType, n.Overload}]
	rule := rules[n.OpType]
	switch {
	case f != nil:
		c.inferCall(f)
	case rule != nil && IsDefault(n.Domain):
		rule(c)
	default:
		c.inferFromSchema()
	}
	for i, v := range n.Outputs() {
		if v == nil || c.err != nil {
			continue
		}
		if err := env.setMerged(v, c.out[i]); err != nil {
			c.fail("output %q %w", v.Name, err)
		}
	}
	if c.err == nil {
		c.inferContent()
	}
	return c.wrapped()
}

// Refine adds to what is known of a value's type.
func (env *Env) Refine(v *ir.Value, t *ir.Type) error {
	if err := env.setMerged(v, t); err != nil {
		return fmt.Errorf("%q %w", v.Name, err)
	}
	return nil
}

// Type returns what is known of a value's type, or nil.
func (env *Env) Type(v *ir.Value) *ir.Type {
	for e := env; e != nil && e.types != nil; e = e.outer {
		if t, ok := e.types[v]; ok {
			return t
		}
	}
	return v.Type
}

// setMerged gives a value its inferred type, merged with the one it has.
func (env *Env) setMerged(v *ir.Value, inferred *ir.Type) error {
	t, err := mergeTypes(env.Type(v), inferred)
	if err != nil {
		return err
	}
	env.setType(v, env.nameUnknown(v, t))
	return nil
}

func (env *Env) setType(v *ir.Value, t *ir.Type) {
	if env.types != nil {
		env.types[v] = t
	} else {
		v.Type = t
	}
}

// nameUnknown replaces the unknown dims of a tensor's type by symbols.
func (env *Env) nameUnknown(v *ir.Value, t *ir.Type) *ir.Type {
	unknown := func(d ir.Dim) bool { return !d.Known() }
	if env.Symbol == nil || t == nil || t.Kind != ir.TensorKind || !slices.ContainsFunc(t.Shape, unknown) {
		return t
	}
	named := *t
	named.Shape = slices.Clone(t.Shape)
	for i, d := range named.Shape {
		if unknown(d) {
			named.Shape[i] = ir.Sym(env.NameSize(v, i))
		}
	}
	return &named
}

// NameSize returns what Symbol names a size.
func (env *Env) NameSize(v *ir.Value, axis int) string {
	name := env.Symbol(v, axis)
	if name != "" {
		env.named[name] = v
	}
	return name
}

func (env *Env) fact(v *ir.Value) fact {
	for e := env; e != nil; e = e.outer {
		if f, ok := e.facts[v]; ok {
			return f
		}
	}
	return fact{}
}

// Sizes returns the elements of an integer or bool tensor of up to 64 elements
// in row-major order (bools as 0 and 1), unknown dims where an element is
// unknown; nil when nothing is known.
func (env *Env) Sizes(v *ir.Value) []ir.Dim {
	if v == nil {
		return nil
	}
	f := env.fact(v)
	if f.sizes != nil || f.tensor == nil {
		return f.sizes
	}
	numbers, err := f.tensor.AsInts()
	if err != nil {
		return nil
	}
	f.sizes = dimsOf(numbers)
	env.facts[v] = f
	return f.sizes
}

// Constant returns the content of a small tensor when all of it is known, or
// nil.
func (env *Env) Constant(v *ir.Value) *ir.Tensor {
	if v == nil {
		return nil
	}
	f := env.fact(v)
	if f.tensor != nil || f.sizes == nil {
		return f.tensor
	}
	numbers, ok := ir.Shape(f.sizes).Static()
	t := env.Type(v)
	if !ok || t == nil {
		return nil
	}
	dims, ok := t.Shape.Static()
	if !ok || !t.Ranked || elementCount(dims) != len(numbers) || !isNumber(t.Elem) || t.Elem.IsFloat() {
		return nil
	}
	f.tensor = (&content{elem: t.Elem, dims: dims, ints: numbers}).tensor()
	env.facts[v] = f
	return f.tensor
}
