//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
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
	Runs  int                `json:"runs"`
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
	var bound *ort.Binding
	last := ""
	for requests := json.NewDecoder(in); ; {
		var r request
		if err := requests.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var a runAnswer
		if shape := fmt.Sprint(r.Sizes, r.Ints); shape != last {
			if bound != nil {
				bound.Close()
			}
			bound, last = nil, shape
			resetPeak()
			a.Resident = statusBytes("VmRSS")
			if bound, err = bindInputs(session, r); err != nil {
				last = ""
				a.Error = err.Error()
			}
		}
		for i := 0; i < r.Runs && a.Error == ""; i++ {
			start, cpu := time.Now(), processorTime()
			if err := bound.Run(); err != nil {
				a.Error = err.Error()
			}
			a.Seconds, a.CPU = append(a.Seconds, time.Since(start).Seconds()), append(a.CPU, processorTime()-cpu)
		}
		a.Peak = statusBytes("VmHWM")
		if err := answers.Encode(a); err != nil {
			return err
		}
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
