package diff

import (
	"bytes"
	"slices"
	"strings"

	"mobiusc/ir"
)

// valuePair is a value of one side and its counterpart; nil: there is none.
type valuePair struct{ a, b *ir.Value }

func pairByPosition(a, b []*ir.Value) []valuePair {
	var out []valuePair
	for i := range max(len(a), len(b)) {
		p := valuePair{}
		if i < len(a) {
			p.a = a[i]
		}
		if i < len(b) {
			p.b = b[i]
		}
		out = append(out, p)
	}
	return out
}

// pairByName pairs values of equal names, in the order of a, then what b alone
// has.
func pairByName(a, b []*ir.Value) []valuePair {
	byName := map[string]*ir.Value{}
	for _, v := range b {
		byName[v.Name] = v
	}
	var out []valuePair
	for _, v := range a {
		out = append(out, valuePair{v, byName[v.Name]})
		delete(byName, v.Name)
	}
	for _, v := range b {
		if byName[v.Name] == v {
			out = append(out, valuePair{nil, v})
		}
	}
	return out
}

// pairRenamed pairs what is left of pairByName by a key, in order.
func pairRenamed(pairs []valuePair, key func(*ir.Value) string) []valuePair {
	left := map[string][]*ir.Value{}
	for _, p := range pairs {
		if p.a == nil {
			left[key(p.b)] = append(left[key(p.b)], p.b)
		}
	}
	taken := map[*ir.Value]bool{}
	for i, p := range pairs {
		if p.b != nil {
			continue
		}
		if vs := left[key(p.a)]; len(vs) > 0 {
			pairs[i].b, left[key(p.a)], taken[vs[0]] = vs[0], vs[1:], true
		}
	}
	return slices.DeleteFunc(pairs, func(p valuePair) bool { return p.a == nil && taken[p.b] })
}

// inputs returns what a caller feeds: the inputs that are no parameters with a
// name to override them by.
func inputs(g *ir.Graph) []*ir.Value {
	var out []*ir.Value
	for _, v := range g.Inputs {
		if v.Init == nil {
			out = append(out, v)
		}
	}
	return out
}

func pairInputs(a, b *ir.Graph) []valuePair {
	return pairRenamed(pairByName(inputs(a), inputs(b)), func(v *ir.Value) string { return v.Type.String() })
}

// compareInterfaces compares the inputs and outputs of two graphs: names, types
// and order.
func compareInterfaces(a, b *ir.Graph) []Group {
	outputs := pairRenamed(pairByName(a.Outputs, b.Outputs), func(v *ir.Value) string { return v.Type.String() })
	ins := pairInputs(a, b)
	return group(slices.Concat(
		compareValues("input", ins), compareOrder("input", ins, inputs(b)),
		compareValues("output", outputs), compareOrder("output", outputs, b.Outputs)))
}

func compareValues(noun string, pairs []valuePair) []nodeChange {
	var out []nodeChange
	for _, p := range pairs {
		switch {
		case p.b == nil:
			out = append(out, nodeChange{Removed, noun + " " + p.a.Type.String(), p.a.Name, nil})
			continue
		case p.a == nil:
			out = append(out, nodeChange{Added, noun + " " + p.b.Type.String(), p.b.Name, nil})
			continue
		}
		var changes []Change
		if p.a.Name != p.b.Name {
			changes = append(changes, Change{"name", p.a.Name, p.b.Name})
		}
		if x, y := p.a.Type.String(), p.b.Type.String(); x != y {
			changes = append(changes, Change{"type", x, y})
		}
		if len(changes) > 0 {
			out = append(out, nodeChange{Changed, noun, p.b.Name, changes})
		}
	}
	return out
}

// compareOrder reports the first two values whose order differs; b is the list of
// the other side.
func compareOrder(noun string, pairs []valuePair, b []*ir.Value) []nodeChange {
	at := map[*ir.Value]int{}
	for i, v := range b {
		at[v] = i
	}
	var last *ir.Value
	for _, p := range pairs {
		if p.a == nil || p.b == nil {
			continue
		}
		if last != nil && at[p.b] < at[last] {
			change := Change{"order", last.Name + ", " + p.b.Name, p.b.Name + ", " + last.Name}
			return []nodeChange{{Changed, noun, p.b.Name, []Change{change}}}
		}
		last = p.b
	}
	return nil
}

// pairParameters pairs the parameters of two graphs: those of one name, and those
// whose module alone has moved, of one type, layer and last two parts of the name.
func pairParameters(a, b *ir.Graph) []valuePair {
	return pairRenamed(pairByName(parameters(a), parameters(b)), func(v *ir.Value) string {
		parts := strings.Split(v.Name, ".")
		_, layer := layerOf(v.Name)
		return strings.Join(parts[max(0, len(parts)-2):], ".") + " " + parameterType(v) + " " + string(rune(layer+1))
	})
}

// parameters returns the stored tensors that are no small constants.
func parameters(g *ir.Graph) []*ir.Value {
	var out []*ir.Value
	for _, v := range g.Initializers {
		if constantOf(v) == nil {
			out = append(out, v)
		}
	}
	return out
}

func parameterType(v *ir.Value) string {
	dims := make(ir.Shape, len(v.Init.Dims))
	for i, d := range v.Init.Dims {
		dims[i] = ir.Int(d)
	}
	return ir.TensorOf(v.Init.Type, dims...).String()
}

// compareParameters compares stored tensors: names, types, and the content where
// both models hold it.
func compareParameters(pairs []valuePair) []nodeChange {
	var out []nodeChange
	for _, p := range pairs {
		switch {
		case p.b == nil:
			out = append(out, nodeChange{Removed, parameterType(p.a), p.a.Name, nil})
			continue
		case p.a == nil:
			out = append(out, nodeChange{Added, parameterType(p.b), p.b.Name, nil})
			continue
		}
		var changes []Change
		if p.a.Name != p.b.Name {
			changes = append(changes, Change{"name", p.a.Name, p.b.Name})
		}
		if x, y := parameterType(p.a), parameterType(p.b); x != y {
			changes = append(changes, Change{"type", x, y})
		} else if ta, tb := p.a.Init, p.b.Init; ta.External == nil && tb.External == nil && !bytes.Equal(ta.Raw, tb.Raw) {
			changes = append(changes, Change{"content", tensor(ta), tensor(tb)})
		}
		if len(changes) > 0 {
			out = append(out, nodeChange{Changed, "parameter", p.b.Name, changes})
		}
	}
	return out
}

// topScopes makes the scopes of two whole graphs: inputs and parameters are known
// by the names of a, where they are paired.
func topScopes(ga, gb *ir.Graph, parameters []valuePair) (a, b *scope) {
	a, b = newScope(ga), newScope(gb)
	for kind, pairs := range map[string][]valuePair{"input ": pairInputs(ga, gb), "parameter ": parameters} {
		for _, p := range pairs {
			if p.a != nil {
				a.token[p.a] = kind + p.a.Name
			}
			if p.b != nil {
				b.token[p.b] = kind + p.b.Name
			}
			if p.a != nil && p.b != nil {
				b.token[p.b] = kind + p.a.Name
			}
		}
	}
	return a, b
}
