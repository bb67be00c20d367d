// Package compiler turns an architecture spec, a config.json and a checkpoint
// into an ONNX package. Compile is the whole pipeline.
package compiler

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"mobiusc/compiler/emit"
	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
	"mobiusc/ir"
	"mobiusc/lowering"
	"mobiusc/lowering/passes"
	"mobiusc/validate"
)

// Options are the choices of one compilation.
type Options struct {
	Spec    string // path of the spec, or the name of one that the program carries
	Config  string // path of config.json; "": the checkpoint's, or the one the spec pins
	Variant string // a variant of the spec; "": the one that the config's model type selects
	DType   string // compute dtype: float32, float16, bfloat16; "": the checkpoint's
	Storage string // dtype of the stored weights; "": the compute dtype
	Opset   int64  // version of ai.onnx; 0: DefaultOpset
	Strict  bool   // a config key that is not read is an error
	// Read reads specs and configs; nil: from disk. An editor passes one that
	// prefers its open documents.
	Read spec.ReadFile

	LinearAttention string // chunked (also "") or recurrent
	ChunkSize       int64  // tokens of a chunk of linear attention; 0: DefaultChunkSize
	Logits          string // of all tokens (also "") or of the last

	Out       string  // directory of the package; InPlace: that of the checkpoint, whatever this says
	Force     bool    // replace a package there
	Weights   Weights // where the parameters' content comes from
	Checksums bool    // record the SHA-256 of every tensor in the manifest

	// Progress is called while weights are written and hashed: with what is
	// being done ("copying", "hashing"), and its bytes so far and in all.
	Progress func(what string, done, total int64)
	Tool     string // name and version, for the manifest
	// Dump is called with every graph after each phase; see passes.Run.
	Dump func(component, phase string, m *ir.Model) error
}

// ErrInvalidGraph says that a compiled graph breaks ONNX's rules. The findings
// say which; whatever the spec is, the fault is the compiler's.
var ErrInvalidGraph = errors.New("a compiled graph is not a valid ONNX model")

// Compile runs the pipeline and writes the package. Each phase reports all that
// it finds; none begins while there are errors. An error means that the work
// could not be done for a reason outside spec, config and weights.
func Compile(ctx context.Context, o Options) (diag.List, error) {
	bound, components, found, err := o.build()
	if err != nil || found.HasErrors() {
		return found, err
	}
	faults, err := o.write(ctx, bound, components)
	return append(found, faults...), err
}

// build makes the models of all components, complete but for their weights.
func (o Options) build() (*bound, []*component, diag.List, error) {
	bound, found := bind(o)
	if found.HasErrors() {
		return nil, nil, found, nil
	}
	target := o.lowering(bound.storage)
	sizes := traceSizes(&target)
	graphs, faults := lowering.Lower(bound.result.Model, target)
	if found = append(found, faults...); faults.HasErrors() {
		return nil, nil, found, nil
	}
	components, faults, err := o.finish(graphs)
	for _, c := range components {
		c.sizes = sizes[c.Component.Name]
	}
	return bound, components, append(found, faults...), err
}

// bound is a spec bound to a config, and the files that both came from.
type bound struct {
	spec    *spec.Spec
	config  *spec.Config
	result  *spec.Result
	storage ir.DataType
}

// bind loads the spec and the config and evaluates one for the other.
func bind(o Options) (*bound, diag.List) {
	if faults := o.check(); faults.HasErrors() {
		return nil, faults
	}
	s, found := o.load()
	if found.HasErrors() {
		return nil, found
	}
	config, faults := o.readConfig(s)
	if found = append(found, faults...); faults.HasErrors() {
		return nil, found
	}
	b, faults := o.evaluate(s, config)
	return b, append(found, faults...)
}

// evaluate binds a spec to a config.
func (o Options) evaluate(s *spec.Spec, config *spec.Config) (*bound, diag.List) {
	result, found := s.Bind(config, spec.Options{DType: o.DType, Strict: o.Strict})
	if found.HasErrors() {
		return nil, found
	}
	b := &bound{spec: s, config: config, result: result, storage: result.Model.Compute}
	if o.Storage != "" {
		b.storage = spec.DTypeOf(o.Storage)
	}
	return b, found
}

// load reads the spec, with the variant that was asked for.
func (o Options) load() (*spec.Spec, diag.List) {
	s, found := spec.Load(o.Spec, o.Read)
	if found.HasErrors() || o.Variant == "" {
		return s, found
	}
	s, faults := s.Variant(o.Variant)
	return s, append(found, faults...)
}

// component is a graph ready to be written.
type component struct {
	*lowering.Graph
	model *ir.Model
	sizes *streamSizes
}

// finish makes every lowered graph a model of the target and validates it. The
// graphs have nothing in common, so that they are worked on at the same time,
// unless Dump is to see them in order.
func (o Options) finish(graphs []*lowering.Graph) ([]*component, diag.List, error) {
	done := make([]finished, len(graphs))
	var work sync.WaitGroup
	for i, g := range graphs {
		work.Go(func() { done[i] = o.finishGraph(g) })
		if o.Dump != nil {
			work.Wait()
		}
	}
	work.Wait()
	var out []*component
	var found diag.List
	var err error
	for _, d := range done {
		found = append(found, d.found...)
		err = cmp.Or(err, d.err)
		if d.component != nil {
			out = append(out, d.component)
		}
	}
	return out, found, err
}

// finished is what has become of a graph: a component, unless a pass found a
// fault.
type finished struct {
	component *component
	found     diag.List
	err       error
}

func (o Options) finishGraph(g *lowering.Graph) (f finished) {
	c := &component{Graph: g, model: newModel(g, o.target(), o.Tool)}
	after := func(phase string) error { return nil }
	if o.Dump != nil {
		after = func(phase string) error { return o.Dump(g.Component.Name, phase, c.model) }
	}
	if f.err = after("lower"); f.err != nil {
		return f
	}
	err := passes.Run(c.model, passes.Standard(o.target()), func(p passes.Pass, _ *ir.Model) error { return after(p.Name) })
	if err != nil {
		f.found.Add(passFault(g, err))
		return f
	}
	f.component = c
	for _, fault := range validate.Model(c.model, validate.Options{Standard: true, Unplaced: true}) {
		f.found.Add(fault.Diagnostic(g.Component.Range.File))
		if fault.Severity == diag.Error {
			f.err = ErrInvalidGraph
		}
	}
	return f
}

// passFault turns an error of a pass into a finding at the component.
func passFault(g *lowering.Graph, err error) diag.Diagnostic {
	return *badFunction.At(g.Component.Range, "component %s: %v", g.Component.Name, err)
}

// newModel wraps a lowered graph. Its nodes are those of the newest operators:
// legalisation makes them the target's.
func newModel(g *lowering.Graph, t passes.Target, tool string) *ir.Model {
	return &ir.Model{
		IRVersion:    irVersion(t.Opset),
		Opsets:       []ir.Opset{{Version: t.Opset}},
		ProducerName: "mobiusc", ProducerVersion: tool,
		Graph: g.Graph, Functions: g.Functions,
	}
}

// write binds the weights and writes the package.
func (o Options) write(ctx context.Context, b *bound, components []*component) (diag.List, error) {
	files, found, err := o.hostFiles(b, components)
	if err != nil || found.HasErrors() {
		return found, err
	}
	p := &emit.Package{Header: o.manifest(b), Files: files}
	for _, c := range components {
		p.Components = append(p.Components, c.emitted())
	}
	source, faults := o.attach(p, b, components)
	if found = append(found, faults...); faults.HasErrors() {
		return found, nil
	}
	defer source.close()
	w := emit.WriteOptions{Force: o.Force, Inputs: append(b.inputs(), source.files...), Checksums: o.Checksums, Hashed: o.progress("hashing")}
	write := p.Write
	if o.Weights.Mode == InPlace {
		write = p.WriteInPlace
	}
	err = write(ctx, o.Dir(), w)
	return append(found, source.lossy...), err
}
