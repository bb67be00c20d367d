package compiler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler"
	"mobiusc/ir"
)

// mutation is a fault that parity must notice, made in the lowered graph. edit
// returns how many places it changed.
type mutation struct {
	name, model, component string
	edit                   func(e *editor) int
}

// mutations are faults that exporters of these architectures have had or could
// easily have.
var mutations = []mutation{
	{"epsilon 0 in the norm of queries and keys", "qwen3_5_text", "model", func(e *editor) int {
		return e.each("RMSNormalization", "linear_attn", func(n *ir.Node) bool {
			if !strings.HasPrefix(n.Input(1).Name, "const.") {
				return false
			}
			n.SetAttr(ir.FloatAttr("epsilon", 0))
			return true
		})
	}},
	{"padding mask dropped in attention", "qwen3_5_text", "model", func(e *editor) int {
		return e.each("Attention", "self_attn", func(n *ir.Node) bool { n.SetInput(3, nil); return true })
	}},
	{"padding mask dropped in the linear layers", "qwen3_5_text", "model", func(e *editor) int {
		return e.each("Mul", "linear_attn", func(n *ir.Node) bool {
			if !strings.HasPrefix(n.Input(1).Name, "mask/") {
				return false
			}
			n.Output(0).ReplaceUses(n.Input(0))
			return true
		})
	}},
	{"recurrent state transposed", "qwen3_5_text", "model", func(e *editor) int {
		return e.each("LinearAttention", "", func(n *ir.Node) bool {
			return e.after(n.Output(1), func(v *ir.Value) *ir.Value {
				t := v.Type
				swapped := e.node("Transpose", ir.TensorOf(t.Elem, t.Shape[0], t.Shape[1], t.Shape[3], t.Shape[2]), []*ir.Value{v}, ir.IntsAttr("perm", 0, 1, 3, 2))
				return e.node("Reshape", t, []*ir.Value{swapped, e.ints(0, dim(t, 1), dim(t, 2), dim(t, 3))})
			})
		})
	}},
	{"query and gate halves swapped", "qwen3_5_text", "model", func(e *editor) int {
		return e.each("Split", "self_attn", func(n *ir.Node) bool {
			out := n.Outputs()
			n.SetOutputs([]*ir.Value{out[1], out[0]})
			return true
		})
	}},
	{"axes of the rotary embedding in another order", "qwen3_5_vl", "decoder", func(e *editor) int {
		return e.each("Gather", "rotary", func(n *ir.Node) bool {
			axes, err := n.Input(1).Init.AsInts()
			if err != nil {
				return false
			}
			for i, a := range axes {
				axes[i] = (a + 1) % 3
			}
			n.SetInput(1, e.ints(axes...))
			return true
		})
	}},
	{"value heads tiled over the key heads", "qwen3_5_text", "model", func(e *editor) int {
		return e.each("LinearAttention", "", func(n *ir.Node) bool { return e.tileHeads(n) })
	}},
	{"query heads tiled over the key/value heads", "qwen3_5_text", "model", tileQueries},
	{"offset of the norms dropped", "qwen3_5_text", "model", func(e *editor) int {
		return e.each("RMSNormalization", "", func(n *ir.Node) bool {
			add := n.Input(1).Producer()
			if add == nil || add.OpType != "Add" {
				return false
			}
			n.SetInput(1, add.Input(0))
			return true
		})
	}},
	{"convolution state off by one", "qwen3_5_text", "model", func(e *editor) int {
		return e.each("CausalConvWithState", "", func(n *ir.Node) bool {
			return e.after(n.Output(1), func(v *ir.Value) *ir.Value {
				t := v.Type
				last := e.node("Slice", ir.TensorOf(t.Elem, t.Shape[0], t.Shape[1], ir.Int(1)), []*ir.Value{v, e.ints(-1), e.ints(1 << 40), e.ints(2)})
				rest := e.node("Slice", ir.TensorOf(t.Elem, t.Shape[0], t.Shape[1], ir.Int(dim(t, 2)-1)), []*ir.Value{v, e.ints(0), e.ints(-1), e.ints(2)})
				return e.node("Concat", t, []*ir.Value{last, rest}, ir.IntAttr("axis", 2))
			})
		})
	}},
	{"convolution state taken after the convolution", "qwen3_5_text", "model", func(e *editor) int {
		return e.each("CausalConvWithState", "", func(n *ir.Node) bool {
			return e.after(n.Output(1), func(v *ir.Value) *ir.Value {
				y, t := n.Output(0), v.Type
				rows := e.node("Transpose", ir.TensorOf(t.Elem, y.Type.Shape[0], y.Type.Shape[2], y.Type.Shape[1]), []*ir.Value{y}, ir.IntsAttr("perm", 0, 2, 1))
				all := e.node("Concat", ir.TensorOf(t.Elem, t.Shape[0], t.Shape[1], ir.Int(dim(t, 2)).Add(y.Type.Shape[1])), []*ir.Value{n.Input(3), rows}, ir.IntAttr("axis", 2))
				return e.node("Slice", t, []*ir.Value{all, e.ints(-dim(t, 2)), e.ints(1 << 40), e.ints(2)})
			})
		})
	}},
	{"recurrent state in half precision", "qwen3_5_text", "model", func(e *editor) int {
		return e.each("LinearAttention", "", func(n *ir.Node) bool {
			return e.after(n.Output(1), func(v *ir.Value) *ir.Value {
				half := e.node("Cast", ir.TensorOf(ir.Float16, v.Type.Shape...), []*ir.Value{v}, ir.IntAttr("to", int64(ir.Float16)))
				return e.node("Cast", v.Type, []*ir.Value{half}, ir.IntAttr("to", int64(v.Type.Elem)))
			})
		})
	}},
	{"position table off by one row", "qwen3_5_vl", "vision_encoder", func(e *editor) int {
		return e.each("Gather", "pos_embed", func(n *ir.Node) bool {
			e.before(n, func() {
				index := n.Input(1)
				next := e.node("Add", index.Type, []*ir.Value{index, e.scalar(1)})
				last := e.scalar(dim(n.Input(0).Type, 0) - 1)
				n.SetInput(1, e.node("Min", index.Type, []*ir.Value{next, last}))
			})
			return true
		})
	}},
}

// TestSensitivity checks that the parity tests would notice each fault: that at
// least one case of the model has an output outside its bar.
func TestSensitivity(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) { noticed(t, m, "qwen3_5") })
	}
}

// noticed checks that a case of the mutation's model notices the fault.
func noticed(t *testing.T, m mutation, spec string) {
	t.Parallel()
	changed := 0
	o := compiler.Options{DType: "float32", Dump: func(component, phase string, model *ir.Model) error {
		if component == m.component && phase == "lower" {
			changed = m.edit(&editor{graph: model.Graph})
		}
		return nil
	}}
	p := compileReference(t, m.model, spec, o)
	if changed == 0 {
		t.Fatal("the graph has no place for this fault")
	}
	for _, model := range readIndex(t).Models {
		if model.Name != m.model {
			continue
		}
		for _, c := range model.Cases {
			for _, r := range compareCase(t, p, c, float32Tolerance) {
				if r.Error.Outside > 0 {
					t.Logf("noticed by %s: %s %s is off by %.2g", c.Name, r.Component, r.Value, r.MaxAbs)
					return
				}
			}
		}
	}
	t.Errorf("no case of %s notices the fault", m.model)
}

// editor changes a lowered graph.
type editor struct {
	graph *ir.Graph
	made  []*ir.Node // not placed yet
	count int
}

// each calls edit on the nodes of an operator whose name holds part, and
// returns how many it changed.
func (e *editor) each(op, part string, edit func(n *ir.Node) bool) int {
	var nodes []*ir.Node
	for n := range e.graph.Nodes() {
		if n.OpType == op && strings.Contains(n.Name, part) {
			nodes = append(nodes, n)
		}
	}
	count := 0
	for _, n := range nodes {
		if edit(n) {
			count++
		}
	}
	return count
}

// node makes a node with one output of the given type.
func (e *editor) node(op string, t *ir.Type, inputs []*ir.Value, attrs ...*ir.Attr) *ir.Value {
	e.count++
	v := ir.NewValue(fmt.Sprintf("fault.%d", e.count), t)
	n := ir.NewNode("", op, inputs, []*ir.Value{v}, attrs...)
	n.Name = v.Name
	e.made = append(e.made, n)
	return v
}

func (e *editor) constant(t *ir.Tensor) *ir.Value {
	e.count++
	return e.graph.AddInitializer(fmt.Sprintf("fault.%d", e.count), t)
}

func (e *editor) ints(values ...int64) *ir.Value { return e.constant(ir.Ints64(values...)) }
func (e *editor) scalar(v int64) *ir.Value       { return e.constant(ir.Int64Scalar(v)) }

// before places the nodes that edit makes before n.
func (e *editor) before(n *ir.Node, edit func()) {
	edit()
	for _, m := range e.made {
		e.graph.InsertBefore(m, n)
	}
	e.made = nil
}

// after makes v the result of edit, which is given what v was.
func (e *editor) after(v *ir.Value, edit func(v *ir.Value) *ir.Value) bool {
	mark, index := v.Def()
	e.count++
	was := ir.NewValue(fmt.Sprintf("fault.%d", e.count), v.Type)
	outputs := slices.Clone(mark.Outputs())
	outputs[index] = was
	mark.SetOutputs(outputs)
	last := edit(was).Producer()
	for _, m := range e.made {
		e.graph.InsertAfter(m, mark)
		mark = m
	}
	e.made = nil
	last.SetOutputs([]*ir.Value{v})
	return true
}

// regroup reorders the last dim [a·b·width] to [b·a·width].
func (e *editor) regroup(v *ir.Value, a, b int64) *ir.Value {
	t := v.Type
	width := dim(t, 2) / (a * b)
	split := e.node("Reshape", ir.TensorOf(t.Elem, t.Shape[0], t.Shape[1], ir.Int(a), ir.Int(b), ir.Int(width)), []*ir.Value{v, e.ints(0, 0, a, b, width)})
	swapped := e.node("Transpose", ir.TensorOf(t.Elem, t.Shape[0], t.Shape[1], ir.Int(b), ir.Int(a), ir.Int(width)), []*ir.Value{split}, ir.IntsAttr("perm", 0, 1, 3, 2, 4))
	return e.node("Reshape", t, []*ir.Value{swapped, e.ints(0, 0, dim(t, 2))})
}

// tileHeads pairs value head h with key head h % k instead of h // (v / k): it
// brings all that a value head has next to another key head, and the result back.
func (e *editor) tileHeads(n *ir.Node) bool {
	k, v := n.Attr("k_num_heads").Int, n.Attr("v_num_heads").Int
	e.before(n, func() {
		for _, i := range []int{2, 4, 5} {
			n.SetInput(i, e.regroup(n.Input(i), v/k, k))
		}
	})
	return e.after(n.Output(0), func(y *ir.Value) *ir.Value { return e.regroup(y, k, v/k) })
}

func dim(t *ir.Type, axis int) int64 {
	n, _ := t.Shape[axis].Int()
	return n
}
