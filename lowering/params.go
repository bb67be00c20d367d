package lowering

import (
	"math"
	"mobiusc/internal/diag"
	"mobiusc/ir"
	"slices"
)

// Param is one parameter of a component: a tensor of the checkpoint under the
// module path that the spec gives it.
type Param struct {
	Name  string     // model.layers.0.mlp.up_proj.weight
	Value *ir.Value  // the initializer; its dtype is the storage dtype
	Dims  []int64    // as the checkpoint stores it
	Init  Init       // for random weights
	Range diag.Range // the block that owns it
	// Parts are the tensors of the checkpoint whose rows, one after the other,
	// are this parameter's; none: it is stored as it is.
	Parts []string

	owned bool // by a block, not only read by a tie
}

// Init says how a parameter is filled when a package is made with random
// weights: normal with mean Mean and standard deviation Std.
type Init struct{ Mean, Std float64 }

// fanIn is the initialisation of a matrix that reads n features: variance 1/n
// keeps the scale of the stream.
func fanIn(n int64) Init { return Init{Std: 1 / sqrt(float64(max(n, 1)))} }

// State is a tensor carried from one call to the next: a graph input and the
// graph output to feed back to it.
type State struct {
	Layer           int
	Name            string // key, value, conv_state, …
	Input, Output   *ir.Value
	InType, OutType *ir.Type
}

// Limit is the largest size of a dim, or the largest value of an input, that a
// component takes: beyond it a table of positions has no row.
type Limit struct {
	Dim   ir.Dim
	Input string // "": of Dim
	Max   int64
}

// limit records a limit: the least of those for one dim or one input.
func (b *Builder) limit(l Limit) {
	i := slices.IndexFunc(b.limits, func(k Limit) bool { return k.Input == l.Input && (l.Input != "" || k.Dim.Equal(l.Dim)) })
	if i < 0 {
		b.limits = append(b.limits, l)
		return
	}
	b.limits[i].Max = min(b.limits[i].Max, l.Max)
}

// Param returns the parameter at a path relative to the module in hand, in the
// given dtype. The first block that asks for a path adds the initializer; the
// same path asked for again is the same parameter.
func (b *Builder) Param(path string, dtype ir.DataType, init Init, dims ...int64) *ir.Value {
	v := b.tiedParam(path, dtype, init, dims...)
	b.params[b.Join(path)].owned = true
	return v
}

// tiedParam is Param for a block that reads what another one owns.
func (b *Builder) tiedParam(path string, dtype ir.DataType, init Init, dims ...int64) *ir.Value {
	name := b.Join(path)
	p := b.params[name]
	if p == nil {
		if !countable(dims) {
			b.Fail("parameter %s of shape %v has more bytes than can be counted", name, dims)
		}
		t := &ir.Tensor{Type: b.options.Storage, Dims: dims, External: &ir.External{}}
		p = &Param{Name: name, Dims: dims, Init: init, Value: b.graph.AddInitializer(b.unique(name), t)}
		if b.block != nil {
			p.Range = b.block.Range
		}
		b.env.Declare(p.Value)
		b.params[name] = p
		b.order = append(b.order, p)
	}
	if !sameDims(p.Dims, dims) {
		b.Fail("parameter %s has shape %v here and %v at %s", name, dims, p.Dims, p.Range)
	}
	return b.Cast(p.Value, dtype)
}

// assembled returns a parameter that the checkpoint stores in parts, in the
// storage dtype.
func (b *Builder) assembled(path string, parts []string, init Init, dims ...int64) *ir.Value {
	v := b.Param(path, b.options.Storage, init, dims...)
	b.params[b.Join(path)].Parts = parts
	return v
}

// countable reports whether the bytes of a tensor, of at most 8 an element, can
// be counted in an int64.
func countable(dims []int64) bool {
	left := int64(math.MaxInt64 / 8)
	for _, d := range dims {
		if d > left {
			return false
		}
		left /= max(d, 1)
	}
	return true
}

func sameDims(a, c []int64) bool {
	if len(a) != len(c) {
		return false
	}
	for i := range a {
		if a[i] != c[i] {
			return false
		}
	}
	return true
}

// State adds a carried state and returns its past value; SetState completes it.
// group is a prefix of the state's name, or "".
func (b *Builder) State(group, name string, elem ir.DataType, past, present []ir.Dim) (*ir.Value, func(present *ir.Value)) {
	if b.block.Layer < 0 {
		b.Fail("a block that carries a state must stand inside layers: its state is named by its layer")
	}
	if group != "" {
		name = group + "." + name
	}
	for _, s := range b.states {
		if s.Layer == b.block.Layer && s.Name == name {
			b.Fail("layer %d already carries a state named %s; give one of the blocks a `state` prefix", s.Layer, name)
		}
	}
	in := &ir.Value{Name: b.stateName(b.component.StateInput, name), Type: ir.TensorOf(elem, past...)}
	leaving := b.stateName(b.component.StateOutput, name)
	b.reserve(in.Name)
	b.reserve(leaving)
	b.graph.Inputs = append(b.graph.Inputs, in)
	b.env.Declare(in)
	i := len(b.states)
	b.states = append(b.states, State{Layer: b.block.Layer, Name: name, Input: in, InType: in.Type, OutType: ir.TensorOf(elem, present...)})
	return in, func(v *ir.Value) {
		s := &b.states[i]
		s.Output = b.output(leaving, v)
		if got := s.Output.Type; got.Elem != elem || !got.Shape.Equal(present) {
			b.Fail("state %s leaves as %s, but must have the type %s", name, typeText(got), typeText(s.OutType))
		}
	}
}

func (b *Builder) stateName(template, state string) string {
	return replaceHoles(template, b.block.Layer, state)
}
