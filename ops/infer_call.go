package ops

import (
	"fmt"

	"mobiusc/ir"
)

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
	if len(c.node.Inputs()) > len(f.Body.Inputs) {
		c.fail("%d inputs, but function %s has %d", len(c.node.Inputs()), f.Name, len(f.Body.Inputs))
		return
	}
	trial := c.env.InFunction(f, c.arguments(f))
	trial.Symbol = nil // calls share the values of the body
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
	for i, out := range c.node.Outputs() {
		if i >= len(f.Body.Outputs) || f.Body.Outputs[i] == nil {
			continue
		}
		v := f.Body.Outputs[i]
		c.set(i, trial.Type(v))
		if known := trial.fact(v); out != nil && (known.tensor != nil || known.sizes != nil) {
			c.env.facts[out] = known
		}
	}
}

// arguments returns the values of a function's attribute parameters.
func (c *inference) arguments(f *ir.Function) map[string]*ir.Attr {
	values := map[string]*ir.Attr{}
	for _, a := range f.Defaults {
		values[a.Name] = a
	}
	for _, a := range c.node.Attrs {
		values[a.Name] = c.attr(a.Name)
	}
	return values
}
