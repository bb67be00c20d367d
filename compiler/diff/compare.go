package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mobiusc/ir"
)

// comparison gathers the changes of the nodes of two graphs, subgraphs included.
type comparison struct {
	changes []nodeChange
	outer   []string // paths of the nodes around the graphs in hand
}

// nodeChange is what became of one node.
type nodeChange struct {
	status  Status
	subject string
	path    string
	changes []Change
}

// scope is one graph of a pair.
type scope struct {
	*ordered
	// token holds what both sides know a value by that no node of the graph
	// produces: an input, a parameter, a value of an outer graph.
	token map[*ir.Value]string
	label map[*ir.Value]string // what people know a value of an outer graph by
}

func newScope(g *ir.Graph) *scope {
	return &scope{order(g), map[*ir.Value]string{}, map[*ir.Value]string{}}
}

// matcher pairs the nodes of two graphs.
type matcher struct {
	a, b *scope
	p    pairing
	ids  map[string]int32
}

// graphs compares two graphs.
func (c *comparison) graphs(a, b *scope) {
	m := &matcher{a: a, b: b, p: newPairing(len(a.nodes), len(b.nodes)), ids: map[string]int32{}}
	m.pair()
	c.report(m)
}

// pair pairs nodes, the surest first.
func (m *matcher) pair() {
	a, b := m.keys(m.a), m.keys(m.b)
	m.p.refine(a.deep, b.deep)
	m.p.refine(a.around, b.around)
	m.p.refine(a.self, b.self)
	m.p.refine(a.op, b.op)
	m.moved(a.deep, b.deep)
	m.moved(a.around, b.around)
	m.unsupported(a.self, b.self)
}

// nodeKeys describes each node of a graph, each description as a number that is
// equal for equal descriptions of both graphs.
type nodeKeys struct {
	op     []int32 // the operator
	self   []int32 // attributes, constants, and which inputs and outputs there are
	around []int32 // self, of the node and of those it reads and is read by
	deep   []int32 // self, of the node and of all that it is computed from
}

func (m *matcher) keys(s *scope) nodeKeys {
	n := len(s.nodes)
	k := nodeKeys{make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)}
	for i, node := range s.nodes {
		k.op[i] = m.id("op " + operator(node.Node))
		k.self[i] = m.id(node.itself())
	}
	for i, node := range s.nodes {
		var near, far strings.Builder
		fmt.Fprintf(&near, "near %d", k.self[i])
		fmt.Fprintf(&far, "far %d", k.self[i])
		for _, v := range node.reads {
			if p := s.producer(v); p != nil {
				_, out := v.Def()
				fmt.Fprintf(&near, " <%d.%d", k.self[p.index], out)
				fmt.Fprintf(&far, " %d.%d", k.deep[p.index], out)
				continue
			}
			near.WriteString(" <" + s.kind(v))
			far.WriteString(" " + s.name(v))
		}
		for _, r := range node.readers {
			fmt.Fprintf(&near, " >%d", k.self[r.index])
		}
		k.around[i], k.deep[i] = m.id(near.String()), m.id(far.String())
	}
	return k
}

func (m *matcher) id(text string) int32 {
	id, ok := m.ids[text]
	if !ok {
		id = int32(len(m.ids))
		m.ids[text] = id
	}
	return id
}

// name describes a value that no node of the graph produces, by its name where
// the name counts.
func (s *scope) name(v *ir.Value) string {
	switch {
	case v == nil:
		return "-"
	case constantOf(v) != nil:
		return "constant" // it is a part of the node
	case s.token[v] != "":
		return s.token[v]
	}
	return "undefined " + v.Name
}

// kind describes such a value without its name.
func (s *scope) kind(v *ir.Value) string {
	if v != nil && v.Init != nil && constantOf(v) == nil {
		return "parameter"
	}
	kind, _, _ := strings.Cut(s.name(v), " ")
	return kind
}

// moved pairs nodes of equal keys that are left, wherever they stand.
func (m *matcher) moved(a, b []int32) {
	left := map[int32][]int{}
	for j, i := range m.p.b {
		if i < 0 {
			left[b[j]] = append(left[b[j]], j)
		}
	}
	for i, j := range m.p.a {
		if js := left[a[i]]; j < 0 && len(js) > 0 {
			m.p.set(i, js[0])
			left[a[i]] = js[1:]
		}
	}
}

// unsupported parts pairs that have nothing in common but the operator: of
// different attributes, neither reading nor being read by a pair.
func (m *matcher) unsupported(a, b []int32) {
	var apart []int
	for i, j := range m.p.a {
		if j >= 0 && a[i] != b[j] && !m.supported(m.a.nodes[i], m.b.nodes[j]) {
			apart = append(apart, i)
		}
	}
	for _, i := range apart {
		m.p.unset(i)
	}
}

func (m *matcher) supported(a, b *node) bool {
	for i := range min(len(a.reads), len(b.reads)) {
		if va := a.reads[i]; va != nil && constantOf(va) == nil && m.corresponds(va, b.reads[i]) {
			return true
		}
	}
	readers := map[int]bool{}
	for _, r := range b.readers {
		readers[r.index] = true
	}
	for _, r := range a.readers {
		if j := m.p.a[r.index]; j >= 0 && readers[j] {
			return true
		}
	}
	return len(a.reads) == 0 && len(b.reads) == 0
}

// corresponds reports whether a value of one graph is the counterpart of one of
// the other.
func (m *matcher) corresponds(va, vb *ir.Value) bool {
	if va == nil || vb == nil {
		return va == vb
	}
	ca, cb := constantOf(va), constantOf(vb)
	if ca != nil || cb != nil {
		return ca != nil && cb != nil && tensor(ca) == tensor(cb)
	}
	pa, pb := m.a.producer(va), m.b.producer(vb)
	if pa == nil || pb == nil {
		return pa == nil && pb == nil && m.a.name(va) == m.b.name(vb)
	}
	_, ia := va.Def()
	_, ib := vb.Def()
	return m.p.a[pa.index] == pb.index && ia == ib
}

// report adds what differs, in the order of the graphs: what was removed before
// what stands in its place.
func (c *comparison) report(m *matcher) {
	j := 0
	added := func(until int) {
		for ; j < until; j++ {
			if m.p.b[j] < 0 {
				c.add(Added, m.b, m.b.nodes[j], nil)
			}
		}
	}
	for i, n := range m.a.nodes {
		k := m.p.a[i]
		if k < 0 {
			c.add(Removed, m.a, n, nil)
			continue
		}
		added(k)
		c.pair(m, n, m.b.nodes[k])
	}
	added(len(m.b.nodes))
	c.outputs(m)
}

func (c *comparison) add(status Status, s *scope, n *node, changes []Change) {
	subject := operator(n.Node)
	if changes == nil {
		attrs := attributes(n.Node)
		var parts []string
		for _, name := range sortedKeys(attrs) {
			parts = append(parts, name+" = "+attrs[name])
		}
		if len(parts) > 0 {
			subject += " <" + strings.Join(parts, ", ") + ">"
		}
		var reads []string
		for _, v := range n.Inputs() {
			reads = append(reads, s.describe(v))
		}
		subject += " (" + strings.Join(reads, ", ") + ")"
	}
	c.changes = append(c.changes, nodeChange{status, subject, c.path(n), changes})
}

// path returns the module paths of a node, outer nodes first.
func (c *comparison) path(n *node) string {
	parts := append(slices.Clone(c.outer), modulePath(n.Name))
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), inside)
}

// inside stands between the path of a node and what it holds.
const inside = " ▸ "

// pair reports what differs between two paired nodes.
func (c *comparison) pair(m *matcher, a, b *node) {
	changes := compareMaps(plainAttributes(a.Node), plainAttributes(b.Node))
	for i := range max(len(a.Inputs()), len(b.Inputs())) {
		va, vb := a.Input(i), b.Input(i)
		if !m.corresponds(va, vb) && !m.replaced(va, vb) {
			change := Change{fmt.Sprintf("input %d", i), m.a.describe(va), m.b.describe(vb)}
			if change.A == change.B {
				change.B += ", another one"
			}
			changes = append(changes, change)
		}
	}
	if na, nb := present(a.Outputs()), present(b.Outputs()); na != nb {
		changes = append(changes, Change{"outputs", fmt.Sprint(na), fmt.Sprint(nb)})
	}
	if len(changes) > 0 {
		c.add(Changed, m.b, b, changes)
	}
	ga, gb := subgraphs(a.Node), subgraphs(b.Node)
	for _, name := range sortedKeys(ga) {
		if gb[name] != nil {
			c.subgraph(m, a, b, name, ga[name], gb[name])
		}
	}
}

// replaced reports whether one value's producer was removed and the other's
// added: that the reader follows is no news.
func (m *matcher) replaced(va, vb *ir.Value) bool {
	pa, pb := m.a.producer(va), m.b.producer(vb)
	return pa != nil && pb != nil && m.p.a[pa.index] < 0 && m.p.b[pb.index] < 0
}

func present(values []*ir.Value) int {
	n := 0
	for _, v := range values {
		if v != nil && v.Name != "" {
			n++
		}
	}
	return n
}

// outputs reports outputs of the graph that another value is given out as.
func (c *comparison) outputs(m *matcher) {
	outputs := pairByPosition
	if len(c.outer) == 0 { // at the top, names say which belong together
		outputs = pairByName
	}
	for _, p := range outputs(m.a.graph.Outputs, m.b.graph.Outputs) {
		if p.a != nil && p.b != nil && !m.corresponds(p.a, p.b) && !m.replaced(p.a, p.b) {
			change := Change{"value", m.a.describe(p.a), m.b.describe(p.b)}
			c.changes = append(c.changes, nodeChange{Changed, "output " + p.b.Name, strings.Join(c.outer, inside), []Change{change}})
		}
	}
}

// describe says what a value is: the operator and the module that it comes from,
// a constant, an input or a parameter.
func (s *scope) describe(v *ir.Value) string {
	switch {
	case v == nil:
		return "none"
	case constantOf(v) != nil:
		return tensor(constantOf(v))
	}
	p := s.producer(v)
	if p == nil {
		return cmp.Or(s.label[v], v.Name)
	}
	text := operator(p.Node)
	if path := modulePath(p.Name); path != "" {
		text += " of " + path
	}
	if _, out := v.Def(); out > 0 {
		text += fmt.Sprintf(", output %d", out)
	}
	return text
}
