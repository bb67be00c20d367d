package validate

import (
	"fmt"
	"slices"
	"strings"

	"mobiusc/internal/diag"
	"mobiusc/ir"
)

// place is one step of the path to what is being checked.
type place struct {
	outer *place
	kind  placeKind
	name  string
	node  *ir.Node
}

type placeKind uint8

const (
	modelPlace placeKind = iota
	graphPlace
	functionPlace
	nodePlace
	attributePlace
)

// String returns the path, outermost step first.
func (p *place) String() string {
	var steps []string
	for ; p != nil; p = p.outer {
		if s := p.step(); s != "" {
			steps = append(steps, s)
		}
	}
	if len(steps) == 0 {
		return "model"
	}
	slices.Reverse(steps)
	return strings.Join(steps, " > ")
}

func (p *place) step() string {
	switch p.kind {
	case graphPlace:
		return fmt.Sprintf("graph %q", p.name)
	case functionPlace:
		return "function " + p.name
	case nodePlace:
		return nodeStep(p.node)
	case attributePlace:
		return "attribute " + p.name
	}
	return ""
}

// nodeStep names a node; one without a name is known by its first output.
func nodeStep(n *ir.Node) string {
	op := n.OpType
	if n.Domain != "" {
		op = n.Domain + "." + op
	}
	if n.Name != "" {
		return fmt.Sprintf("node %q (%s)", n.Name, op)
	}
	for _, v := range n.Outputs() {
		if v != nil {
			return fmt.Sprintf("node (%s) of output %q", op, v.Name)
		}
	}
	return fmt.Sprintf("node (%s)", op)
}

// seenKey tells findings in function bodies apart: one that the body has for
// any call is not repeated for each.
type seenKey struct {
	check   *Check
	node    *ir.Node
	message string
}

// add appends a finding about a node of the walk's place, or, where the mention
// has none, about the place itself. Inside a function that is checked for one call, only what depends on
// the call is reported: the rest is reported once, for the function.
func (w *walk) add(c *Check, about ir.Mention, hint, format string, args []any) {
	if c.Severity == diag.Error {
		w.faults++
	}
	if w.attrs != nil && !c.perCall {
		return
	}
	message := fmt.Sprintf(format, args...)
	at := w.at
	if about.Node != nil {
		at = &place{outer: at, kind: nodePlace, node: about.Node}
	}
	if w.fn != nil && w.repeated(seenKey{c, at.enclosing(), message}) {
		return
	}
	f := Finding{Code: c.Code, Name: c.Name, Severity: c.Severity, Message: message, Hint: hint, About: about}
	f.Path = at.String()
	for ; at != nil && f.Source == ""; at = at.outer { // the innermost that says
		if at.node != nil {
			f.Source = at.node.Meta.Get("source")
		}
	}
	w.findings = append(w.findings, f)
}

// repeated reports whether a finding in a function body has been made before.
func (w *walk) repeated(key seenKey) bool {
	was := w.seen[key]
	w.seen[key] = true
	return was
}

// enclosing returns the node of the innermost step that has one, or nil.
func (p *place) enclosing() *ir.Node {
	for ; p != nil; p = p.outer {
		if p.node != nil {
			return p.node
		}
	}
	return nil
}
