//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// peerDir holds the programs that run or make what is compared with, relative to
// the module's root, where the benchmark runs.
const peerDir = "internal/bench/peers"

// errNoPeers says that the environment of the peers is not there.
var errNoPeers = errors.New("the peers' environment is not installed: run " + peerDir + "/setup.sh")

// peerPython returns the Python of the environment that peers/setup.sh makes.
func peerPython() (string, error) {
	venv := os.Getenv("MOBIUSC_BENCH_VENV")
	if venv == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", errNoPeers
		}
		venv = filepath.Join(cache, "mobiusc", "bench-venv")
	}
	python := filepath.Join(venv, "bin", "python")
	if _, err := os.Stat(filepath.Join(venv, "requirements.installed")); err != nil {
		return "", errNoPeers
	}
	return python, nil
}

// built is how long the peer took for a package, in seconds.
type built struct {
	Import float64 `json:"import"` // of its libraries
	Build  float64 `json:"build"`
	Save   float64 `json:"save"`
}

// buildPeer makes the peer's package of a config for one of its targets. weights
// is none, sparse or random.
func buildPeer(ctx context.Context, config, target, out, weights string) (b built, err error) {
	python, err := peerPython()
	if err != nil {
		return b, err
	}
	cmd := exec.CommandContext(ctx, python, filepath.Join(peerDir, "build.py"), config, target, out, weights)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return b, fmt.Errorf("peer, target %s: %w: %s", target, err, lines[len(lines)-1])
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return b, json.Unmarshal(lines[len(lines)-1], &b)
}

// peer returns an entrant that runs the peer's graph of a config, with random
// weights, for one of its targets.
func (b *bench) peer(name, config, target string) entrant {
	return entrant{name: name, start: func(ctx context.Context) (*process, error) {
		dir := filepath.Join(b.dir, name)
		model := filepath.Join(dir, "model.onnx")
		if _, err := os.Stat(model); err != nil {
			if _, err := buildPeer(ctx, config, target, dir, "random"); err != nil {
				return nil, err
			}
		}
		return startModel(ctx, name, workerOptions{Model: model, Threads: b.threads})
	}}
}

// torch returns an entrant that runs a config in transformers, eager, for the
// logits of all tokens or of the last one alone.
func (b *bench) torch(name, config string, lastLogits bool) entrant {
	return entrant{name: name, start: func(ctx context.Context) (*process, error) {
		python, err := peerPython()
		if err != nil {
			return nil, err
		}
		logits := "all"
		if lastLogits {
			logits = "last"
		}
		return start(ctx, name, python, filepath.Join(peerDir, "torch_worker.py"), config, strconv.Itoa(b.threads), logits)
	}}
}
