package diff

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mobiusc/internal/float16"
	"mobiusc/ir"
)

// operator returns the operator of a node as text: domain.Op:overload.
func operator(n *ir.Node) string {
	s := n.OpType
	if n.Domain != "" && n.Domain != "ai.onnx" {
		s = n.Domain + "." + s
	}
	if n.Overload != "" {
		s += ":" + n.Overload
	}
	return s
}

// attributes returns the attributes of a node as text by name. Subgraphs are
// described by their structure.
func attributes(n *ir.Node) map[string]string {
	out := map[string]string{}
	for _, a := range n.Attrs {
		out[a.Name] = attribute(a)
	}
	return out
}

func attribute(a *ir.Attr) string {
	switch {
	case a.Ref != "":
		return "@" + a.Ref
	case a.Type == ir.AttrFloat:
		return float(float64(a.Float))
	case a.Type == ir.AttrInt:
		return strconv.FormatInt(a.Int, 10)
	case a.Type == ir.AttrString:
		return strconv.Quote(string(a.Bytes))
	case a.Tensor != nil:
		return tensor(a.Tensor)
	case a.Graph != nil:
		return "graph " + digest(structure(a.Graph))
	case a.Type == ir.AttrFloats:
		return list(a.Floats, func(f float32) string { return float(float64(f)) })
	case a.Type == ir.AttrInts:
		return list(a.Ints, func(i int64) string { return strconv.FormatInt(i, 10) })
	case a.Type == ir.AttrStrings:
		return list(a.Strings, func(s []byte) string { return strconv.Quote(string(s)) })
	case len(a.Tensors) > 0:
		return list(a.Tensors, tensor)
	case len(a.Graphs) > 0:
		return list(a.Graphs, func(g *ir.Graph) string { return "graph " + digest(structure(g)) })
	case a.TypeVal != nil:
		return a.TypeVal.String()
	case len(a.Types) > 0:
		return list(a.Types, (*ir.Type).String)
	}
	return a.Type.String()
}

func float(f float64) string { return strconv.FormatFloat(f, 'g', -1, 32) }

func list[T any](items []T, text func(T) string) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = text(item)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// shownElements is how many elements of a tensor are shown.
const shownElements = 8

// tensor describes a constant: its elements if they are few, else its type and a
// digest of its content.
func tensor(t *ir.Tensor) string {
	head := t.Type.String() + list(t.Dims, func(i int64) string { return strconv.FormatInt(i, 10) })
	if len(t.Dims) == 0 {
		head = t.Type.String()
	}
	if t.External != nil {
		return fmt.Sprintf("%s in %s at %d", head, t.External.Location, t.External.Offset)
	}
	if t.Len() > shownElements || t.Sparse != nil {
		return head + " " + digest(string(t.Raw)+strings.Join(texts(t.Strings), "\x00"))
	}
	c := *t
	c.Name = ""
	if c.Type == ir.Float16 || c.Type == ir.BFloat16 { // whose text is their bits
		return head + " {" + strings.Join(halves(t), ", ") + "}"
	}
	return c.String()
}

// halves returns the elements of a tensor of 16-bit floats as text.
func halves(t *ir.Tensor) []string {
	value := float16.F16Value
	if t.Type == ir.BFloat16 {
		value = float16.BF16Value
	}
	var out []string
	for i := 0; i+1 < len(t.Raw); i += 2 {
		out = append(out, float(float64(value(binary.LittleEndian.Uint16(t.Raw[i:])))))
	}
	return out
}

func texts(list [][]byte) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// digest returns the first 8 hex digits of a hash.
func digest(s string) string { return fmt.Sprintf("#%x", sha256.Sum256([]byte(s)))[:9] }

// itself describes a node without its surroundings: operator, attributes, which
// inputs and outputs there are, and constants among the inputs.
func (n *node) itself() string {
	var s strings.Builder
	s.WriteString(operator(n.Node))
	attrs := attributes(n.Node)
	for _, name := range sortedKeys(attrs) {
		s.WriteString(" " + name + "=" + attrs[name])
	}
	for i, v := range n.reads {
		s.WriteByte(' ')
		switch {
		case v == nil:
			s.WriteByte('-')
		case constantOf(v) != nil:
			s.WriteString(tensor(constantOf(v)))
		case v.Init != nil:
			s.WriteByte('p')
		case i >= len(n.Inputs()):
			s.WriteByte('c')
		default:
			s.WriteByte('v')
		}
	}
	for _, v := range n.Outputs() {
		if v == nil || v.Name == "" {
			s.WriteString(" >-")
		} else {
			s.WriteString(" >v")
		}
	}
	return s.String()
}

// structure describes a subgraph completely, without names: two subgraphs with
// one description compute the same from the same captures.
func structure(g *ir.Graph) string {
	var s strings.Builder
	o := order(g)
	own := map[*ir.Value]string{}
	for i, v := range g.Inputs {
		own[v] = fmt.Sprintf("i%d:%v", i, v.Type)
	}
	captured := 0
	name := func(v *ir.Value) string {
		switch {
		case v == nil:
			return "-"
		case constantOf(v) != nil:
			return tensor(constantOf(v))
		case own[v] != "":
			return own[v]
		case v.Init != nil && slices.Contains(g.Initializers, v):
			return "p" + v.Name
		}
		captured++
		own[v] = fmt.Sprintf("c%d", captured)
		return own[v]
	}
	for _, n := range o.nodes {
		s.WriteString(n.itself())
		for _, v := range n.reads {
			s.WriteString("," + name(v))
		}
		s.WriteByte('\n')
		for k, v := range n.Outputs() {
			own[v] = fmt.Sprintf("n%d.%d", n.index, k)
		}
	}
	for _, v := range g.Outputs {
		s.WriteString("=" + name(v))
	}
	return s.String()
}
