package emit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"mobiusc/internal/input"
	"mobiusc/ir"
)

// ManifestName is the file that makes a directory a package.
const ManifestName = "mobiusc.json"

// The format and version of the manifest that this package writes. The version
// rises when a reader of the old one would misread the new one.
const (
	manifestFormat  = "mobiusc-package"
	manifestVersion = 1
)

// Manifest describes a package; docs/package.md documents the file. Equal
// compilations give equal bytes: it holds no times and no absolute paths.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Header
	Components []ManifestComponent `json:"components"`
	// Files lists every other file of the package, relative and slash
	// separated: what may be removed when the package is replaced.
	Files []string `json:"files"`
}

// Header says what a package was made of.
type Header struct {
	Tool   string `json:"tool"` // mobiusc and its version
	Spec   Origin `json:"spec"`
	Config Origin `json:"config"`
	// Ignored lists the keys of the config that the spec passes over.
	Ignored []IgnoredKey `json:"ignored,omitempty"`
	// Options holds the options that shape the package, by name.
	Options map[string]string `json:"options,omitempty"`
	// Weights is none, copy, in-place or random.
	Weights string `json:"weights"`
	// Runtime is metadata for runtimes, as the spec states it.
	Runtime *Runtime `json:"runtime,omitempty"`
}

// Runtime is metadata for runtimes: what graphs do not say.
type Runtime struct {
	// Tokens holds the ids of special tokens: bos, eos, pad.
	Tokens map[string][]int64 `json:"tokens,omitempty"`
	// GenAI is for onnxruntime-genai: type, context_length, …; names of inputs,
	// outputs and states are those of the components.
	GenAI map[string]any `json:"genai,omitempty"`
}

// IgnoredKey is a key of config.json that the graphs do not depend on, and why.
type IgnoredKey struct {
	Key    string `json:"key"` // its path, with dots
	Reason string `json:"reason"`
}

// Origin names an input of the compilation and the SHA-256 of its content.
type Origin struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256,omitempty"`
}

// ManifestComponent describes one graph of a package.
type ManifestComponent struct {
	Name    string           `json:"name"`
	Model   string           `json:"model"` // path of the model file in the package
	Inputs  []ManifestValue  `json:"inputs"`
	Outputs []ManifestValue  `json:"outputs"`
	States  []StatePair      `json:"states,omitempty"`
	Limits  []Limit          `json:"limits,omitempty"`
	Tensors []ManifestTensor `json:"tensors,omitempty"`
}

// ManifestValue is one input or output of a component.
type ManifestValue struct {
	Name string `json:"name"`
	// DType is the element type in ONNX's textual syntax (float, float16, int64);
	// of what is not a tensor, the whole type.
	DType string `json:"dtype"`
	// Shape holds numbers, symbolic expressions as text, and null for what is
	// unknown. It is null if the rank is unknown.
	Shape []any `json:"shape"`
	// From is what feeds an input in the package: component.output.
	From string `json:"from,omitempty"`
}

// StatePair is a tensor carried from one call to the next: feed the output back
// to the input.
type StatePair struct {
	Input  string `json:"input"`
	Output string `json:"output"`
}

// Limit is the largest size of a dim, or the largest value in an input, that a
// component takes.
type Limit struct {
	Dim   string `json:"dim,omitempty"` // as shapes state it
	Input string `json:"input,omitempty"`
	Max   int64  `json:"max"`
}

// ManifestTensor is one external tensor of a component.
type ManifestTensor struct {
	Name  string  `json:"name"`
	DType string  `json:"dtype"`
	Shape []int64 `json:"shape"`
	// Location is relative to the model file, as in the model; Offset and
	// Length are bytes.
	Location string `json:"location"`
	Offset   int64  `json:"offset"`
	Length   int64  `json:"length"`
	// Constant is true for a tensor that the compiler made.
	Constant bool `json:"constant,omitempty"`
	// Sources are the checkpoint's tensors that the content comes from, and
	// Transform what was done to them; "" if their bytes are the content.
	Sources   []string `json:"sources,omitempty"`
	Transform string   `json:"transform,omitempty"`
	// Bound is false if the data does not hold the content yet.
	Bound bool `json:"bound"`
	// SHA256 is the hash of the content, in hexadecimal; "" if none was asked for.
	SHA256 string `json:"sha256,omitempty"`
}

// parameters returns the number of elements of the component's weights.
func (c *ManifestComponent) parameters() int64 {
	total := int64(0)
	for _, t := range c.Tensors {
		if t.Constant {
			continue
		}
		n := int64(1)
		for _, d := range t.Shape {
			n *= d
		}
		total += n
	}
	return total
}

// describe fills the manifest's entry of a component whose data is planned.
func (c *Component) describe() ManifestComponent {
	out := ManifestComponent{Name: c.Name, Model: c.file, Inputs: []ManifestValue{}, Outputs: []ManifestValue{}, States: c.States, Limits: c.Limits}
	constants := map[string]bool{}
	for _, k := range c.layout.constants {
		constants[k.name] = true
	}
	for _, v := range c.Model.Graph.Inputs {
		in := describeValue(v)
		in.From = c.From[v.Name]
		out.Inputs = append(out.Inputs, in)
	}
	for _, v := range c.Model.Graph.Outputs {
		out.Outputs = append(out.Outputs, describeValue(v))
	}
	for _, v := range c.Model.Graph.Initializers {
		t := v.Init
		if t == nil || t.External == nil {
			continue
		}
		w := c.Weights[v.Name]
		out.Tensors = append(out.Tensors, ManifestTensor{
			Name: v.Name, DType: t.Type.String(), Shape: append([]int64{}, t.Dims...),
			Location: t.External.Location, Offset: t.External.Offset, Length: t.External.Length,
			Constant: constants[v.Name], Sources: w.Sources, Transform: w.Transform, Bound: w.Bound || constants[v.Name],
		})
	}
	return out
}

// EntryOf returns the manifest's entry of a model file that lies in a package, or
// nil.
func EntryOf(model string) *ManifestComponent {
	dir, file := filepath.Dir(model), filepath.Base(model)
	for range 2 { // at the top of the package, or in the directory of a component
		if m, err := ReadManifest(dir); err == nil {
			for i, c := range m.Components {
				if filepath.FromSlash(c.Model) == file {
					return &m.Components[i]
				}
			}
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil
		}
		dir, file = filepath.Dir(abs), filepath.Join(filepath.Base(abs), file)
	}
	return nil
}

// unbound counts the tensors whose content is not there yet.
func (c *ManifestComponent) unbound() int {
	n := 0
	for _, t := range c.Tensors {
		if !t.Bound {
			n++
		}
	}
	return n
}

// Differences says where the component's entry and its model disagree about the
// tensors that lie outside the model file; none if they agree.
func (c *ManifestComponent) Differences(m *ir.Model) []string {
	var out []string
	listed := map[string]*ManifestTensor{}
	for i := range c.Tensors {
		listed[c.Tensors[i].Name] = &c.Tensors[i]
	}
	for _, v := range m.Graph.Initializers {
		t := v.Init
		if t == nil || t.External == nil {
			continue
		}
		entry := listed[v.Name]
		if entry == nil {
			out = append(out, fmt.Sprintf("the manifest does not list tensor %q of the model", v.Name))
			continue
		}
		delete(listed, v.Name)
		length := t.External.Length
		if length == 0 { // to the end of the tensor
			length = t.ByteLen()
		}
		have := fmt.Sprintf("%s%v at %s %d+%d", t.Type, t.Dims, t.External.Location, t.External.Offset, length)
		if want := fmt.Sprintf("%s%v at %s %d+%d", entry.DType, entry.Shape, entry.Location, entry.Offset, entry.Length); have != want {
			out = append(out, fmt.Sprintf("tensor %q is %s to the model and %s to the manifest", v.Name, have, want))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		out = append(out, fmt.Sprintf("the manifest lists tensor %q, which the model does not have outside its file", name))
	}
	return out
}

func describeValue(v *ir.Value) ManifestValue {
	out := ManifestValue{Name: v.Name, DType: ir.Undefined.String()}
	switch {
	case v.Type == nil:
		return out
	case v.Type.Kind != ir.TensorKind:
		out.DType = v.Type.String()
		return out
	}
	out.DType = v.Type.Elem.String()
	if v.Type.Ranked {
		out.Shape = make([]any, len(v.Type.Shape))
	}
	for i := range out.Shape {
		if n, ok := v.Type.Shape[i].Int(); ok {
			out.Shape[i] = n
		} else if d := v.Type.Shape[i]; d.Known() {
			out.Shape[i] = d.String()
		}
	}
	return out
}

// ErrNotPackage says that a directory has no manifest of this tool.
var ErrNotPackage = errors.New("not a mobiusc package")

// HasManifest reports whether a directory holds a manifest, a broken one included.
func HasManifest(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ManifestName))
	return err == nil
}

// ReadManifest reads the manifest of the package in a directory. The error
// wraps [ErrNotPackage] if there is none, or if it is another tool's file.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	data, err := input.ReadFile(path, MaxProtoBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, ErrNotPackage, ManifestName)
	}
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s: %w: %v", path, ErrNotPackage, err)
	}
	if m.Format != manifestFormat {
		return nil, fmt.Errorf("%s: %w: its format is %q, want %q", path, ErrNotPackage, m.Format, manifestFormat)
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("%s: version %d of the package format, but this mobiusc reads version %d", path, m.Version, manifestVersion)
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f)) {
			return nil, fmt.Errorf("%s: the file %q is not inside the package", path, f)
		}
	}
	for _, c := range m.Components {
		if !filepath.IsLocal(filepath.FromSlash(c.Model)) {
			return nil, fmt.Errorf("%s: the model %q is not inside the package", path, c.Model)
		}
	}
	return m, nil
}
