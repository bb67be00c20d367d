package ops

import (
	"slices"

	"mobiusc/ir"
)

func registerIndexing() {
	register(inferGather, "Gather")
	register(inferGatherElements, "GatherElements")
	register(inferGatherND, "GatherND")
	register(inferOneHot, "OneHot")
	register(inferTopK, "TopK")
	register(inferNonZero, "NonZero")
	register(inferCompress, "Compress")
	register(inferUnique, "Unique")
	register(inferTensorScatter, "TensorScatter")
}

func inferGather(c *inference) {
	data, ok1 := c.shape(0)
	indices, ok2 := c.shape(1)
	if !ok1 || !ok2 {
		c.unranked(0, c.elem(0))
		return
	}
	if axis, ok := c.axis(0, len(data)); ok {
		c.ranked(0, c.elem(0), slices.Concat(data[:axis], indices, data[axis+1:]))
	}
}

func inferGatherElements(c *inference) {
	data, ok1 := c.shape(0)
	indices, ok2 := c.shape(1)
	if ok1 && ok2 && len(data) != len(indices) {
		c.fail("data %s and indices %s differ in rank", shapeText(data), shapeText(indices))
	}
	c.like(0, c.elem(0), 1)
}

func inferGatherND(c *inference) {
	data, ok1 := c.shape(0)
	indices, ok2 := c.shape(1)
	if !ok1 || !ok2 || len(indices) == 0 {
		c.unranked(0, c.elem(0))
		return
	}
	last, ok := indices[len(indices)-1].Int()
	batch := c.int("batch_dims", 0)
	if !ok {
		c.unranked(0, c.elem(0))
		return
	}
	if batch < 0 || last < 0 || batch+last > int64(len(data)) {
		c.fail("indices %s address %d axes of data %s after %d batch dims", shapeText(indices), last, shapeText(data), batch)
		return
	}
	c.ranked(0, c.elem(0), slices.Concat(indices[:len(indices)-1], data[batch+last:]))
}

func inferOneHot(c *inference) {
	indices, ok := c.shape(0)
	if !ok {
		c.unranked(0, c.elem(2))
		return
	}
	axis, ok := c.axis(-1, len(indices)+1)
	if !ok {
		return
	}
	depth := ir.Dim{}
	if s := c.sizes(1); len(s) == 1 {
		depth = s[0]
	}
	c.ranked(0, c.elem(2), slices.Concat(indices[:axis], ir.Shape{depth}, indices[axis:]))
}

func inferTopK(c *inference) {
	s, ok := c.shape(0)
	if !ok {
		c.unranked(0, c.elem(0))
		c.unranked(1, ir.Int64)
		return
	}
	axis, ok := c.axis(-1, len(s))
	if !ok {
		return
	}
	out := slices.Clone(s)
	out[axis] = ir.Dim{}
	if k := c.attr("k"); k != nil {
		out[axis] = ir.Int(k.Int) // before opset 10
	} else if k := c.sizes(1); len(k) == 1 {
		out[axis] = k[0]
	}
	if n, known := s[axis].Int(); known {
		if k, known := out[axis].Int(); known && (k < 0 || k > n) {
			c.fail("k is %d, and axis %d of %s has %d elements", k, axis, shapeText(s), n)
			return
		}
	}
	c.ranked(0, c.elem(0), out)
	c.ranked(1, ir.Int64, out)
}

func inferNonZero(c *inference) {
	out := make(ir.Shape, 2)
	if s, ok := c.shape(0); ok {
		out[0] = ir.Int(int64(len(s)))
	}
	c.ranked(0, ir.Int64, out)
}

func inferCompress(c *inference) {
	s, ok := c.shape(0)
	switch {
	case c.attr("axis") == nil:
		c.unknownDims(0, c.elem(0), 1)
	case !ok:
		c.unranked(0, c.elem(0))
	default:
		if axis, ok := c.axis(0, len(s)); ok {
			out := slices.Clone(s)
			out[axis] = ir.Dim{}
			c.ranked(0, c.elem(0), out)
		}
	}
}

// inferUnique: the first output is that of Compress.
func inferUnique(c *inference) {
	inferCompress(c)
	for i := 1; i < 4; i++ {
		c.unknownDims(i, ir.Int64, 1)
	}
}

func inferTensorScatter(c *inference) {
	c.sameElem(0, 1)
	cache, ok1 := c.shape(0)
	update, ok2 := c.shape(1)
	if ok1 && ok2 {
		if len(cache) != len(update) {
			c.fail("cache %s and update %s differ in rank", shapeText(cache), shapeText(update))
			return
		}
		sequence, ok := axisOf(c.int("axis", -2), len(cache))
		for i := range cache {
			if ok && i != sequence {
				c.match("dims", cache[i], update[i], 0, 1)
			}
		}
	}
	c.same(0, 0)
}
