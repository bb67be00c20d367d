package lowering

import (
	"fmt"
	"strconv"
	"strings"

	"mobiusc/internal/diag"
	"mobiusc/ir"
	"mobiusc/ops"
)

// PrivateDomain is the domain of the compiler's own functions. No node of it
// remains in a package.
const PrivateDomain = "mobiusc"

// Options are choices of the target that lowering has to know.
type Options struct {
	Storage ir.DataType // dtype of parameters; the compute dtype if Undefined
	// Recurrent chooses the per-token form of linear attention instead of the
	// chunk-parallel one.
	Recurrent bool
	// ChunkSize is the length of a chunk of linear attention; 0: DefaultChunkSize.
	ChunkSize int64
	// LastLogits keeps the last token only, where a block last_token says so.
	LastLogits bool
	// Trace, if set, is told of every block of a component that is lowered, with
	// the stream before and after it. The stream before is zero where there was
	// none.
	Trace func(component string, blk *Block, before, after Tensor)
}

// DefaultChunkSize measured best on CPUs.
const DefaultChunkSize = 32

// chunk returns the chunk length of linear attention; one token a chunk is the
// recurrent form.
func (o Options) chunk() int64 {
	switch {
	case o.Recurrent:
		return 1
	case o.ChunkSize == 0:
		return DefaultChunkSize
	}
	return o.ChunkSize
}

// Graph is one lowered component: a graph that may still call functions.
type Graph struct {
	Component *Component
	Graph     *ir.Graph
	Params    []*Param
	States    []State
	Limits    []Limit
	Ties      []Tie
	Functions []*ir.Function // that nodes of SpecDomain call
	// Values holds the types of the values that the component names, its inputs
	// included.
	Values map[string]*ir.Type

	keptLast bool
}

// Lower turns every component of a model into a graph. Each reports at most one
// finding: what follows a fault in a graph is seldom a fault of its own.
func Lower(m *Model, o Options) ([]*Graph, diag.List) {
	var graphs []*Graph
	var found diag.List
	keptLast := false
	for _, c := range m.Components {
		c.compute = m.Compute
		g, d := lowerComponent(c, m.Functions, o)
		if d != nil {
			found.Add(*d)
			continue
		}
		keptLast = keptLast || g.keptLast
		graphs = append(graphs, g)
	}
	if len(graphs) == len(m.Components) {
		found = append(found, checkTies(graphs)...)
	}
	if o.LastLogits && !keptLast && !found.HasErrors() {
		d := noLastLogits.At(m.Components[0].Range, "the last logits alone were asked for, but no block of the spec keeps them")
		d.Hint = "write `last_token: requested` before the head"
		found.Add(*d)
	}
	return graphs, found
}

func lowerComponent(c *Component, functions []*ir.Function, o Options) (g *Graph, found *diag.Diagnostic) {
	if o.Storage == ir.Undefined {
		o.Storage = c.compute
	}
	graph := ir.NewGraph(c.Name)
	env := ops.NewModelEnv(&ir.Model{Opsets: []ir.Opset{{Version: ops.MaxOpset("")}, {Domain: SpecDomain, Version: 1}}, Functions: functions})
	b := &Builder{
		component: c, options: o, graph: graph, nodes: graph, env: env, prefix: c.Prefix, functions: map[string]*ir.Function{}, sources: map[string]string{},
		names: map[string]int{}, values: map[string]named{}, params: map[string]*Param{},
		flat: map[*ir.Value]*ir.Value{}, full: map[*ir.Value]*ir.Value{},
		casts: map[castKey]*ir.Value{}, consts: map[string]*ir.Value{}, derived: map[string]any{},
	}
	for _, f := range functions {
		b.functions[f.Name] = f
	}
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fault)
			if !ok {
				panic(r)
			}
			if f.d.Range.File == "" {
				f.d.Range = c.Range
			}
			g, found = nil, &f.d
		}
	}()
	g = b.lower()
	g.Functions = functions
	return g, nil
}

func (b *Builder) lower() *Graph {
	c := b.component
	for _, in := range c.Inputs {
		v := ir.NewValue(in.Name, in.Type)
		b.reserve(in.Name)
		b.graph.Inputs = append(b.graph.Inputs, v)
		b.env.Declare(v)
		b.values[in.Name] = named{tensor: tensorOf(v)}
	}
	for _, out := range c.Outputs {
		b.reserve(out.Name)
	}
	result := b.Body(c.Body, Tensor{})
	b.checkCacheless()
	for _, out := range c.Outputs {
		b.block, b.out = nil, out
		b.Within(out.Name, func() {
			b.graph.Outputs = append(b.graph.Outputs, b.output(out.Name, b.Full(b.outputTensor(out, result))))
		})
	}
	for _, s := range b.states {
		b.graph.Outputs = append(b.graph.Outputs, s.Output)
	}
	return &Graph{Component: c, Graph: b.graph, Params: b.order, States: b.states, Limits: b.limits, Ties: b.ties, Values: b.types(), keptLast: b.keptLast}
}

// types returns the types of the named values.
func (b *Builder) types() map[string]*ir.Type {
	out := make(map[string]*ir.Type, len(b.values))
	for name, n := range b.values {
		if n.stack == nil {
			out[name] = n.tensor.Type()
			continue
		}
		t := n.stack[0].Type()
		out[name] = ir.TensorOf(t.Elem, append([]ir.Dim{ir.Int(int64(len(n.stack)))}, t.Shape...)...)
	}
	return out
}

func (b *Builder) outputTensor(out Output, result Tensor) Tensor {
	if out.Value == "result" {
		if result.IsZero() {
			b.Fail("component %s has no stream to put out as %s: its body is empty", b.component.Name, out.Name)
		}
		return result
	}
	return b.Value(out.Value)
}

// output gives a value the name of a graph output. A value that cannot take it
// (an input, a parameter, another output) is copied.
func (b *Builder) output(name string, v *ir.Value) *ir.Value {
	if v.Producer() == nil || b.isInterface(v) {
		v = b.Unary("Identity", v)
	}
	v.Name = name
	return v
}

func (b *Builder) isInterface(v *ir.Value) bool {
	for _, s := range b.states {
		if s.Output == v {
			return true
		}
	}
	return b.graph.IsOutput(v)
}

// reserve keeps a name of the interface from being given to anything else.
func (b *Builder) reserve(name string) {
	if b.names[name] > 0 {
		b.Fail("the name %q is used twice in the interface of component %s", name, b.component.Name)
	}
	b.names[name]++
}

func replaceHoles(template string, layer int, state string) string {
	return strings.NewReplacer("{layer}", strconv.Itoa(layer), "{state}", state).Replace(template)
}

func formatRepeated(value float64, n int64) string { return fmt.Sprintf("repeat.%g.%d", value, n) }

func typeText(t *ir.Type) string { return fmt.Sprintf("%s%s", t.Elem, t.Shape) }
