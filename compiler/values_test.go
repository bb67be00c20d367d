package compiler_test

import (
	"fmt"
	"slices"
	"testing"

	"mobiusc/compiler/verify"
	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// valuesSpec is a spec of two layers that do one thing to the stream with a value.
func valuesSpec(block string) string {
	return fmt.Sprintf(`spec: v1
name: x
summary: A value beside the stream.
dtype: float32
components:
  model:
    inputs: {x: "float32[batch, sequence, 3]", v: "float32[batch, sequence, 4, 3]", w: "float32[3]"}
    body: [{use: x}, {layers: {count: 2, each: [%s]}}, {add: w}]
    outputs: {y: result}
`, block)
}

// TestBinaryValues compares add and multiply with what they say, for a slice of a
// value that is another in each layer.
func TestBinaryValues(t *testing.T) {
	const batch, sequence, width, slices4 = 2, 3, 3, 4
	for block, apply := range map[string]func(x float64, v []float64) float64{
		"{multiply: {value: v, axis: 2, index: layer + 1}}": func(x float64, v []float64) float64 { return x * v[1] * v[2] },
		"{multiply: {value: v, axis: -2, index: -1}}":       func(x float64, v []float64) float64 { return x * v[3] * v[3] },
		"{add: {value: v, axis: 2, index: layer}}":          func(x float64, v []float64) float64 { return x + v[0] + v[1] },
	} {
		t.Run(block, func(t *testing.T) {
			p := compileTensors(t, writeSpec(t, "x", valuesSpec(block)), nil)
			x, v, w := fractions(batch*sequence*width, 7), fractions(batch*sequence*slices4*width, 5), fractions(width, 2)
			tensor := func(data []float64, dims ...int64) ort.Tensor {
				return ort.Tensor{Type: ir.Float32, Dims: dims, Raw: bytesOf(data)}
			}
			call := &verify.Call{Inputs: map[string]ort.Tensor{
				"x": tensor(x, batch, sequence, width), "v": tensor(v, batch, sequence, slices4, width), "w": tensor(w, width),
			}}
			results, err := p.Run(&verify.Reference{Name: "values", Steps: []verify.Step{{Components: map[string]*verify.Call{"model": call}}}})
			if err != nil {
				t.Fatal(err)
			}
			var want []float64
			for i, x := range x {
				var at []float64
				for s := range slices4 {
					at = append(at, v[(i/width*slices4+s)*width+i%width])
				}
				want = append(want, apply(x, at)+w[i%width])
			}
			if got := float32s(results[0]["model"]["y"]); !slices.Equal(got, want) {
				t.Errorf("got\n%v, want\n%v", got, want)
			}
		})
	}
}
