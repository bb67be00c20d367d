package compiler

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"mobiusc/compiler/emit"
	"mobiusc/compiler/spec"
	"mobiusc/lowering"
)

// manifest records what the package is made from and how.
func (o Options) manifest(b *bound) emit.Header {
	m := emit.Header{
		Tool:    "mobiusc " + o.Tool,
		Spec:    emit.Origin{Name: b.spec.Name, SHA256: b.spec.Hash()},
		Config:  emit.Origin{Name: b.config.ModelType(), SHA256: hash(b.config.Text)},
		Weights: o.Weights.Mode.String(),
		Runtime: runtimeOf(b.result.Runtime),
		Options: map[string]string{
			"dtype": spec.DTypeWord(b.result.Model.Compute), "storage-dtype": spec.DTypeWord(b.storage),
			"opset": fmt.Sprint(o.target().Opset),
		},
	}
	for _, k := range b.result.Ignored {
		m.Ignored = append(m.Ignored, emit.IgnoredKey{Key: k.Path, Reason: k.Reason})
	}
	set := func(name, value string) {
		if value != "" {
			m.Options[name] = value
		}
	}
	set("variant", b.result.Variant)
	set("linear-attention", o.LinearAttention)
	set("logits", o.Logits)
	if o.ChunkSize != 0 {
		set("chunk-size", fmt.Sprint(o.ChunkSize))
	}
	if o.Weights.Mode == Random {
		set("seed", fmt.Sprint(o.Weights.Seed))
	}
	return m
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// inputs are the files that must not be written over.
func (b *bound) inputs() []string { return append(b.spec.Files(), b.config.Path) }

// emitted describes a component to the package writer.
func (c *component) emitted() *emit.Component {
	e := &emit.Component{Name: c.Component.Name, Model: c.model, From: map[string]string{}, Weights: map[string]emit.Weight{}}
	for _, in := range c.Component.Inputs {
		if in.From != "" {
			e.From[in.Name] = in.From
		}
	}
	for _, s := range c.States {
		e.States = append(e.States, emit.StatePair{Input: s.Input.Name, Output: s.Output.Name})
	}
	for _, l := range c.Limits {
		limit := emit.Limit{Input: l.Input, Max: l.Max}
		if l.Input == "" {
			limit.Dim = l.Dim.String()
		}
		e.Limits = append(e.Limits, limit)
	}
	for _, p := range c.Params {
		e.Weights[p.Value.Name] = emit.Weight{Sources: sources(p)}
	}
	return e
}

// sources names the checkpoint's tensors of a parameter.
func sources(p *lowering.Param) []string {
	if len(p.Parts) > 0 {
		return p.Parts
	}
	return []string{p.Name}
}
