package ops

import (
	"slices"
	"strings"

	"mobiusc/ir"
)

func registerProducts() {
	register(func(c *inference) { c.product(c.sameElem(0, 1), 0, 1) }, "MatMul")
	register(func(c *inference) { c.product(ir.Int32, 0, 1) }, "MatMulInteger")
	register(func(c *inference) { c.product(c.elem(7), 0, 3) }, "QLinearMatMul")
	register(inferGemm, "Gemm")
	register(inferEinsum, "Einsum")
	register(inferDet, "Det")
}

// product gives output 0 the shape of a matrix product with numpy's rules:
// leading dims broadcast, vectors are matrices with a dim of 1 that goes again.
func (c *inference) product(elem ir.DataType, left, right int) {
	a, ok1 := c.shape(left)
	b, ok2 := c.shape(right)
	if !ok1 || !ok2 {
		c.unranked(0, elem)
		return
	}
	if len(a) == 0 || len(b) == 0 {
		c.fail("shapes %s and %s: a scalar has no matrix product", shapeText(a), shapeText(b))
		return
	}
	inner := len(b) - 2
	if len(b) == 1 {
		inner = 0
	}
	c.match("inner dims", a[len(a)-1], b[inner], left, right)
	lead, err := broadcastDims(a[:max(len(a)-2, 0)], b[:max(len(b)-2, 0)])
	if err != nil {
		c.fail("leading dims of %s and %s: %v", shapeText(a), shapeText(b), err)
		return
	}
	if len(a) > 1 {
		lead = append(lead, a[len(a)-2])
	}
	if len(b) > 1 {
		lead = append(lead, b[len(b)-1])
	}
	c.ranked(0, elem, lead)
}

func inferGemm(c *inference) {
	elem := c.sameElem(0, 1, 2)
	a, ok1 := c.shapeOfRank(0, 2)
	b, ok2 := c.shapeOfRank(1, 2)
	out := make(ir.Shape, 2)
	transA, transB := int(boolInt(c.int("transA", 0) != 0)), int(boolInt(c.int("transB", 0) != 0))
	if ok1 {
		out[0] = a[transA]
	}
	if ok2 {
		out[1] = b[1-transB]
	}
	if ok1 && ok2 {
		c.match("inner dims", a[1-transA], b[transB], 0, 1)
	}
	if bias, ok := c.shape(2); ok {
		if _, err := broadcastDims(out, bias); err != nil || len(bias) > 2 {
			c.fail("bias %s does not broadcast to %s", shapeText(bias), shapeText(out))
		}
	}
	c.ranked(0, elem, out)
}

func inferDet(c *inference) {
	s, ok := c.shape(0)
	if !ok || len(s) < 2 {
		c.unranked(0, c.elem(0))
		return
	}
	c.ranked(0, c.elem(0), s[:len(s)-2])
}

// inferEinsum follows the equation: labels take their dims from the inputs,
// "..." stands for leading dims that broadcast.
func inferEinsum(c *inference) {
	inputs := make([]int, len(c.node.Inputs()))
	for i := range inputs {
		inputs[i] = i
	}
	elem := c.sameElem(inputs...)
	equation := strings.ReplaceAll(c.text("equation", ""), " ", "")
	left, right, explicit := strings.Cut(equation, "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(inputs) {
		c.fail("equation %q names %d operands, but there are %d", equation, len(terms), len(inputs))
		return
	}
	e := einsum{dims: map[byte]ir.Dim{}, from: map[byte]int{}}
	known := true
	for i, term := range terms {
		s, ok := c.shape(i)
		known = known && ok
		if ok {
			e.read(c, i, term, s)
		}
	}
	if !explicit {
		right = implicitOutput(left)
	}
	if !known {
		if strings.Contains(right, "...") {
			c.unranked(0, elem)
		} else {
			c.unknownDims(0, elem, len(right))
		}
		return
	}
	c.ranked(0, elem, e.output(right))
}

type einsum struct {
	dims  map[byte]ir.Dim
	from  map[byte]int
	batch ir.Shape // of "..."
}

func (e *einsum) read(c *inference, input int, term string, s ir.Shape) {
	before, after, dotted := strings.Cut(term, "...")
	if len(before)+len(after) > len(s) || !dotted && len(before) != len(s) {
		c.fail("operand %q of the equation does not fit shape %s of input %d", term, shapeText(s), input)
		return
	}
	if dotted {
		batch, err := broadcastDims(e.batch, s[len(before):len(s)-len(after)])
		if err != nil {
			c.fail("%v", err)
			return
		}
		e.batch = batch
	}
	labels, dims := before+after, slices.Concat(s[:len(before)], s[len(s)-len(after):])
	for i := range labels {
		l := labels[i]
		old, seen := e.dims[l]
		switch n, ok := old.Int(); {
		case !seen, ok && n == 1:
			e.dims[l], e.from[l] = dims[i], input
		case !dims[i].Equal(ir.Int(1)):
			e.dims[l] = c.match("dims of "+string(l), old, dims[i], e.from[l], input)
		}
	}
}

func (e *einsum) output(right string) ir.Shape {
	before, after, dotted := strings.Cut(right, "...")
	out := ir.Shape{}
	for _, l := range []byte(before) {
		out = append(out, e.dims[l])
	}
	if dotted {
		out = append(out, e.batch...)
	}
	for _, l := range []byte(after) {
		out = append(out, e.dims[l])
	}
	return out
}

// implicitOutput returns the labels that stand once, sorted, after the "...".
func implicitOutput(left string) string {
	var once []byte
	for l := byte('A'); l <= 'z'; l++ {
		if strings.Count(left, string(l)) == 1 {
			once = append(once, l)
		}
	}
	if strings.Contains(left, "...") {
		return "..." + string(once)
	}
	return string(once)
}
