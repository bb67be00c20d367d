//go:build unix

// Bench measures how fast the compiled graphs are, against other graphs that
// compute the same and against torch. See docs/benchmarks.md, which it writes.
//
//	go run ./internal/bench            a few minutes
//	go run ./internal/bench -full      everything, at every length
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"mobiusc/internal/ort"
)

// bench is one run of the benchmark.
type bench struct {
	dir     string // of the models, removed at the end
	out     string // file for the report, or ""
	threads int
	full    bool
	tokens  []int64 // lengths, instead of those that a part has
	against string  // the only one that is compared with, or ""
	pairing pairing
	report  *report
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	b := &bench{report: &report{}}
	worker := flag.String("worker", "", "internal: load the model at `PATH` and answer requests")
	only := flag.String("only", "", "`PARTS` to measure, separated by commas: "+strings.Join(partNames(), ", "))
	out := flag.String("o", "", "put the tables, as Markdown, into `FILE`, each in its place")
	flag.IntVar(&b.threads, "threads", 1, "threads of every model")
	flag.BoolVar(&b.full, "full", false, "every length and every model")
	flag.StringVar(&b.against, "against", "", "compare ours with `NAME` only, as the table's head has it")
	flag.Func("tokens", "`LENGTHS` to measure, separated by commas, instead of those of each part", func(s string) (err error) {
		for n := range strings.SplitSeq(s, ",") {
			x, e := strconv.ParseInt(n, 10, 64)
			b.tokens, err = append(b.tokens, x), errors.Join(err, e)
		}
		return err
	})
	budget := flag.Duration("budget", 6*time.Second, "time for the rounds of one row")
	flag.IntVar(&b.pairing.heats, "heats", 2, "times that every model is loaded anew")
	flag.BoolVar(&b.pairing.wall, "wall", false, "the clock's time, also where one thread lets the processors' time be used")
	absent := flag.Bool("absent", false, "internal: the model's weights are not there")
	flag.Parse()
	if *worker != "" {
		return work(workerOptions{*worker, b.threads, *absent}, os.Stdin, os.Stdout)
	}
	b.pairing.budget, b.pairing.min, b.pairing.max = *budget, 1, 200
	b.pairing.wall = b.pairing.wall || b.threads > 1
	var err error
	if b.dir, err = os.MkdirTemp("", "mobiusc-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.out = *out
	for _, p := range parts {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), p.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s %s\n", time.Now().Format(time.TimeOnly), p.name)
		if err := errors.Join(p.run(ctx, b), ctx.Err()); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := b.save(); err != nil {
			return err
		}
	}
	fmt.Print(b.report.markdown())
	return nil
}

// save puts what has been measured so far into the page, so that a run that is
// stopped leaves it.
func (b *bench) save() error {
	if b.out == "" {
		return nil
	}
	page, err := os.ReadFile(b.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(b.out, []byte(b.report.in(string(page))), 0o666)
}

// circumstances says when and on what something is measured.
func (b *bench) circumstances() string {
	clock := "processor time"
	if b.pairing.wall {
		clock = "wall time"
	}
	threads := "one thread"
	if b.threads > 1 {
		threads = fmt.Sprintf("%d threads", b.threads)
	}
	return fmt.Sprintf("%s; %s, %d CPUs, load %s; ONNX Runtime %s; %s, %s", time.Now().Format(time.DateOnly),
		cpuName(), runtime.NumCPU(), loadAverage(), ort.Version, threads, clock)
}

// cpuName returns the name of the processor that Linux gives, or the architecture's.
func cpuName() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // absent: no name
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// loadAverage returns the number of processes that wanted to run in the last minute.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(text)); len(fields) > 0 {
		return fields[0]
	}
	return "unknown"
}
