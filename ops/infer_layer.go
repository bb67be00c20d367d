package ops

import (
	"slices"

	"mobiusc/ir"
)

func registerLayers() {
	register(inferConv, "Conv")
	register(func(c *inference) { c.conv(ir.Int32, 0, 1) }, "ConvInteger")
	register(func(c *inference) { c.conv(c.elem(7), 0, 3) }, "QLinearConv")
	register(inferConvTranspose, "ConvTranspose")
	register(inferPool, "MaxPool", "AveragePool", "LpPool")
	register(inferGlobalPool, "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
	register(inferBatchNorm, "BatchNormalization")
	register(inferLayerNorm, "LayerNormalization", "RMSNormalization")
	register(inferSame, "InstanceNormalization", "GroupNormalization", "LRN")
	register(inferRecurrent, "RNN", "GRU", "LSTM")
}

func inferConv(c *inference) { c.conv(c.sameElem(0, 1), 0, 1) }

// conv gives output 0 the shape of a convolution of [batch, channels, …] with a
// weight [out, channels/group, …].
func (c *inference) conv(elem ir.DataType, input, weight int) {
	x, ok1 := c.shape(input)
	w, ok2 := c.shape(weight)
	if !ok1 || !ok2 {
		if ok1 || ok2 {
			c.unknownDims(0, elem, max(len(x), len(w)))
		} else {
			c.unranked(0, elem)
		}
		return
	}
	if len(x) != len(w) || len(x) < 3 {
		c.fail("input %s and weight %s: expected equal ranks of 3 or more", shapeText(x), shapeText(w))
		return
	}
	if group := w[1].Mul(ir.Int(c.int("group", 1))); group.Differs(x[1]) {
		c.fail("input %s has %s channels, weight %s expects %s", shapeText(x), x[1], shapeText(w), group)
		return
	}
	kernel, ok := c.ints("kernel_shape")
	window := dimsOf(kernel)
	if !ok {
		window = w[2:]
	}
	spatial := c.windows(x[2:], window)
	c.ranked(0, elem, append(ir.Shape{x[0], w[0]}, spatial...))
}

// windows returns how many windows fit along each spatial axis, as strides,
// dilations, pads, auto_pad and ceil_mode say.
func (c *inference) windows(in, window ir.Shape) ir.Shape {
	out := make(ir.Shape, len(in))
	if len(window) != len(in) {
		c.fail("kernel of rank %d for %d spatial axes", len(window), len(in))
		return out
	}
	pads, _ := c.ints("pads")
	one := ir.Int(1)
	for i, d := range in {
		stride := ir.Int(c.entry("strides", i, 1))
		extent := window[i].Sub(one).Mul(ir.Int(c.entry("dilations", i, 1))).Add(one)
		switch c.text("auto_pad", "NOTSET") {
		case "SAME_UPPER", "SAME_LOWER":
			out[i] = d.CeilDiv(stride)
			continue
		case "NOTSET":
			if len(pads) == 2*len(in) {
				d = d.Add(ir.Int(pads[i])).Add(ir.Int(pads[len(in)+i]))
			}
		}
		if c.int("ceil_mode", 0) != 0 {
			out[i] = ceilWindows(d.Sub(extent), stride, in[i], pads, i)
		} else {
			out[i] = d.Sub(extent).FloorDiv(stride).Add(one)
		}
		if n, ok := out[i].Int(); ok && n < 0 {
			out[i] = ir.Int(0)
		}
	}
	return out
}

// ceilWindows counts windows with ceil_mode: one that would start in the padding
// after the end is left out, which is known for numbers only.
func ceilWindows(room, stride, size ir.Dim, pads []int64, axis int) ir.Dim {
	count := room.CeilDiv(stride).Add(ir.Int(1))
	n, ok1 := count.Int()
	s, ok2 := stride.Int()
	d, ok3 := size.Int()
	before := int64(0)
	if axis < len(pads) {
		before = pads[axis]
	}
	switch {
	case !ok1 && before == 0 && len(pads) == 0:
		return count
	case !ok1 || !ok2 || !ok3:
		return ir.Dim{}
	case (n-1)*s >= d+before:
		n--
	}
	return ir.Int(n)
}

// entry returns element i of a list attribute, or the default.
func (c *inference) entry(name string, i int, absent int64) int64 {
	if values, ok := c.ints(name); ok && i < len(values) {
		return values[i]
	}
	return absent
}

func inferConvTranspose(c *inference) {
	elem := c.sameElem(0, 1)
	x, ok1 := c.shape(0)
	w, ok2 := c.shape(1)
	if !ok1 || !ok2 || len(x) != len(w) || len(x) < 3 {
		c.unranked(0, elem)
		return
	}
	out := ir.Shape{x[0], w[1].Mul(ir.Int(c.int("group", 1)))}
	pads, _ := c.ints("pads")
	given, _ := c.ints("output_shape")
	one, n := ir.Int(1), len(x)-2
	for i, d := range x[2:] {
		stride := ir.Int(c.entry("strides", i, 1))
		if len(given) == n {
			out = append(out, ir.Int(given[i]))
			continue
		}
		kernel := w[2+i]
		if k := c.entry("kernel_shape", i, 0); k > 0 {
			kernel = ir.Int(k)
		}
		extent := kernel.Sub(one).Mul(ir.Int(c.entry("dilations", i, 1))).Add(one)
		size := d.Sub(one).Mul(stride).Add(extent).Add(ir.Int(c.entry("output_padding", i, 0)))
		switch c.text("auto_pad", "NOTSET") {
		case "SAME_UPPER", "SAME_LOWER":
			size = d.Mul(stride)
		case "NOTSET":
			if len(pads) == 2*n {
				size = size.Sub(ir.Int(pads[i])).Sub(ir.Int(pads[n+i]))
			}
		}
		out = append(out, size)
	}
	c.ranked(0, elem, out)
}

func inferPool(c *inference) {
	x, ok := c.shape(0)
	kernel, given := c.ints("kernel_shape")
	if !ok || !given || len(x) < 3 {
		c.like(0, c.elem(0), 0)
		if ok {
			c.unknownDims(0, c.elem(0), len(x))
		}
		return
	}
	out := append(ir.Shape{x[0], x[1]}, c.windows(x[2:], dimsOf(kernel))...)
	c.ranked(0, c.elem(0), out)
	c.ranked(1, ir.Int64, out) // indices, of MaxPool
}

func inferGlobalPool(c *inference) {
	x, ok := c.shape(0)
	if !ok || len(x) < 2 {
		c.unranked(0, c.elem(0))
		return
	}
	out := slices.Clone(x)
	for i := 2; i < len(out); i++ {
		out[i] = ir.Int(1)
	}
	c.ranked(0, c.elem(0), out)
}

func inferBatchNorm(c *inference) {
	c.same(0, 0)
	c.same(1, 3)
	c.same(2, 4)
	for i := 3; i < len(c.out); i++ { // saved mean and variance, before opset 14
		c.same(i, 3)
	}
}

// inferLayerNorm: the mean and the inverse deviation keep the axes before axis.
func inferLayerNorm(c *inference) {
	c.like(0, c.elem(0), 0)
	stash := ir.DataType(c.int("stash_type", int64(ir.Float32)))
	s, ok := c.shape(0)
	if !ok {
		c.unranked(1, stash)
		c.unranked(2, stash)
		return
	}
	axis, ok := c.axis(-1, len(s))
	if !ok {
		return
	}
	if scale, ok := c.shape(1); ok {
		out, err := broadcastDims(s, scale)
		if err != nil || len(out) != len(s) {
			c.fail("scale %s does not broadcast to %s", shapeText(scale), shapeText(s))
		}
	}
	reduced := slices.Clone(s)
	for i := axis; i < len(s); i++ {
		reduced[i] = ir.Int(1)
	}
	c.ranked(1, stash, reduced)
	c.ranked(2, stash, reduced)
}

// inferRecurrent: Y [length, directions, batch, hidden] and the last states
// [directions, batch, hidden]; with layout 1 the batch comes first.
func inferRecurrent(c *inference) {
	directions := ir.Int(1)
	if c.text("direction", "forward") == "bidirectional" {
		directions = ir.Int(2)
	}
	var length, batch, hidden ir.Dim
	if x, ok := c.shapeOfRank(0, 3); ok {
		length, batch = x[0], x[1]
	}
	if r, ok := c.shapeOfRank(2, 3); ok {
		hidden = r[2]
	}
	y, state := ir.Shape{length, directions, batch, hidden}, ir.Shape{directions, batch, hidden}
	if c.int("layout", 0) != 0 {
		length, batch = batch, length
		y, state = ir.Shape{batch, length, directions, hidden}, ir.Shape{batch, directions, hidden}
	}
	c.ranked(0, c.elem(0), y)
	c.ranked(1, c.elem(0), state)
	c.ranked(2, c.elem(0), state)
}
