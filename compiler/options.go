package compiler

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
	"mobiusc/ir"
	"mobiusc/lowering"
	"mobiusc/lowering/passes"
	"mobiusc/ops"
)

// The opsets that a package can be compiled for.
const (
	MinOpset     = 21
	DefaultOpset = 24
)

// DTypes are the words that DType and Storage take.
var DTypes = []string{"float32", "float16", "bfloat16"}

// check reports options that no spec could honour.
func (o Options) check() diag.List {
	var found diag.List
	oneOf := func(flag, got string, words ...string) {
		if got != "" && !slices.Contains(words, got) {
			found.Add(optionFault(flag, got, strings.Join(words, ", ")))
		}
	}
	oneOf("dtype", o.DType, DTypes...)
	oneOf("storage-dtype", o.Storage, DTypes...)
	oneOf("linear-attention", o.LinearAttention, "chunked", "recurrent")
	if n := o.Opset; n != 0 && (n < MinOpset || n > ops.MaxOpset("")) {
		found.Add(optionFault("opset", fmt.Sprint(n), fmt.Sprintf("%d to %d", MinOpset, ops.MaxOpset(""))))
	}
	if n := o.ChunkSize; n != 0 && !slices.Contains([]int64{16, 32, 64, 128}, n) {
		found.Add(optionFault("chunk-size", fmt.Sprint(n), "16, 32, 64, 128"))
	}
	return found
}

func optionFault(flag, got, want string) diag.Diagnostic {
	return diag.Diagnostic{Code: "MB0801", Name: "option", Severity: diag.Error,
		Message: fmt.Sprintf("--%s is %s, want one of %s", flag, got, want)}
}

func (o Options) target() passes.Target {
	t := passes.Target{Opset: o.Opset}
	if t.Opset == 0 {
		t.Opset = DefaultOpset
	}
	return t
}

// irVersion returns the IR version of a model: the lowest that its opset allows,
// and at least 10, which all runtimes that know these opsets read.
func irVersion(opset int64) int64 { return max(10, ops.MinIRVersion("", opset)) }

func (o Options) lowering(storage ir.DataType) lowering.Options {
	return lowering.Options{
		Storage: storage, Recurrent: o.LinearAttention == "recurrent", ChunkSize: o.ChunkSize,
	}
}

// readConfig reads the config that was named, else the checkpoint's, else the
// one that the spec pins.
func (o Options) readConfig(s *spec.Spec) (*spec.Config, diag.List) {
	path := o.Config
	if path == "" && o.Weights.Dir != "" {
		path = filepath.Join(dirOf(o.Weights.Dir), "config.json")
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			path = ""
		}
	}
	if path == "" {
		return s.PinnedConfig()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, diag.List{{Code: "MB0802", Name: "config-file", Severity: diag.Error, Range: diag.Range{File: path},
			Message: "the config cannot be read: " + reason(err)}}
	}
	return spec.ParseConfig(path, text)
}

// reason returns an error without the path that the finding names already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// dirOf returns the directory of a checkpoint named by its directory or by one
// of its files.
func dirOf(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return filepath.Dir(path)
	}
	return path
}
