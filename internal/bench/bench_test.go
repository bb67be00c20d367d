//go:build unix

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"mobiusc/compiler/emit"
	"mobiusc/internal/ort"
)

func TestRatioIsOfPairs(t *testing.T) {
	ours := timing{seconds: []float64{1, 2, 4, 8}}
	other := timing{seconds: []float64{2, 4, 8, 17}} // twice, whatever the machine did
	if r := ratioOf(ours, other); r.median != 2 || r.low != 2 || r.high > 2.1 {
		t.Errorf("got %+v, want 2 nearly without spread", r)
	}
	if r := ratioOf(ours, timing{}); !math.IsNaN(r.median) {
		t.Errorf("no pairs give %v, want NaN", r.median)
	}
}

func TestQuantile(t *testing.T) {
	values := []float64{5, 1, 3, 2, 4}
	for q, want := range map[float64]float64{0: 1, 0.25: 2, 0.5: 3, 0.9: 4.6, 1: 5} {
		if got := quantile(values, q); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %v of %v is %v, want %v", q, values, got, want)
		}
	}
}

// TestNotMeasured checks that a row that could not be measured says so and why.
func TestNotMeasured(t *testing.T) {
	table := (&bench{report: &report{}}).table("T", "what")
	table.compare("tokens", lengths(1), [][]timing{{{entrant: "ours", seconds: []float64{0.001}}, {entrant: "peer", err: errNoPeers}}})
	text := table.markdown()
	for _, want := range []string{"| 1 | 1.00 | not measured |", "- not measured: peer at 1: " + errNoPeers.Error()} {
		if !strings.Contains(text, want) {
			t.Errorf("the table does not have %q:\n%s", want, text)
		}
	}
}

// TestPage checks that a table takes its place in a page and leaves the others.
func TestPage(t *testing.T) {
	r := report{tables: []*table{
		{key: "one", what: "nothing was measured"},
		{key: "new", what: "W", header: []string{"a"}, rows: [][]string{{"1"}}, measured: "M"},
		{key: "two", what: "V", header: []string{"b"}, rows: [][]string{{"2"}}, measured: "N"},
	}}
	page := "# Page\n\n<!-- bench: one -->\nkept\n<!-- end -->\n\n<!-- bench: two -->\nold\n<!-- end -->\n\ntext\n"
	want := "# Page\n\n<!-- bench: one -->\nkept\n<!-- end -->\n\n<!-- bench: two -->\n\nV.\n\n| b |\n|---|\n| 2 |\n\n*N*\n\n<!-- end -->\n\ntext\n\n" +
		"<!-- bench: new -->\n\nW.\n\n| a |\n|---|\n| 1 |\n\n*M*\n\n<!-- end -->\n"
	if got := r.in(page); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestForms checks that what is compared computes the same: the forms of the
// delta rule, the runtime's own operator, and both convolutions.
func TestForms(t *testing.T) {
	if _, err := ort.Find(); errors.Is(err, ort.ErrNoLibrary) {
		t.Fatal(err)
	}
	run := func(name string, e func() (string, error), n int64) map[string]ort.Tensor {
		t.Helper()
		path, err := e()
		if err != nil {
			t.Fatal(err)
		}
		out, err := runOnce(path, request{Sizes: map[string]int64{"batch": 2, "sequence": n}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return out
	}
	dir := t.TempDir()
	for _, n := range []int64{1, 5, 40} {
		want := run("chunked", func() (string, error) { return write(dir, "chunked", graphOf(linearAttention(32))) }, n)
		near(t, fmt.Sprintf("per token, %d tokens", n), want, run("per token", func() (string, error) { return write(dir, "per", graphOf(linearAttention(1))) }, n))
		near(t, fmt.Sprintf("fused, %d tokens", n), want, run("fused", func() (string, error) { return write(dir, "fused", graphOf(fusedLinearAttention())) }, n))
	}
	for _, n := range []int64{1, 40, 65, 133} {
		sum := run("sum", func() (string, error) { return write(dir, "sum", convolution(false)) }, n)
		near(t, fmt.Sprintf("convolution, %d tokens", n), sum, run("conv", func() (string, error) { return write(dir, "conv", convolution(true)) }, n))
	}
}

// runOnce runs a model on the inputs that a worker would make up.
func runOnce(path string, r request) (map[string]ort.Tensor, error) {
	m, err := emit.Read(path)
	if err != nil {
		return nil, err
	}
	s, err := ort.Load(path, m, ort.Options{Threads: 1})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	b, err := bindInputs(s, r)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return b.Outputs, b.Run()
}

// near checks that no element differs by more than 1e-5 of the largest.
func near(t *testing.T, what string, want, got map[string]ort.Tensor) {
	t.Helper()
	for name, w := range want {
		a, b := floats(w), floats(got[name])
		if len(a) == 0 || len(a) != len(b) {
			t.Fatalf("%s: %s has %d elements, want %d", what, name, len(b), len(a))
		}
		largest, worst := 0.0, 0.0
		for i := range a {
			largest, worst = max(largest, math.Abs(a[i])), max(worst, math.Abs(a[i]-b[i]))
		}
		if !(worst <= 1e-5*largest) || largest == 0 {
			t.Errorf("%s: %s is off by %.2g, the largest element is %.2g", what, name, worst, largest)
		}
	}
}

func floats(t ort.Tensor) []float64 {
	out := make([]float64, len(t.Raw)/4)
	for i := range out {
		out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(t.Raw[4*i:])))
	}
	return out
}

// TestPieces checks that the pieces of a prompt follow each other and are the prompt.
func TestPieces(t *testing.T) {
	r := request{Sizes: map[string]int64{"batch": 2, "sequence": 10, "past": 3}, Piece: 4}
	var got []string
	for _, p := range r.pieces() {
		got = append(got, fmt.Sprintf("%d of %d after %d", p.Sizes["sequence"], p.Sizes["batch"], p.Sizes["past"]))
	}
	if want := "4 of 2 after 3, 4 of 2 after 7, 2 of 2 after 11"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if r.Piece = 0; len(r.pieces()) != 1 || r.pieces()[0].Sizes["sequence"] != 10 {
		t.Errorf("without a piece: %v", r.pieces())
	}
}

// TestWorker checks a worker process from end to end: this test binary is one.
func TestWorker(t *testing.T) {
	path, err := write(t.TempDir(), "sum", convolution(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("BENCH_TEST_WORKER", path)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := pairing{budget: time.Millisecond, min: 2, max: 2, heats: 1}
	start := func(name string) entrant {
		return entrant{name: name, start: func(ctx context.Context) (*process, error) { return start(ctx, name, self) }}
	}
	results, loaded := p.compare(context.Background(), []entrant{start("one"), start("two")}, lengths(3))
	for i, x := range results[0] {
		if x.err != nil || len(x.seconds) != 2 || loaded[i].Load <= 0 {
			t.Errorf("%s: %v, %v, loaded in %v s", x.entrant, x.err, x.seconds, loaded[i].Load)
		}
	}
	bad := shape{"bad", request{Sizes: map[string]int64{"batch": 1}}}
	results, _ = p.compare(context.Background(), []entrant{start("one")}, []shape{bad})
	if err := results[0][0].err; err == nil || !strings.Contains(err.Error(), "the size of sequence is not given") {
		t.Errorf("a request without a size gives %v", err)
	}
}

func TestMain(m *testing.M) {
	if model := os.Getenv("BENCH_TEST_WORKER"); model != "" {
		if err := work(workerOptions{Model: model, Threads: 1}, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
