package ops_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// convolutionBound is the largest error of a result of the convolution in
// float32, relative to the largest value.
const convolutionBound = 1e-6

// TestCausalConvolution checks kernels shorter and longer than the unrolled sum
// and than a block, at lengths below, at and above a block and the kernel, on a
// state that is not zero, against the definition in float64.
func TestCausalConvolution(t *testing.T) {
	const channels = 5
	for _, kernel := range []int64{1, 2, 4, 5, 20} {
		t.Run(fmt.Sprintf("kernel %d", kernel), func(t *testing.T) {
			t.Parallel()
			session := load(t, convolutionNode(channels, kernel), 21)
			for _, length := range []int64{1, 2, 3, 15, 16, 17, 19, 20, 32, 33, 100} {
				in := convolutionInputs(channels, kernel, length)
				got, err := session.Run(in)
				if err != nil {
					t.Fatal(err)
				}
				output, present := convolve(in, channels, kernel, length)
				if e := relativeError(floats(got["output"]), output); !(e <= convolutionBound) {
					t.Errorf("%d inputs: relative error of the output %.2g", length, e)
				}
				if kernel == 1 {
					continue // no state
				}
				if e := relativeError(floats(got["present"]), present); e != 0 {
					t.Errorf("%d inputs: the state differs by %.2g; it is what was read, to the bit", length, e)
				}
			}
		})
	}
}

// convolutionNode reads input [batch, length, channels].
func convolutionNode(channels, kernel int64) *ir.Node {
	value := func(name string, dims ...ir.Dim) *ir.Value {
		return ir.NewValue(name, ir.TensorOf(ir.Float32, dims...))
	}
	c, past := ir.Int(channels), ir.Int(kernel-1)
	n := ir.NewNode("mobiusc", "CausalConvWithState", []*ir.Value{
		value("input", ir.Int(batch), ir.Sym("length"), c), value("weight", c, ir.Int(1), ir.Int(kernel)), value("bias", c), value("past", ir.Int(batch), c, past),
	}, []*ir.Value{value("output", ir.Int(batch), ir.Sym("length"), c), value("present", ir.Int(batch), c, past)}, ir.StringAttr("activation", "silu"))
	n.Name = "conv"
	return n
}

func convolutionInputs(channels, kernel, length int64) map[string]ort.Tensor {
	rng := rand.New(rand.NewPCG(uint64(kernel), uint64(length)))
	random := func(dims ...int64) ort.Tensor {
		count := int64(1)
		for _, d := range dims {
			count *= d
		}
		return tensor(exact(count, func(int64) float64 { return rng.NormFloat64() }), dims...)
	}
	return map[string]ort.Tensor{"input": random(batch, length, channels), "weight": random(channels, 1, kernel),
		"bias": random(channels), "past": random(batch, channels, kernel-1)}
}

// convolve is the definition: y[t] = silu(bias + sum_i weight[i] window[t+i]), the
// window being the past and then the input.
func convolve(in map[string]ort.Tensor, channels, kernel, length int64) (output, present []float64) {
	input, weight, bias, past := floats(in["input"]), floats(in["weight"]), floats(in["bias"]), floats(in["past"])
	output = make([]float64, batch*length*channels)
	for b := range int64(batch) {
		for c := range channels {
			window := append([]float64(nil), past[(b*channels+c)*(kernel-1):(b*channels+c+1)*(kernel-1)]...)
			for t := range length {
				window = append(window, input[(b*length+t)*channels+c])
			}
			for t := range length {
				sum := bias[c]
				for i := range kernel {
					sum += weight[c*kernel+i] * window[t+i]
				}
				output[(b*length+t)*channels+c] = silu(sum)
			}
			present = append(present, window[length:]...)
		}
	}
	return output, present
}
