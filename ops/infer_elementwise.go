package ops

import "mobiusc/ir"

func registerElementwise() {
	register(inferSame,
		"Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Celu", "Clip", "Cos", "Cosh",
		"CumProd", "CumSum", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "Hardmax", "Identity",
		"LeakyRelu", "Log", "LogSoftmax", "LpNormalization", "MeanVarianceNormalization", "Mish", "Neg", "Not",
		"PRelu", "Reciprocal", "Relu", "ReverseSequence", "Round", "ScaledTanh", "ScatterElements", "ScatterND", "Scatter", "Selu", "Shrink",
		"Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh",
		"ThresholdedRelu", "Trilu")
	register(inferTest, "IsNaN", "IsInf")
	register(inferBinary, "Add", "Sub", "Mul", "Div", "Mod", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr",
		"BitwiseXor", "BitShift", "StringConcat")
	register(inferCompare, "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
	register(inferPow, "Pow")
	register(inferVariadic, "Min", "Max", "Sum", "Mean")
	register(inferWhere, "Where")
	register(inferCast, "Cast", "BitCast")
	register(inferCastLike, "CastLike")
	register(inferDropout, "Dropout")
}

// inferSame is the rule of operators whose output has the type of input 0.
func inferSame(c *inference) { c.same(0, 0) }

func inferTest(c *inference) { c.like(0, ir.Bool, 0) }

func inferBinary(c *inference) {
	c.binary(c.sameElem(0, 1))
}

// binary gives output 0 the shape of an operation on two inputs. Before opset 7
// the second one was stretched to the first, along an axis that an attribute
// names.
func (c *inference) binary(elem ir.DataType) {
	if c.env.opsets[""] < 7 {
		c.like(0, elem, 0)
		return
	}
	c.broadcastTo(elem, 0, 1)
}

func inferCompare(c *inference) {
	c.sameElem(0, 1)
	c.binary(ir.Bool)
}

// inferPow allows operands that differ in type.
func inferPow(c *inference) { c.binary(c.elem(0)) }

func inferVariadic(c *inference) {
	inputs := make([]int, len(c.node.Inputs()))
	for i := range inputs {
		inputs[i] = i
	}
	c.broadcastTo(c.sameElem(inputs...), inputs...)
}

func inferWhere(c *inference) {
	c.broadcastTo(c.sameElem(1, 2), 0, 1, 2)
}

// inferCast keeps the shape. A BitCast to a wider or narrower type is invalid
// since the bit widths must be equal.
func inferCast(c *inference) { c.like(0, ir.DataType(c.int("to", 0)), 0) }

func inferCastLike(c *inference) { c.like(0, c.elem(1), 0) }

func inferDropout(c *inference) {
	c.same(0, 0)
	c.like(1, ir.Bool, 0)
}
