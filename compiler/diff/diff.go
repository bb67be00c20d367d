// Package diff compares ONNX models by structure: which nodes are in one and
// not in the other, whatever values and nodes are called.
//
// Nodes are put into an order that names do not influence (depth first from the
// outputs) and described by operator, attributes and small constants. The
// longest common subsequence of the descriptions pairs them, first of those
// whose whole past is equal, then of those that agree with their neighbours, then
// of those that agree in themselves, then of equal operators. What remains is
// added or removed; a pair may differ in attributes and in what it reads.
//
// Two kinds of names do count, since the world outside the graph depends on
// them: those of inputs and outputs, and those of parameters.
package diff

import "mobiusc/ir"

// Severity says how far a difference reaches.
type Severity string

// The severities, from none to the one that breaks callers.
const (
	Equal     Severity = "equal"     // no difference
	Graph     Severity = "graph"     // the graphs differ, and callers need not know
	Interface Severity = "interface" // inputs or outputs differ: callers have to change
)

// Side is one of the two that are compared.
type Side struct {
	Name   string
	Models []Model
	// Made says what the models were made of and how, by key; nil if unknown.
	Made map[string]string
}

// Model is one component of a side.
type Model struct {
	Name  string
	Model *ir.Model
	Bytes int64 // of the model file; 0 if there is none
}

// Report says how two sides differ.
type Report struct {
	A          string      `json:"a"`
	B          string      `json:"b"`
	Severity   Severity    `json:"severity"`
	Made       []Change    `json:"made,omitempty"`
	Components []Component `json:"components"`
}

// Component says how one component differs.
type Component struct {
	Name     string   `json:"name"`
	Status   Status   `json:"status"`
	Severity Severity `json:"severity"`
	// Interface holds the changes of inputs and outputs, Model those of opsets
	// and IR version.
	Interface []Group  `json:"interface,omitempty"`
	Model     []Change `json:"model,omitempty"`
	// Nodes holds the changes of nodes in the order of the graph, Functions
	// those in the bodies of local functions; equal changes of several layers
	// are one.
	Nodes      []Group `json:"nodes,omitempty"`
	Functions  []Group `json:"functions,omitempty"`
	Parameters []Group `json:"parameters,omitempty"`
	Sizes      []Size  `json:"sizes"`
}

// Status says what became of a component, a node or a parameter.
type Status string

// The statuses.
const (
	Same    Status = "equal"
	Added   Status = "added"
	Removed Status = "removed"
	Changed Status = "changed"
)

// Change is one difference: what differs, and both values. One is "" where the
// thing itself was added or removed.
type Change struct {
	What string `json:"what"`
	A    string `json:"a,omitempty"`
	B    string `json:"b,omitempty"`
}

// Group is one change of nodes, parameters, inputs or outputs, in one place or in
// several layers.
type Group struct {
	Status Status `json:"status"`
	// Subject is the operator with its attributes and inputs, or the type of a
	// parameter, an input or an output.
	Subject string `json:"subject"`
	// Path is the module path, with {i} for the layer's index; of a node in a
	// subgraph, that of the outer node first.
	Path    string   `json:"path,omitempty"`
	Layers  string   `json:"layers,omitempty"` // 0–63
	Count   int      `json:"count"`            // of nodes or parameters, in all layers
	Changes []Change `json:"changes,omitempty"`
}

// Size is one measure of a component on both sides.
type Size struct {
	What string `json:"what"`
	A    int64  `json:"a"`
	B    int64  `json:"b"`
}

// Compare compares two sides component by component. Components are paired by
// name; where each side has one, these are a pair.
func Compare(a, b Side) *Report {
	r := &Report{A: a.Name, B: b.Name, Severity: Equal, Made: compareMaps(a.Made, b.Made), Components: []Component{}}
	for _, p := range pairModels(a.Models, b.Models) {
		c := compareModels(p.a, p.b)
		r.Components = append(r.Components, c)
		r.Severity = worse(r.Severity, c.Severity)
	}
	return r
}

func worse(a, b Severity) Severity {
	if a == Interface || b == Interface {
		return Interface
	}
	if a == Graph || b == Graph {
		return Graph
	}
	return Equal
}

type modelPair struct{ a, b *Model } // nil: the side lacks it

func pairModels(a, b []Model) []modelPair {
	if len(a) == 1 && len(b) == 1 {
		return []modelPair{{&a[0], &b[0]}}
	}
	var out []modelPair
	byName := map[string]*Model{}
	for i := range b {
		byName[b[i].Name] = &b[i]
	}
	for i := range a {
		out = append(out, modelPair{&a[i], byName[a[i].Name]})
		delete(byName, a[i].Name)
	}
	for i := range b {
		if byName[b[i].Name] == &b[i] {
			out = append(out, modelPair{nil, &b[i]})
		}
	}
	return out
}

func compareModels(a, b *Model) Component {
	switch {
	case a == nil:
		return Component{Name: b.Name, Status: Added, Severity: Interface, Sizes: sizes(nil, b)}
	case b == nil:
		return Component{Name: a.Name, Status: Removed, Severity: Interface, Sizes: sizes(a, nil)}
	}
	c := Component{
		Name: b.Name, Status: Same, Severity: Equal,
		Interface: compareInterfaces(a.Model.Graph, b.Model.Graph),
		Model:     compareMaps(facts(a.Model), facts(b.Model)),
		Sizes:     sizes(a, b),
	}
	parameters := pairParameters(a.Model.Graph, b.Model.Graph)
	c.Parameters = group(compareParameters(parameters))
	x := &comparison{}
	x.graphs(topScopes(a.Model.Graph, b.Model.Graph, parameters))
	c.Nodes = group(x.changes)
	c.Functions = compareFunctions(a.Model, b.Model)
	if len(c.Model)+len(c.Nodes)+len(c.Functions)+len(c.Parameters) > 0 {
		c.Status, c.Severity = Changed, Graph
	}
	if len(c.Interface) > 0 {
		c.Status, c.Severity = Changed, Interface
	}
	return c
}
