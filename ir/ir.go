// Package ir is the compiler's intermediate representation. It follows ONNX's
// own model (models, graphs, nodes, functions, attributes that hold subgraphs)
// so that any ONNX file can be read into it, also one that breaks the rules:
// package validate reports what is wrong with it.
//
// A value knows the node that defines it and every use; a graph's nodes form a
// list that can be edited while it is walked; a value of an outer graph is used
// in a subgraph by pointing at it. The package knows no file format but ONNX's
// textual syntax and never imports protobuf.
package ir

import (
	"iter"
	"slices"
	"strings"
)

// Opset is one imported operator set.
type Opset struct {
	Domain  string // "" is ai.onnx
	Version int64
}

// Property is one entry of metadata_props.
type Property struct{ Key, Value string }

// Properties is an ordered list of metadata entries.
type Properties []Property

// Get returns the value of the first entry with the given key, or "".
func (p Properties) Get(key string) string {
	for _, e := range p {
		if e.Key == key {
			return e.Value
		}
	}
	return ""
}

// Set replaces the entry with the given key, or appends one. Copies of the list
// keep what they have.
func (p *Properties) Set(key, value string) {
	*p = slices.Clone(*p)
	for i := range *p {
		if (*p)[i].Key == key {
			(*p)[i].Value = value
			return
		}
	}
	*p = append(*p, Property{key, value})
}

// Model is a complete ONNX model.
type Model struct {
	IRVersion       int64
	Opsets          []Opset
	ProducerName    string
	ProducerVersion string
	Domain          string
	ModelVersion    int64
	Doc             string
	Graph           *Graph
	Functions       []*Function
	Meta            Properties
	// Dropped lists the parts of the file that the model was read from which
	// the IR does not represent ("training_info (1 entry)"). A model with such
	// parts is not written back.
	Dropped []string
}

// OpsetVersion returns the version imported for a domain, or 0.
func (m *Model) OpsetVersion(domain string) int64 { return opsetVersion(m.Opsets, domain) }

func opsetVersion(opsets []Opset, domain string) int64 {
	for _, o := range opsets {
		if o.Domain == domain || (domain == "" && o.Domain == "ai.onnx") || (domain == "ai.onnx" && o.Domain == "") {
			return o.Version
		}
	}
	return 0
}

// Function is a named body that calls may be replaced by. Its parameters are
// the Inputs and Outputs of Body; attribute parameters are referred to in the
// body by attributes whose Ref names them.
type Function struct {
	Domain, Name, Overload string
	Doc                    string
	Attributes             []string // required attribute parameters
	Defaults               []*Attr  // attribute parameters with a default
	Opsets                 []Opset
	Body                   *Graph
	Meta                   Properties
}

// Default returns the default of an attribute parameter, or nil.
func (f *Function) Default(name string) *Attr {
	for _, a := range f.Defaults {
		if a != nil && a.Name == name {
			return a
		}
	}
	return nil
}

// OpsetVersion returns the version the function imports for a domain, or 0.
func (f *Function) OpsetVersion(domain string) int64 { return opsetVersion(f.Opsets, domain) }

// ValueNames returns the names of values, for a message.
func ValueNames(values []*Value) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = v.Name
	}
	return strings.Join(names, ", ")
}

// Graph is a list of nodes in execution order with its interface.
type Graph struct {
	Name string
	Doc  string
	// Inputs and Outputs are the interface in order. An input that is also in
	// Initializers has a default (and is the same *Value).
	Inputs, Outputs []*Value
	Initializers    []*Value // values whose Init is set
	Meta            Properties

	head, tail *Node
	count      int
}

// NewGraph returns an empty graph.
func NewGraph(name string) *Graph { return &Graph{Name: name} }

// Value is a tensor (or sequence, …) that flows between nodes.
type Value struct {
	Name string
	Type *Type // nil: unknown
	// Init is the constant content when the value is an initializer; it may
	// refer to external data.
	Init *Tensor
	Doc  string
	Meta Properties

	def      *Node
	defIndex int
	uses     []Use
}

// Use is one place where a value is read.
type Use struct {
	Node  *Node
	Index int // position among the node's inputs
}

// NewValue returns a value without a definition.
func NewValue(name string, t *Type) *Value { return &Value{Name: name, Type: t} }

// Def returns the node that produces the value and the index of the output,
// or nil for graph inputs, initializers and names that nothing defines.
func (v *Value) Def() (*Node, int) { return v.def, v.defIndex }

// Producer returns the node that produces the value, or nil.
func (v *Value) Producer() *Node { return v.def }

// Uses returns every place where a node reads the value, subgraphs included.
// Graph outputs are not uses. The slice is the value's own: read only.
func (v *Value) Uses() []Use { return v.uses }

// ReplaceUses makes every node that reads v read w instead. Graph outputs are
// left alone: they are part of an interface.
func (v *Value) ReplaceUses(w *Value) {
	if v == w {
		return
	}
	for _, u := range v.uses {
		u.Node.inputs[u.Index] = w
		if w != nil {
			w.uses = append(w.uses, u)
		}
	}
	v.uses = nil
}

func (v *Value) dropUse(n *Node, index int) {
	for i, u := range v.uses {
		if u.Node == n && u.Index == index {
			v.uses = append(v.uses[:i], v.uses[i+1:]...)
			return
		}
	}
}

// Node is one operator call.
type Node struct {
	Name, Domain, OpType, Overload string
	Attrs                          []*Attr
	Doc                            string
	Meta                           Properties

	inputs     []*Value // nil: an optional input that is absent
	outputs    []*Value // nil: an optional output that is absent
	graph      *Graph
	prev, next *Node
}

// NewNode returns a node that is in no graph yet, reading inputs and defining
// outputs. A nil entry is an absent optional input or output.
func NewNode(domain, op string, inputs, outputs []*Value, attrs ...*Attr) *Node {
	n := &Node{Domain: domain, OpType: op, Attrs: attrs}
	n.SetInputs(inputs)
	n.SetOutputs(outputs)
	return n
}

// Graph returns the graph that holds the node, or nil.
func (n *Node) Graph() *Graph { return n.graph }

// Inputs returns the node's inputs. The slice is the node's own: read only.
func (n *Node) Inputs() []*Value { return n.inputs }

// Input returns input i, or nil when it is absent.
func (n *Node) Input(i int) *Value {
	if i < len(n.inputs) {
		return n.inputs[i]
	}
	return nil
}

// SetInput makes input i read v (nil: absent); i must be below the count of inputs.
func (n *Node) SetInput(i int, v *Value) {
	if old := n.inputs[i]; old != nil {
		old.dropUse(n, i)
	}
	n.inputs[i] = v
	if v != nil {
		v.uses = append(v.uses, Use{n, i})
	}
}

// SetInputs replaces all inputs.
func (n *Node) SetInputs(inputs []*Value) {
	for i, old := range n.inputs {
		if old != nil {
			old.dropUse(n, i)
		}
	}
	n.inputs = append([]*Value(nil), inputs...)
	for i, v := range n.inputs {
		if v != nil {
			v.uses = append(v.uses, Use{n, i})
		}
	}
}

// Outputs returns the node's outputs. The slice is the node's own: read only.
func (n *Node) Outputs() []*Value { return n.outputs }

// Output returns output i, or nil when it is absent.
func (n *Node) Output(i int) *Value {
	if i < len(n.outputs) {
		return n.outputs[i]
	}
	return nil
}

// SetOutputs replaces the values the node defines. A value that another node
// defined is defined by this one afterwards.
func (n *Node) SetOutputs(outputs []*Value) {
	for _, v := range n.outputs {
		if v != nil && v.def == n {
			v.def = nil
		}
	}
	n.outputs = append([]*Value(nil), outputs...)
	for i, v := range n.outputs {
		if v != nil {
			v.def, v.defIndex = n, i
		}
	}
}

// Attr returns the attribute with the given name, or nil.
func (n *Node) Attr(name string) *Attr {
	for _, a := range n.Attrs {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// SetAttr replaces the attribute of the same name, or appends it.
func (n *Node) SetAttr(a *Attr) {
	for i := range n.Attrs {
		if n.Attrs[i].Name == a.Name {
			n.Attrs[i] = a
			return
		}
	}
	n.Attrs = append(n.Attrs, a)
}

// Subgraphs yields every graph held by an attribute of the node.
func (n *Node) Subgraphs() iter.Seq[*Graph] {
	return func(yield func(*Graph) bool) {
		for _, a := range n.Attrs {
			if a.Graph != nil && !yield(a.Graph) {
				return
			}
			for _, g := range a.Graphs {
				if !yield(g) {
					return
				}
			}
		}
	}
}

// Len returns the number of nodes at the top level of the graph.
func (g *Graph) Len() int { return g.count }

// First returns the first node, or nil.
func (g *Graph) First() *Node { return g.head }

// Last returns the last node, or nil.
func (g *Graph) Last() *Node { return g.tail }

// Next returns the node after n in its graph, or nil. It stays meaningful for a
// node that has just been removed.
func (n *Node) Next() *Node { return n.next }

// Prev returns the node before n in its graph, or nil.
func (n *Node) Prev() *Node { return n.prev }

// Nodes yields the nodes in order. The node in hand may be removed, and nodes
// may be inserted before or after it: those after it are visited.
func (g *Graph) Nodes() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for n := g.head; n != nil; n = n.next {
			if !yield(n) {
				return
			}
		}
	}
}

// AllNodes yields the nodes of the graph and of every subgraph, each node
// before the nodes of its subgraphs.
func (g *Graph) AllNodes() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { g.walk(yield) }
}

func (g *Graph) walk(yield func(*Node) bool) bool {
	for n := g.head; n != nil; n = n.next {
		if !yield(n) {
			return false
		}
		for s := range n.Subgraphs() {
			if !s.walk(yield) {
				return false
			}
		}
	}
	return true
}

// Append adds a node at the end.
func (g *Graph) Append(n *Node) { g.insert(n, g.tail, nil) }

// InsertBefore adds a node before mark, which must be in the graph.
func (g *Graph) InsertBefore(n, mark *Node) { g.insert(n, mark.prev, mark) }

// InsertAfter adds a node after mark, which must be in the graph.
func (g *Graph) InsertAfter(n, mark *Node) { g.insert(n, mark, mark.next) }

func (g *Graph) insert(n, prev, next *Node) {
	n.graph, n.prev, n.next = g, prev, next
	if prev == nil {
		g.head = n
	} else {
		prev.next = n
	}
	if next == nil {
		g.tail = n
	} else {
		next.prev = n
	}
	g.count++
}

// Remove takes a node out of the graph and releases what it and the nodes of
// its subgraphs read. The values it defined lose their definition if it still
// is theirs.
func (g *Graph) Remove(n *Node) {
	g.Detach(n)
	n.SetInputs(nil)
	for s := range n.Subgraphs() {
		for m := range s.AllNodes() {
			m.SetInputs(nil)
		}
	}
	for _, v := range n.outputs {
		if v != nil && v.def == n {
			v.def = nil
		}
	}
}

// Clear removes every node; see Remove.
func (g *Graph) Clear() {
	for n := range g.Nodes() {
		g.Remove(n)
	}
}

// Detach takes a node out of the graph without touching its inputs and
// outputs, to be inserted elsewhere.
func (g *Graph) Detach(n *Node) {
	if n.prev == nil {
		g.head = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		g.tail = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.graph = nil
	g.count--
}

// AddInitializer adds a constant to the graph and returns its value.
func (g *Graph) AddInitializer(name string, t *Tensor) *Value {
	dims := make(Shape, len(t.Dims))
	for i, d := range t.Dims {
		dims[i] = Int(d)
	}
	v := &Value{Name: name, Type: TensorOf(t.Type, dims...), Init: t}
	g.Initializers = append(g.Initializers, v)
	return v
}

// IsOutput reports whether v is an output of the graph.
func (g *Graph) IsOutput(v *Value) bool {
	for _, o := range g.Outputs {
		if o == v {
			return true
		}
	}
	return false
}
