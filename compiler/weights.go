package compiler

import (
	"context"
	"path/filepath"

	"mobiusc/compiler/checkpoint"
	"mobiusc/compiler/emit"
	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
	"mobiusc/ir"
	"mobiusc/lowering"
)

// WeightMode says where the content of the parameters comes from.
type WeightMode uint8

const (
	// None leaves the parameters unbound; the manifest says where they belong.
	None WeightMode = iota
	// Copy streams a checkpoint into the package's data files.
	Copy
	// InPlace writes the graphs beside a checkpoint and points into it.
	InPlace
	// Random fills the parameters with small seeded random numbers.
	Random
)

// String returns the mode as the manifest names it.
func (m WeightMode) String() string { return [...]string{"none", "copy", "in-place", "random"}[m] }

// Weights says where the content of the parameters comes from.
type Weights struct {
	Mode  WeightMode
	Dir   string // of the checkpoint: Copy, InPlace
	Seed  uint64 // Random
	Limit int64  // InPlace: bytes that may be copied; 0: checkpoint.DefaultInPlaceLimit
	// FollowLinks reads files of the checkpoint that are links to outside its
	// directory, as download caches lay them out.
	FollowLinks bool
}

// source is where the parameters' content comes from while a package is written.
type source struct {
	files      []string // that are read
	checkpoint *checkpoint.Checkpoint
	lossy      diag.List // conversions that lost values, known when the data is written

	progress    func(done, total int64)
	done, total int64 // bytes to write, of all components
}

func (s *source) close() { s.checkpoint.Close() }

// attach gives the package's components their weights.
func (o Options) attach(p *emit.Package, b *bound, components []*component) (*source, diag.List) {
	s := &source{progress: o.progress("copying")}
	switch o.Weights.Mode {
	case Copy, InPlace:
		return s, o.Weights.fromCheckpoint(s, p, b, components)
	case Random:
		for i, c := range components {
			c.fillRandom(p.Components[i], o.Weights.Seed, s)
		}
	}
	return s, nil
}

func (w Weights) fromCheckpoint(s *source, p *emit.Package, b *bound, components []*component) diag.List {
	binding, placement, found := w.open(s, b, components)
	if found.HasErrors() {
		s.close()
		return found
	}
	pointed := map[*checkpoint.Bound]ir.External{}
	if placement != nil {
		for _, at := range placement.Pointed {
			pointed[at.Bound] = at.External
		}
	}
	rest := binding.Bound
	for i, c := range components {
		n := len(c.Params)
		s.bindComponent(p.Components[i], c, rest[:n], pointed)
		rest = rest[n:]
	}
	for _, f := range s.checkpoint.Files() {
		s.files = append(s.files, filepath.Join(s.checkpoint.Dir(), filepath.FromSlash(f)))
	}
	return found
}

// open opens the checkpoint and finds the tensors of the parameters. The
// placement is that of an in-place package, else nil.
func (w Weights) open(s *source, b *bound, components []*component) (*checkpoint.Binding, *checkpoint.Placement, diag.List) {
	ckpt, found := checkpoint.Open(w.Dir, checkpoint.Options{FollowLinks: w.FollowLinks})
	if found.HasErrors() {
		return nil, nil, found
	}
	s.checkpoint = ckpt
	binding, faults := checkpoint.Bind(parameters(components), ckpt, rulesOf(b.result.Weights, components))
	if found = append(found, faults...); faults.HasErrors() || w.Mode != InPlace {
		return binding, nil, found
	}
	limit := w.Limit
	if limit == 0 {
		limit = checkpoint.DefaultInPlaceLimit
	}
	placement, faults := binding.InPlace(limit)
	return binding, placement, append(found, faults...)
}

// BindWeights runs the pipeline up to the binding of weights and writes nothing:
// it says where Compile would find each parameter, and what it would do to it.
// The sources of the binding cannot be read any more. The binding is nil if any
// finding is an error.
func BindWeights(o Options) (*checkpoint.Binding, diag.List) {
	bound, found := bind(o)
	if found.HasErrors() {
		return nil, found
	}
	graphs, faults := lowering.Lower(bound.result.Model, o.lowering(bound.storage))
	if found = append(found, faults...); faults.HasErrors() {
		return nil, found
	}
	var components []*component
	for _, g := range graphs {
		components = append(components, &component{Graph: g})
	}
	s := &source{}
	binding, _, faults := o.Weights.open(s, bound, components)
	s.close()
	if found = append(found, faults...); faults.HasErrors() {
		return nil, found
	}
	return binding, found
}

// parameters lists the parameters of all components in order.
func parameters(components []*component) []checkpoint.Param {
	var out []checkpoint.Param
	for _, c := range components {
		for _, p := range c.Params {
			out = append(out, checkpoint.Param{
				Component: c.Component.Name, Name: p.Name, DType: p.Value.Init.Type, Shape: p.Dims, Range: p.Range, Parts: p.Parts,
			})
		}
	}
	return out
}

// bindComponent gives each parameter of a component its source: a place in the
// checkpoint, or a job for the data file.
func (s *source) bindComponent(e *emit.Component, c *component, bound []*checkpoint.Bound, pointed map[*checkpoint.Bound]ir.External) {
	var values []*ir.Value
	var list []checkpoint.Job
	size := int64(0)
	for i, p := range c.Params {
		from := bound[i]
		e.Weights[p.Value.Name] = emit.Weight{Sources: from.Tensors, Transform: from.Transform(), Bound: true}
		if at, ok := pointed[from]; ok {
			p.Value.Init.External = &at
			continue
		}
		values, list = append(values, p.Value), append(list, checkpoint.Job{Bound: from})
		size += from.Source.Size()
	}
	if len(list) == 0 {
		return
	}
	s.total += size
	e.Fill = func(ctx context.Context, path string) error {
		for i, v := range values { // offsets are known by now
			list[i].Offset = v.Init.External.Offset
		}
		lossy, err := checkpoint.Copy(ctx, path, list, checkpoint.CopyOptions{Progress: s.component(size)})
		s.lossy = append(s.lossy, lossy...)
		return err
	}
}

// component returns what reports the progress of one component, of the given
// size, as part of the whole.
func (s *source) component(size int64) func(done, total int64) {
	before := s.done
	s.done += size
	if s.progress == nil {
		return nil
	}
	return func(done, _ int64) { s.progress(before+done, s.total) }
}

// rulesOf turns the spec's section weights, and the ties of its blocks, into the
// rules of the binding.
func rulesOf(w spec.Weights, components []*component) checkpoint.Rules {
	var r checkpoint.Rules
	for _, x := range w.Rename {
		r.Rename = append(r.Rename, checkpoint.RenameRule(x))
	}
	for _, x := range w.Ignore {
		r.Ignore = append(r.Ignore, checkpoint.IgnoreRule{Match: x.Glob, Reason: x.Reason, Range: x.Range})
	}
	for _, x := range w.Transform {
		r.Transforms = append(r.Transforms, transform(x))
	}
	for _, c := range components {
		for _, t := range c.Ties {
			r.Ties = append(r.Ties, checkpoint.Tie{From: t.From, To: t.To, Range: t.Range})
		}
	}
	return r
}
