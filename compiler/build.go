package compiler

import (
	"mobiusc/compiler/emit"
	"mobiusc/internal/diag"
	"mobiusc/ir"
)

// Built is what Build makes.
type Built struct {
	Header emit.Header // what it was made of
	Names  []string    // of the components
	Models []*ir.Model // of the components; their weights have no content
}

// Build runs the pipeline as Compile does and writes nothing.
func Build(o Options) (*Built, diag.List, error) {
	bound, components, found, err := o.build()
	if err != nil || found.HasErrors() {
		return nil, found, err
	}
	b := &Built{Header: o.manifest(bound)}
	for _, c := range components {
		b.Names, b.Models = append(b.Names, c.Component.Name), append(b.Models, c.model)
	}
	return b, found, nil
}
