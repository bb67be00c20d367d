package diff

import (
	"slices"

	"mobiusc/ir"
)

// ordered is a graph whose nodes are in an order that names do not influence:
// depth first from the outputs, inputs before the node that reads them, and then
// what no output needs. Constant nodes are left out: they count as content.
type ordered struct {
	graph *ir.Graph
	nodes []*node
	of    map[*ir.Node]*node
}

// node is a node with what it reads: its inputs, and the values of outer graphs
// that its subgraphs read.
type node struct {
	*ir.Node
	index    int
	reads    []*ir.Value // Inputs, then captures; nil: absent
	captures int         // how many of reads are captures
	// readers are the nodes of the same graph that read an output.
	readers []*node
}

func order(g *ir.Graph) *ordered {
	o := &ordered{graph: g, of: map[*ir.Node]*node{}}
	for _, v := range g.Outputs {
		o.visit(v)
	}
	for n := range g.Nodes() {
		o.add(n)
	}
	for _, n := range o.nodes {
		for _, v := range n.reads {
			if p := o.producer(v); p != nil {
				p.readers = append(p.readers, n)
			}
		}
	}
	return o
}

func (o *ordered) visit(v *ir.Value) {
	if v == nil {
		return
	}
	if n := v.Producer(); n != nil && n.Graph() == o.graph {
		o.add(n)
	}
}

// add appends what a node needs and the node. It recurses as deep as the graph
// is long, which Go's stacks allow.
func (o *ordered) add(n *ir.Node) {
	if _, seen := o.of[n]; seen || n.OpType == "Constant" && n.Domain == "" {
		return
	}
	w := &node{Node: n, reads: slices.Clone(n.Inputs())}
	o.of[n] = w
	w.reads = append(w.reads, captures(n)...)
	w.captures = len(w.reads) - len(n.Inputs())
	for _, v := range w.reads {
		o.visit(v)
	}
	w.index = len(o.nodes)
	o.nodes = append(o.nodes, w)
}

// producer returns the node of this graph that produces a value, or nil.
func (o *ordered) producer(v *ir.Value) *node {
	if v == nil {
		return nil
	}
	if n := v.Producer(); n != nil {
		return o.of[n]
	}
	return nil
}

// captures returns the values that the subgraphs of a node read and do not
// define, in the order in which a name-free walk meets them.
func captures(n *ir.Node) []*ir.Value {
	var out []*ir.Value
	seen := map[*ir.Value]bool{}
	for g := range n.Subgraphs() {
		for _, v := range outside(g) {
			if !seen[v] {
				seen[v] = true
				out = append(out, v)
			}
		}
	}
	return out
}

// outside returns what the nodes and outputs of a graph read that the graph
// itself does not define, each once, in name-free order.
func outside(g *ir.Graph) []*ir.Value {
	own := defined(g)
	var out []*ir.Value
	add := func(values []*ir.Value) {
		for _, v := range values {
			if v != nil && !own[v] && constantOf(v) == nil {
				own[v] = true
				out = append(out, v)
			}
		}
	}
	for _, n := range order(g).nodes {
		add(n.reads)
	}
	add(g.Outputs)
	return out
}

// defined returns the values that a graph defines, without its subgraphs'.
func defined(g *ir.Graph) map[*ir.Value]bool {
	own := map[*ir.Value]bool{}
	for _, list := range [][]*ir.Value{g.Inputs, g.Initializers} {
		for _, v := range list {
			own[v] = true
		}
	}
	for n := range g.Nodes() {
		for _, v := range n.Outputs() {
			own[v] = true
		}
	}
	return own
}

// constantOf returns the content of a value that is a small constant, which
// counts as a part of the nodes that read it; else nil. Everything else that is
// stored is a parameter: it is known by its name.
func constantOf(v *ir.Value) *ir.Tensor {
	t := v.Init
	if n := v.Producer(); n != nil && n.OpType == "Constant" && n.Domain == "" {
		t = constantNode(n)
		return t
	}
	if t == nil || t.External != nil || t.Sparse != nil {
		return nil
	}
	n := t.Len()
	held := len(t.Raw) > 0 || len(t.Strings) > 0 || n == 0
	if held && (n <= 1 || n <= smallConstant && !t.Type.IsFloat()) {
		return t
	}
	return nil
}

// smallConstant is the number of elements up to which whole numbers are taken
// for a shape, a list of axes or the like.
const smallConstant = 64

// constantNode returns the content of a Constant node.
func constantNode(n *ir.Node) *ir.Tensor {
	for _, a := range n.Attrs {
		switch a.Name {
		case "value", "sparse_value":
			if a.Tensor != nil {
				return a.Tensor
			}
		case "value_int":
			return ir.Int64Scalar(a.Int)
		case "value_ints":
			return ir.Ints64(a.Ints...)
		case "value_float":
			return ir.Float32Scalar(a.Float)
		case "value_floats":
			return ir.Floats32(a.Floats...)
		case "value_string":
			return &ir.Tensor{Type: ir.String, Dims: []int64{}, Strings: [][]byte{a.Bytes}}
		case "value_strings":
			return &ir.Tensor{Type: ir.String, Dims: []int64{int64(len(a.Strings))}, Strings: a.Strings}
		}
	}
	return &ir.Tensor{Type: ir.Undefined, Dims: []int64{}}
}
