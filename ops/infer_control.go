package ops

import (
	"fmt"
	"slices"

	"mobiusc/ir"
)

func registerControl() {
	register(inferIf, "If")
	register(inferLoop, "Loop")
	register(inferScan, "Scan")
}

// subgraph returns a graph attribute, or nil.
func (c *inference) subgraph(name string) *ir.Graph {
	if a := c.attr(name); a != nil {
		return a.Graph
	}
	return nil
}

// inferIf gives outputs the type that both branches agree on; with a known
// condition the other branch, which may not fit, is not looked at.
func inferIf(c *inference) {
	yes, no := c.subgraph("then_branch"), c.subgraph("else_branch")
	if taken, known := c.numbers(0); known && len(taken) == 1 {
		if taken[0] == 0 {
			yes = no
		}
		c.inferTaken(yes)
		return
	}
	if yes == nil || no == nil {
		return
	}
	for _, g := range []*ir.Graph{yes, no} {
		if err := c.env.InferGraph(g); err != nil {
			c.fail("%v", err)
			return
		}
	}
	equal := c.equalSizes(c.input(0))
	for i := range c.out {
		a, b := c.outputType(yes, i), c.outputType(no, i)
		if a != nil && b != nil && a.Elem != b.Elem && a.Elem != ir.Undefined && b.Elem != ir.Undefined {
			c.fail("output %d is %s in one branch and %s in the other", i, a, b)
		}
		c.set(i, unionWhere(a, b, equal))
	}
}

// inferTaken infers the one branch that an If takes.
func (c *inference) inferTaken(g *ir.Graph) {
	if g == nil {
		return
	}
	if err := c.env.InferGraph(g); err != nil {
		c.fail("%v", err)
		return
	}
	for i, out := range c.node.Outputs() {
		c.set(i, c.outputType(g, i))
		if out != nil && i < len(g.Outputs) && g.Outputs[i] != nil {
			c.env.copyFact(out, g.Outputs[i])
		}
	}
}

// equalSizes returns what a condition that compares a symbol with a size for
// equality says when it is true; nil for other conditions.
func (c *inference) equalSizes(condition *ir.Value) map[string]ir.Dim {
	n := origin(condition, "Identity", "Squeeze", "Unsqueeze", "Reshape")
	if n == nil || n.OpType != "Equal" || !IsDefault(n.Domain) {
		return nil
	}
	a, b := c.env.Sizes(n.Input(0)), c.env.Sizes(n.Input(1))
	if len(a) != 1 || len(b) != 1 || !a[0].Known() || !b[0].Known() {
		return nil
	}
	for _, pair := range [][2]ir.Dim{{a[0], b[0]}, {b[0], a[0]}} {
		if names := pair[0].Symbols(); len(names) == 1 && pair[0].Equal(ir.Sym(names[0])) {
			return map[string]ir.Dim{names[0]: pair[1]}
		}
	}
	return nil
}

// origin returns the node that produces a value, looking through operators that
// pass their first input on. Foreign graphs may have cycles: it gives up after
// a few steps.
func origin(v *ir.Value, through ...string) *ir.Node {
	for range 16 {
		if v == nil || v.Producer() == nil {
			return nil
		}
		n := v.Producer()
		if !IsDefault(n.Domain) || !slices.Contains(through, n.OpType) {
			return n
		}
		v = n.Input(0)
	}
	return nil
}

// unionWhere is union for the branches of a condition: where it is true, the
// given sizes are equal. So a branch for a sequence of 1 that returns [batch, 1]
// agrees with another that returns [batch, sequence].
func unionWhere(yes, no *ir.Type, equal map[string]ir.Dim) *ir.Type {
	t := union(yes, no)
	if len(equal) == 0 || t == nil || !t.Ranked {
		return t
	}
	for i, d := range t.Shape {
		if !d.Known() && no.Shape[i].Substitute(equal).Equal(yes.Shape[i].Substitute(equal)) {
			t.Shape[i] = no.Shape[i]
		}
	}
	return t
}

func (c *inference) outputType(g *ir.Graph, i int) *ir.Type {
	if i < len(g.Outputs) && g.Outputs[i] != nil {
		return c.env.Type(g.Outputs[i])
	}
	return nil
}

func (env *Env) copyFact(to, from *ir.Value) {
	if f := env.fact(from); f.tensor != nil || f.sizes != nil {
		env.facts[to] = f
	}
}

// trial returns an environment that keeps its findings to itself.
func (env *Env) trial() *Env {
	t := *env
	t.outer, t.types, t.facts = env, map[*ir.Value]*ir.Type{}, map[*ir.Value]fact{}
	return &t
}

// settle finds types for the carried inputs of a loop body that hold in every
// turn: it starts from the initial types and gives up what the body changes.
// The result has one type for each of the body's inputs.
func (c *inference) settle(body *ir.Graph, inputs []*ir.Type, carried, firstOutput int) ([]*ir.Type, bool) {
	for range 8 {
		trial := c.env.trial()
		if !c.bindInputs(trial, body, inputs) {
			return nil, false
		}
		if err := trial.InferGraph(body); err != nil {
			c.fail("%v", err)
			return nil, false
		}
		changed := false
		for i := range carried {
			at := len(inputs) - carried + i
			if firstOutput+i >= len(body.Outputs) || body.Outputs[firstOutput+i] == nil {
				continue
			}
			t := union(inputs[at], trial.Type(body.Outputs[firstOutput+i]))
			if !sameType(t, inputs[at]) {
				inputs[at], changed = t, true
			}
		}
		if !changed {
			return inputs, true
		}
	}
	return inputs, true
}

// bindInputs gives a body's inputs their types.
func (c *inference) bindInputs(env *Env, body *ir.Graph, types []*ir.Type) bool {
	for i, v := range body.Inputs {
		if v == nil || i >= len(types) {
			continue
		}
		if err := env.setMerged(v, types[i]); err != nil {
			c.fail("input %q of the body %w", v.Name, err)
			return false
		}
	}
	return true
}

// inferBody settles the types of a body's inputs and infers the body with them.
// The carried ones are the last of inputs.
func (c *inference) inferBody(body *ir.Graph, inputs []*ir.Type, carried, firstOutput int) bool {
	types, ok := c.settle(body, inputs, carried, firstOutput)
	if !ok || !c.bindInputs(c.env, body, types) {
		return false
	}
	if err := c.env.InferGraph(body); err != nil {
		c.fail("%v", err)
		return false
	}
	return true
}

// inferLoop: body (turn, condition, carried…) → (condition, carried…, scanned…).
// Scanned outputs are stacked along a new first axis, whose size is the trip
// count where no condition can end the loop before.
func inferLoop(c *inference) {
	body := c.subgraph("body")
	carried := max(0, len(c.node.Inputs())-2)
	if body == nil {
		return
	}
	inputs := []*ir.Type{ir.TensorOf(ir.Int64), ir.TensorOf(ir.Bool)}
	for i := range carried {
		inputs = append(inputs, c.typ(2+i))
	}
	if !c.inferBody(body, inputs, carried, 1) {
		return
	}
	turns := ir.Dim{}
	if m := c.sizes(0); len(m) == 1 && c.neverStops(body) {
		turns = ir.Int(0).Max(m[0])
	}
	for i := range c.out {
		t := c.outputType(body, 1+i)
		if i < carried {
			t = union(t, c.typ(2+i)) // also after no turn
		} else {
			t = stacked(t, 0, turns)
		}
		c.set(i, t)
	}
}

// neverStops reports whether a loop's condition stays true: given as such or
// absent, and passed on or set to true by the body.
func (c *inference) neverStops(body *ir.Graph) bool {
	if c.has(1) {
		if first, ok := c.numbers(1); !ok || len(first) != 1 || first[0] == 0 {
			return false
		}
	}
	if len(body.Outputs) == 0 || len(body.Inputs) < 2 || body.Outputs[0] == nil {
		return false
	}
	next := body.Outputs[0]
	if next == body.Inputs[1] {
		return true
	}
	if s := c.env.Sizes(next); len(s) == 1 {
		return s[0].Equal(ir.Int(1))
	}
	n := next.Producer()
	return n != nil && n.OpType == "Identity" && IsDefault(n.Domain) && n.Input(0) == body.Inputs[1]
}

// stacked returns a tensor type with a dim inserted at an axis.
func stacked(t *ir.Type, axis int64, d ir.Dim) *ir.Type {
	if t == nil || t.Kind != ir.TensorKind {
		return nil
	}
	i, ok := axisOf(axis, len(t.Shape)+1)
	if !t.Ranked || !ok {
		return ir.Unranked(t.Elem)
	}
	shape := append(append(append(ir.Shape{}, t.Shape[:i]...), d), t.Shape[i:]...)
	return ir.TensorOf(t.Elem, shape...)
}

// inferScan: body (carried…, scanned…) → (carried…, stacked…). The scanned
// inputs have one length in common, which the stacked outputs have too.
func inferScan(c *inference) {
	body := c.subgraph("body")
	scanned := int(c.int("num_scan_inputs", 0))
	carried := len(c.node.Inputs()) - scanned
	if body == nil || scanned < 0 || carried < 0 || c.env.opsets[""] < 9 {
		return
	}
	inputs := make([]*ir.Type, 0, len(c.node.Inputs()))
	length := ir.Dim{}
	for i := range scanned {
		t, d := c.scannedInput(carried+i, c.entry("scan_input_axes", i, 0))
		inputs = append(inputs, t)
		length = c.match("scanned lengths", length, d, carried, carried+i)
	}
	for i := range carried {
		inputs = append(inputs, c.typ(i))
	}
	// The body takes the carried values first; for inferBody they come last.
	view := *body
	if len(body.Inputs) >= carried {
		view.Inputs = append(append([]*ir.Value{}, body.Inputs[carried:]...), body.Inputs[:carried]...)
	}
	if len(body.Inputs) != len(inputs) {
		c.fail("the body has %d inputs, expected %d", len(body.Inputs), len(inputs))
		return
	}
	if !c.inferBody(&view, inputs, carried, 0) {
		return
	}
	for i := range c.out {
		t := c.outputType(body, i)
		if i < carried {
			t = union(t, c.typ(i))
		} else {
			t = stacked(t, c.entry("scan_output_axes", i-carried, 0), length)
		}
		c.set(i, t)
	}
}

// scannedInput returns the type of one element of a scanned input and the
// number of elements.
func (c *inference) scannedInput(i int, axis int64) (*ir.Type, ir.Dim) {
	t := c.typ(i)
	if t == nil || t.Kind != ir.TensorKind || !t.Ranked {
		return ir.Unranked(c.elem(i)), ir.Dim{}
	}
	a, ok := axisOf(axis, len(t.Shape))
	if !ok {
		c.fail("scan axis %d is out of range for shape %s", axis, shapeText(t.Shape))
		return ir.Unranked(t.Elem), ir.Dim{}
	}
	return ir.TensorOf(t.Elem, append(append(ir.Shape{}, t.Shape[:a]...), t.Shape[a+1:]...)...), t.Shape[a]
}

// inferCall infers a call of one of the model's functions by a trial run of its
// body.
func (c *inference) inferCall(f *ir.Function) {
	if f.Body == nil {
		return
	}
	if c.env.depth >= maxCallDepth {
		c.fail("calls of functions nest more than %d deep", maxCallDepth)
		return
	}
	bind := map[string]*ir.Attr{}
	for _, a := range f.Defaults {
		bind[a.Name] = a
	}
	for _, a := range c.node.Attrs {
		bind[a.Name] = c.attr(a.Name)
	}
	trial := c.env.InFunction(f, bind)
	if len(c.node.Inputs()) > len(f.Body.Inputs) {
		c.fail("%d inputs, but function %s has %d", len(c.node.Inputs()), f.Name, len(f.Body.Inputs))
		return
	}
	for i, v := range f.Body.Inputs {
		if v == nil {
			continue
		}
		trial.types[v] = c.typ(i)
		trial.facts[v] = fact{absent: true}
		if in := c.input(i); in != nil {
			trial.facts[v] = c.env.fact(in)
		}
	}
	if err := trial.InferGraph(f.Body); err != nil {
		c.err = fmt.Errorf("in function %s: %w", f.Name, err)
		return
	}
	for i := range c.out {
		if i >= len(f.Body.Outputs) || f.Body.Outputs[i] == nil {
			continue
		}
		v := f.Body.Outputs[i]
		c.set(i, trial.Type(v))
		if out := c.node.Output(i); out != nil {
			if known := trial.fact(v); known.tensor != nil || known.sizes != nil {
				c.env.facts[out] = known
			}
		}
	}
}
