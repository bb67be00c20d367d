package ops

import (
	"slices"

	"mobiusc/ir"
)

// inferContent records what is known of the outputs' contents: small constants
// are computed, integers followed as symbolic sizes.
func (c *inference) inferContent() {
	if !IsDefault(c.node.Domain) || c.env.functions[functionKey{"", c.node.OpType, c.node.Overload}] != nil {
		return
	}
	if len(c.out) == 0 || !c.small(0) || c.inferConstant() {
		return
	}
	v := c.node.Output(0)
	if v == nil || !isSize(c.env.Type(v).Elem) {
		return
	}
	if rule := moves[c.node.OpType]; rule != nil {
		c.moveSizes(rule)
	} else if rule := sizeRules[c.node.OpType]; rule != nil {
		c.record(0, rule(c))
	}
	for _, v := range c.node.Outputs() {
		c.env.nameContent(v)
	}
}

// nameContent gives the content of a value, if it is one integer that depends on
// data, a symbol: it may become a size.
func (env *Env) nameContent(v *ir.Value) {
	if env.Symbol == nil || v == nil || env.fact(v).sizes != nil || env.fact(v).tensor != nil {
		return
	}
	t := env.Type(v)
	dims, ok := smallDims(t)
	if !ok || len(dims) > 1 || elementCount(dims) != 1 || t.Elem != ir.Int64 && t.Elem != ir.Int32 {
		return
	}
	if name := env.NameSize(v, -1); name != "" {
		env.facts[v] = fact{sizes: []ir.Dim{ir.Integer(name)}}
	}
}

// isSize reports whether content of the element type is followed as sizes.
func isSize(t ir.DataType) bool { return t == ir.Int64 || t == ir.Int32 || t == ir.Bool }

// small reports whether the shape of output i is known and small.
func (c *inference) small(i int) bool {
	v := c.node.Output(i)
	if v == nil {
		return false
	}
	_, ok := smallDims(c.env.Type(v))
	return ok
}

// smallDims returns the dims of a tensor whose content is worth following.
func smallDims(t *ir.Type) (dims []int64, ok bool) {
	if t == nil || t.Kind != ir.TensorKind || !t.Ranked {
		return nil, false
	}
	n := int64(1)
	for _, d := range t.Shape {
		size, ok := d.Int()
		if !ok || size < 0 || size > maxSizes {
			return nil, false
		}
		if n *= size; n > maxSizes {
			return nil, false
		}
		dims = append(dims, size)
	}
	return dims, true
}

// inferConstant computes the outputs if all inputs are known.
func (c *inference) inferConstant() bool {
	if !Evaluable(c.node) || c.node.OpType == "Shape" || c.node.OpType == "Size" {
		return false
	}
	inputs := make([]*ir.Tensor, len(c.node.Inputs()))
	for i := range inputs {
		v := c.input(i)
		if v == nil {
			continue
		}
		if c.node.OpType == "OptionalHasElement" {
			if t := c.env.Type(v); t == nil || t.Kind != ir.TensorKind {
				return false
			}
			inputs[i] = &ir.Tensor{} // a tensor is an element
		} else if inputs[i] = c.env.Constant(v); inputs[i] == nil {
			return false
		}
	}
	out, err := evalCall(c.call, inputs)
	if err != nil {
		return false
	}
	for i, t := range out {
		if v := c.node.Output(i); v != nil && t != nil {
			c.env.facts[v] = fact{tensor: t}
		}
	}
	return true
}

// record stores sizes unless none of them is known. That there are none is
// worth knowing.
func (c *inference) record(i int, sizes []ir.Dim) {
	v := c.node.Output(i)
	if v == nil {
		return
	}
	if t := c.env.Type(v); t == nil || !isSize(t.Elem) {
		return
	}
	isKnown := func(d ir.Dim) bool { return d.Known() }
	if sizes != nil && len(sizes) == 0 || slices.ContainsFunc(sizes, isKnown) {
		c.env.facts[v] = fact{sizes: sizes}
	}
}

// moveSizes applies the rule of an operator that moves elements.
func (c *inference) moveSizes(rule moveRule) {
	m := &mover{call: c.call, dims: make([][]int64, len(c.node.Inputs()))}
	sizes := make([][]ir.Dim, len(m.dims))
	known := false
	for i, v := range c.node.Inputs() {
		if v == nil {
			continue
		}
		dims, ok := smallDims(c.env.Type(v))
		if !ok {
			return
		}
		m.dims[i] = append([]int64{}, dims...)
		if s := c.env.Sizes(v); len(s) == elementCount(dims) {
			sizes[i], known = s, known || s != nil
		}
	}
	if !known {
		return
	}
	m.ints = c.numbers
	picks, err := rule(m)
	if err != nil {
		return
	}
	for i, p := range picks {
		out := make([]ir.Dim, len(p.from))
		for j, s := range p.from {
			switch {
			case s.input < 0:
				out[j] = ir.Int(0)
			case sizes[s.input] != nil:
				out[j] = sizes[s.input][s.index]
			}
		}
		c.record(i, out)
	}
}

// sizeRules compute the sizes in output 0.
var sizeRules map[string]func(c *inference) []ir.Dim

func init() {
	sizeRules = map[string]func(c *inference) []ir.Dim{
		"Shape":      shapeSizes,
		"Size":       sizeSizes,
		"Range":      rangeSizes,
		"Cast":       castSizes,
		"Mod":        modSizes,
		"ReduceSum":  foldSizes(ir.Dim.Add),
		"ReduceProd": foldSizes(ir.Dim.Mul),
		"ReduceMin":  foldSizes(ir.Dim.Min),
		"ReduceMax":  foldSizes(ir.Dim.Max),
		"Neg":        mapSizes(func(d ir.Dim) ir.Dim { return ir.Int(0).Sub(d) }),
		"Abs":        mapSizes(absDim),
		"Not":        mapSizes(func(d ir.Dim) ir.Dim { return ir.Int(1).Sub(d) }),
	}
	for op, f := range sizeArithmetic {
		sizeRules[op] = func(c *inference) []ir.Dim { return combineSizes(c, f) }
	}
}

var sizeArithmetic = map[string]func(a, b ir.Dim) ir.Dim{
	"Add":            ir.Dim.Add,
	"Sub":            ir.Dim.Sub,
	"Mul":            ir.Dim.Mul,
	"Min":            ir.Dim.Min,
	"Max":            ir.Dim.Max,
	"Div":            truncDiv,
	"And":            ir.Dim.Min,
	"Or":             ir.Dim.Max,
	"Equal":          func(a, b ir.Dim) ir.Dim { return decide(a.Equal(b), a.Differs(b)) },
	"Less":           func(a, b ir.Dim) ir.Dim { return decide(below(a, b), b.AtMost(a)) },
	"LessOrEqual":    func(a, b ir.Dim) ir.Dim { return decide(a.AtMost(b), below(b, a)) },
	"Greater":        func(a, b ir.Dim) ir.Dim { return decide(below(b, a), a.AtMost(b)) },
	"GreaterOrEqual": func(a, b ir.Dim) ir.Dim { return decide(b.AtMost(a), below(a, b)) },
}

// decide returns 1 or 0 where a condition is known to be true or false.
func decide(isTrue, isFalse bool) ir.Dim {
	switch {
	case isTrue:
		return ir.Int(1)
	case isFalse:
		return ir.Int(0)
	}
	return ir.Dim{}
}

// below reports whether a < b is known.
func below(a, b ir.Dim) bool { return a.Add(ir.Int(1)).AtMost(b) }

// truncDiv is the integer division of the Div operator, which is the division
// of sizes where both operands are at least 0.
func truncDiv(a, b ir.Dim) ir.Dim {
	zero := ir.Int(0)
	if zero.AtMost(a) && zero.AtMost(b) {
		return a.FloorDiv(b)
	}
	return ir.Dim{}
}

// modSizes: without fmod, Mod takes the sign of the divisor, as Dim.Mod does.
func modSizes(c *inference) []ir.Dim {
	fmod := c.int("fmod", 0) != 0
	return combineSizes(c, func(a, b ir.Dim) ir.Dim {
		if zero := ir.Int(0); fmod && !(zero.AtMost(a) && zero.AtMost(b)) {
			return ir.Dim{}
		}
		return a.Mod(b)
	})
}

func absDim(d ir.Dim) ir.Dim {
	switch zero := ir.Int(0); {
	case zero.AtMost(d):
		return d
	case d.AtMost(zero):
		return zero.Sub(d)
	}
	return ir.Dim{}
}

// combineSizes folds all inputs elementwise, with broadcasting.
func combineSizes(c *inference, f func(a, b ir.Dim) ir.Dim) []ir.Dim {
	out, ok := smallDims(c.env.Type(c.node.Output(0)))
	if !ok {
		return nil
	}
	var total []ir.Dim
	for i, v := range c.node.Inputs() {
		sizes := c.env.Sizes(v)
		if sizes == nil {
			return nil
		}
		dims, ok := smallDims(c.env.Type(v))
		if !ok || len(sizes) != elementCount(dims) || len(dims) > len(out) {
			return nil
		}
		index := broadcastIndex(out, dims)
		if i == 0 {
			total = make([]ir.Dim, len(index))
		}
		for j, from := range index {
			if i == 0 {
				total[j] = sizes[from]
			} else {
				total[j] = f(total[j], sizes[from])
			}
		}
	}
	return total
}

func mapSizes(f func(ir.Dim) ir.Dim) func(c *inference) []ir.Dim {
	return func(c *inference) []ir.Dim {
		var out []ir.Dim
		for _, d := range c.sizes(0) {
			out = append(out, f(d))
		}
		return out
	}
}

// foldSizes reduces over all axes; reductions over some axes do not occur on
// lists of sizes.
func foldSizes(f func(a, b ir.Dim) ir.Dim) func(c *inference) []ir.Dim {
	return func(c *inference) []ir.Dim {
		sizes := c.sizes(0)
		if dims, ok := smallDims(c.env.Type(c.node.Output(0))); !ok || elementCount(dims) != 1 || len(sizes) == 0 {
			return nil
		}
		total := sizes[0]
		for _, d := range sizes[1:] {
			total = f(total, d)
		}
		return []ir.Dim{total}
	}
}

func shapeSizes(c *inference) []ir.Dim {
	s, ok := c.shape(0)
	if !ok {
		return nil
	}
	start, end := shapeRange(c.call, len(s))
	return append([]ir.Dim{}, s[start:end]...)
}

func sizeSizes(c *inference) []ir.Dim {
	s, ok := c.shape(0)
	if !ok {
		return nil
	}
	return []ir.Dim{product(s)}
}

func rangeSizes(c *inference) []ir.Dim {
	dims, ok := smallDims(c.env.Type(c.node.Output(0)))
	start, delta := c.sizes(0), c.sizes(2)
	if !ok || len(dims) != 1 || len(start) != 1 || len(delta) != 1 {
		return nil
	}
	out := make([]ir.Dim, dims[0])
	for i := range out {
		out[i] = start[0].Add(delta[0].Mul(ir.Int(int64(i))))
	}
	return out
}

// castSizes passes sizes on between integer types; what becomes bool is known
// where it is known not to be 0.
func castSizes(c *inference) []ir.Dim {
	sizes := c.sizes(0)
	if ir.DataType(c.int("to", 0)) != ir.Bool || c.elem(0) == ir.Bool {
		return sizes
	}
	var out []ir.Dim
	for _, d := range sizes {
		out = append(out, decide(ir.Int(1).AtMost(d) || d.AtMost(ir.Int(-1)), d.Equal(ir.Int(0))))
	}
	return out
}
