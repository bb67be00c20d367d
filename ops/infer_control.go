package ops

import (
	"iter"
	"slices"

	"mobiusc/ir"
)

func registerControl() {
	register(inferIf, "If")
	register(inferLoop, "Loop")
	register(inferScan, "Scan")
}

// bodyRules give the inputs of subgraphs their types.
var bodyRules map[string]inferRule

func init() {
	bodyRules = map[string]inferRule{"Loop": inferLoopBody, "Scan": inferScanBody}
}

// takenGraphs yields the subgraphs of a standard operator that may run: of an If
// with a known condition the other branch, which may not fit, is left out.
func (env *Env) takenGraphs(n *ir.Node) iter.Seq[*ir.Graph] {
	return func(yield func(*ir.Graph) bool) {
		if !IsDefault(n.Domain) {
			return
		}
		c := &inference{call: call{n, env.bind}, env: env}
		names := []string{"body"}
		if n.OpType == "If" {
			names = c.takenBranches()
		}
		for _, name := range names {
			if g := c.subgraph(name); g != nil && !yield(g) {
				return
			}
		}
	}
}

// takenBranches names the branches of an If that may run.
func (c *inference) takenBranches() []string {
	taken, known := c.numbers(0)
	switch {
	case !known || len(taken) != 1:
		return []string{"then_branch", "else_branch"}
	case taken[0] == 0:
		return []string{"else_branch"}
	}
	return []string{"then_branch"}
}

// subgraph returns a graph attribute, or nil.
func (c *inference) subgraph(name string) *ir.Graph {
	if a := c.attr(name); a != nil {
		return a.Graph
	}
	return nil
}

// inferIf gives outputs the type that both branches agree on, or that of the one
// branch that is taken.
func inferIf(c *inference) {
	taken := c.takenBranches()
	first := c.subgraph(taken[0])
	if first == nil {
		return
	}
	if len(taken) == 1 {
		for i, out := range c.node.Outputs() {
			c.set(i, c.outputType(first, i))
			if out != nil && i < len(first.Outputs) && first.Outputs[i] != nil {
				c.env.copyFact(out, first.Outputs[i])
			}
		}
		return
	}
	second := c.subgraph(taken[1])
	if second == nil {
		return
	}
	equal := c.equalSizes(c.input(0))
	for i := range c.out {
		a, b := c.outputType(first, i), c.outputType(second, i)
		if a != nil && b != nil && a.Elem != b.Elem && a.Elem != ir.Undefined && b.Elem != ir.Undefined {
			c.fail("output %d is %s in one branch and %s in the other", i, a, b)
		}
		c.set(i, unionWhere(a, b, equal))
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

// inferBody settles the types of a body's inputs. The carried ones are the last
// of inputs.
func (c *inference) inferBody(body *ir.Graph, inputs []*ir.Type, carried, firstOutput int) {
	if types, ok := c.settle(body, inputs, carried, firstOutput); ok {
		c.bindInputs(c.env, body, types)
	}
}

// inferLoopBody: body (turn, condition, carried…) → (condition, carried…, scanned…).
func inferLoopBody(c *inference) {
	body := c.subgraph("body")
	if body == nil {
		return
	}
	inputs := []*ir.Type{ir.TensorOf(ir.Int64), ir.TensorOf(ir.Bool)}
	carried := c.loopCarried()
	for i := range carried {
		inputs = append(inputs, c.typ(2+i))
	}
	c.inferBody(body, inputs, carried, 1)
}

func (c *inference) loopCarried() int { return max(0, len(c.node.Inputs())-2) }

// inferLoop: scanned outputs are stacked along a new first axis, whose size is
// the trip count where no condition can end the loop before.
func inferLoop(c *inference) {
	body := c.subgraph("body")
	if body == nil {
		return
	}
	turns := ir.Dim{}
	if m := c.sizes(0); len(m) == 1 && c.neverStops(body) {
		turns = ir.Int(0).Max(m[0])
	}
	carried := c.loopCarried()
	for i := range c.out {
		t := c.outputType(body, 1+i)
		if i < carried {
			t = union(t, c.typ(2+i)) // also after no turn
		} else {
			t = stacked(c.withoutLocal(t, body), 0, turns)
		}
		c.set(i, t)
	}
}

// withoutLocal returns a tensor type with the dims unknown that are named after
// values of a loop's body: each turn has its own.
func (c *inference) withoutLocal(t *ir.Type, body *ir.Graph) *ir.Type {
	if t == nil || len(c.env.named) == 0 {
		return t
	}
	isLocal := func(name string) bool {
		v := c.env.named[name]
		return v != nil && (slices.Contains(body.Inputs, v) || v.Producer() != nil && contains(body, v.Producer()))
	}
	out := *t
	out.Shape = slices.Clone(t.Shape)
	for i, d := range out.Shape {
		if slices.ContainsFunc(d.Symbols(), isLocal) {
			out.Shape[i] = ir.Dim{}
		}
	}
	return &out
}

// contains reports whether a node is in a graph or in a subgraph of it.
func contains(g *ir.Graph, n *ir.Node) bool {
	for m := range g.AllNodes() {
		if m == n {
			return true
		}
	}
	return false
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

// inferScanBody: body (carried…, scanned…) → (carried…, stacked…).
func inferScanBody(c *inference) {
	body, carried, scanned, ok := c.scan()
	if !ok {
		return
	}
	inputs := make([]*ir.Type, 0, len(c.node.Inputs()))
	for i := range scanned {
		t, _ := c.scannedInput(carried, i)
		inputs = append(inputs, t)
	}
	for i := range carried {
		inputs = append(inputs, c.typ(i))
	}
	if len(body.Inputs) != len(inputs) {
		c.fail("the body has %d inputs, expected %d", len(body.Inputs), len(inputs))
		return
	}
	// The body takes the carried values first; for inferBody they come last.
	view := *body
	view.Inputs = slices.Concat(body.Inputs[carried:], body.Inputs[:carried])
	c.inferBody(&view, inputs, carried, 0)
}

// inferScan: the scanned inputs have one length in common, which the stacked
// outputs have too.
func inferScan(c *inference) {
	body, carried, scanned, ok := c.scan()
	if !ok {
		return
	}
	length := ir.Dim{}
	for i := range scanned {
		_, d := c.scannedInput(carried, i)
		length = c.match("scanned lengths", length, d, carried, carried+i)
	}
	for i := range c.out {
		t := c.outputType(body, i)
		if i < carried {
			t = union(t, c.typ(i))
		} else {
			t = stacked(c.withoutLocal(t, body), c.entry("scan_output_axes", i-carried, 0), length)
		}
		c.set(i, t)
	}
}

// scan returns the body of a Scan and how many of its inputs are carried and
// scanned.
func (c *inference) scan() (body *ir.Graph, carried, scanned int, ok bool) {
	body, scanned = c.subgraph("body"), int(c.int("num_scan_inputs", 0))
	carried = len(c.node.Inputs()) - scanned
	return body, carried, scanned, body != nil && scanned >= 0 && carried >= 0 && c.env.opsets[""] >= 9
}

// scannedInput returns the type of one element of a scanned input and the
// number of elements.
func (c *inference) scannedInput(carried, index int) (*ir.Type, ir.Dim) {
	i, axis := carried+index, c.entry("scan_input_axes", index, 0)
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
