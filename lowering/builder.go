package lowering

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"mobiusc/internal/diag"
	"mobiusc/ir"
	"mobiusc/ops"
)

// Builder lowers one component. It adds nodes to a graph, inferring the type of
// every value as it appears, and keeps what blocks share: parameters, states,
// named values, and what is computed once a component (rotary tables, masks).
type Builder struct {
	component *Component
	options   Options
	graph     *ir.Graph
	nodes     *ir.Graph // that nodes are added to: graph, or a branch in it
	env       *ops.Env

	prefix string // module path that names are relative to
	block  *Block // whose nodes are being added; nil: those of an output
	out    Output

	limits    []Limit
	cacheless *Block // one that found positions from the call alone, or nil

	// sized are values with dims that no input need have: results of convolutions.
	sized []*ir.Value

	functions map[string]*ir.Function // of the spec, by name

	sources map[string]string // of a spec's path, its directory and file

	names  map[string]int // node and value names in use → how often asked for
	values map[string]named
	params map[string]*Param
	order  []*Param
	states []State
	ties   []Tie
	// keptLast is set when a block honours Options.LastLogits.
	keptLast bool
	flat     map[*ir.Value]*ir.Value // the folded form of a value, and
	full     map[*ir.Value]*ir.Value // the form written out
	casts    map[castKey]*ir.Value
	consts   map[string]*ir.Value
	derived  map[string]any
}

type castKey struct {
	v  *ir.Value
	to ir.DataType
}

// named is a value that blocks can name.
type named struct {
	tensor Tensor
	// lengths is set for ids of contiguous segments: int64 [segments], how many
	// rows each has.
	lengths *ir.Value
	// stack holds what block collect has gathered so far under the name.
	stack []Tensor
}

// fault carries a finding out of the lowering of one component; see lowerComponent.
type fault struct{ d diag.Diagnostic }

// Fail stops the lowering of the component with an error at the block in hand.
func (b *Builder) Fail(format string, args ...any) {
	d := *misfit.At(diag.Range{}, format, args...)
	if b.block != nil {
		d.Range = b.block.Range
		d.Message = b.block.Decl.Name + ": " + d.Message
	}
	panic(fault{d})
}

// Body lowers a sequence of blocks.
func (b *Builder) Body(body Body, x Tensor) Tensor {
	for _, blk := range body {
		outer := b.block
		b.block = blk
		if x.IsZero() && !blk.Decl.Begins {
			b.Fail("no stream reaches this block: begin the body with `use`, `embedding` or `zeros`")
		}
		before := x
		x = blk.Decl.Lower(b, blk, x)
		if b.options.Trace != nil {
			b.options.Trace(b.component.Name, blk, before, x)
		}
		b.block = outer
	}
	return x
}

// Join returns the absolute module path of a name.
func (b *Builder) Join(name string) string {
	switch {
	case strings.HasPrefix(name, "/"):
		return name[1:]
	case name == "":
		return b.prefix
	case b.prefix == "":
		return name
	}
	return b.prefix + "." + name
}

// Within runs f with names relative to name.
func (b *Builder) Within(name string, f func()) {
	outer := b.prefix
	b.prefix = b.Join(name)
	f()
	b.prefix = outer
}

// Node appends a node and returns its outputs, typed. Its name is the module
// path and the operator.
func (b *Builder) Node(domain, op string, inputs []*ir.Value, outputs int, attrs ...*ir.Attr) []*ir.Value {
	name := b.unique(b.prefix + "/" + op)
	outs := make([]*ir.Value, outputs)
	for i := range outs {
		outs[i] = &ir.Value{Name: name}
		if i > 0 {
			outs[i].Name = fmt.Sprintf("%s.%d", name, i)
		}
	}
	n := ir.NewNode(domain, op, inputs, outs, attrs...)
	n.Name = name
	at := b.out.Range
	if b.block != nil {
		at = b.block.Range
	}
	n.Meta.Set("source", b.source(at))
	b.nodes.Append(n)
	if err := b.env.Infer(n); err != nil {
		b.Fail("%v", err)
	}
	return outs
}

// source returns the place of a block as the graph records it: the spec's
// directory and file, line and column. It says the same wherever the spec lies
// and whatever path it was named by, so that the same inputs give the same bytes.
func (b *Builder) source(r diag.Range) string {
	file, known := b.sources[r.File]
	if !known {
		file = filepath.Base(r.File)
		if abs, err := filepath.Abs(r.File); err == nil {
			file = filepath.Base(filepath.Dir(abs)) + "/" + file
		}
		b.sources[r.File] = file
	}
	r.File = file
	return r.String()
}

// unique returns the name, with a number where it is taken.
func (b *Builder) unique(name string) string {
	name = strings.TrimPrefix(name, "/")
	b.names[name]++
	if n := b.names[name]; n > 1 {
		return b.unique(name + "_" + strconv.Itoa(n))
	}
	return name
}

// Op appends a node of a standard operator with one output.
func (b *Builder) Op(op string, inputs []*ir.Value, attrs ...*ir.Attr) *ir.Value {
	return b.Node("", op, inputs, 1, attrs...)[0]
}

// Call appends a call of one of the compiler's own functions. Its outputs have
// the given types: what the function computes is inferred once it is inlined.
func (b *Builder) Call(function string, inputs []*ir.Value, types []*ir.Type, attrs ...*ir.Attr) []*ir.Value {
	outs := b.Node(PrivateDomain, function, inputs, len(types), attrs...)
	for i, t := range types {
		outs[i].Type = t
	}
	return outs
}

// Unary appends a node with one input and no attributes.
func (b *Builder) Unary(op string, x *ir.Value) *ir.Value { return b.Op(op, []*ir.Value{x}) }

// Binary appends a node with two inputs and no attributes.
func (b *Builder) Binary(op string, x, y *ir.Value) *ir.Value { return b.Op(op, []*ir.Value{x, y}) }

// Cast returns the value in another dtype; once a value and dtype.
func (b *Builder) Cast(v *ir.Value, to ir.DataType) *ir.Value {
	if v.Type.Elem == to {
		return v
	}
	key := castKey{v, to}
	if c := b.casts[key]; c != nil {
		return c
	}
	c := b.Op("Cast", []*ir.Value{v}, ir.IntAttr("to", int64(to)))
	b.casts[key] = c
	return c
}

// Split cuts a value along its last dim.
func (b *Builder) Split(v *ir.Value, sizes ...int64) []*ir.Value {
	return b.Node("", "Split", []*ir.Value{v, b.Ints(sizes...)}, len(sizes), ir.IntAttr("axis", -1))
}

// Ints returns an int64 constant of rank 1.
func (b *Builder) Ints(values ...int64) *ir.Value {
	return b.constant("i64"+joinInts(values), ir.Ints64(values...))
}

// IntScalar returns an int64 constant of rank 0.
func (b *Builder) IntScalar(v int64) *ir.Value {
	return b.constant("i64s"+joinInts([]int64{v}), ir.Int64Scalar(v))
}

// Scalar returns a constant of rank 0 and the given float dtype.
func (b *Builder) Scalar(t ir.DataType, v float64) *ir.Value {
	b.mustFit(t, v)
	return b.constant(fmt.Sprintf("%s.%g", t, v), ops.Scalar(t, v))
}

// floatAttr returns a float attribute, which is float32.
func (b *Builder) floatAttr(name string, v float64) *ir.Attr {
	b.mustFit(ir.Float32, v)
	return ir.FloatAttr(name, float32(v))
}

// mustFit refuses a number that would be infinite in a dtype.
func (b *Builder) mustFit(t ir.DataType, v float64) {
	if most := largest(t); math.Abs(v) > most {
		b.Fail("the number %g does not fit in %s, whose largest is %g", v, t, most)
	}
}

// largest returns the largest finite number of a dtype, or +Inf of one that is
// no floating point type of models.
func largest(t ir.DataType) float64 {
	switch t {
	case ir.Float32:
		return math.MaxFloat32
	case ir.Float16:
		return 65504 // (2 - 2^-10)·2^15
	case ir.BFloat16:
		return 0x1.fep127
	}
	return math.Inf(1)
}

// Floats returns a float32 constant of rank 1 under a name that says what it is.
func (b *Builder) Floats(name string, values []float32) *ir.Value {
	return b.constant(name, ir.Floats32(values...))
}

// constant returns the initializer of the given name, adding it if it is new:
// the name says the content.
func (b *Builder) constant(name string, t *ir.Tensor) *ir.Value {
	name = "const." + name
	if v := b.consts[name]; v != nil {
		return v
	}
	v := b.graph.AddInitializer(b.unique(name), t)
	b.env.Declare(v)
	b.consts[name] = v
	return v
}

// table adds an initializer that no other block shares; what is the start of
// its name.
func (b *Builder) table(what string, t *ir.Tensor) *ir.Value {
	v := b.graph.AddInitializer(b.unique("const."+what), t)
	b.env.Declare(v)
	return v
}

func joinInts(values []int64) string {
	var s strings.Builder
	for _, v := range values {
		s.WriteByte('.')
		s.WriteString(strconv.FormatInt(v, 10))
	}
	return s.String()
}

// maxConstant bounds the elements of a constant that is as long as a config says:
// nothing in a model is as wide.
const maxConstant = 1 << 24

func (b *Builder) mustFitConstant(n int64, what string) {
	if n > maxConstant {
		b.Fail("%s is %d wide, and at most %d can be computed with", what, n, maxConstant)
	}
}

// static returns a dim that must be a number.
func (b *Builder) static(d ir.Dim, what string) int64 {
	n, ok := d.Int()
	if !ok {
		b.Fail("%s must be a known number, but is %s", what, d)
	}
	return n
}

// Once returns what make returned the first time the key was asked for. Inside
// make, names are relative to scope and nodes belong to no module.
func once[T any](b *Builder, key, scope string, make func() T) T {
	if v, ok := b.derived[key]; ok {
		return v.(T)
	}
	outer := b.prefix
	b.prefix = scope
	v := make()
	b.prefix = outer
	b.derived[key] = v
	return v
}

// Value returns the value of the given name, failing when there is none.
// Of a value that collects, it is what has been collected so far.
func (b *Builder) Value(name string) Tensor {
	n := b.named(name)
	if n.stack == nil {
		return n.tensor
	}
	var parts []*ir.Value
	for _, t := range n.stack {
		parts = append(parts, b.Op("Unsqueeze", []*ir.Value{b.Full(t), b.Ints(0)}))
	}
	if len(parts) == 1 {
		return tensorOf(parts[0])
	}
	return tensorOf(b.Op("Concat", parts, ir.IntAttr("axis", 0)))
}

func (b *Builder) named(name string) named {
	n, ok := b.values[name]
	if !ok {
		b.Fail("no value named %q: neither an input of component %s nor named by a block before this one", name, b.component.Name)
	}
	return n
}
