package compiler

import (
	"context"
	"path/filepath"

	"mobiusc/compiler/checkpoint"
	"mobiusc/compiler/emit"
	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
	"mobiusc/ir"
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
	// Progress is called with the bytes written so far and in all.
	Progress func(done, total int64)
}

// attach gives the package's components their weights. It returns the files that
// are read.
func (w Weights) attach(p *emit.Package, b *bound, components []*component) (diag.List, []string, error) {
	switch w.Mode {
	case Copy, InPlace:
		return w.fromCheckpoint(p, b, components)
	case Random:
		for i, c := range components {
			c.fillRandom(p.Components[i], w)
		}
	}
	return nil, nil, nil
}

func (w Weights) fromCheckpoint(p *emit.Package, b *bound, components []*component) (diag.List, []string, error) {
	ckpt, found := checkpoint.Open(w.Dir, checkpoint.Options{})
	if found.HasErrors() {
		return found, nil, nil
	}
	binding, faults := checkpoint.Bind(parameters(components), ckpt, rulesOf(b.result.Weights, components))
	if found = append(found, faults...); faults.HasErrors() {
		return found, nil, nil
	}
	pointed := map[*checkpoint.Bound]ir.External{}
	if w.Mode == InPlace {
		limit := w.Limit
		if limit == 0 {
			limit = checkpoint.DefaultInPlaceLimit
		}
		placement, faults := binding.InPlace(limit)
		if found = append(found, faults...); faults.HasErrors() {
			return found, nil, nil
		}
		for _, at := range placement.Pointed {
			pointed[at.Bound] = at.External
		}
	}
	rest := binding.Bound
	for i, c := range components {
		n := len(c.Params)
		w.bindComponent(p.Components[i], c, rest[:n], pointed)
		rest = rest[n:]
	}
	var files []string
	for _, f := range ckpt.Files() {
		files = append(files, filepath.Join(ckpt.Dir(), filepath.FromSlash(f)))
	}
	return found, files, nil
}

// parameters lists the parameters of all components in order.
func parameters(components []*component) []checkpoint.Param {
	var out []checkpoint.Param
	for _, c := range components {
		for _, p := range c.Params {
			out = append(out, checkpoint.Param{
				Component: c.Component.Name, Name: p.Name, DType: p.Value.Init.Type, Shape: p.Dims, Range: p.Range,
			})
		}
	}
	return out
}

// bindComponent gives each parameter of a component its source: a place in the
// checkpoint, or a job for the data file.
func (w Weights) bindComponent(e *emit.Component, c *component, sources []*checkpoint.Bound, pointed map[*checkpoint.Bound]ir.External) {
	type job struct {
		bound *checkpoint.Bound
		value *ir.Value
	}
	var jobs []job
	for i, p := range c.Params {
		s := sources[i]
		e.Weights[p.Value.Name] = emit.Weight{Sources: s.Tensors, Transform: s.Transform(), Bound: true}
		if at, ok := pointed[s]; ok {
			p.Value.Init.External = &at
			continue
		}
		jobs = append(jobs, job{s, p.Value})
	}
	if len(jobs) == 0 {
		return
	}
	e.Fill = func(ctx context.Context, path string) error {
		var list []checkpoint.Job
		for _, j := range jobs {
			list = append(list, checkpoint.Job{Bound: j.bound, Offset: j.value.Init.External.Offset})
		}
		_, err := checkpoint.Copy(ctx, path, list, checkpoint.CopyOptions{Progress: w.Progress})
		return err
	}
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
		r.Transforms = append(r.Transforms, transforms(x)...)
	}
	for _, c := range components {
		for _, t := range c.Ties {
			r.Ties = append(r.Ties, checkpoint.Tie(t))
		}
	}
	return r
}
