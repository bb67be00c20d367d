package diff

import (
	"cmp"
	"fmt"

	"mobiusc/compiler/stats"
	"mobiusc/ir"
)

// facts are what a model says of itself.
func facts(m *ir.Model) map[string]string {
	out := map[string]string{"IR version": fmt.Sprint(m.IRVersion)}
	for _, o := range m.Opsets {
		out["opset "+cmp.Or(o.Domain, "ai.onnx")] = fmt.Sprint(o.Version)
	}
	return out
}

// measures are the sizes of a model, in the order in which they are shown.
var measures = []string{"nodes", "nodes in subgraphs", "nodes in functions", "parameters", "bytes of parameters", "bytes of the model"}

// sizes measures both sides; nil: the side lacks the component. A measure that
// is 0 on both is left out.
func sizes(a, b *Model) []Size {
	x, y := measure(a), measure(b)
	var out []Size
	for _, what := range measures {
		if x[what] != 0 || y[what] != 0 {
			out = append(out, Size{what, x[what], y[what]})
		}
	}
	return out
}

func measure(m *Model) map[string]int64 {
	if m == nil {
		return map[string]int64{}
	}
	c := stats.Of(m.Model)
	return map[string]int64{
		"nodes": c.Nodes, "nodes in subgraphs": c.SubgraphNodes, "nodes in functions": c.FunctionNodes,
		"parameters": c.Parameters, "bytes of parameters": c.ParameterBytes, "bytes of the model": m.Bytes,
	}
}

// compareFunctions compares the local functions of two models.
func compareFunctions(a, b *ir.Model) []Group {
	byKey := map[string]*ir.Function{}
	for _, f := range b.Functions {
		if key := functionKey(f); byKey[key] == nil { // of several, calls mean the first
			byKey[key] = f
		}
	}
	c := &comparison{}
	seen := map[string]bool{}
	for _, f := range a.Functions {
		key := functionKey(f)
		if seen[key] {
			continue
		}
		seen[key] = true
		if g := byKey[key]; g != nil {
			c.function(key, f, g)
			delete(byKey, key)
			continue
		}
		c.changes = append(c.changes, nodeChange{Removed, "function", key, nil})
	}
	for _, f := range b.Functions {
		if key := functionKey(f); byKey[key] == f {
			c.changes = append(c.changes, nodeChange{Added, "function", key, nil})
		}
	}
	return group(c.changes)
}

func functionKey(f *ir.Function) string {
	key := f.Domain + "." + f.Name
	if f.Overload != "" {
		key += ":" + f.Overload
	}
	return key
}

// function compares two functions of one name. Inputs are known by their position.
func (c *comparison) function(key string, f, g *ir.Function) {
	parameters := func(f *ir.Function) map[string]string {
		out := map[string]string{"inputs": fmt.Sprint(len(f.Body.Inputs)), "outputs": fmt.Sprint(len(f.Body.Outputs))}
		for _, name := range f.Attributes {
			out["attribute "+name] = "required"
		}
		for _, a := range f.Defaults {
			out["attribute "+a.Name] = attribute(a)
		}
		for _, o := range f.Opsets {
			out["opset "+cmp.Or(o.Domain, "ai.onnx")] = fmt.Sprint(o.Version)
		}
		return out
	}
	if changes := compareMaps(parameters(f), parameters(g)); len(changes) > 0 {
		c.changes = append(c.changes, nodeChange{Changed, "function", key, changes})
	}
	c.outer = []string{key}
	a, b := newScope(f.Body), newScope(g.Body)
	for _, s := range []*scope{a, b} {
		for i, v := range s.graph.Inputs {
			s.token[v] = fmt.Sprintf("input %d", i)
		}
	}
	c.graphs(a, b)
	c.outer = nil
}
