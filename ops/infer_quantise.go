package ops

import "mobiusc/ir"

func registerQuantisation() {
	register(inferQuantize, "QuantizeLinear")
	register(inferDequantize, "DequantizeLinear")
	register(inferDynamicQuantize, "DynamicQuantizeLinear")
}

func inferQuantize(c *inference) {
	elem := c.elem(2)
	if !c.has(2) {
		elem = ir.DataType(c.int("output_dtype", int64(ir.Uint8)))
		if elem == ir.Undefined {
			elem = ir.Uint8
		}
	}
	c.like(0, elem, 0)
}

func inferDequantize(c *inference) {
	elem := ir.DataType(c.int("output_dtype", 0))
	if elem == ir.Undefined {
		elem = c.elem(1)
	}
	c.like(0, elem, 0)
}

func inferDynamicQuantize(c *inference) {
	c.like(0, ir.Uint8, 0)
	c.ranked(1, ir.Float32, ir.Shape{})
	c.ranked(2, ir.Uint8, ir.Shape{})
}
