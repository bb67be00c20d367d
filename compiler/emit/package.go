package emit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mobiusc/ir"
)

// Package is what a compilation makes: graphs and their data.
type Package struct {
	Header
	Components []*Component
	// Files holds further files of the package by relative, slash-separated path.
	Files map[string][]byte
}

// Component is one graph of a package.
type Component struct {
	Name   string
	Model  *ir.Model
	States []StatePair
	Limits []Limit
	// From says what feeds an input in the package (component.output), by the
	// input's name.
	From map[string]string
	// Weights says where the content of external initializers comes from, by
	// the initializer's name. One without entry is unbound.
	Weights map[string]Weight
	// Fill writes the content of the weights into the data file at path, which
	// exists and holds the constants: each at the offset that its initializer's
	// External then states. nil: there are no weights, and the data file ends
	// after the constants.
	Fill func(ctx context.Context, path string) error

	file   string  // path of the model file in the package, once placed
	layout *layout // of the data file, once placed
}

// Weight says where the content of a weight comes from.
type Weight struct {
	Sources   []string // the checkpoint's tensors, in the order the transform reads them
	Transform string   // what is done to them; "" if their bytes are the content
	Bound     bool     // the data holds the content, or will when Fill returns
}

// WriteOptions changes how a package is written.
type WriteOptions struct {
	// Force replaces a package that exists.
	Force bool
	// Inputs are the files that the compilation reads, checkpoint files above
	// all. None of them is written over, whatever path leads to it.
	Inputs []string
	// Checksums records the SHA-256 of every bound tensor in the manifest.
	// Hashed, unless nil, is called with the bytes hashed so far and in all.
	Checksums bool
	Hashed    func(done, total int64)
}

// place gives every file its path and every external initializer its place: it
// sets External where no location is set yet, and moves large constants out of
// the graphs. What is placed stays there when the package is written again.
func (p *Package) place(inPlace bool) error {
	if err := p.check(); err != nil {
		return err
	}
	for _, c := range p.Components {
		file := ModelFile(c.Name, len(p.Components), inPlace)
		if c.layout != nil {
			if c.file != file {
				return fmt.Errorf("component %s is placed at %s and cannot be written as %s", c.Name, c.file, file)
			}
			continue
		}
		l, err := plan(c.Model.Graph, path.Base(file)+".data")
		if err != nil {
			return fmt.Errorf("component %s: %w", c.Name, err)
		}
		c.file, c.layout = file, l
	}
	return nil
}

// ModelFile returns the path of a component's model file in a package of so many
// components, slash separated.
func ModelFile(component string, components int, inPlace bool) string {
	switch {
	case components == 1:
		return "model.onnx"
	case inPlace:
		return component + ".onnx"
	}
	return component + "/model.onnx"
}

// Write writes the package as the directory dir, whose parent exists. A
// directory that exists must be empty, or a package and Force set.
//
// The package is built in a directory beside dir and renamed when it is
// complete and on disk: dir is the old package or the new one at any moment,
// also if the process is killed. What a killed process left is removed by the
// next one. Errors wrap [ErrExists], [ErrNotPackage], [ErrForeignFiles] or
// [ErrInput] where they apply.
//
// Writing places the data: it sets External of the initializers that go to the
// data files, and moves large constants out of the graphs.
func (p *Package) Write(ctx context.Context, dir string, o WriteOptions) error {
	if err := p.place(false); err != nil {
		return err
	}
	d, err := openDestination(dir, o)
	if err != nil {
		return err
	}
	if err := p.checkSpace(filepath.Dir(d.path), filepath.Dir(dir)); err != nil {
		return err
	}
	s, err := newStage(filepath.Dir(d.path), filepath.Base(d.path))
	if err != nil {
		return cannotWrite(filepath.Dir(dir), err)
	}
	defer s.discard()
	if _, err := p.build(ctx, s.path, d.path, o); err != nil {
		return err
	}
	return d.replace(s)
}

// WriteInPlace writes the graphs into the checkpoint's own directory dir, as
// model.onnx or, of several components, NAME.onnx, beside the manifest. Weights
// whose External already states a location lie in the checkpoint's files.
//
// Every file is replaced by renaming, the manifest last. Files that exist must
// be those of an earlier package in dir, and Force set.
func (p *Package) WriteInPlace(ctx context.Context, dir string, o WriteOptions) error {
	if err := p.place(true); err != nil {
		return err
	}
	if err := p.checkSpace(dir, dir); err != nil {
		return err
	}
	s, err := newStage(dir, inPlaceLabel)
	if err != nil {
		return cannotWrite(dir, err)
	}
	defer s.discard()
	files, err := p.build(ctx, s.path, dir, o)
	if err != nil {
		return err
	}
	return s.moveInto(dir, files, o)
}

// checkSpace refuses to begin what the disk cannot hold: copying may take minutes.
// name is the directory in the words of the caller.
func (p *Package) checkSpace(dir, name string) error {
	var need int64
	for _, c := range p.Components {
		if c.Fill != nil {
			need += c.layout.size
		}
	}
	if free, ok := freeBytes(dir); ok && need > free {
		return fmt.Errorf("the package needs %d bytes in %s, and %d are free: %w", need, name, free, syscall.ENOSPC)
	}
	return nil
}

// cannotWrite says which directory refuses to take a package, in the words of the
// caller: the path in the system's error is that of a temporary directory.
func cannotWrite(dir string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return fmt.Errorf("the package cannot be written in %s: %w", dir, err)
}

// check reports names that cannot be files of a package.
func (p *Package) check() error {
	if len(p.Components) == 0 {
		return fmt.Errorf("the package has no components")
	}
	seen := map[string]bool{ManifestName: true}
	for _, c := range p.Components {
		if c.Name == "" || strings.ContainsAny(c.Name, `/\:`) || !filepath.IsLocal(c.Name) {
			return fmt.Errorf("the component's name %q cannot be that of a file", c.Name)
		}
		if seen[c.Name] {
			return fmt.Errorf("two components are named %q", c.Name)
		}
		seen[c.Name] = true
	}
	for name := range p.Files {
		first, _, _ := strings.Cut(name, "/")
		if !filepath.IsLocal(filepath.FromSlash(name)) || seen[first] {
			return fmt.Errorf("%q cannot be the path of a further file of the package", name)
		}
	}
	return nil
}

// build writes every file of the package into root and returns all but the
// manifest. The package is to stand in dir.
func (p *Package) build(ctx context.Context, root, dir string, o WriteOptions) ([]string, error) {
	m := &Manifest{Format: manifestFormat, Version: manifestVersion, Header: p.Header}
	for _, c := range p.Components {
		if err := c.build(ctx, root, m); err != nil {
			return nil, fmt.Errorf("component %s: %w", c.Name, err)
		}
	}
	for name, data := range p.Files {
		if err := writeFile(filepath.Join(root, filepath.FromSlash(name)), data); err != nil {
			return nil, err
		}
		m.Files = append(m.Files, name)
	}
	slices.Sort(m.Files)
	if o.Checksums {
		if err := p.hash(ctx, root, dir, m, o.Hashed); err != nil {
			return nil, err
		}
	}
	data, err := AppendJSON(nil, m)
	if err != nil {
		return nil, err
	}
	hook("manifest")
	return m.Files, writeFile(filepath.Join(root, ManifestName), data)
}

// build writes the component's model and data into root and enters them into
// the manifest.
func (c *Component) build(ctx context.Context, root string, m *Manifest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := Marshal(c.Model)
	if err != nil {
		return err
	}
	name := filepath.Join(root, filepath.FromSlash(c.file))
	if err := writeFile(name, data); err != nil {
		return err
	}
	m.Files = append(m.Files, c.file)
	m.Components = append(m.Components, c.describe())
	hook("model")
	fill := c.Fill != nil && c.layout.weights > 0
	if !fill && len(c.layout.constants) == 0 {
		return nil
	}
	m.Files = append(m.Files, c.file+".data")
	return c.writeData(ctx, name+".data", fill)
}

// writeData writes a component's data file.
func (c *Component) writeData(ctx context.Context, name string, fill bool) (err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	for _, k := range c.layout.constants {
		if _, err := f.WriteAt(k.raw, k.offset); err != nil {
			return err
		}
	}
	if fill {
		if err := reserve(f, c.layout.size); err != nil {
			return fmt.Errorf("%d bytes of data: %w", c.layout.size, err)
		}
		hook("data")
		if err := c.Fill(ctx, name); err != nil {
			return err
		}
	}
	return f.Sync()
}

// writeFile writes a new file and its directory, and syncs the file to disk.
func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// hook is called at the stages of writing; tests kill the process there.
var hook = func(stage string) {}
