package passes

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"mobiusc/ir"
	"mobiusc/ops"
)

// CSE merges what is computed or stored twice.
//
// Before: nodes are ordered and names unique; Legalise has moved constants to the
// model's graph.
//
// After: no two initializers of the model's graph have the same type, dims and
// content, and no node of a standard operator repeats one that stands before it
// in its graph or in a graph around it: same operator, attributes and inputs.
// The first of them stays, with its names and metadata; sizes that were named
// after values of others are named after its. Not merged are nodes
// that define an output of a graph, draw random numbers or hold subgraphs,
// initializers whose content is external (a parameter is itself even where two
// are equal), and inputs' defaults.
//
// A merged node or initializer counts as a change.
func CSE(m *ir.Model) (changed bool, err error) {
	c := &merger{returned: returnersOf(m.Graph), ids: make(map[*ir.Value]int, 2*m.Graph.Len()), declared: declaredSymbols(m.Graph), sizes: map[string]ir.Dim{}}
	c.constants(m.Graph)
	c.graph(m.Graph, nil)
	c.renameSizes(m.Graph)
	return c.changed, nil
}

type merger struct {
	returned returners
	ids      map[*ir.Value]int // a number for each value, for keys
	declared map[string]bool   // symbols of the graph's inputs
	sizes    map[string]ir.Dim // what symbols named after merged values stand for
	key      []byte            // scratch
	changed  bool
}

// constants merges equal initializers.
func (c *merger) constants(g *ir.Graph) {
	first := map[string]*ir.Value{}
	kept := g.Initializers[:0:0]
	for _, v := range g.Initializers {
		key, ok := constantKey(v.Init)
		if !ok || slices.Contains(g.Inputs, v) || len(c.returned[v]) > 0 {
			kept = append(kept, v)
			continue
		}
		if w := first[key]; w != nil {
			v.ReplaceUses(w)
			c.changed = true
			continue
		}
		first[key] = v
		kept = append(kept, v)
	}
	g.Initializers = kept
}

// constantKey identifies a constant held in memory by its type, dims and
// content, a large one by the hash of its content.
func constantKey(t *ir.Tensor) (key string, ok bool) {
	if t == nil || t.External != nil || t.Sparse != nil {
		return "", false
	}
	var b []byte
	b = binary.AppendVarint(b, int64(t.Type))
	b = appendInts(b, t.Dims)
	b = appendList(b, t.Strings)
	if len(t.Raw) > 64 {
		sum := sha256.Sum256(t.Raw)
		return string(append(b, sum[:]...)), true
	}
	return string(append(b, t.Raw...)), true
}

func appendInts(b []byte, values []int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(values)))
	for _, v := range values {
		b = binary.AppendVarint(b, v)
	}
	return b
}

func appendList(b []byte, values [][]byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(values)))
	for _, v := range values {
		b = binary.AppendUvarint(b, uint64(len(v)))
		b = append(b, v...)
	}
	return b
}

// seen is the nodes that a graph can reuse: those before in it, and in the
// graphs around it, those before the node that holds it.
type seen struct {
	outer *seen
	nodes map[string]*ir.Node
}

func (s *seen) find(key string) *ir.Node {
	for ; s != nil; s = s.outer {
		if n := s.nodes[key]; n != nil {
			return n
		}
	}
	return nil
}

func (c *merger) graph(g *ir.Graph, outer *seen) {
	here := &seen{outer, make(map[string]*ir.Node, g.Len())}
	for n := range g.Nodes() {
		for s := range n.Subgraphs() {
			c.graph(s, here)
		}
		key, ok := c.nodeKey(n)
		if !ok {
			continue
		}
		if first := here.find(key); first == nil {
			here.nodes[key] = n
		} else if c.replaces(first, n) {
			c.merge(first, n)
		}
	}
}

// replaces reports whether first has every output of n that is read, and n has
// none that must stay.
func (c *merger) replaces(first, n *ir.Node) bool {
	for i, v := range n.Outputs() {
		if v == nil {
			continue
		}
		if len(c.returned[v]) > 0 || first.Output(i) == nil && len(v.Uses()) > 0 {
			return false
		}
	}
	return true
}

func (c *merger) merge(first, n *ir.Node) {
	for i, v := range n.Outputs() {
		if v != nil && len(v.Uses()) > 0 {
			c.sameSizes(v, first.Output(i))
			v.ReplaceUses(first.Output(i))
		}
	}
	n.Graph().Remove(n)
	c.changed = true
}

// sameSizes records that the symbols named after v stand for sizes of w.
func (c *merger) sameSizes(v, w *ir.Value) {
	if v.Type == nil || w.Type == nil || len(v.Type.Shape) != len(w.Type.Shape) {
		return
	}
	one := v.Type.Ranked
	for i, d := range v.Type.Shape {
		n, isNumber := d.Int()
		one = one && isNumber && n == 1
		if name := valueSymbol(v, i); d.Equal(ir.Sym(name)) && !c.declared[name] {
			c.sizes[name] = w.Type.Shape[i]
		}
	}
	// A name that ends so could be that of an axis of another value.
	if name := valueSymbol(v, -1); one && isIndex(v.Type.Elem) && !c.declared[name] && !strings.HasSuffix(name, "]") {
		c.sizes[name] = ir.Integer(valueSymbol(w, -1))
	}
}

func isIndex(t ir.DataType) bool { return t == ir.Int64 || t == ir.Int32 }

// renameSizes replaces the symbols of merged values.
func (c *merger) renameSizes(g *ir.Graph) {
	if len(c.sizes) == 0 {
		return
	}
	symbols := ir.NewSubstitution(c.sizes)
	rename := func(values []*ir.Value) {
		for _, v := range values {
			if v != nil {
				v.Type = symbols.Type(v.Type)
			}
		}
	}
	for n := range g.AllNodes() {
		rename(n.Outputs())
		for s := range n.Subgraphs() {
			rename(s.Inputs)
		}
	}
}

// nodeKey identifies what a node computes; ok is false where equal nodes must
// not be merged.
func (c *merger) nodeKey(n *ir.Node) (key string, ok bool) {
	if !ops.IsDefault(n.Domain) || !ops.Deterministic(n) {
		return "", false
	}
	b := append(c.key[:0], n.OpType...)
	b = append(b, 0)
	for _, v := range n.Inputs() {
		b = binary.AppendUvarint(b, uint64(c.id(v)))
	}
	attrs := slices.Clone(n.Attrs)
	slices.SortFunc(attrs, func(x, y *ir.Attr) int { return strings.Compare(x.Name, y.Name) })
	for _, a := range attrs {
		if b, ok = appendAttr(b, a); !ok {
			return "", false
		}
	}
	c.key = b
	return string(b), true
}

// id numbers values from 1; 0 is an absent input.
func (c *merger) id(v *ir.Value) int {
	if v == nil {
		return 0
	}
	if c.ids[v] == 0 {
		c.ids[v] = len(c.ids) + 1
	}
	return c.ids[v]
}

// appendAttr adds an attribute to a key; ok is false for kinds that no operator
// without subgraphs has.
func appendAttr(b []byte, a *ir.Attr) (key []byte, ok bool) {
	b = append(b, 0)
	b = append(b, a.Name...)
	b = append(b, 0, byte(a.Type))
	switch a.Type {
	case ir.AttrFloat:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(a.Float)), a.Ref == ""
	case ir.AttrInt:
		return binary.AppendVarint(b, a.Int), a.Ref == ""
	case ir.AttrString:
		return appendList(b, [][]byte{a.Bytes}), a.Ref == ""
	case ir.AttrFloats:
		b = binary.AppendUvarint(b, uint64(len(a.Floats)))
		for _, f := range a.Floats {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
		}
		return b, a.Ref == ""
	case ir.AttrInts:
		return appendInts(b, a.Ints), a.Ref == ""
	case ir.AttrStrings:
		return appendList(b, a.Strings), a.Ref == ""
	case ir.AttrTensor:
		content, ok := constantKey(a.Tensor)
		return appendList(b, [][]byte{[]byte(content)}), ok && a.Ref == ""
	}
	return b, false
}
