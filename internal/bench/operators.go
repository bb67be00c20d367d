//go:build unix

package main

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"

	"mobiusc/compiler/emit"
	"mobiusc/ir"
	"mobiusc/lowering"
	"mobiusc/lowering/passes"
)

// The shape of one layer of the 27B model.
const (
	keyHeads, valueHeads, headDim = 16, 48, 128
	convChannels, convTaps        = 2*keyHeads*headDim + valueHeads*headDim, 4
)

// runtimeDomain holds ONNX Runtime's own operators.
const runtimeDomain = "com.microsoft"

// opset is the version that the operators are compiled for; their bodies need no
// more, and every runtime has it.
const opset = 21

// rows is an input or output [batch, sequence, width].
func rows(name string, width int64) *ir.Value {
	return ir.NewValue(name, ir.TensorOf(ir.Float32, ir.Sym("batch"), ir.Sym("sequence"), ir.Int(width)))
}

// linearAttention returns the gated delta rule in chunks of so many tokens: 1
// is the per-token form.
func linearAttention(chunk int64) *ir.Node {
	inputs, outputs := linearAttentionValues(keyHeads * headDim)
	return ir.NewNode(lowering.PrivateDomain, "LinearAttention", inputs, outputs,
		ir.IntAttr("q_num_heads", keyHeads), ir.IntAttr("k_num_heads", keyHeads), ir.IntAttr("v_num_heads", valueHeads),
		ir.StringAttr("update_rule", "gated_delta"), ir.IntAttr("chunk_size", chunk))
}

// fusedLinearAttention returns the runtime's own operator for the same. Its
// query and key heads are as ours: it repeats them to the value heads itself.
func fusedLinearAttention() *ir.Node {
	inputs, outputs := linearAttentionValues(keyHeads * headDim)
	return ir.NewNode(runtimeDomain, "LinearAttention", inputs, outputs,
		ir.IntAttr("q_num_heads", keyHeads), ir.IntAttr("kv_num_heads", valueHeads),
		ir.StringAttr("update_rule", "gated_delta"), ir.FloatAttr("scale", 0))
}

func linearAttentionValues(keyWidth int64) (inputs, outputs []*ir.Value) {
	state := func(name string) *ir.Value {
		return ir.NewValue(name, ir.TensorOf(ir.Float32, ir.Sym("batch"), ir.Int(valueHeads), ir.Int(headDim), ir.Int(headDim)))
	}
	inputs = []*ir.Value{rows("query", keyWidth), rows("key", keyWidth), rows("value", valueHeads*headDim),
		state("past_state"), rows("decay", valueHeads), rows("beta", valueHeads)}
	return inputs, []*ir.Value{rows("output", valueHeads*headDim), state("present_state")}
}

// convolution returns the causal convolution with its state and SiLU: as the
// compiler writes it, or with the operator Conv and what it needs around it.
func convolution(grouped bool) *ir.Graph {
	state := func(name string) *ir.Value {
		return ir.NewValue(name, ir.TensorOf(ir.Float32, ir.Sym("batch"), ir.Int(convChannels), ir.Int(convTaps-1)))
	}
	x, past, y, present := rows("input", convChannels), state("past_state"), rows("output", convChannels), state("present_state")
	weight := ir.NewValue("weight", ir.TensorOf(ir.Float32, ir.Int(convChannels), ir.Int(1), ir.Int(convTaps)))
	weight.Init = &ir.Tensor{Type: ir.Float32, Dims: []int64{convChannels, 1, convTaps}}
	for i := range convChannels * convTaps {
		weight.Init.Raw = binary.LittleEndian.AppendUint32(weight.Init.Raw, math.Float32bits(float32(i%13)/13-0.4))
	}
	g := ir.NewGraph("convolution")
	g.Inputs, g.Outputs, g.Initializers = []*ir.Value{x, past}, []*ir.Value{y, present}, []*ir.Value{weight}
	if !grouped {
		g.Append(ir.NewNode(lowering.PrivateDomain, "CausalConvWithState", []*ir.Value{x, weight, nil, past}, g.Outputs, ir.StringAttr("activation", "silu")))
		return g
	}
	op := func(opType string, inputs []*ir.Value, out *ir.Value, attrs ...*ir.Attr) *ir.Value {
		if out == nil {
			out = ir.NewValue(opType+"_"+string(rune('a'+g.Len())), nil)
		}
		g.Append(ir.NewNode("", opType, inputs, []*ir.Value{out}, attrs...))
		return out
	}
	columns := op("Transpose", []*ir.Value{x}, nil, ir.IntsAttr("perm", 0, 2, 1))
	window := op("Concat", []*ir.Value{past, columns}, nil, ir.IntAttr("axis", 2))
	sum := op("Conv", []*ir.Value{window, weight}, nil, ir.IntAttr("group", convChannels))
	gate := op("Sigmoid", []*ir.Value{sum}, nil)
	gated := op("Mul", []*ir.Value{sum, gate}, nil)
	op("Transpose", []*ir.Value{gated}, y, ir.IntsAttr("perm", 0, 2, 1))
	constant := func(n int64) *ir.Value {
		return op("Constant", nil, nil, ir.IntsAttr("value_ints", n))
	}
	op("Slice", []*ir.Value{window, constant(1 - convTaps), constant(1 << 62), constant(2)}, present)
	return g
}

// graphOf wraps a node whose inputs and outputs are those of the graph.
func graphOf(n *ir.Node) *ir.Graph {
	g := ir.NewGraph("operator")
	g.Inputs, g.Outputs = n.Inputs(), n.Outputs()
	g.Append(n)
	return g
}

// write compiles a graph for the opset and writes it into dir.
func write(dir, name string, g *ir.Graph) (path string, err error) {
	m := &ir.Model{IRVersion: 10, Opsets: []ir.Opset{{Version: opset}, {Domain: runtimeDomain, Version: 1}}, Graph: g}
	target := passes.Target{Opset: opset, Accepts: func(n *ir.Node) bool { return n.Domain == runtimeDomain || passes.Defines(n, opset) }}
	if err := passes.Run(m, passes.Standard(target), nil); err != nil {
		return "", err
	}
	data, err := emit.Marshal(m)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, name+".onnx")
	return path, os.WriteFile(path, data, 0o666)
}

// operator returns an entrant that runs a graph of one operator.
func (b *bench) operator(name string, g *ir.Graph) entrant {
	return entrant{name: name, start: func(ctx context.Context) (*process, error) {
		path, err := write(b.dir, name, g)
		if err != nil {
			return nil, err
		}
		return startModel(ctx, name, workerOptions{Model: path, Threads: b.threads})
	}}
}
