//go:build unix

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"mobiusc/compiler"
	"mobiusc/compiler/emit"
	"mobiusc/ir"
	"mobiusc/ops"
)

// A source is a spec and a config that are compiled for the benchmark.
type source struct{ Spec, Variant, Config string }

//go:embed models/models.json
var sourcesJSON []byte

// sourceOf returns the source of a name in models/models.json.
func sourceOf(name string) (source, error) {
	var all map[string]source
	if err := json.Unmarshal(sourcesJSON, &all); err != nil {
		return source{}, err
	}
	s, ok := all[name]
	if !ok {
		return s, fmt.Errorf("models.json has no %q", name)
	}
	return s, nil
}

// options are those that compile the source in float32.
func (s source) options(out string) compiler.Options {
	return compiler.Options{Spec: s.Spec, Variant: s.Variant, Config: s.Config, DType: "float32", Out: out, Tool: "bench"}
}

// compile compiles a package.
func compile(ctx context.Context, o compiler.Options) error {
	found, err := compiler.Compile(ctx, o)
	if err == nil && found.HasErrors() {
		err = fmt.Errorf("%s does not compile:\n%s", o.Spec, found)
	}
	return err
}

// The forms that a source is compiled in.
const (
	chunked    = "model.onnx"       // what the compiler gives without options
	perToken   = "per_token.onnx"   // the per-token form of linear attention
	lastLogits = "last_logits.onnx" // logits of the last token only
	fused      = "fused.onnx"       // the runtime's own operators where it has them
)

// form compiles a source with one component and random weights, once, and
// returns the path of one of its forms. All forms lie beside each other and read
// the same weights.
func (b *bench) form(ctx context.Context, name, form string) (path string, err error) {
	dir := filepath.Join(b.dir, name)
	path = filepath.Join(dir, form)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	s, err := sourceOf(name)
	if err != nil {
		return "", err
	}
	o := s.options(dir)
	if form == chunked {
		o.Weights.Mode = compiler.Random
		return path, compile(ctx, o)
	}
	if _, err := b.form(ctx, name, chunked); err != nil {
		return "", err
	}
	change := func(*ir.Model) error { return nil }
	switch form {
	case perToken:
		o.LinearAttention = "recurrent"
	case lastLogits:
		o.Logits = "last"
	case fused:
		o.Opset, change = ops.MaxOpset(""), fuse
	}
	o.Out = filepath.Join(b.dir, name+" "+form)
	if err := compile(ctx, o); err != nil {
		return "", err
	}
	return path, beside(dir, o.Out, form, change)
}

// beside changes the model of the package in from and writes it into dir as
// name, where it reads the weights of dir's model.
func beside(dir, from, name string, change func(*ir.Model) error) error {
	base, err := emit.Read(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return err
	}
	m, err := emit.Read(filepath.Join(from, "model.onnx"))
	if err != nil {
		return err
	}
	places := map[string]*ir.Tensor{}
	for _, v := range base.Graph.Initializers {
		places[v.Name] = v.Init
	}
	for _, v := range m.Graph.Initializers {
		if v.Init.External == nil {
			continue
		}
		place := places[v.Name]
		if place == nil || place.External == nil || place.External.Length != v.Init.External.Length {
			return fmt.Errorf("%s: model.onnx has no weight %s of the same size", name, v.Name)
		}
		v.Init.External = place.External
	}
	if err := change(m); err != nil {
		return err
	}
	data, err := emit.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), data, 0o666)
}

// fuse makes a model of the newest opset one of the runtime's own operators of
// the same names, in the opset that the runtime reads.
func fuse(m *ir.Model) error {
	count := 0
	for n := range m.Graph.AllNodes() {
		switch n.OpType {
		case "LinearAttention":
			useOwnHeads(n)
		case "CausalConvWithState":
		default:
			continue
		}
		n.Domain = runtimeDomain
		count++
	}
	if count == 0 {
		return fmt.Errorf("the model has no operator that the runtime has a kernel of its own for")
	}
	m.IRVersion = 10
	m.Opsets = []ir.Opset{{Version: compiler.DefaultOpset}, {Domain: runtimeDomain, Version: 1}}
	return nil
}

// useOwnHeads gives a LinearAttention query and key as they were before their
// heads were repeated to those of the value: the runtime's operator does that itself.
func useOwnHeads(n *ir.Node) {
	for i := range 2 {
		if shape := n.Input(i).Producer(); shape != nil && shape.OpType == "Reshape" {
			if expand := shape.Input(0).Producer(); expand != nil && expand.OpType == "Expand" {
				n.SetInput(i, expand.Input(0).Producer().Input(0))
			}
		}
	}
	width, _ := n.Input(0).Type.Shape[2].Int()
	dim, _ := n.Input(3).Type.Shape[2].Int()
	n.SetAttr(ir.IntAttr("q_num_heads", width/dim))
}
