package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/ir"
	"mobiusc/lowering"
	"mobiusc/ops"
	"mobiusc/validate"
)

// specFunction is a function of the spec and where it is written.
type specFunction struct {
	*ir.Function
	text     *tree.Node
	mentions ir.Mentions
}

// at returns where the text mentions a name, or its whole range.
func (f specFunction) at(m ir.Mention) diag.Range {
	if at, ok := f.mentions[m]; ok {
		return f.text.Span(at[0], at[1])
	}
	return f.text.Range
}

// head returns where the head of the function mentions a name.
func (f specFunction) head(role ir.MentionRole, name string) diag.Range {
	return f.at(ir.Mention{Graph: f.Body, Role: role, Name: name})
}

// operator returns where a node states its operator.
func (f specFunction) operator(n *ir.Node) diag.Range {
	return f.at(ir.Mention{Node: n, Role: ir.OperatorMention, Name: n.OpType})
}

// call returns where the function first calls another one of the spec.
func (f specFunction) call(name string) diag.Range {
	for n := range f.Body.AllNodes() {
		if n.Domain == lowering.SpecDomain && n.OpType == name {
			return f.operator(n)
		}
	}
	return f.text.Range
}

// checkFunctions reads the functions of the spec. In their bodies, a name that
// is no operator of ONNX is another function of the spec.
func (c *checked) checkFunctions() {
	section := c.s.root.Get("functions")
	calls := map[string][]string{}
	all := map[string]specFunction{}
	var sound []specFunction // whose operators all exist
	for _, e := range entries(section) {
		if e.Value.Kind != tree.String {
			continue
		}
		f, d := parseFunction(e)
		if d != nil {
			c.report(d)
			continue
		}
		known := c.checkImports(f)
		for n := range f.Body.AllNodes() {
			switch name := n.OpType; {
			case ops.IsStandard(n.Domain) && len(ops.Versions(n.Domain, name)) > 0:
			case ops.IsDefault(n.Domain) && section.Get(name) != nil:
				n.Domain = lowering.SpecDomain
				calls[f.Name] = append(calls[f.Name], name)
				c.uses.functions[name] = true
			case f.OpsetVersion(n.Domain) != 0 && !ops.IsStandard(n.Domain): // its import is reported
			default:
				known = false
				if !ops.IsDefault(n.Domain) {
					name = n.Domain + "." + name
				}
				c.report(fault.UnknownOperator(f.operator(n), name, slices.Concat(ops.Operators(""), section.Keys())))
			}
		}
		all[f.Name] = f
		if c.functions = append(c.functions, f.Function); known {
			sound = append(sound, f)
		}
	}
	for _, chain := range cyclesOf(section.Keys(), calls) {
		c.report(fault.BadFunction(all[chain[0]].call(chain[1]), "a function calls itself: %s", strings.Join(chain, " → ")))
		sound = nil // the validator would say it again
	}
	for _, f := range sound {
		c.checkFunctionBody(f)
	}
}

// checkImports refuses imports of what ONNX does not define: nothing of it could
// be said in its operators. It reports whether there are none.
func (c *checked) checkImports(f specFunction) bool {
	sound := true
	for _, o := range f.Opsets {
		at, newest := f.head(ir.DomainMention, o.Domain), ops.MaxOpset(o.Domain)
		switch {
		case newest == 0:
			c.report(fault.UnknownDomain(at, o.Domain))
		case o.Version < 1 || o.Version > newest:
			c.report(fault.UnknownOpset(at, o.Domain, o.Version, newest))
		default:
			continue
		}
		sound = false
	}
	return sound
}

// checkFunctionBody applies the rules of ONNX to a function, as far as they hold
// whatever the types of its inputs are. A mistake about one name is said once.
func (c *checked) checkFunctionBody(f specFunction) {
	m, err := ir.ParseModel("", fmt.Appendf(nil, `<ir_version: 10, opset_import: ["": %d]> main (float x) => (float y) { y = Identity (x) }`, f.OpsetVersion("")))
	if err != nil {
		panic(err) // the text is ours
	}
	m.Functions = c.functions
	seen := map[diag.Range]bool{}
	for _, found := range validate.Model(m, validate.Options{}) {
		path, inside := strings.CutPrefix(found.Path, "function "+f.Domain+"."+f.Name)
		if !inside || path != "" && !strings.HasPrefix(path, " > ") || found.Severity != diag.Error {
			continue
		}
		if n := found.About.Node; found.Code == noImport && n != nil && n.Domain == lowering.SpecDomain {
			continue
		}
		at := f.at(found.About)
		if seen[at] && found.About.Role != ir.NoMention && found.About.Role != ir.OperatorMention {
			continue
		}
		seen[at] = true
		d := fault.BadFunction(at, "%s", found.Message)
		d.Hint = found.Hint
		c.report(d)
	}
}

// noImport is the finding that a domain is not imported: functions of the spec
// call each other without.
const noImport = "MBV104"

// parseFunction reads one function and checks what block call relies on.
func parseFunction(e tree.Entry) (specFunction, *diag.Diagnostic) {
	functions, mentions, err := ir.ParseFunctionMentions(e.Key.Text, []byte(e.Value.Text))
	var none specFunction
	var syntax *ir.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at := offset(e.Value.Text, syntax.Line, syntax.Col)
		return none, fault.BadFunction(e.Value.Span(at, at+1), "%s", syntax.Msg)
	case err != nil:
		return none, fault.BadFunction(e.Value.Range, "%v", err)
	case len(functions) == 0:
		return none, fault.BadFunction(e.Value.Range, "the text holds no function")
	}
	f := specFunction{functions[0], e.Value, mentions}
	name := f.head(ir.OperatorMention, f.Name)
	if len(functions) > 1 {
		second := specFunction{functions[1], e.Value, mentions}
		return none, fault.SecondFunction(second.head(ir.OperatorMention, second.Name), second.Name, name)
	}
	switch {
	case f.Name != e.Key.Text:
		return none, fault.BadFunction(name, "the function is called %s here and %s in its key", f.Name, e.Key.Text)
	case len(ops.Versions("", f.Name)) > 0:
		return none, fault.BadFunction(e.Key.Range, "%s is an operator of ONNX: give the function another name", f.Name)
	case f.Domain != "":
		return none, fault.BadFunction(f.head(ir.HeaderMention, "domain"), "a function of a spec has no domain: it is called by its name alone")
	case f.Overload != "":
		return none, fault.BadFunction(f.head(ir.HeaderMention, "overload"), "a function of a spec has no overload: it is called by its name alone")
	case !slices.ContainsFunc(f.Opsets, func(o ir.Opset) bool { return ops.IsDefault(o.Domain) }):
		return none, fault.BadFunction(e.Value.Span(0, 1), `the function imports no opset: begin with the lowest that it is for, such as <opset_import: ["": 21]>`)
	case len(f.Body.Inputs) == 0 || len(f.Body.Outputs) != 1:
		return none, fault.BadFunction(name, "the function has %d inputs and %d outputs: it takes the stream and whatever else, and gives the new stream", len(f.Body.Inputs), len(f.Body.Outputs))
	}
	f.Domain = lowering.SpecDomain
	return f, nil
}

// offset returns the index of a place in a text, in characters.
func offset(text string, line, col int) int {
	n := 0
	for range line - 1 {
		head, tail, _ := strings.Cut(text, "\n")
		n += len([]rune(head)) + 1
		text = tail
	}
	return n + col - 1
}
