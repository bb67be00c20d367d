package spec

import (
	"errors"
	"fmt"
	"regexp"
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

// checkFunctions reads the functions of the spec. In their bodies, a name that
// is no operator of ONNX is another function of the spec.
func (c *checked) checkFunctions() {
	section := c.s.root.Get("functions")
	calls := map[string][]string{}
	var sound []*ir.Function // whose operators all exist
	for _, e := range entries(section) {
		if e.Value.Kind != tree.String {
			continue
		}
		f, d := parseFunction(e)
		if d != nil {
			c.report(d)
			continue
		}
		known := true
		for n := range f.Body.AllNodes() {
			switch {
			case !ops.IsDefault(n.Domain) || len(ops.Versions("", n.OpType)) > 0:
			case section.Get(n.OpType) != nil:
				n.Domain = lowering.SpecDomain
				calls[f.Name] = append(calls[f.Name], n.OpType)
				c.uses.functions[n.OpType] = true
			default:
				known = false
				c.report(fault.UnknownOperator(wordIn(e.Value, n.OpType), n.OpType, slices.Concat(ops.Operators(""), section.Keys())))
			}
		}
		if c.functions = append(c.functions, f); known {
			sound = append(sound, f)
		}
	}
	for _, e := range entries(section) {
		if chain := cycleFrom(e.Key.Text, calls, nil); chain != nil {
			c.report(fault.BadFunction(wordIn(e.Value, chain[1]), "a function calls itself: %s", strings.Join(chain, " → ")))
			return
		}
	}
	for _, f := range sound {
		c.checkFunctionBody(f, section.Get(f.Name))
	}
}

// checkFunctionBody applies the rules of ONNX to the nodes of a function, as far
// as they hold whatever the types of its inputs are.
func (c *checked) checkFunctionBody(f *ir.Function, text *tree.Node) {
	m, err := ir.ParseModel("", fmt.Appendf(nil, `<ir_version: 10, opset_import: ["": %d]> main (float x) => (float y) { y = Identity (x) }`, f.OpsetVersion("")))
	if err != nil {
		panic(err) // the text is ours
	}
	m.Functions = c.functions
	for _, found := range validate.Model(m, validate.Options{}) {
		path, inside := strings.CutPrefix(found.Path, "function "+f.Domain+"."+f.Name+" > ")
		if !inside || found.Severity != diag.Error || found.Code == noImport {
			continue
		}
		at := text.Range
		if op := operatorAtEnd.FindStringSubmatch(path); op != nil {
			at = wordIn(text, op[1])
		}
		d := fault.BadFunction(at, "%s", found.Message)
		d.Hint = found.Hint
		c.report(d)
	}
}

// noImport is the finding that a domain is not imported: functions of the spec
// call each other without.
const noImport = "MBV104"

// operatorAtEnd matches the operator of the innermost node on a path.
var operatorAtEnd = regexp.MustCompile(`.*node (?:"[^"]*" )?\((?:\w+\.)*(\w+)\)`)

// parseFunction reads one function and checks what block call relies on.
func parseFunction(e tree.Entry) (*ir.Function, *diag.Diagnostic) {
	f, err := ir.ParseFunction(e.Key.Text, []byte(e.Value.Text))
	var syntax *ir.SyntaxError
	switch {
	case errors.As(err, &syntax):
		at := offset(e.Value.Text, syntax.Line, syntax.Col)
		return nil, fault.BadFunction(e.Value.Span(at, at+1), "%s", syntax.Msg)
	case err != nil:
		return nil, fault.BadFunction(e.Value.Range, "%v", err)
	case f.Name != e.Key.Text:
		return nil, fault.BadFunction(wordIn(e.Value, f.Name), "the function is called %s here and %s in its key", f.Name, e.Key.Text)
	case len(ops.Versions("", f.Name)) > 0:
		return nil, fault.BadFunction(e.Key.Range, "%s is an operator of ONNX: give the function another name", f.Name)
	case f.OpsetVersion("") == 0:
		return nil, fault.BadFunction(e.Value.Span(0, 1), `the function imports no opset: begin with <opset_import: ["": %d]>, the lowest that it is for`, ops.MaxOpset(""))
	case len(f.Body.Inputs) == 0 || len(f.Body.Outputs) != 1:
		return nil, fault.BadFunction(wordIn(e.Value, f.Name), "the function has %d inputs and %d outputs: it takes the stream and whatever else, and gives the new stream", len(f.Body.Inputs), len(f.Body.Outputs))
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

// wordIn returns the place of the first occurrence of a word in a scalar.
func wordIn(n *tree.Node, word string) diag.Range {
	text := []rune(n.Text)
	w := []rune(word)
	for i := 0; i+len(w) <= len(text); i++ {
		if string(text[i:i+len(w)]) == word && (i == 0 || !isWord(text[i-1])) && (i+len(w) == len(text) || !isWord(text[i+len(w)])) {
			return n.Span(i, i+len(w))
		}
	}
	return n.Range
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
