package compiler_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/checkpoint"
	"mobiusc/compiler/verify"
	"mobiusc/internal/checkpointtest"
	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// convCase is a convolution over two dims; one over a single dim has one row.
type convCase struct {
	dims                          string // of the stream, after batch
	options                       string
	channels, out, groups         int
	rows, columns                 int
	kernel, stride, padding, size [2]int // rows, columns; size is that of the result
	bias                          bool
}

var convCases = []convCase{
	{dims: "4, length", options: "kernel: 3, padding: 1", channels: 4, out: 6, groups: 1, rows: 1, columns: 7,
		kernel: [2]int{1, 3}, stride: [2]int{1, 1}, padding: [2]int{0, 1}, size: [2]int{1, 7}, bias: true},
	{dims: "4, 2 * length", options: "kernel: [3], padding: [1], stride: [2], bias: false", channels: 4, out: 6, groups: 1, rows: 1, columns: 8,
		kernel: [2]int{1, 3}, stride: [2]int{1, 2}, padding: [2]int{0, 1}, size: [2]int{1, 4}},
	{dims: "4, rows, 9", options: "kernel: [2, 5], padding: [0, 3], stride: [1, 4], groups: 2", channels: 4, out: 6, groups: 2, rows: 5, columns: 9,
		kernel: [2]int{2, 5}, stride: [2]int{1, 4}, padding: [2]int{0, 3}, size: [2]int{4, 3}, bias: true},
	{dims: "4, rows, columns", options: "kernel: [1, 1], groups: 4", channels: 4, out: 4, groups: 4, rows: 2, columns: 3,
		kernel: [2]int{1, 1}, stride: [2]int{1, 1}, size: [2]int{2, 3}, bias: true},
}

// TestConv compares the block conv with the sum that defines it. The numbers
// are small fractions, whose sums float32 holds exactly: the results are equal.
func TestConv(t *testing.T) {
	for _, c := range convCases {
		t.Run(c.options, func(t *testing.T) {
			spec := writeSpec(t, "x", fmt.Sprintf(`spec: v1
name: x
summary: A convolution.
dtype: float32
components:
  model:
    inputs: {x: "float32[batch, %s]"}
    body: [{use: x}, {conv: {name: c, out: %d, %s}}]
    outputs: {y: result}
`, c.dims, c.out, c.options))
			const batch = 2
			x := fractions(batch*c.channels*c.rows*c.columns, 7)
			weight, bias := fractions(c.out*c.channels/c.groups*c.kernel[0]*c.kernel[1], 5), fractions(c.out, 3)
			dims, kernel := []int64{batch, int64(c.channels)}, []int64{int64(c.out), int64(c.channels / c.groups)}
			if c.rows > 1 {
				dims, kernel = append(dims, int64(c.rows)), append(kernel, int64(c.kernel[0]))
			}
			dims, kernel = append(dims, int64(c.columns)), append(kernel, int64(c.kernel[1]))
			tensors := []checkpointtest.Tensor{{Name: "c.weight", DType: checkpoint.F32, Shape: kernel, Data: bytesOf(weight)}}
			if c.bias {
				tensors = append(tensors, checkpointtest.Tensor{Name: "c.bias", DType: checkpoint.F32, Shape: []int64{int64(c.out)}, Data: bytesOf(bias)})
			} else {
				clear(bias)
			}
			p := compileTensors(t, spec, tensors)
			call := &verify.Call{Inputs: map[string]ort.Tensor{"x": {Type: ir.Float32, Dims: dims, Raw: bytesOf(x)}}}
			results, err := p.Run(&verify.Reference{Name: "conv", Steps: []verify.Step{{Components: map[string]*verify.Call{"model": call}}}})
			if err != nil {
				t.Fatal(err)
			}
			got, want := float32s(results[0]["model"]["y"]), c.compute(batch, x, weight, bias)
			if !slices.Equal(got, want) {
				t.Errorf("the convolution gives\n%v, want\n%v", got, want)
			}
		})
	}
}

// compute returns the convolution [batch, out, size] as the sum over the
// channels of a group and the places of the kernel.
func (c convCase) compute(batch int, x, weight, bias []float64) (y []float64) {
	in, out := c.channels/c.groups, c.out/c.groups
	at := func(n, channel, row, column int) float64 {
		if row < 0 || row >= c.rows || column < 0 || column >= c.columns {
			return 0
		}
		return x[((n*c.channels+channel)*c.rows+row)*c.columns+column]
	}
	for n := range batch {
		for o := range c.out {
			for row := range c.size[0] {
				for column := range c.size[1] {
					sum := bias[o]
					for i := range in {
						for k := range c.kernel[0] {
							for l := range c.kernel[1] {
								w := weight[((o*in+i)*c.kernel[0]+k)*c.kernel[1]+l]
								sum += w * at(n, o/out*in+i, row*c.stride[0]+k-c.padding[0], column*c.stride[1]+l-c.padding[1])
							}
						}
					}
					y = append(y, sum)
				}
			}
		}
	}
	return y
}

// fractions returns n multiples of 1/4 between -1 and 1.
func fractions(n, step int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64((i*step+step)%9-4) / 4
	}
	return values
}

func bytesOf(values []float64) (raw []byte) {
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
	}
	return raw
}

// compileTensors compiles a spec that reads no config with the given weights, and
// loads the package.
func compileTensors(t *testing.T, spec string, tensors []checkpointtest.Tensor) *verify.Package {
	t.Helper()
	return openPackage(t, packageOf(t, spec, tensors))
}

// packageOf compiles a spec that reads no config with the given weights, and
// returns the directory of the package.
func packageOf(t *testing.T, spec string, tensors []checkpointtest.Tensor) string {
	t.Helper()
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	if err := checkpointtest.WriteDir(dir, tensors, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := compiler.Compile(context.Background(), compiler.Options{Spec: spec, Weights: compiler.Weights{Mode: compiler.Copy, Dir: dir}, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	checkClean(t, found)
	return out
}

func openPackage(t *testing.T, dir string) *verify.Package {
	t.Helper()
	p, err := verify.Open(dir, ort.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// TestAveragePool compares the block average_pool with the mean that defines it:
// windows that overlap, windows that do not, and places that none reaches.
func TestAveragePool(t *testing.T) {
	for _, c := range []struct {
		options      string
		kernel, step [2]int
		size         [2]int
	}{
		{"[2, 3]", [2]int{2, 3}, [2]int{2, 3}, [2]int{2, 2}},
		{"{kernel: [4, 2], stride: [1, 3]}", [2]int{4, 2}, [2]int{1, 3}, [2]int{2, 3}},
	} {
		t.Run(c.options, func(t *testing.T) {
			spec := writeSpec(t, "x", fmt.Sprintf(`spec: v1
name: x
summary: Means.
dtype: float32
components:
  model:
    inputs: {x: "float32[batch, 3, rows, 8]"}
    body: [{use: x}, {average_pool: %s}]
    outputs: {y: result}
`, c.options))
			const planes, rows, columns = 2 * 3, 5, 8
			x := fractions(planes*rows*columns, 7)
			call := &verify.Call{Inputs: map[string]ort.Tensor{"x": {Type: ir.Float32, Dims: []int64{2, 3, rows, columns}, Raw: bytesOf(x)}}}
			results, err := compileTensors(t, spec, nil).Run(&verify.Reference{Name: "pool", Steps: []verify.Step{{Components: map[string]*verify.Call{"model": call}}}})
			if err != nil {
				t.Fatal(err)
			}
			var want []float64
			for p := range planes {
				for i := range c.size[0] {
					for j := range c.size[1] {
						sum := 0.0
						for k := range c.kernel[0] {
							for l := range c.kernel[1] {
								sum += x[(p*rows+i*c.step[0]+k)*columns+j*c.step[1]+l]
							}
						}
						want = append(want, sum/float64(c.kernel[0]*c.kernel[1]))
					}
				}
			}
			got := float32s(results[0]["model"]["y"])
			if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) {
				t.Errorf("the means are\n%v, want\n%v", got, want)
			}
		})
	}
}

// TestConvOldestOpset compiles convolutions and means for the oldest target in
// every dtype: its operators have no bfloat16.
func TestConvOldestOpset(t *testing.T) {
	for spec, config := range map[string]string{"whisper": "whisper-tiny", "gemma3_vl": "gemma-3-4b"} {
		for _, dtype := range compiler.DTypes {
			o := published(spec, config)
			o.DType, o.Opset, o.Out = dtype, compiler.MinOpset, filepath.Join(t.TempDir(), "package")
			found, err := compiler.Compile(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			checkClean(t, found)
		}
	}
}
