package ir

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// Printer writes ONNX's textual syntax (onnx/docs/Syntax.md). The zero value
// writes everything that [ParseModel] reads, and what it writes is read back to
// the same model.
//
// The syntax lacks some things. In these cases, and only then, the output is
// beyond the grammar of onnx.parser:
//   - names of attributes, operators and overloads that are no identifiers, and
//     the names of subgraphs that are none, are quoted
//   - lists of tensors, graphs and types, and empty inner types, are written
//     like lists of numbers
//   - sparse tensors are written as sparse_tensor(float[9]) {1, 2} int64[2] {0, 4}
//   - metadata_props of a function stand in its header
//   - an element type that is missing is written undefined
//
// Documentation and metadata of graphs, nodes and values have no place in the
// syntax; Comments shows those of nodes. The payload of a NaN is not kept.
type Printer struct {
	// MaxElements is the count above which the elements of a tensor are left
	// out and only counted, which ParseModel refuses to read; 0: no limit.
	MaxElements int64
	// Comments appends metadata and documentation of nodes as comments.
	Comments bool
}

// brief is the printer of the functions without options.
var brief = Printer{MaxElements: 64}

// PrintModel writes a model without the elements of large tensors.
func PrintModel(w io.Writer, m *Model) error { return brief.Model(w, m) }

// PrintGraph writes a graph without the elements of large tensors.
func PrintGraph(w io.Writer, g *Graph) error { return brief.Graph(w, g) }

// PrintFunction writes a function without the elements of large tensors.
func PrintFunction(w io.Writer, f *Function) error { return brief.Function(w, f) }

// PrintNode writes a node without the elements of large tensors.
func PrintNode(w io.Writer, n *Node) error { return brief.Node(w, n) }

// String returns the model as text without the elements of large tensors.
func (m *Model) String() string { return text(func(w *writer) { w.model(m) }) }

// String returns the graph as text without the elements of large tensors.
func (g *Graph) String() string { return text(func(w *writer) { w.graph(g); w.str("\n") }) }

// String returns the function as text without the elements of large tensors.
func (f *Function) String() string { return text(func(w *writer) { w.function(f) }) }

// String returns the node as text without the elements of large tensors.
func (n *Node) String() string { return text(func(w *writer) { w.node(n) }) }

// String returns the constant as text without the elements of large tensors.
func (t *Tensor) String() string { return text(func(w *writer) { w.tensor(t) }) }

// String returns the type as text; the empty string when it is unknown.
func (t *Type) String() string { return text(func(w *writer) { w.typ(t) }) }

func text(write func(*writer)) string {
	var b strings.Builder
	_ = brief.run(&b, write) // a Builder does not fail
	return b.String()
}

// Model writes a model.
func (p Printer) Model(out io.Writer, m *Model) error {
	return p.run(out, func(w *writer) { w.model(m) })
}

// Graph writes a graph.
func (p Printer) Graph(out io.Writer, g *Graph) error {
	return p.run(out, func(w *writer) { w.graph(g); w.str("\n") })
}

// Function writes a function.
func (p Printer) Function(out io.Writer, f *Function) error {
	return p.run(out, func(w *writer) { w.function(f) })
}

// Node writes a node, without a line break at its end.
func (p Printer) Node(out io.Writer, n *Node) error {
	return p.run(out, func(w *writer) { w.node(n) })
}

func (p Printer) run(out io.Writer, write func(*writer)) error {
	w := &writer{Printer: p, out: bufio.NewWriter(out)}
	write(w)
	return w.out.Flush() // reports the first error of any write
}

// writer is one run of a Printer.
type writer struct {
	Printer
	out   *bufio.Writer
	depth int // of nested graphs
}

func (w *writer) str(parts ...string) {
	for _, s := range parts {
		w.out.WriteString(s)
	}
}

func (w *writer) int(n int64) { w.str(strconv.FormatInt(n, 10)) }

// line begins a line, more levels deeper than the nodes of the graph at hand.
func (w *writer) line(more int) { w.str("\n", strings.Repeat("   ", w.depth+more)) }

// each writes items between separators.
func each[T any](w *writer, items []T, sep string, write func(T)) {
	for i, item := range items {
		if i > 0 {
			w.str(sep)
		}
		write(item)
	}
}

// quoteID returns a name as it stands in text: quoted where it could be taken
// for something else.
func quoteID(s string) string {
	if isIdent(s) && !isTypeWord(s) && !isSpecialFloat(s) {
		return s
	}
	return quote(s)
}

func (w *writer) id(s string) { w.str(quoteID(s)) }

// word returns a name as it stands where only plain names can: ONNX's own
// parser reads no quotes there, so they are kept for what needs them.
func word(s string) string {
	if isIdent(s) {
		return s
	}
	return quote(s)
}

func (w *writer) ids(values []*Value) {
	each(w, values, ", ", func(v *Value) {
		if v == nil {
			w.str(`""`)
			return
		}
		w.id(v.Name)
	})
}

func (w *writer) model(m *Model) {
	w.str("<\n   ir_version: ")
	w.int(m.IRVersion)
	w.str(",\n   opset_import: ")
	w.opsets(m.Opsets)
	for _, e := range []Property{
		{"producer_name", m.ProducerName}, {"producer_version", m.ProducerVersion}, {"domain", m.Domain},
	} {
		w.entry(e)
	}
	if m.ModelVersion != 0 {
		w.str(",\n   model_version: ")
		w.int(m.ModelVersion)
	}
	w.entry(Property{"doc_string", m.Doc})
	w.meta(m.Meta)
	w.str("\n>\n")
	w.graph(m.Graph)
	w.str("\n")
	for _, f := range m.Functions {
		w.str("\n")
		w.function(f)
	}
}

// entry writes a line of a header, if it has a value.
func (w *writer) entry(e Property) {
	if e.Value != "" {
		w.str(",\n   ", e.Key, ": ", quote(e.Value))
	}
}

func (w *writer) meta(p Properties) {
	if len(p) == 0 {
		return
	}
	w.str(",\n   metadata_props: [")
	each(w, p, ", ", func(e Property) { w.str(quote(e.Key), ": ", quote(e.Value)) })
	w.str("]")
}

func (w *writer) opsets(opsets []Opset) {
	w.str("[")
	each(w, opsets, ", ", func(o Opset) {
		w.str(quote(o.Domain), ": ")
		w.int(o.Version)
	})
	w.str("]")
}

func (w *writer) function(f *Function) {
	w.str("<\n   domain: ", quote(f.Domain))
	w.entry(Property{"overload", f.Overload})
	w.str(",\n   opset_import: ")
	w.opsets(f.Opsets)
	w.entry(Property{"doc_string", f.Doc})
	w.meta(f.Meta)
	w.str("\n>\n")
	w.id(f.Name)
	if len(f.Attributes)+len(f.Defaults) > 0 {
		w.str(" <")
		each(w, f.Attributes, ", ", w.id)
		if len(f.Attributes) > 0 && len(f.Defaults) > 0 {
			w.str(", ")
		}
		each(w, f.Defaults, ", ", w.attr)
		w.str(">")
	}
	w.graphRest(f.Body)
	w.str("\n")
}

func (w *writer) graph(g *Graph) {
	w.id(g.Name)
	w.graphRest(g)
}

// graphRest writes what follows the name of a graph or function.
func (w *writer) graphRest(g *Graph) {
	w.str(" (")
	each(w, g.Inputs, ", ", w.declaration)
	w.str(") => (")
	each(w, g.Outputs, ", ", w.declaration)
	w.str(")")
	if w.values(g) {
		w.line(0)
	} else {
		w.str(" ")
	}
	w.str("{")
	w.depth++
	for n := range g.Nodes() {
		w.line(0)
		w.node(n)
	}
	w.depth--
	w.line(0)
	w.str("}")
}

// declaration writes a value with its type.
func (w *writer) declaration(v *Value) {
	if v.Type != nil {
		w.typ(v.Type)
		w.str(" ")
	}
	w.id(v.Name)
}

// values writes the initializers and the types of the values between the nodes,
// and reports whether there are any.
func (w *writer) values(g *Graph) (any bool) {
	begin := func() {
		if any {
			w.str(",")
		} else {
			w.line(0)
			w.str("<")
		}
		w.line(1)
		any = true
	}
	for _, v := range g.Initializers {
		begin()
		w.initializer(v)
	}
	isOutput := make(map[*Value]bool, len(g.Outputs))
	for _, v := range g.Outputs {
		isOutput[v] = true
	}
	for n := range g.Nodes() {
		for _, v := range n.Outputs() {
			if v != nil && v.Type != nil && !isOutput[v] {
				begin()
				w.declaration(v)
			}
		}
	}
	if any {
		w.line(0)
		w.str(">")
	}
	return any
}
