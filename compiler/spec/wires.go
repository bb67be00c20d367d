package spec

import (
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
)

// wires checks how components feed each other: every wire has two ends, no
// component waits for itself, and an input with the name of another component's
// output says whether it is fed by it.
func (c *checked) wires(components *tree.Node) {
	feeds := map[string][]string{} // component → those that feed it
	outputs := outputsOf(components)
	for _, comp := range components.Entries {
		inputs := comp.Value.Get("inputs")
		if inputs == nil {
			continue
		}
		for _, in := range inputs.Entries {
			from := in.Value.Get("from")
			if from == nil {
				c.unwired(in, comp.Key.Text, outputs)
				continue
			}
			source, output, ok := strings.Cut(from.Text, ".")
			if !ok || components.At(source, "outputs", output) == nil {
				c.report(c.lacking(fault.UnknownWire(from.Range, from.Text, outputs), "components."+source, "components."+source+".outputs."+output))
				continue
			}
			feeds[comp.Key.Text] = append(feeds[comp.Key.Text], source)
		}
	}
	for _, chain := range cyclesOf(components.Keys(), feeds) {
		c.report(fault.WireCycle(components.Entry(chain[0]).Key.Range, chain))
	}
}

// outputsOf lists component.output for every output.
func outputsOf(components *tree.Node) []string {
	var all []string
	for _, comp := range components.Entries {
		for _, name := range comp.Value.Get("outputs").Keys() {
			all = append(all, comp.Key.Text+"."+name)
		}
	}
	return all
}

// unwired reports an input that has the name of another component's output.
func (c *checked) unwired(in tree.Entry, component string, outputs []string) {
	for _, out := range outputs {
		source, name, _ := strings.Cut(out, ".")
		if name == in.Key.Text && source != component {
			c.report(fault.Unwired(in.Key.Range, name, component, out))
			return
		}
	}
}
