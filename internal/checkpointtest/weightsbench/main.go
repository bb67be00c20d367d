//go:build unix

// Weightsbench measures how fast weights are copied and converted, against cp.
//
//	go run ./internal/checkpointtest/weightsbench -dir DIR -gib 4 -rounds 3
//
// It writes a checkpoint of so many GiB of bfloat16 values into DIR, which
// stays in the page cache, and then in each round lets cp copy its files, and
// this module copy and convert its tensors into one file, every time with
// nothing left to write back from before. All three are new processes, of which
// wall time (until the file is complete, and until it is on disk) and peak
// memory are printed. cp runs first and last in a round: the difference is the
// disk's own variation.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"mobiusc/compiler/checkpoint"
	"mobiusc/internal/checkpointtest"
	"mobiusc/internal/float16"
	"mobiusc/ir"
)

func main() {
	dir := flag.String("dir", "", "directory to work in")
	gib := flag.Int("gib", 4, "size of the checkpoint in GiB")
	rounds := flag.Int("rounds", 3, "number of rounds")
	dtype := flag.String("copy", "", "internal: copy as this type and end")
	flag.Parse()
	var err error
	switch {
	case *dir == "":
		err = fmt.Errorf("-dir is required")
	case *dtype != "":
		err = copyAll(*dir, *dtype)
	default:
		err = measure(*dir, *gib, *rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "weightsbench:", err)
		os.Exit(1)
	}
}

// measure writes the checkpoint and runs the rounds.
func measure(dir string, gib, rounds int) error {
	source, target := filepath.Join(dir, "source"), filepath.Join(dir, "target")
	if err := writeSource(source, gib); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(source, "*.safetensors"))
	if err != nil {
		return err
	}
	runs := []struct {
		name string
		args []string
	}{
		{"cp", append(append([]string{"cp"}, files...), target)},
		{"copy", []string{self, "-dir", dir, "-copy", ir.BFloat16.String()}},
		{"bf16→f16", []string{self, "-dir", dir, "-copy", ir.Float16.String()}},
		{"bf16→f32", []string{self, "-dir", dir, "-copy", ir.Float32.String()}},
		{"cp again", append(append([]string{"cp"}, files...), target)},
	}
	fmt.Println("round  run        complete s   MB/s  of cp   on disk s   peak MB")
	results := map[string][]float64{}
	for round := range rounds {
		var first float64
		for _, r := range runs {
			x, err := timed(target, r.args)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			rate := float64(gib<<30) / x.complete.Seconds() / 1e6
			if first == 0 {
				first = rate
			}
			results[r.name] = append(results[r.name], rate/first)
			fmt.Printf("%-6d %-10s %10.2f %6.0f %6.2f %11.2f %9d\n",
				round+1, r.name, x.complete.Seconds(), rate, rate/first, x.synced.Seconds(), x.peak>>20)
		}
	}
	for _, r := range runs[1:] {
		slices.Sort(results[r.name])
		fmt.Printf("median %-10s %.2f of cp\n", r.name, results[r.name][rounds/2])
	}
	return os.RemoveAll(dir)
}

// writeSource writes the checkpoint: matrices of 32 MiB, a GiB a file.
func writeSource(dir string, gib int) error {
	const rows, columns = 4096, 4096
	rng := rand.New(rand.NewPCG(1, 1))
	data := make([]byte, 0, 2*rows*columns)
	for range rows * columns {
		h := float16.BF16FromF64(math.Float64bits(0.02 * rng.NormFloat64()))
		data = append(data, byte(h), byte(h>>8))
	}
	var tensors []checkpointtest.Tensor
	for i := range gib * 32 {
		tensors = append(tensors, checkpointtest.Tensor{Name: fmt.Sprintf("layers.%d.weight", i),
			DType: checkpoint.BF16, Shape: []int64{rows, columns}, Data: data})
	}
	return checkpointtest.WriteDir(dir, tensors, gib)
}

// result is what one run took.
type result struct {
	complete, synced time.Duration
	peak             int64 // bytes
}

// timed runs a command that fills the directory target.
func timed(target string, args []string) (r result, err error) {
	if err := os.RemoveAll(target); err != nil {
		return r, err
	}
	if err := os.Mkdir(target, 0o755); err != nil {
		return r, err
	}
	syscall.Sync()
	start := time.Now()
	cmd := exec.Command(args[0], args[1:]...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return r, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	r.complete = time.Since(start)
	syscall.Sync()
	r.synced = time.Since(start)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.peak = usage.Maxrss << 10
	}
	return r, nil
}

// copyAll copies the checkpoint's tensors into one file.
func copyAll(dir, name string) error {
	dtype, ok := ir.DataTypeOf(name)
	if !ok {
		return fmt.Errorf("no type %q", name)
	}
	c, faults := checkpoint.Open(filepath.Join(dir, "source"), checkpoint.Options{})
	if faults.HasErrors() {
		return fmt.Errorf("%v", faults)
	}
	defer c.Close()
	var params []checkpoint.Param
	for _, t := range c.Tensors() {
		params = append(params, checkpoint.Param{Name: t.Name, DType: dtype, Shape: t.Shape})
	}
	b, faults := checkpoint.Bind(params, c, checkpoint.Rules{})
	if faults.HasErrors() {
		return fmt.Errorf("%v", faults)
	}
	var jobs []checkpoint.Job
	var size int64
	for _, x := range b.Bound {
		jobs = append(jobs, checkpoint.Job{Bound: x, Offset: size})
		size += x.Source.Size()
	}
	path := filepath.Join(dir, "target", "model.onnx.data")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := f.Truncate(size); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	_, err = checkpoint.Copy(context.Background(), path, jobs, checkpoint.CopyOptions{})
	return err
}
