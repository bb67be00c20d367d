package lowering

import (
	"maps"
	"slices"
	"strings"

	"mobiusc/internal/diag"
	"mobiusc/internal/suggest"
)

// Tie says that a parameter is another one: From has no initializer of its own.
type Tie struct {
	From, To string
	Range    diag.Range

	scope string // that names are relative to where the tie stands, with its dot
}

// checkTies refuses a tie to a module that no block of any component is, or that
// has no weight of its own: the checkpoint would be asked for a tensor that
// nothing else names.
func checkTies(graphs []*Graph) (found diag.List) {
	owned, tied := map[string]bool{}, map[string]string{}
	for _, g := range graphs {
		for _, p := range g.Params {
			owned[p.Name] = owned[p.Name] || p.owned
		}
		for _, t := range g.Ties {
			tied[t.From] = t.To
		}
	}
	for _, g := range graphs {
		for _, t := range g.Ties {
			module := strings.TrimSuffix(t.To, ".weight")
			switch next := tied[t.To]; {
			case owned[t.To]:
			case next != "":
				d := unknownTie.At(t.Range, "the weight is tied to that of %s, which has none of its own", module)
				if owned[next] {
					d.Hint = "tie it to `" + t.written(strings.TrimSuffix(next, ".weight")) + "`"
				}
				found.Add(*d)
			default:
				d := unknownTie.At(t.Range, "the weight is tied to that of %s, and no block is called so", module)
				if near := suggest.Nearest(module, modules(owned)); near != "" {
					d.Hint = "did you mean `" + t.written(near) + "`?"
				}
				found.Add(*d)
			}
		}
	}
	return found
}

// written returns how a module is written where the tie stands.
func (t Tie) written(module string) string {
	if name, inside := strings.CutPrefix(module, t.scope); inside || t.scope == "." {
		return name
	}
	return "/" + module
}

// modules returns the paths of those that have a weight, in order.
func modules(params map[string]bool) (names []string) {
	for _, p := range slices.Sorted(maps.Keys(params)) {
		if module, ok := strings.CutSuffix(p, ".weight"); ok && params[p] {
			names = append(names, module)
		}
	}
	return names
}
