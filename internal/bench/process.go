//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// process is a running worker, seen from the benchmark.
type process struct {
	loadedAnswer
	name    string
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *json.Decoder
	stderr  *bytes.Buffer
}

// start runs a worker's command and waits until it has loaded its model.
func start(ctx context.Context, name string, args ...string) (*process, error) {
	p := &process{name: name, cmd: exec.CommandContext(ctx, args[0], args[1:]...), stderr: &bytes.Buffer{}}
	p.cmd.Stderr = p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.answers = json.NewDecoder(out)
	if err := p.answers.Decode(&p.loadedAnswer); err != nil {
		return nil, p.failed(err)
	}
	return p, nil
}

// startModel runs a worker for an ONNX model.
func startModel(ctx context.Context, name string, o workerOptions) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(ctx, name, self, "-worker", o.Model, "-threads", strconv.Itoa(o.Threads), "-absent="+strconv.FormatBool(o.Absent))
}

// failed ends a worker that does not answer and says what it wrote.
func (p *process) failed(err error) error {
	p.close()
	lines := strings.Split(strings.TrimSpace(p.stderr.String()), "\n")
	return fmt.Errorf("%s: %w: %s", p.name, err, lines[len(lines)-1])
}

func (p *process) run(r request) (runAnswer, error) {
	var a runAnswer
	if err := json.NewEncoder(p.in).Encode(r); err != nil {
		return a, p.failed(err)
	}
	if err := p.answers.Decode(&a); err != nil {
		return a, p.failed(err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("%s: %s", p.name, a.Error)
	}
	return a, nil
}

// close ends the worker. A worker ends when its input does; its exit status says
// nothing that its answers did not.
func (p *process) close() {
	p.in.Close()
	_ = p.cmd.Wait()
}
