package ops_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mobiusc/compiler/emit"
	"mobiusc/internal/float16"
	"mobiusc/internal/ort"
	"mobiusc/ir"
	"mobiusc/lowering/passes"
	"mobiusc/ops"
)

// load makes a model of one node, its operators legalised for an opset, and
// loads it into ONNX Runtime. What the node reads and defines becomes the
// interface; every value needs a type.
func load(t *testing.T, n *ir.Node, opset int64) *ort.Session {
	t.Helper()
	m := legalised(t, n, opset)
	data, err := emit.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	session, err := ort.Load(path, m, ort.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// legalised returns a model of one node after the passes that every compiled
// model goes through. It fails if the node itself is left: then the runtime's
// own operator would be tested.
func legalised(t *testing.T, n *ir.Node, opset int64) *ir.Model {
	t.Helper()
	m := &ir.Model{IRVersion: 10, Opsets: []ir.Opset{{Version: opset}}, Graph: ir.NewGraph("g")}
	for _, v := range n.Inputs() {
		if v != nil {
			m.Graph.Inputs = append(m.Graph.Inputs, v)
		}
	}
	for _, v := range n.Outputs() {
		if v != nil {
			m.Graph.Outputs = append(m.Graph.Outputs, v)
		}
	}
	m.Graph.Append(n)
	target := passes.Target{Opset: opset, Accepts: func(c *ir.Node) bool { return c != n && passes.Defines(c, opset) }}
	if err := passes.Run(m, passes.Standard(target), nil); err != nil {
		t.Fatal(err)
	}
	if ops.FunctionFor(n.Domain, n.OpType, opset) == nil || m.Graph.Len() == 0 {
		t.Fatalf("%s has no body for opset %d", n.OpType, opset)
	}
	return m
}

// floats returns the elements of a tensor of numbers.
func floats(t ort.Tensor) []float64 {
	size := t.Type.Bits() / 8
	out := make([]float64, len(t.Raw)/size)
	for i := range out {
		raw := t.Raw[i*size:]
		switch t.Type {
		case ir.Float32:
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		case ir.Float16:
			out[i] = float64(float16.F16Value(binary.LittleEndian.Uint16(raw)))
		case ir.Int64:
			out[i] = float64(int64(binary.LittleEndian.Uint64(raw)))
		default:
			panic(fmt.Sprintf("elements of type %s", t.Type))
		}
	}
	return out
}

// tensor rounds values to a float32 tensor.
func tensor(values []float64, dims ...int64) ort.Tensor {
	t := ort.Tensor{Type: ir.Float32, Dims: dims}
	for _, v := range values {
		t.Raw = binary.LittleEndian.AppendUint32(t.Raw, math.Float32bits(float32(v)))
	}
	return t
}
