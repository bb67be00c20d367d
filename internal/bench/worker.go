//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"mobiusc/compiler/emit"
	"mobiusc/internal/ort"
)

// A worker is a process that has loaded one model and runs it when asked. Each
// model has a process of its own: sessions in one process take cores from each
// other. Requests and answers are lines of JSON on its standard streams; the
// worker of torch (peers/torch_worker.py) speaks the same.

// loadedAnswer is a worker's first line.
type loadedAnswer struct {
	Load     float64 `json:"load"`     // seconds from the file to a session, of the clock
	CPU      float64 `json:"cpu"`      // and of the processors
	Resident int64   `json:"resident"` // bytes, after loading
	Peak     int64   `json:"peak"`     // bytes, while loading
}

// request asks for runs at one shape.
type request struct {
	Sizes map[string]int64   `json:"sizes"` // of the symbols of the inputs' dims
	Ints  map[string][]int64 `json:"ints"`  // content of integer inputs, where it matters
	Piece int64              `json:"piece"` // tokens that go in at a time, each piece after those before it; 0: all
	Runs  int                `json:"runs"`
}

// pieces returns what the request is in runs of a model.
func (r request) pieces() []request {
	if r.Piece == 0 {
		return []request{r}
	}
	var list []request
	for done := int64(0); done < r.Sizes["sequence"]; done += r.Piece {
		sizes := maps.Clone(r.Sizes)
		sizes["sequence"], sizes["past"] = min(r.Piece, r.Sizes["sequence"]-done), r.Sizes["past"]+done
		list = append(list, request{Sizes: sizes, Ints: r.Ints})
	}
	return list
}

// runAnswer holds what each run took, in seconds: of the clock, and of the
// process's processors.
type runAnswer struct {
	Seconds  []float64 `json:"seconds"`
	CPU      []float64 `json:"cpu"`
	Resident int64     `json:"resident"` // bytes, before the runs
	Peak     int64     `json:"peak"`     // bytes, during the runs
	Error    string    `json:"error"`
}

// workerOptions are the options of a session as they travel to its process.
type workerOptions struct {
	Model   string
	Threads int
	// Absent says that the weights are a file of zeros without blocks, larger than
	// the memory: nothing may read them, nor plan memory for them.
	Absent bool
}

// session returns the options of the session.
func (o workerOptions) session() ort.Options {
	s := ort.Options{Threads: o.Threads}
	if o.Absent {
		s.NoMemoryPattern = true
		s.Entries = map[string]string{
			"session.disable_prepacking":                "1",
			"optimization.disable_specified_optimizers": "ConstantFolding",
		}
	}
	return s
}

// work is the body of a worker process.
func work(o workerOptions, in io.Reader, out io.Writer) error {
	model, err := emit.Read(o.Model)
	if err != nil {
		return err
	}
	start, cpu := time.Now(), processorTime()
	session, err := ort.Load(o.Model, model, o.session())
	if err != nil {
		return err
	}
	defer session.Close()
	answers := json.NewEncoder(out)
	if err := answers.Encode(loadedAnswer{time.Since(start).Seconds(), processorTime() - cpu, statusBytes("VmRSS"), statusBytes("VmHWM")}); err != nil {
		return err
	}
	m := measurer{session: session}
	defer m.unbind()
	for requests := json.NewDecoder(in); ; {
		var r request
		if err := requests.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := answers.Encode(m.measure(r)); err != nil {
			return err
		}
	}
}

// measurer runs a session. Inputs of one shape stay bound for as long as that
// shape is asked for.
type measurer struct {
	session *ort.Session
	bound   *ort.Binding
	last    string // the shape that is bound
}

func (m *measurer) measure(r request) runAnswer {
	a := runAnswer{Resident: statusBytes("VmRSS")}
	if shape := fmt.Sprint(r.Sizes, r.Ints, r.Piece); shape != m.last {
		m.unbind()
		m.last = shape
		resetPeak()
	}
	for i := 0; i < r.Runs && a.Error == ""; i++ {
		seconds, cpu, err := m.run(r.pieces())
		if err != nil {
			m.unbind()
			a.Error = err.Error()
		}
		a.Seconds, a.CPU = append(a.Seconds, seconds), append(a.CPU, cpu)
	}
	a.Peak = statusBytes("VmHWM")
	return a
}

// run runs the model on one piece after the other and returns what the runs took.
func (m *measurer) run(pieces []request) (seconds, cpu float64, err error) {
	for _, p := range pieces {
		if len(pieces) > 1 {
			m.unbind()
		}
		if m.bound == nil {
			if m.bound, err = bindInputs(m.session, p); err != nil {
				return 0, 0, err
			}
		}
		start, before := time.Now(), processorTime()
		if err = m.bound.Run(); err != nil {
			return 0, 0, err
		}
		seconds, cpu = seconds+time.Since(start).Seconds(), cpu+processorTime()-before
	}
	return seconds, cpu, nil
}

func (m *measurer) unbind() {
	if m.bound != nil {
		m.bound.Close()
		m.bound = nil
	}
}

// processorTime returns the seconds that processors have worked for the process.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// statusBytes returns a field of the process's status that Linux gives in kB: 0
// where there is no such file.
func statusBytes(field string) int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), field+":"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// resetPeak makes Linux count the peak of resident memory anew.
func resetPeak() {
	// Where it is refused the peak is that of the process's life, which is not less.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}
