package spec

import (
	"slices"
	"strings"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// checkLets reports named expressions that depend on themselves, used or not: at
// the name that closes the circle.
func (c *checked) checkLets(lets *tree.Node) {
	reads := map[string][]string{}
	places := map[[2]string]diag.Range{}
	for _, e := range entries(lets) {
		if e.Value.Kind != tree.String {
			continue
		}
		parsed := c.parse(e.Value)
		if parsed == nil {
			continue
		}
		expr.Walk(parsed.Root, func(n expr.Node) {
			if name, ok := n.(*expr.Name); ok && lets.Get(name.Name) != nil {
				step := [2]string{e.Key.Text, name.Name}
				if _, again := places[step]; !again {
					places[step] = parsed.Range(n)
					reads[e.Key.Text] = append(reads[e.Key.Text], name.Name)
				}
			}
		})
	}
	for _, chain := range cyclesOf(lets.Keys(), reads) {
		d := fault.Cycle(places[[2]string{chain[len(chain)-2], chain[0]}], chain[0])
		if len(chain) > 2 {
			d.Message += ": " + strings.Join(chain, " → ")
		}
		c.report(d)
	}
}

// cyclesOf returns chains of names that lead back to their first one: one for
// every step that closes a cycle on a walk from the names in their order. Where
// it returns none, there is none. The walk takes every step once: to list all
// cycles of a graph could take forever.
func cyclesOf(names []string, next map[string][]string) [][]string {
	var found [][]string
	var open []string
	done := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if i := slices.Index(open, name); i >= 0 {
			found = append(found, append(slices.Clone(open[i:]), name))
			return
		}
		if done[name] {
			return
		}
		open = append(open, name)
		for _, n := range next[name] {
			visit(n)
		}
		open = open[:len(open)-1]
		done[name] = true
	}
	for _, name := range names {
		visit(name)
	}
	return found
}
