package validate

import (
	"fmt"
	"slices"
	"strings"

	"mobiusc/ir"
)

// sorted returns the names in order.
func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// cycles reports the circles among the nodes of a graph, one for each group of
// nodes that depend on each other. A node depends on the nodes that define what
// it or its subgraphs read.
func (w *walk) cycles(g *ir.Graph) {
	c := &circleFinder{graph: g, state: map[*ir.Node]*visit{}}
	for n := range g.Nodes() {
		if c.state[n] == nil {
			c.search(n)
		}
	}
	for _, circle := range c.circles {
		w.reportNode(cycle, circle[0], "the nodes depend on each other: %s", describeCircle(circle))
	}
}

// describeCircle names the nodes of a circle, of a long one the first few.
func describeCircle(circle []*ir.Node) string {
	const most = 8
	var names []string
	for _, n := range circle[:min(len(circle), most)] {
		names = append(names, nodeStep(n))
	}
	if len(circle) > most {
		names = append(names, fmt.Sprintf("(%d more)", len(circle)-most))
	}
	return strings.Join(append(names, nodeStep(circle[0])), " reads ")
}

// circleFinder is a depth-first search without recursion: a file may hold one
// chain of a million nodes.
type circleFinder struct {
	graph   *ir.Graph
	state   map[*ir.Node]*visit
	circles [][]*ir.Node
}

// visit is the state of one node: the nodes it depends on that are still to be
// followed; done when none is left.
type visit struct {
	next []*ir.Node
	done bool
}

func (c *circleFinder) search(root *ir.Node) {
	path := []*ir.Node{root}
	c.state[root] = &visit{next: c.dependencies(root)}
	for len(path) > 0 {
		top := c.state[path[len(path)-1]]
		if len(top.next) == 0 {
			top.done = true
			path = path[:len(path)-1]
			continue
		}
		n := top.next[0]
		top.next = top.next[1:]
		switch v := c.state[n]; {
		case v == nil:
			c.state[n] = &visit{next: c.dependencies(n)}
			path = append(path, n)
		case !v.done:
			c.circles = append(c.circles, slices.Clone(path[slices.Index(path, n):]))
		}
	}
}

// dependencies returns the nodes of the graph that a node depends on.
func (c *circleFinder) dependencies(n *ir.Node) []*ir.Node {
	var out []*ir.Node
	readsInside(n, func(v *ir.Value) {
		if p := v.Producer(); p != nil && p.Graph() == c.graph && !slices.Contains(out, p) {
			out = append(out, p)
		}
	})
	return out
}

// readsInside calls f for every value that a node or a node in its subgraphs
// reads.
func readsInside(n *ir.Node, f func(*ir.Value)) {
	visit := func(n *ir.Node) {
		for _, v := range n.Inputs() {
			if v != nil {
				f(v)
			}
		}
	}
	visit(n)
	visited := map[*ir.Graph]bool{}
	for _, g := range graphsOf(n) {
		eachNode(g, visited, visit)
	}
}

// eachNode calls f for every node of a graph and of its subgraphs. Unlike
// [ir.Graph.AllNodes] it stands graphs that are missing or contain themselves.
func eachNode(g *ir.Graph, visited map[*ir.Graph]bool, f func(*ir.Node)) {
	if g == nil || visited[g] {
		return
	}
	visited[g] = true
	for n := range g.Nodes() {
		f(n)
		for _, s := range graphsOf(n) {
			eachNode(s, visited, f)
		}
	}
}

// graphsOf returns the graphs that a node holds, missing ones as nil.
func graphsOf(n *ir.Node) (graphs []*ir.Graph) {
	for _, a := range n.Attrs {
		if a != nil && a.Graph != nil {
			graphs = append(graphs, a.Graph)
		}
		if a != nil {
			graphs = append(graphs, a.Graphs...)
		}
	}
	return graphs
}
