package spec

import "slices"

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
