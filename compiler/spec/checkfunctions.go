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
	unknown := map[*ir.Node]bool{}
	for _, e := range entries(section) {
		if e.Value.Kind != tree.String {
			continue
		}
		f, found := parseFunction(e)
		c.found = append(c.found, found...)
		if f.Function == nil {
			continue
		}
		for n := range f.Body.AllNodes() {
			switch name := n.OpType; {
			case ops.IsStandard(n.Domain) && len(ops.Versions(n.Domain, name)) > 0:
			case ops.IsDefault(n.Domain) && section.Get(name) != nil:
				n.Domain = lowering.SpecDomain
				calls[f.Name] = append(calls[f.Name], name)
				c.uses.functions[name] = true
			case f.OpsetVersion(n.Domain) != 0 && !ops.IsStandard(n.Domain): // its import is reported
			default:
				unknown[n] = true
				if !ops.IsDefault(n.Domain) {
					name = n.Domain + "." + name
				}
				c.report(fault.UnknownOperator(f.operator(n), name, slices.Concat(ops.Operators(""), section.Keys())))
			}
		}
		all[f.Name] = f
		c.functions = append(c.functions, f.Function)
	}
	for _, chain := range cyclesOf(section.Keys(), calls) {
		c.report(fault.BadFunction(all[chain[0]].call(chain[1]), "a function calls itself: %s", strings.Join(chain, " → ")))
	}
	for _, f := range c.functions {
		c.checkFunctionBody(all[f.Name], unknown)
	}
}

// checkFunctionBody applies the rules of ONNX to a function, as far as they hold
// whatever the types of its inputs are. A mistake about one name is said once, and
// what is said already of the nodes whose operator is unknown not again.
func (c *checked) checkFunctionBody(f specFunction, unknown map[*ir.Node]bool) {
	opset := min(max(f.OpsetVersion(""), 1), ops.MaxOpset("")) // a version that does not exist is a finding
	m, err := ir.ParseModel("", fmt.Appendf(nil, `<ir_version: 10, opset_import: ["": %d]> main (float x) => (float y) { y = Identity (x) }`, opset))
	if err != nil {
		panic(err) // the text is ours
	}
	m.Functions = c.functions
	seen := map[diag.Range]bool{}
	for _, found := range validate.Model(m, validate.Options{}) {
		path, inside := strings.CutPrefix(found.Path, "function "+f.Domain+"."+f.Name)
		if !inside || path != "" && !strings.HasPrefix(path, " > ") || found.Severity != diag.Error || found.Code == validate.RecursiveFunction.Code {
			continue // a cycle is said at the call
		}
		// Functions of the spec call each other without an import.
		if n := found.About.Node; n != nil && found.About.Role == ir.OperatorMention && (unknown[n] || found.Code == validate.NoOpsetImport.Code && n.Domain == lowering.SpecDomain) {
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

// parseFunction reads one function and checks what block call relies on. The
// function is nil where no more can be said of it.
func parseFunction(e tree.Entry) (specFunction, diag.List) {
	functions, mentions, err := ir.ParseFunctionMentions(e.Key.Text, []byte(e.Value.Text))
	var found diag.List
	report := func(r diag.Range, format string, args ...any) { found.Add(*fault.BadFunction(r, format, args...)) }
	var none specFunction
	var syntax *ir.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at := offset(e.Value.Text, syntax.Line, syntax.Col)
		report(e.Value.Span(at, at+1), "%s", syntax.Msg)
		return none, found
	case err != nil:
		report(e.Value.Range, "%v", err)
		return none, found
	case len(functions) == 0:
		report(e.Value.Range, "the text holds no function")
		return none, found
	}
	f := specFunction{functions[0], e.Value, mentions}
	name := f.head(ir.OperatorMention, f.Name)
	if len(functions) > 1 {
		second := specFunction{functions[1], e.Value, mentions}
		return none, diag.List{*fault.SecondFunction(second.head(ir.OperatorMention, second.Name), second.Name, name)}
	}
	if f.Name != e.Key.Text {
		report(name, "the function is called %s here and %s in its key", f.Name, e.Key.Text)
	}
	if len(ops.Versions("", e.Key.Text)) > 0 {
		report(e.Key.Range, "%s is an operator of ONNX: give the function another name", e.Key.Text)
	}
	if f.Domain != "" {
		report(f.head(ir.HeaderMention, "domain"), "a function of a spec has no domain: it is called by its name alone")
	}
	if f.Overload != "" {
		report(f.head(ir.HeaderMention, "overload"), "a function of a spec has no overload: it is called by its name alone")
	}
	if len(f.Body.Inputs) == 0 || len(f.Body.Outputs) != 1 {
		found.Add(*fault.NoStream(name, len(f.Body.Inputs), len(f.Body.Outputs)))
	}
	for _, o := range f.Opsets {
		if ops.MaxOpset(o.Domain) == 0 { // nothing of it could be said in ONNX's operators
			found.Add(*fault.UnknownDomain(f.head(ir.DomainMention, o.Domain), o.Domain))
		}
	}
	if !slices.ContainsFunc(f.Opsets, func(o ir.Opset) bool { return ops.IsDefault(o.Domain) }) {
		report(e.Value.Span(0, 1), `the function imports no opset: begin with the lowest that it is for, such as <opset_import: ["": 21]>`)
		return none, found
	}
	f.Name, f.Domain, f.Overload = e.Key.Text, lowering.SpecDomain, ""
	return f, found
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
