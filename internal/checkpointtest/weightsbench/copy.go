//go:build unix

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"mobiusc/compiler/checkpoint"
	"mobiusc/internal/checkpointtest"
	"mobiusc/internal/float16"
)

// width is the number of rows and columns of the matrices: 32 MiB in bfloat16.
const width = 4096

// spec is a model that consists of the matrices.
const spec = `spec: v1
name: bench
summary: A stack of square matrices.
model_types: [bench]
dtype: dtype
config:
  dtype: {type: dtype, default: bfloat16}
  width: int
  layers: int
components:
  model:
    inputs: {x: "model[batch, width]"}
    body: [{use: x}, {layers: {name: layers, count: layers, each: {linear: {name: linear, out: width}}}}]
    outputs: {y: result}
`

// copy measures copies of 1 GiB, once, and of the full size.
func (b *bench) copy() error {
	if err := os.WriteFile(filepath.Join(b.dir, "bench.yaml"), []byte(spec), 0o644); err != nil {
		return err
	}
	fmt.Println("size   round  run         seconds   MB/s  of cp  cpu s  peak MB  others")
	sizes := []int{1, b.gib}
	if b.gib <= 1 {
		sizes = sizes[1:]
	}
	for i, gib := range sizes {
		rounds := b.rounds
		if i < len(sizes)-1 {
			rounds = 1 // for its memory alone
		}
		if err := b.copySize(gib, rounds); err != nil {
			return err
		}
	}
	return nil
}

// compiled names the runs that are compared with cp, and their storage dtypes.
var compiled = []struct{ name, dtype string }{{"copy", "bfloat16"}, {"bf16→f16", "float16"}}

// copySize measures rounds of cp and the compilations in turn.
func (b *bench) copySize(gib, rounds int) error {
	source, target := filepath.Join(b.dir, "source"), filepath.Join(b.dir, "target")
	if err := b.writeInChild(gib); err != nil {
		return err
	}
	defer os.RemoveAll(source) //nolint:errcheck // the whole directory goes at the end
	size := float64(int64(gib) << 30)
	var alone []float64    // MB/s of cp
	var used time.Duration // processor time of cp
	parts := map[string][]float64{}
	for round := range rounds {
		before, err := cp(source, target)
		if err != nil {
			return err
		}
		for _, r := range compiled {
			line := []string{b.command, "compile", filepath.Join(b.dir, "bench.yaml"), "--weights", source, "--storage-dtype", r.dtype, "-o", target}
			c, err := timed(target, line)
			if err != nil {
				return err
			}
			after, err := cp(source, target)
			if err != nil {
				return err
			}
			part := (before.wall + after.wall).Seconds() / 2 / c.wall.Seconds()
			fmt.Printf("%d GiB  %-5d  %-9s %8.2f %6.0f  %5.2f  %5.2f  %7d  %5.0f%%\n", gib, round+1, r.name, c.wall.Seconds(), size/c.wall.Seconds()/1e6, part, c.cpu.Seconds(), c.peak/1e6,
				100*(before.others+c.others+after.others)/3)
			parts[r.name] = append(parts[r.name], part)
			alone = append(alone, size/before.wall.Seconds()/1e6)
			used += (before.cpu + after.cpu) / 2
			before = after
		}
		alone = append(alone, size/before.wall.Seconds()/1e6)
	}
	fmt.Printf("%d GiB: cp alone %.0f to %.0f MB/s, median %.0f, %.2f cpu s", gib, slices.Min(alone), slices.Max(alone), median(alone), used.Seconds()/float64(len(compiled)*rounds))
	for _, r := range compiled {
		fmt.Printf("; %s %.2f of cp, median of %d", r.name, median(parts[r.name]), rounds)
	}
	fmt.Println()
	return nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// cp copies the checkpoint.
func cp(source, target string) (cost, error) {
	files, err := filepath.Glob(filepath.Join(source, "*.safetensors"))
	if err != nil {
		return cost{}, err
	}
	return timed(target, append(append([]string{"cp"}, files...), target+"/"))
}

// writeInChild writes the checkpoint by another process, so that this one stays
// small: its peak would be counted as that of the commands that it starts.
func (b *bench) writeInChild(gib int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := exec.Command(self, "-dir", b.dir, "-gib", strconv.Itoa(gib), "source").CombinedOutput()
	if err != nil {
		return fmt.Errorf("writing the checkpoint: %w: %s", err, out)
	}
	return nil
}

// writeSource writes the checkpoint, a GiB a file.
func (b *bench) writeSource() error {
	dir, gib := filepath.Join(b.dir, "source"), b.gib
	rng := rand.New(rand.NewPCG(1, 1))
	data := make([]byte, 0, 2*width*width)
	for range width * width {
		h := float16.BF16FromF64(math.Float64bits(0.02 * rng.NormFloat64()))
		data = append(data, byte(h), byte(h>>8))
	}
	var tensors []checkpointtest.Tensor
	layers := gib << 30 / len(data)
	for i := range layers {
		tensors = append(tensors, checkpointtest.Tensor{Name: fmt.Sprintf("layers.%d.linear.weight", i),
			DType: checkpoint.BF16, Shape: []int64{width, width}, Data: data})
	}
	if err := checkpointtest.WriteDir(dir, tensors, gib); err != nil {
		return err
	}
	config := fmt.Sprintf(`{"model_type": "bench", "width": %d, "layers": %d}`, width, layers)
	return os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o644)
}
