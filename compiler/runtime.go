package compiler

import (
	"fmt"
	"path/filepath"

	"mobiusc/compiler/emit"
	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
)

// runtimeOf returns what the spec's section runtime says, for the manifest; nil
// if it says nothing.
func runtimeOf(r spec.Runtime) *emit.Runtime {
	out := &emit.Runtime{Tokens: map[string][]int64{}}
	for name, ids := range map[string][]int64{"bos": r.BOS, "eos": r.EOS, "pad": r.PAD} {
		if len(ids) > 0 {
			out.Tokens[name] = ids
		}
	}
	if g := r.GenAI; g != nil {
		out.GenAI = entries(g.Values)
		out.GenAI["type"] = g.Type
		for name, values := range g.Sections {
			out.GenAI[name] = entries(values)
		}
	}
	if len(out.Tokens) == 0 && out.GenAI == nil {
		return nil
	}
	return out
}

func entries(values []spec.GenAIValue) map[string]any {
	m := map[string]any{}
	for _, v := range values {
		m[v.Name] = v.Value
	}
	return m
}

// hostFiles returns the files that the host needs beside the graphs: those that
// the spec pins, if the package is of the pinned model, and the configuration of
// the runtimes that it has metadata for. In a checkpoint's own directory the
// pinned files lie already.
func (o Options) hostFiles(b *bound, components []*component) (map[string][]byte, diag.List, error) {
	files := map[string][]byte{}
	if pins := b.result.Pins; pins != nil && b.config.Path == pins.Config && o.Weights.Mode != InPlace {
		for _, path := range pins.HostFiles {
			text, err := spec.ReadSource(path)
			if err != nil {
				return nil, nil, fmt.Errorf("a host file that the spec pins: %w", err)
			}
			files[filepath.Base(path)] = text
		}
	}
	text, found, err := o.genaiConfig(b, components)
	if text != nil {
		files[genaiName] = text
	}
	return files, found, err
}
