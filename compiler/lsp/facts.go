package lsp

import (
	"fmt"
	"slices"
	"strings"

	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
	"mobiusc/ir"
	"mobiusc/lowering"
)

// facts are what a spec is under its config: values, shapes and parameters, by
// the place that states them.
type facts struct {
	text    *text // of the document, when the facts were true of it
	result  *spec.Result
	blocks  map[diag.Range][]blockFact // by the place of each of its options
	params  map[diag.Range][]*lowering.Param
	values  map[string]map[string]*ir.Type // component → value
	outputs map[string]map[string]*ir.Type // component → output
}

// blockFact is a block in one layer.
type blockFact struct {
	*lowering.Block
	component     string
	before, after *ir.Type
}

// lower lowers a bound spec and keeps what it shows.
func (f *facts) lower(model *lowering.Model) diag.List {
	f.blocks = map[diag.Range][]blockFact{}
	f.params = map[diag.Range][]*lowering.Param{}
	f.values, f.outputs = map[string]map[string]*ir.Type{}, map[string]map[string]*ir.Type{}
	trace := func(component string, b *lowering.Block, before, after lowering.Tensor) {
		fact := blockFact{Block: b, component: component}
		if !before.IsZero() {
			fact.before = before.Type()
		}
		if !after.IsZero() {
			fact.after = after.Type()
		}
		at := map[diag.Range]bool{}
		for _, o := range b.Opts {
			at[o.Range] = true
		}
		for r := range at {
			f.blocks[r] = append(f.blocks[r], fact)
		}
	}
	graphs, found := lowering.Lower(model, lowering.Options{Trace: trace})
	for _, g := range graphs {
		for _, p := range g.Params {
			f.params[p.Range] = append(f.params[p.Range], p)
		}
		f.values[g.Component.Name] = g.Values
		outputs := map[string]*ir.Type{}
		for _, v := range g.Graph.Outputs {
			outputs[v.Name] = v.Type
		}
		f.outputs[g.Component.Name] = outputs
	}
	return found
}

func shape(t *ir.Type) string { return spec.DTypeWord(t.Elem) + dims(t.Shape) }

func dims(shape []ir.Dim) string {
	texts := make([]string, len(shape))
	for i, d := range shape {
		texts[i] = d.String()
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// layered writes what differs by layer: each text once, with the layers that it
// holds for.
type layered struct {
	texts  []string
	layers map[string][]int
}

func (l *layered) add(layer int, text string) {
	if l.layers == nil {
		l.layers = map[string][]int{}
	}
	if l.layers[text] == nil {
		l.texts = append(l.texts, text)
	}
	if !slices.Contains(l.layers[text], layer) {
		l.layers[text] = append(l.layers[text], layer)
	}
}

// lines returns a line a text; layers are named only where there are several
// texts or some layers lack one.
func (l *layered) lines() []string {
	if len(l.texts) == 1 {
		return l.texts
	}
	var out []string
	for _, text := range l.texts {
		if at := l.layers[text]; at[0] >= 0 {
			text += " in " + layerNames(at)
		}
		out = append(out, text)
	}
	return out
}

// layerNames writes a list of layers: layers 0–2, 4.
func layerNames(layers []int) string {
	slices.Sort(layers)
	var parts []string
	for i := 0; i < len(layers); {
		j := i
		for j+1 < len(layers) && layers[j+1] == layers[j]+1 {
			j++
		}
		part := fmt.Sprint(layers[i])
		if j > i {
			part += fmt.Sprintf("–%d", layers[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	const most = 8
	if len(parts) > most {
		parts = append(parts[:most], "…")
	}
	if len(layers) == 1 {
		return "layer " + parts[0]
	}
	return "layers " + strings.Join(parts, ", ")
}

// block describes a block under the config: its stream and its parameters. A
// block that changes one of a parent stands at the parent's place, so that it is
// known by its options: options are the places of some of them.
func (f *facts) block(name string, options []diag.Range) []string {
	var stream layered
	var params []*lowering.Param
	seen := map[*lowering.Block]bool{}
	for _, at := range options {
		for _, b := range f.blocks[at] {
			if b.Decl.Name != name || seen[b.Block] {
				continue
			}
			if len(seen) == 0 {
				params = f.params[b.Range]
			}
			seen[b.Block] = true
			text := "`" + b.component + "`"
			if b.before != nil {
				text += " `" + shape(b.before) + "`"
			}
			if b.after != nil {
				text += " → `" + shape(b.after) + "`"
			}
			stream.add(b.Layer, text)
		}
	}
	lines := stream.lines()
	repeated := ""
	if len(lines) == 1 && len(stream.layers[stream.texts[0]]) > 1 {
		repeated = fmt.Sprintf(" in %d layers", len(stream.layers[stream.texts[0]]))
		lines[0] += repeated
	}
	const most = 8
	for i, p := range params {
		if i == most {
			lines = append(lines, fmt.Sprintf("… and %d more parameters", len(params)-most)+repeated)
			break
		}
		dims := make([]string, len(p.Dims))
		for i, d := range p.Dims {
			dims[i] = fmt.Sprint(d)
		}
		lines = append(lines, fmt.Sprintf("`%s` `%s[%s]`", p.Name, spec.DTypeWord(p.Value.Type.Elem), strings.Join(dims, ", ")))
	}
	return lines
}

// option describes the value of an option under the config.
func (f *facts) option(at diag.Range) []string {
	var values layered
	for _, v := range f.result.Options(at) {
		switch v.Value.(type) {
		case lowering.Body, []lowering.Body, lowering.Record:
			return nil
		}
		values.add(v.Layer, "`"+optionText(v.Value)+"`")
	}
	return values.lines()
}

func optionText(v any) string {
	switch v := v.(type) {
	case ir.DataType:
		return spec.DTypeWord(v)
	case []ir.Dim:
		return dims(v)
	case string:
		return v
	}
	return spec.Format(v)
}

// value describes a value of a component: its type in each that has it.
func (f *facts) value(name string, types map[string]map[string]*ir.Type) []string {
	var lines []string
	for _, c := range f.result.Model.Components {
		if t := types[c.Name][name]; t != nil {
			lines = append(lines, fmt.Sprintf("`%s`: `%s`", c.Name, shape(t)))
		}
	}
	return lines
}
