package lowering

import "mobiusc/ir"

// overMemory attends to another value than the stream (cross-attention):
// [batch, sequence, heads·head_dim]. The memory does not change from call to
// call, so its keys and values are states: they are computed by the call that
// is given empty ones, and read by the others.
func (a *attention) overMemory(x Tensor) Tensor {
	for _, name := range []string{"rope", "window", "segments", "gate", "qkv", "position_bias"} {
		if a.o.Has(name) {
			a.Fail("attention to a memory takes no `%s`", name)
		}
	}
	if a.o.Text("mask") == "causal" {
		a.Fail("attention to a memory has no order of positions: its mask must be bidirectional")
	}
	memory := a.Value(a.o.Text("memory"))
	if len(x.Lead()) != 2 || len(memory.Lead()) != 2 {
		a.Fail("attention to a memory needs a stream and a memory [batch, length, width], not %s and %s", ir.Shape(x.Dims()), ir.Shape(memory.Dims()))
	}
	batch, sequence, source := x.Lead()[0], x.Lead()[1], memory.Lead()[1]
	heads, dim := ir.Int(a.heads), ir.Int(a.dim)
	query := a.toHeads(a.clipped(a.norm("query", a.Linear(x, a.projection("query"), a.heads*a.dim))), a.heads)
	key, value := a.memoryStates(memory)
	inputs := []*ir.Value{query, key, value}
	mask := a.mask(maskSpec{padding: a.o.Text("padding"), batch: batch, sequence: sequence, total: source})
	if mask != nil {
		inputs = append(inputs, mask)
	}
	y := a.Node("", "Attention", inputs, 1, a.scoreAttrs(x.DType())...)[0]
	y.Type = ir.TensorOf(x.DType(), batch, heads, sequence, dim)
	rows := a.Op("Transpose", []*ir.Value{y}, ir.IntsAttr("perm", 0, 2, 1, 3))
	return x.with(a.Op("Reshape", []*ir.Value{rows, a.Ints(-1, a.heads*a.dim)}))
}

// memoryStates returns keys and values of the memory, [batch, kv_heads, source,
// head_dim]: the states `key` and `value`, which enter empty in the first call.
func (a *attention) memoryStates(memory Tensor) (key, value *ir.Value) {
	batch, source := memory.Lead()[0], memory.Lead()[1]
	compute := func() []*ir.Value {
		k, v := a.keysAndValues(memory)
		return []*ir.Value{a.toHeads(a.clipped(a.norm("key", k)), a.kvHeads), a.toHeads(a.clipped(a.norm("value", v)), a.kvHeads)}
	}
	if a.o.Text("cache") == "none" {
		states := compute()
		return states[0], states[1]
	}
	cached := ir.Sym("past_" + source.String())
	before := []ir.Dim{batch, ir.Int(a.kvHeads), cached, ir.Int(a.dim)}
	after := []ir.Dim{batch, ir.Int(a.kvHeads), source, ir.Int(a.dim)}
	elem := memory.DType()
	pastKey, setKey := a.State(a.o.Text("state"), "key", elem, before, after)
	pastValue, setValue := a.State(a.o.Text("state"), "value", elem, before, after)
	isFirst := once(a.Builder, "first call "+cached.String(), "memory", func() *ir.Value {
		length := a.Op("Squeeze", []*ir.Value{a.ShapeOf(cached)})
		return a.Binary("Equal", length, a.IntScalar(0))
	})
	read := func() []*ir.Value { return []*ir.Value{pastKey, pastValue} }
	states := a.If(isFirst, compute, read, ir.TensorOf(elem, after...), ir.TensorOf(elem, after...))
	setKey(states[0])
	setValue(states[1])
	return states[0], states[1]
}

// toHeads returns a projection [batch, length, heads·head_dim] as [batch, heads,
// length, head_dim].
func (a *attention) toHeads(t Tensor, heads int64) *ir.Value {
	split := a.Reshape(a.Full(t), t.Lead()[0], t.Lead()[1], ir.Int(heads), ir.Int(a.dim))
	return a.Op("Transpose", []*ir.Value{split}, ir.IntsAttr("perm", 0, 2, 1, 3))
}
