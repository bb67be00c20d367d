//go:build unix

// Package compile_test measures compiling and validating the largest package as
// whole processes:
//
//	go test -run '^$' -bench . -count 10 ./internal/bench/compile
package compile_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	root = "../../.."
	spec = root + "/specs/qwen3_8.yaml" // three graphs, 91 layers

	// What another load of the machine does not change is limited.
	maxPeak = 150e6 // bytes
)

// BenchmarkCompile compiles the spec without weights. Beside the time it gives
// the processor's time, the peak memory and the bytes of the graphs.
func BenchmarkCompile(b *testing.B) {
	tool := build(b)
	out := filepath.Join(b.TempDir(), "package")
	measure(b, tool, "compile", spec, "--force", "--quiet", "-o", out)
	b.ReportMetric(float64(graphBytes(b, out)), "graph-bytes")
}

// BenchmarkValidate validates what BenchmarkCompile writes.
func BenchmarkValidate(b *testing.B) {
	tool := build(b)
	out := filepath.Join(b.TempDir(), "package")
	run(b, tool, "compile", spec, "--quiet", "-o", out)
	measure(b, tool, "validate", out)
}

func build(b *testing.B) string {
	b.Helper()
	tool := filepath.Join(b.TempDir(), "mobiusc")
	if out, err := exec.Command("go", "build", "-o", tool, root+"/cmd/mobiusc").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return tool
}

func run(b *testing.B, tool string, args ...string) *os.ProcessState {
	b.Helper()
	c := exec.Command(tool, args...)
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return c.ProcessState
}

// measure runs a command b.N times and reports the processor's time and the
// largest peak memory of a run.
func measure(b *testing.B, tool string, args ...string) {
	b.Helper()
	var cpu time.Duration
	var peak int64
	for b.Loop() {
		state := run(b, tool, args...)
		cpu += state.UserTime() + state.SystemTime()
		peak = max(peak, peakBytes(state))
	}
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(peak)/1e6, "peak-MB")
	if peak > maxPeak {
		b.Errorf("%s takes %d bytes of memory, more than %d", args[0], peak, int64(maxPeak))
	}
}

func peakBytes(state *os.ProcessState) int64 {
	peak := state.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS != "darwin" {
		peak *= 1024 // Linux counts KiB
	}
	return peak
}

func graphBytes(b *testing.B, dir string) (total int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".onnx") {
			return err
		}
		info, err := d.Info()
		total += info.Size()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return total
}
