package emit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mobiusc/ir"
)

// Summary says what a package, or one ONNX file, holds.
type Summary struct {
	Path string `json:"path"`
	// Package says what a package of this tool was made of; nil for others.
	Package    *Header            `json:"package,omitempty"`
	Components []ComponentSummary `json:"components"`
}

// ComponentSummary says what one graph holds.
type ComponentSummary struct {
	Name    string          `json:"name"`
	Model   string          `json:"model"` // path relative to the summary's
	Opsets  []OpsetSummary  `json:"opsets"`
	IR      int64           `json:"ir_version"`
	Inputs  []ManifestValue `json:"inputs"`
	Outputs []ManifestValue `json:"outputs"`
	States  []StatePair     `json:"states,omitempty"` // from the manifest
	Limits  []Limit         `json:"limits,omitempty"` // from the manifest
	// Nodes counts those of the graph itself, SubgraphNodes those of graphs
	// held by attributes, FunctionNodes those of the bodies of local functions.
	Nodes         int `json:"nodes"`
	SubgraphNodes int `json:"subgraph_nodes"`
	FunctionNodes int `json:"function_nodes"`
	// Parameters is the number of elements of the weights that the manifest
	// lists; without a manifest, of all initializers, subgraphs included. DTypes
	// divides all initializers.
	Parameters int64          `json:"parameters"`
	DTypes     []DTypeSummary `json:"dtypes"`
	// Unbound counts external tensors that the manifest says have no content.
	Unbound int           `json:"unbound"`
	Data    []DataSummary `json:"data,omitempty"`
}

// OpsetSummary is an imported operator set; the domain ai.onnx is written out.
type OpsetSummary struct {
	Domain  string `json:"domain"`
	Version int64  `json:"version"`
}

// DTypeSummary adds up the initializers of one element type.
type DTypeSummary struct {
	DType    string `json:"dtype"`
	Tensors  int    `json:"tensors"`
	Elements int64  `json:"elements"`
	Bytes    int64  `json:"bytes"`
}

// DataSummary is a file of external data.
type DataSummary struct {
	Location string `json:"location"` // relative to the model
	Tensors  int    `json:"tensors"`
	End      int64  `json:"end"`  // where the last tensor ends, in bytes
	Size     int64  `json:"size"` // of the file; -1 if it does not exist
}

// Complete reports whether the file holds all of its tensors' bytes.
func (d DataSummary) Complete() bool { return d.Size >= d.End }

// Inspect reads a package's directory, a directory of ONNX files (model.onnx or
// */model.onnx) made by other tools, or one ONNX file. It reads no external data.
func Inspect(path string) (*Summary, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	s := &Summary{Path: path}
	if !info.IsDir() {
		c, err := inspectModel(path)
		if err != nil {
			return nil, err
		}
		c.Model = filepath.Base(path)
		if entry := EntryOf(path); entry != nil {
			c.Unbound, c.Parameters = entry.unbound(), entry.parameters()
		}
		s.Components = append(s.Components, *c)
		return s, nil
	}
	m, err := ReadManifest(path)
	if errors.Is(err, ErrNotPackage) && !HasManifest(path) {
		return s, s.inspectDirectory()
	}
	if err != nil {
		return nil, err
	}
	return s, s.inspectPackage(m)
}

func (s *Summary) inspectPackage(m *Manifest) error {
	s.Package = &m.Header
	for _, mc := range m.Components {
		c, err := inspectModel(filepath.Join(s.Path, filepath.FromSlash(mc.Model)))
		if err != nil {
			return err
		}
		c.Name, c.Model, c.States, c.Limits = mc.Name, mc.Model, mc.States, mc.Limits
		from := map[string]string{}
		for _, in := range mc.Inputs {
			from[in.Name] = in.From
		}
		for i := range c.Inputs {
			c.Inputs[i].From = from[c.Inputs[i].Name]
		}
		c.Unbound, c.Parameters = mc.unbound(), mc.parameters()
		s.Components = append(s.Components, *c)
	}
	return nil
}

// inspectDirectory summarizes the models of a directory without manifest.
func (s *Summary) inspectDirectory() error {
	for _, pattern := range []string{"*.onnx", "*/*.onnx"} {
		files, err := fs.Glob(os.DirFS(s.Path), pattern)
		if err != nil {
			return err
		}
		for _, f := range files {
			c, err := inspectModel(filepath.Join(s.Path, filepath.FromSlash(f)))
			if err != nil {
				return err
			}
			c.Model = f
			s.Components = append(s.Components, *c)
		}
	}
	if len(s.Components) == 0 {
		return fmt.Errorf("%s is not a package (it has no %s) and holds no ONNX files", s.Path, ManifestName)
	}
	return nil
}

// inspectModel summarizes one ONNX file.
func inspectModel(path string) (*ComponentSummary, error) {
	m, err := Read(path)
	if err != nil {
		return nil, err
	}
	c := &ComponentSummary{
		Name: m.Graph.Name, IR: m.IRVersion, Nodes: m.Graph.Len(),
		Inputs: []ManifestValue{}, Outputs: []ManifestValue{}, DTypes: []DTypeSummary{},
	}
	for _, o := range m.Opsets {
		c.Opsets = append(c.Opsets, OpsetSummary{cmp.Or(o.Domain, "ai.onnx"), o.Version})
	}
	for _, v := range m.Graph.Inputs {
		if v.Init == nil { // otherwise it is a weight with a name to override it by
			c.Inputs = append(c.Inputs, describeValue(v))
		}
	}
	for _, v := range m.Graph.Outputs {
		c.Outputs = append(c.Outputs, describeValue(v))
	}
	for n := range m.Graph.AllNodes() {
		c.SubgraphNodes++
		for g := range n.Subgraphs() {
			c.count(g, filepath.Dir(path))
		}
	}
	c.SubgraphNodes -= c.Nodes
	for _, f := range m.Functions {
		for range f.Body.AllNodes() {
			c.FunctionNodes++
		}
	}
	c.count(m.Graph, filepath.Dir(path))
	slices.SortFunc(c.DTypes, func(a, b DTypeSummary) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.DType, b.DType))
	})
	return c, nil
}

// count adds the initializers of one graph; dir is the model's directory.
func (c *ComponentSummary) count(g *ir.Graph, dir string) {
	for _, v := range g.Initializers {
		t := v.Init
		n := max(t.Len(), 0)
		c.Parameters += n
		d := find(&c.DTypes, func(d DTypeSummary) bool { return d.DType == t.Type.String() }, DTypeSummary{DType: t.Type.String()})
		d.Tensors++
		d.Elements += n
		d.Bytes += max(t.ByteLen(), 0)
		if e := t.External; e != nil {
			f := find(&c.Data, func(f DataSummary) bool { return f.Location == e.Location }, DataSummary{Location: e.Location, Size: fileSize(dir, e.Location)})
			f.Tensors++
			f.End = max(f.End, e.Offset+max(t.ByteLen(), e.Length))
		}
	}
}

// find returns the first element that matches, or a new one.
func find[T any](list *[]T, match func(T) bool, add T) *T {
	i := slices.IndexFunc(*list, match)
	if i < 0 {
		i = len(*list)
		*list = append(*list, add)
	}
	return &(*list)[i]
}

// fileSize returns the size of an external data file, or -1. A location outside
// the model's directory is not looked at.
func fileSize(dir, location string) int64 {
	name := filepath.FromSlash(location)
	if !filepath.IsLocal(name) {
		return -1
	}
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}
