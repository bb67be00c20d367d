// Package stats counts what models hold, and compares the counts of a list of
// models with those that a baseline file recorded.
package stats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"mobiusc/ir"
)

// Counts is what one graph, or all graphs of a model, hold.
type Counts struct {
	Nodes         int64 `json:"nodes"`                    // of the graph itself
	SubgraphNodes int64 `json:"subgraph_nodes,omitempty"` // of graphs that attributes hold
	FunctionNodes int64 `json:"function_nodes,omitempty"` // of the bodies of local functions
	// Parameters is the number of elements of the graph's initializers,
	// ParameterBytes their size.
	Parameters     int64 `json:"parameters"`
	ParameterBytes int64 `json:"parameter_bytes"`
}

// Of counts a model.
func Of(m *ir.Model) Counts {
	c := Counts{Nodes: int64(m.Graph.Len())}
	for range m.Graph.AllNodes() {
		c.SubgraphNodes++
	}
	c.SubgraphNodes -= c.Nodes
	for _, f := range m.Functions {
		for range f.Body.AllNodes() {
			c.FunctionNodes++
		}
	}
	for _, v := range m.Graph.Initializers {
		c.Parameters += max(0, v.Init.Len())
		c.ParameterBytes += max(0, v.Init.ByteLen())
	}
	return c
}

// Add returns the sum of two counts.
func (c Counts) Add(o Counts) Counts {
	return Counts{c.Nodes + o.Nodes, c.SubgraphNodes + o.SubgraphNodes, c.FunctionNodes + o.FunctionNodes, c.Parameters + o.Parameters, c.ParameterBytes + o.ParameterBytes}
}

// Baseline is a list of models with their counts.
type Baseline struct {
	Models []Model `json:"models"`
}

// Model is one model of a baseline.
type Model struct {
	Spec   string `json:"spec"`             // the name of a spec that the program carries
	Config string `json:"config,omitempty"` // config.json, relative to the baseline; "": the pinned one
	// Counts holds the counts of the components by name; nil: not recorded yet.
	Counts map[string]Counts `json:"counts,omitempty"`
}

// Name returns what distinguishes the model from the others.
func (m Model) Name() string {
	base := m.Config[strings.LastIndexByte(m.Config, '/')+1:]
	if name := strings.TrimSuffix(base, ".json"); name != "" && name != "config" && name != m.Spec {
		return m.Spec + " " + name
	}
	return m.Spec
}

// Total returns the counts of all components together.
func (m Model) Total() Counts {
	var sum Counts
	for _, c := range m.Counts {
		sum = sum.Add(c)
	}
	return sum
}

// Read reads a baseline file.
func Read(path string) (*Baseline, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b := &Baseline{}
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(b); err != nil {
		return nil, fmt.Errorf("%s: not a baseline: %w", path, err)
	}
	if len(b.Models) == 0 {
		return nil, fmt.Errorf("%s: not a baseline: it lists no models", path)
	}
	seen := map[string]bool{}
	for _, m := range b.Models {
		switch {
		case m.Spec == "":
			return nil, fmt.Errorf("%s: a model has no spec", path)
		case seen[m.Name()]:
			return nil, fmt.Errorf("%s: %s stands twice", path, m.Name())
		}
		seen[m.Name()] = true
	}
	return b, nil
}

// Text returns the baseline as JSON, a model a line, by name.
func (b *Baseline) Text() ([]byte, error) {
	slices.SortStableFunc(b.Models, func(x, y Model) int { return cmp.Compare(x.Name(), y.Name()) })
	out := "{\n  \"models\": [\n"
	for i, m := range b.Models {
		line, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		out += "    " + string(line)
		if i < len(b.Models)-1 {
			out += ","
		}
		out += "\n"
	}
	return []byte(out + "  ]\n}\n"), nil
}
