package compiler_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/emit"
	"mobiusc/ir"
	"mobiusc/ops"
)

// TestGraphs compiles every spec for an old, the default and the newest opset
// and checks the files: every value of every graph, subgraphs included, has a
// dtype and a shape in symbols of the graph's inputs. The only others are of
// sizes that depend on data, and no output of a graph has one. And nothing is
// left to fold: no node computes something from small constants alone. Every node
// has the place in the spec that it comes from.
func TestGraphs(t *testing.T) {
	files, err := filepath.Glob("../specs/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no specs: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nabstract: true") {
			continue
		}
		spec := strings.TrimSuffix(filepath.Base(file), ".yaml")
		configs := graphConfigs(spec)
		if len(configs) == 0 {
			t.Errorf("no config for %s", spec)
		}
		for _, config := range configs {
			for _, opset := range []int64{compiler.MinOpset, compiler.DefaultOpset, ops.MaxOpset("")} {
				t.Run(fmt.Sprintf("%s/%s/%d", spec, filepath.Base(filepath.Dir(config)), opset), func(t *testing.T) {
					checkGraphs(t, compiler.Options{Spec: file, Config: config, Opset: opset, Out: filepath.Join(t.TempDir(), "package")})
				})
			}
		}
	}
}

// graphConfigs lists configs of small models; "" is the one that the spec pins.
func graphConfigs(spec string) (configs []string) {
	models := map[string][]string{"qwen3_5": {"qwen3_5_vl", "qwen3_5_text"}, "qwen3_vl": {"qwen3_vl"}}[spec]
	if spec == "qwen3_8" {
		return []string{""}
	}
	for _, a := range architectures {
		if a.spec == spec {
			models = append(models, a.references...)
		}
	}
	for _, m := range models {
		configs = append(configs, filepath.Join(referenceDir, m, "config.json"))
	}
	return configs
}

func checkGraphs(t *testing.T, o compiler.Options) {
	t.Helper()
	found, err := compiler.Compile(context.Background(), o)
	if err != nil || found.HasErrors() {
		t.Fatal(err, found)
	}
	files, err := filepath.Glob(filepath.Join(o.Out, "*/model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		files = []string{filepath.Join(o.Out, "model.onnx")}
	}
	for _, file := range files {
		m, err := emit.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		c := &graphCheck{t: t, declared: map[string]bool{}, byName: map[string]*ir.Value{}}
		c.model(m.Graph)
	}
}

type graphCheck struct {
	t        *testing.T
	declared map[string]bool      // symbols of the graph's inputs
	byName   map[string]*ir.Value // of the values that nodes define
}

func (c *graphCheck) model(g *ir.Graph) {
	c.eachSymbol(g.Inputs, func(_ *ir.Value, name string) { c.declared[name] = true })
	for n := range g.AllNodes() {
		for _, v := range n.Outputs() {
			if v != nil {
				c.byName[v.Name] = v
			}
		}
	}
	c.eachSymbol(g.Outputs, func(v *ir.Value, name string) {
		if !c.declared[name] {
			c.t.Errorf("output %s: its shape %s has the size %q, which no input declares", v.Name, v.Type, name)
		}
	})
	c.graph(g)
}

func (c *graphCheck) graph(g *ir.Graph) {
	c.values(g.Inputs)
	c.values(g.Initializers)
	for n := range g.Nodes() {
		c.values(n.Outputs())
		if n.Meta.Get("source") == "" {
			c.t.Errorf("%s %q has no source", n.OpType, n.Name)
		}
		if len(n.Inputs()) > 0 && ops.Evaluable(n) && !slices.ContainsFunc(n.Inputs(), isComputed) {
			c.t.Errorf("%s %s reads constants alone", n.OpType, n.Name)
		}
		for s := range n.Subgraphs() {
			c.graph(s)
		}
	}
}

// values checks tensors. A sequence holds tensors of different shapes.
func (c *graphCheck) values(list []*ir.Value) {
	for _, v := range list {
		switch {
		case v == nil:
		case v.Type == nil:
			c.t.Errorf("%s has no type", v.Name)
		case v.Type.Kind != ir.TensorKind:
		case v.Type.Elem == ir.Undefined || !v.Type.Ranked:
			c.t.Errorf("%s has the type %s", v.Name, v.Type)
		case slices.ContainsFunc(v.Type.Shape, func(d ir.Dim) bool { return !d.Known() }):
			c.t.Errorf("%s has an unknown dim: %s", v.Name, v.Type)
		}
	}
	c.eachSymbol(list, func(v *ir.Value, name string) {
		if !c.declared[name] && !c.dependsOnData(name) {
			c.t.Errorf("%s: %s has the size %q, which is neither that of an input nor one that depends on data", v.Name, v.Type, name)
		}
	})
}

// isComputed reports whether a value is none of the small constants that are
// folded; parameters are none.
func isComputed(v *ir.Value) bool {
	const small = 4096 // elements
	return v != nil && (v.Init == nil || v.Init.External != nil || v.Init.Len() > small)
}

func (c *graphCheck) eachSymbol(list []*ir.Value, visit func(v *ir.Value, name string)) {
	for _, v := range list {
		if v == nil || v.Type == nil {
			continue
		}
		for _, d := range v.Type.Shape {
			for _, name := range d.Symbols() {
				visit(v, name)
			}
		}
	}
}

// Operators whose outputs have sizes that depend on what their inputs hold.
var measuring = []string{"NonZero", "Unique", "Compress", "SequenceAt", "ConcatFromSequence"}

// dependsOnData reports whether an invented size is what its name says, the
// content of a value or an axis v[i] of it, and depends on the content of an
// input of the graph and not on shapes alone.
func (c *graphCheck) dependsOnData(name string) bool {
	if v := c.byName[name]; v != nil {
		return c.readsData(v, map[*ir.Value]bool{})
	}
	name, _, isAxis := strings.Cut(name, "[")
	v := c.byName[name]
	return isAxis && v != nil && v.Producer() != nil && slices.Contains(measuring, v.Producer().OpType)
}

// readsData reports whether a value depends on the content of an input, that is,
// not through shapes alone that are known in symbols of the inputs.
func (c *graphCheck) readsData(v *ir.Value, seen map[*ir.Value]bool) bool {
	p := v.Producer()
	switch {
	case v.Init != nil || seen[v]:
		return false
	case p == nil:
		return true
	case p.OpType == "Shape" || p.OpType == "Size":
		invented := false
		c.eachSymbol(p.Inputs(), func(_ *ir.Value, name string) { invented = invented || !c.declared[name] })
		return invented
	}
	seen[v] = true
	return slices.ContainsFunc(p.Inputs(), func(in *ir.Value) bool { return in != nil && c.readsData(in, seen) })
}
