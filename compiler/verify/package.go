package verify

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mobiusc/compiler/emit"
	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// Package is a package loaded into ONNX Runtime.
type Package struct {
	components []*component // each after those that feed it
}

type component struct {
	emit.ManifestComponent
	session *ort.Session
}

// Open loads every component of the package in dir.
func Open(dir string, o ort.Options) (*Package, error) {
	m, err := emit.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if err := checkBound(dir, m); err != nil {
		return nil, err
	}
	p := &Package{}
	for _, c := range inOrder(m.Components) {
		session, err := load(filepath.Join(dir, filepath.FromSlash(c.Model)), o)
		if err != nil {
			p.Close()
			return nil, err
		}
		p.components = append(p.components, &component{c, session})
	}
	return p, nil
}

func load(path string, o ort.Options) (*ort.Session, error) {
	model, err := emit.Read(path)
	if err != nil {
		return nil, err
	}
	session, err := ort.Load(path, model, o)
	if opset := model.OpsetVersion(""); err != nil && opset > ort.MaxOpset {
		return nil, fmt.Errorf("%w\nThe graph is of opset %d; ONNX Runtime %s takes those above %d only where %s=0 is in the environment",
			err, opset, ort.Version, ort.MaxOpset, ort.UnreleasedVariable)
	}
	if err != nil && strings.Contains(err.Error(), "Could not find an implementation") {
		return nil, fmt.Errorf("%w\nThis provider of ONNX Runtime has no kernel for that operator and dtype. Compile with --dtype float32 or float16", err)
	}
	return session, err
}

// checkBound refuses a package whose weights are not in its files.
func checkBound(dir string, m *emit.Manifest) error {
	missing, example := 0, ""
	for _, c := range m.Components {
		for _, t := range c.Tensors {
			if !t.Bound {
				missing++
				example = cmp.Or(example, t.Name)
			}
		}
	}
	if missing > 0 {
		return fmt.Errorf("%s holds graphs without weights: %d tensors have no content, such as %s; compile it with --weights DIR", dir, missing, example)
	}
	return nil
}

// Close releases the sessions.
func (p *Package) Close() {
	for _, c := range p.components {
		c.session.Close()
	}
}

// inOrder sorts components so that each stands after those that feed it.
func inOrder(components []emit.ManifestComponent) []emit.ManifestComponent {
	var out []emit.ManifestComponent
	done := map[string]bool{}
	var visit func(c emit.ManifestComponent)
	visit = func(c emit.ManifestComponent) {
		if done[c.Name] {
			return
		}
		done[c.Name] = true
		for _, in := range c.Inputs {
			from, _, _ := strings.Cut(in.From, ".")
			if i := slices.IndexFunc(components, func(o emit.ManifestComponent) bool { return o.Name == from }); i >= 0 {
				visit(components[i])
			}
		}
		out = append(out, c)
	}
	for _, c := range components {
		visit(c)
	}
	return out
}

// source returns the component.output that feeds an input in the package, or "".
func (c *component) source(input string) string {
	for _, in := range c.Inputs {
		if in.Name == input {
			return in.From
		}
	}
	return ""
}

// carries reports whether an input is a state.
func (c *component) carries(input string) bool {
	return slices.ContainsFunc(c.States, func(s emit.StatePair) bool { return s.Input == input })
}

// carried holds what goes from one call to the next: the present states of each
// component by the name of the input they go to.
type carried map[string]map[string]ort.Tensor

// Run plays a reference that Check accepts through the package and returns, step
// by step, what every component that the reference calls put out.
func (p *Package) Run(r *Reference) ([]map[string]map[string]ort.Tensor, error) {
	states := carried{}
	var out []map[string]map[string]ort.Tensor
	for n, step := range r.Steps {
		results, err := p.step(step, states)
		if err != nil {
			return nil, fmt.Errorf("%s, step %d: %w", r.Name, n, err)
		}
		out = append(out, results)
	}
	return out, nil
}

func (p *Package) step(step Step, states carried) (map[string]map[string]ort.Tensor, error) {
	results := map[string]map[string]ort.Tensor{}
	for _, c := range p.components {
		call := step.Components[c.Name]
		if call == nil {
			continue
		}
		inputs, err := c.inputs(call, results, states[c.Name])
		if err != nil {
			return nil, fmt.Errorf("component %s: %w", c.Name, err)
		}
		got, err := c.session.Run(inputs)
		if err != nil {
			return nil, fmt.Errorf("component %s: %w", c.Name, err)
		}
		results[c.Name] = got
		states[c.Name] = map[string]ort.Tensor{}
		for _, s := range c.States {
			states[c.Name][s.Input] = got[s.Output]
		}
	}
	return results, nil
}

// inputs gathers the inputs of a call: what the reference gives, what another
// component of the step put out, the state of the call before. What is left, the
// first call's states and features that no component puts out, is empty: zeros,
// with 0 where a size is not known.
func (c *component) inputs(call *Call, results map[string]map[string]ort.Tensor, states map[string]ort.Tensor) (map[string]ort.Tensor, error) {
	inputs := map[string]ort.Tensor{}
	sizes := map[string]int64{}
	var empty []ort.Port
	for _, port := range c.session.Inputs {
		t, ok := call.Inputs[port.Name]
		if !ok {
			from, output, _ := strings.Cut(c.source(port.Name), ".")
			t, ok = results[from][output]
		}
		if !ok {
			t, ok = states[port.Name]
		}
		if !ok {
			empty = append(empty, port)
			continue
		}
		inputs[port.Name] = cast(t, port.Type.Elem)
		learnSizes(port.Type.Shape, t.Dims, sizes)
	}
	for _, port := range empty {
		dims := make([]int64, len(port.Type.Shape))
		count := int64(1)
		for i, d := range port.Type.Shape {
			dims[i], _ = d.Eval(sizes)
			count *= dims[i]
		}
		inputs[port.Name] = ort.Tensor{Type: port.Type.Elem, Dims: dims, Raw: make([]byte, count*int64(port.Type.Elem.Bits())/8)}
	}
	return inputs, nil
}

// learnSizes notes the sizes of dims that are one symbol.
func learnSizes(shape ir.Shape, dims []int64, sizes map[string]int64) {
	for i, d := range shape {
		if s := d.Symbols(); i < len(dims) && len(s) == 1 && d.Equal(ir.Sym(s[0])) {
			sizes[s[0]] = dims[i]
		}
	}
}
