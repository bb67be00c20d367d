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
	"mobiusc/compiler/spec/fault"
	"mobiusc/internal/diag"
	"mobiusc/internal/input"
	"mobiusc/internal/suggest"
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

// DefaultChunkSize is the length of a chunk of linear attention, in tokens, where
// nothing else is asked for.
const DefaultChunkSize = lowering.DefaultChunkSize

// DTypes are the words that DType and Storage take.
var DTypes = []string{"float32", "float16", "bfloat16"}

// check reports options that no spec could honour.
func (o Options) check() diag.List {
	var found diag.List
	oneOf := func(flag, got string, words ...string) {
		if got != "" && !slices.Contains(words, got) {
			d := optionFault(flag, got, strings.Join(words, ", "))
			if near := suggest.Nearest(got, suggest.SameNumber(got, words)); near != "" {
				d.Hint = "did you mean " + near + "?"
			}
			found.Add(d)
		}
	}
	oneOf("dtype", o.DType, DTypes...)
	oneOf("storage-dtype", o.Storage, DTypes...)
	oneOf("linear-attention", o.LinearAttention, "chunked", "recurrent")
	oneOf("logits", o.Logits, "all", "last")
	if n := o.Opset; n != 0 && (n < MinOpset || n > ops.MaxOpset("")) {
		found.Add(optionFault("opset", fmt.Sprint(n), fmt.Sprintf("%d to %d", MinOpset, ops.MaxOpset(""))))
	}
	if n := o.ChunkSize; n != 0 && !slices.Contains([]int64{16, 32, 64, 128}, n) {
		found.Add(optionFault("chunk-size", fmt.Sprint(n), "16, 32, 64, 128"))
	}
	if _, err := os.Stat(o.Weights.Dir); err != nil && o.Weights.Dir != "" {
		d := fault.Unreadable(diag.Range{File: o.Weights.Dir}, o.Weights.Dir, reason(err))
		d.Hint = "name the directory of a checkpoint on this machine: nothing is downloaded"
		found.Add(*d)
	}
	return found
}

func optionFault(flag, got, want string) diag.Diagnostic {
	return *badOption.At(diag.Range{}, "--%s is %s, want one of %s", flag, got, want)
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
		Storage: storage, Recurrent: o.LinearAttention == "recurrent", ChunkSize: o.ChunkSize, LastLogits: o.Logits == "last",
	}
}

// readConfig reads the config that was named, else the checkpoint's, else the
// one that the spec pins.
func (o Options) readConfig(s *spec.Spec) (*spec.Config, diag.List) {
	path, named := o.Config, o.Config != ""
	if !named && o.Weights.Dir != "" {
		path = filepath.Join(o.Weights.dir(), "config.json")
	}
	if info, err := os.Stat(path); named && err == nil && info.IsDir() {
		path = filepath.Join(path, "config.json")
	}
	read := o.Read
	if read == nil {
		read = input.ReadText
	}
	text, err := read(path)
	switch {
	case err == nil:
		return spec.ParseConfig(path, text)
	case named || path != "" && !errors.Is(err, fs.ErrNotExist):
		return nil, diag.List{*fault.Unreadable(diag.Range{File: path}, path, reason(err))}
	}
	config, found := s.PinnedConfig()
	if config == nil && len(found) == 0 && path != "" {
		d := *fault.NoConfig(diag.Range{File: s.Path}, s.Name)
		d.Hint = path + " does not exist; " + d.Hint
		found.Add(d)
	}
	return config, found
}

// reason returns an error without the path that the finding names already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Dir returns the directory that Compile writes the package into.
func (o Options) Dir() string {
	if o.Weights.Mode == InPlace {
		return o.Weights.dir()
	}
	return o.Out
}

// dir returns the directory of a checkpoint named by its directory or by one of
// its files.
func (w Weights) dir() string {
	if info, err := os.Stat(w.Dir); err == nil && !info.IsDir() {
		return filepath.Dir(w.Dir)
	}
	return w.Dir
}

// progress returns what reports the progress of one kind of work, or nil.
func (o Options) progress(what string) func(done, total int64) {
	if o.Progress == nil {
		return nil
	}
	return func(done, total int64) { o.Progress(what, done, total) }
}
