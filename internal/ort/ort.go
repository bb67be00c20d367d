// Package ort runs ONNX models in ONNX Runtime: for the tests, and for the
// commands that check a package by executing it.
//
// The shared library is found once, at the first use: see Find.
package ort

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	ort "github.com/yalue/onnxruntime_go"

	"mobiusc/ir"
)

// Version is the release of ONNX Runtime that the project is tested with.
const Version = "1.30.0"

// MaxOpset is the newest opset that this release loads without being asked to.
const MaxOpset = 26

// UnreleasedVariable names the environment variable that, set to 0, makes ONNX
// Runtime load newer opsets as well.
const UnreleasedVariable = "ALLOW_RELEASED_ONNX_OPSET_ONLY"

// LibraryVariable names the environment variable that says where the library is.
const LibraryVariable = "MOBIUSC_ONNXRUNTIME"

// ErrNoLibrary says that ONNX Runtime is not installed.
var ErrNoLibrary = errors.New("ONNX Runtime is not installed: run scripts/onnxruntime.sh, or set " +
	LibraryVariable + " to the path of libonnxruntime")

// Find returns the path of the ONNX Runtime library: the value of
// MOBIUSC_ONNXRUNTIME, else the copy that scripts/onnxruntime.sh puts into the
// user's cache directory.
func Find() (string, error) {
	if path := os.Getenv(LibraryVariable); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("%s: %w", LibraryVariable, err)
		}
		return path, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", ErrNoLibrary
	}
	name := "libonnxruntime.so.1"
	if runtime.GOOS == "darwin" {
		name = "libonnxruntime." + Version + ".dylib"
	}
	path := filepath.Join(cache, "mobiusc", "onnxruntime-"+Version, name)
	if _, err := os.Stat(path); err != nil {
		return "", ErrNoLibrary
	}
	return path, nil
}

var initialize = sync.OnceValue(func() error {
	path, err := Find()
	if err != nil {
		return err
	}
	ort.SetSharedLibraryPath(path)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return fmt.Errorf("ONNX Runtime at %s: %w", path, err)
	}
	return nil
})

// Tensor is the content of an input or output: elements little-endian, row major.
type Tensor struct {
	Type ir.DataType
	Dims []int64
	Raw  []byte
}

// Options choose how a session runs.
type Options struct {
	Threads int // 0: two
	// Entries are session configuration entries, such as
	// session.disable_prepacking.
	Entries map[string]string
	// NoMemoryPattern keeps the runtime from planning memory ahead, for which it
	// allocates as much as all weights take, also where they stay in their file.
	NoMemoryPattern bool
}

// Port is a declared input or output of a session.
type Port struct {
	Name string
	Type *ir.Type
}

// Session is a loaded model.
type Session struct {
	Inputs, Outputs []Port
	session         *ort.DynamicAdvancedSession
}

// Load opens the model file at path; m is the same model read into the IR: it
// declares the interface in shared symbols.
func Load(path string, m *ir.Model, o Options) (*Session, error) {
	if err := initialize(); err != nil {
		return nil, err
	}
	so, err := sessionOptions(o)
	if err != nil {
		return nil, err
	}
	defer so.Destroy()
	s := &Session{Inputs: ports(m.Graph.Inputs), Outputs: ports(m.Graph.Outputs)}
	s.session, err = ort.NewDynamicAdvancedSession(path, names(s.Inputs), names(s.Outputs), so)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func sessionOptions(o Options) (*ort.SessionOptions, error) {
	so, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	threads := o.Threads
	if threads == 0 {
		threads = 2
	}
	err = errors.Join(so.SetIntraOpNumThreads(threads), so.SetInterOpNumThreads(1), so.SetMemPattern(!o.NoMemoryPattern))
	for k, v := range o.Entries {
		err = errors.Join(err, so.AddSessionConfigEntry(k, v))
	}
	if err != nil {
		so.Destroy()
		return nil, err
	}
	return so, nil
}

func ports(values []*ir.Value) []Port {
	out := make([]Port, len(values))
	for i, v := range values {
		out[i] = Port{v.Name, v.Type}
	}
	return out
}

func names(ports []Port) []string {
	out := make([]string, len(ports))
	for i, p := range ports {
		out[i] = p.Name
	}
	return out
}

// Close releases the session.
func (s *Session) Close() error { return s.session.Destroy() }

// Run executes the model. Every input must be given, with the declared dtype
// and dims that agree with the declared symbols; every output is returned. The
// sizes of the outputs are those their declaration gives for these inputs: a
// runtime that computes others refuses to run.
func (s *Session) Run(inputs map[string]Tensor) (map[string]Tensor, error) {
	b, err := s.Bind(inputs)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if len(b.unsized) > 0 {
		return nil, b.unsized[0]
	}
	if err := b.Run(); err != nil {
		return nil, err
	}
	return b.Outputs, nil
}

// Binding is a session with its inputs given and memory for its outputs, ready
// to run any number of times.
type Binding struct {
	// Outputs holds the result of the last run by name. An output whose size the
	// inputs do not give is not in it.
	Outputs map[string]Tensor

	session       *Session
	inputs, given []ort.Value
	unsized       []error // one for each output without memory
}

// Bind gives the inputs of later runs; see Session.Run for what is checked. The
// runtime itself allocates the outputs whose declaration does not give a size.
func (s *Session) Bind(inputs map[string]Tensor) (*Binding, error) {
	b := &Binding{Outputs: map[string]Tensor{}, session: s}
	if err := b.bind(inputs); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (b *Binding) bind(inputs map[string]Tensor) error {
	sizes := map[string]int64{}
	for _, p := range b.session.Inputs {
		t, ok := inputs[p.Name]
		if !ok {
			return fmt.Errorf("input %s is missing", p.Name)
		}
		if err := p.bind(t, sizes); err != nil {
			return err
		}
		v, err := t.value()
		if err != nil {
			return fmt.Errorf("input %s: %w", p.Name, err)
		}
		b.inputs = append(b.inputs, v)
	}
	for _, p := range b.session.Outputs {
		t, err := p.allocate(sizes)
		if err != nil {
			b.unsized, b.given = append(b.unsized, err), append(b.given, nil)
			continue
		}
		v, err := t.value()
		if err != nil {
			return fmt.Errorf("output %s: %w", p.Name, err)
		}
		b.Outputs[p.Name], b.given = t, append(b.given, v)
	}
	return nil
}

// Run executes the model once.
func (b *Binding) Run() error {
	outputs := slices.Clone(b.given)
	err := b.session.session.Run(b.inputs, outputs)
	for i, v := range outputs {
		if b.given[i] == nil && v != nil {
			v.Destroy()
		}
	}
	return err
}

// Close releases what the binding holds of the runtime.
func (b *Binding) Close() {
	for _, v := range append(b.inputs, b.given...) {
		if v != nil {
			v.Destroy()
		}
	}
}

// bind checks a tensor against the declaration and learns the sizes of symbols.
func (p Port) bind(t Tensor, sizes map[string]int64) error {
	if t.Type != p.Type.Elem || len(t.Dims) != len(p.Type.Shape) {
		return fmt.Errorf("input %s is %s%v, but is declared %s%v", p.Name, t.Type, t.Dims, p.Type.Elem, p.Type.Shape)
	}
	for i, d := range p.Type.Shape {
		if symbols := d.Symbols(); len(symbols) == 1 && d.Equal(ir.Sym(symbols[0])) {
			if _, known := sizes[symbols[0]]; !known {
				sizes[symbols[0]] = t.Dims[i]
			}
		}
	}
	for i, d := range p.Type.Shape {
		learn(d, t.Dims[i], sizes)
		if n, ok := d.Eval(sizes); ok && n != t.Dims[i] {
			return fmt.Errorf("input %s has %d in dim %d, but %s is %d", p.Name, t.Dims[i], i, d, n)
		}
	}
	return nil
}

// learn solves a dim that is linear in its one unknown symbol, such as past +
// sequence or 2*source.
func learn(d ir.Dim, n int64, sizes map[string]int64) {
	unknown := ""
	for _, s := range d.Symbols() {
		if _, ok := sizes[s]; !ok {
			if unknown != "" {
				return
			}
			unknown = s
		}
	}
	if unknown == "" {
		return
	}
	at := func(size int64) (int64, bool) {
		sizes[unknown] = size
		return d.Eval(sizes)
	}
	base, ok := at(0)
	next, ok2 := at(1)
	delete(sizes, unknown)
	factor := next - base
	if !ok || !ok2 || factor == 0 || (n-base)%factor != 0 {
		return
	}
	if d.Sub(ir.Sym(unknown).Mul(ir.Int(factor))).Equal(d.Substitute(map[string]ir.Dim{unknown: ir.Int(0)})) {
		sizes[unknown] = (n - base) / factor
	}
}

// allocate makes the tensor for an output whose declared dims are known now.
func (p Port) allocate(sizes map[string]int64) (Tensor, error) {
	t := Tensor{Type: p.Type.Elem, Dims: make([]int64, len(p.Type.Shape))}
	count := int64(1)
	for i, d := range p.Type.Shape {
		n, ok := d.Eval(sizes)
		if !ok {
			return t, fmt.Errorf("output %s: the inputs do not give the size of %s", p.Name, d)
		}
		t.Dims[i] = n
		count *= n
	}
	t.Raw = make([]byte, count*int64(t.Type.Bits())/8)
	return t, nil
}

// value wraps a tensor without copying it. The binding refuses an empty slice,
// also for a tensor without elements.
func (t Tensor) value() (ort.Value, error) {
	if len(t.Dims) == 0 {
		return t.scalar()
	}
	raw := t.Raw
	if len(raw) == 0 {
		raw = make([]byte, 8)
	}
	return ort.NewCustomDataTensor(ort.NewShape(t.Dims...), raw, ort.TensorElementDataType(t.Type))
}

func (t Tensor) scalar() (ort.Value, error) {
	p := unsafe.Pointer(unsafe.SliceData(t.Raw))
	switch t.Type {
	case ir.Int64:
		return ort.NewScalar(*(*int64)(p))
	case ir.Float32:
		return ort.NewScalar(*(*float32)(p))
	case ir.Bool:
		return ort.NewScalar(*(*bool)(p))
	}
	return nil, fmt.Errorf("a scalar of type %s cannot be passed", t.Type)
}
