package ops

import "mobiusc/ir"

func registerAttention() {
	register(inferAttention, "Attention")
	register(inferSame, "RotaryEmbedding")
	register(inferLinearAttention, "LinearAttention")
	register(inferCausalConv, "CausalConvWithState")
}

// heads is an attention operand with its heads apart: [batch, heads, length,
// width].
type heads struct{ batch, count, length, width ir.Dim }

// split reads an operand that is [batch, heads, length, width] or
// [batch, length, heads·width].
func (c *inference) split(i int, countAttr string) (h heads, ok bool) {
	s, ok := c.shape(i)
	switch {
	case !ok:
		return h, false
	case len(s) == 4:
		return heads{s[0], s[1], s[2], s[3]}, true
	case len(s) != 3:
		c.fail("input %d has shape %s, expected rank 3 or 4", i, shapeText(s))
		return h, false
	}
	n := c.int(countAttr, 0)
	if n <= 0 {
		c.fail("attribute %s is missing, which a rank-3 input %d needs", countAttr, i)
		return h, false
	}
	if width, ok := s[2].Int(); ok && width%n != 0 {
		c.fail("input %d has shape %s, whose last dim %d heads do not divide", i, shapeText(s), n)
		return h, false
	}
	return heads{s[0], ir.Int(n), s[1], s[2].Div(ir.Int(n))}, true
}

// inferAttention: Y [batch, q_heads, q_length, v_width] or
// [batch, q_length, q_heads·v_width], present key and value
// [batch, kv_heads, past + kv_length, width].
func inferAttention(c *inference) {
	q, ok1 := c.split(0, "q_num_heads")
	k, ok2 := c.split(1, "kv_num_heads")
	v, ok3 := c.split(2, "kv_num_heads")
	if !ok1 || !ok2 || !ok3 {
		c.unknownAttention()
		return
	}
	c.match("batch sizes", q.batch, k.batch, 0, 1)
	c.match("head widths", q.width, k.width, 0, 1)
	c.match("lengths", k.length, v.length, 1, 2)
	past := ir.Int(0)
	if s, ok := c.shape(4); ok && len(s) == 4 {
		past = s[2]
		c.match("key heads", s[1], k.count, 4, 1)
		c.match("key widths", s[3], k.width, 4, 1)
	} else if c.has(4) {
		past = ir.Dim{}
	}
	total := past.Add(k.length)
	if s, _ := c.shape(0); len(s) == 3 {
		c.ranked(0, c.elem(0), ir.Shape{q.batch, q.length, q.count.Mul(v.width)})
	} else {
		c.ranked(0, c.elem(0), ir.Shape{q.batch, q.count, q.length, v.width})
	}
	c.ranked(1, c.elem(1), ir.Shape{k.batch, k.count, total, k.width})
	c.ranked(2, c.elem(2), ir.Shape{v.batch, v.count, total, v.width})
	c.ranked(3, c.elem(0), ir.Shape{q.batch, q.count, q.length, total})
	if mask, ok := c.shape(3); ok {
		if _, err := broadcastDims(mask[:max(0, len(mask)-1)], ir.Shape{q.batch, q.count, q.length}); err != nil || len(mask) > 4 {
			c.fail("mask %s does not broadcast to [%s, %s, %s, %s]", shapeText(mask), q.batch, q.count, q.length, total)
		}
	}
}

func (c *inference) unknownAttention() {
	if s, ok := c.shape(0); ok {
		c.unknownDims(0, c.elem(0), len(s))
	} else {
		c.unranked(0, c.elem(0))
	}
	for i, input := range []int{1, 2, 0} {
		c.unknownDims(i+1, c.elem(input), 4)
	}
}

// inferLinearAttention: query [B, T, Hq·dk], key [B, T, Hkv·dk], value
// [B, T, Hkv·dv] → output [B, T, Hq·dv], state [B, Hkv, dk, dv].
func inferLinearAttention(c *inference) {
	stateElem := c.elem(3)
	if !c.has(3) {
		stateElem = c.elem(0)
	}
	q, ok1 := c.split(0, "q_num_heads")
	k, ok2 := c.split(1, "kv_num_heads")
	v, ok3 := c.split(2, "kv_num_heads")
	if !ok1 || !ok2 || !ok3 {
		c.unknownDims(0, c.elem(0), 3)
		c.unknownDims(1, stateElem, 4)
		return
	}
	c.match("key widths", q.width, k.width, 0, 1)
	c.match("batch sizes", q.batch, v.batch, 0, 2)
	c.match("lengths", q.length, v.length, 0, 2)
	state := ir.Shape{v.batch, k.count, k.width, v.width}
	if past, ok := c.shapeOfRank(3, 4); ok {
		for i := range state {
			if state[i].Differs(past[i]) {
				c.fail("past state is %s, expected %s", shapeText(past), shapeText(state))
				return
			}
		}
	}
	c.ranked(0, c.elem(0), ir.Shape{q.batch, q.length, q.count.Mul(v.width)})
	c.ranked(1, stateElem, state)
}

// inferCausalConv: input [batch, channels, length], weight [channels, 1, k] →
// output like the input, state [batch, channels, k - 1].
func inferCausalConv(c *inference) {
	elem := c.sameElem(0, 1)
	c.like(0, elem, 0)
	x, ok1 := c.shapeOfRank(0, 3)
	w, ok2 := c.shapeOfRank(1, 3)
	if !ok1 || !ok2 {
		c.unknownDims(1, elem, 3)
		return
	}
	channels := c.match("channels", x[1], w[0], 0, 1)
	state := ir.Shape{x[0], channels, w[2].Sub(ir.Int(1))}
	if past, ok := c.shapeOfRank(3, 3); ok {
		for i := range state {
			if state[i].Differs(past[i]) {
				c.fail("past state is %s, expected %s", shapeText(past), shapeText(state))
				return
			}
		}
	}
	c.ranked(1, elem, state)
}
