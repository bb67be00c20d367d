package ops

import (
	"strings"
	"testing"
	"testing/fstest"

	"mobiusc/ir"
)

func TestFunctionsAreRead(t *testing.T) {
	all := Functions()
	if len(all) == 0 {
		t.Fatal("there are no functions")
	}
	for _, f := range all {
		if f.OpsetVersion("") > MaxOpset("") {
			t.Errorf("%s.%s is for opset %d, which is not standard", f.Domain, f.Name, f.OpsetVersion(""))
		}
		if problem := undefinedName(f); problem != "" {
			t.Errorf("%s.%s reads %s, which nothing defines", f.Domain, f.Name, problem)
		}
	}
}

// undefinedName returns a name that the body reads and nothing defines, or "".
func undefinedName(f *ir.Function) string {
	defined := map[*ir.Value]bool{}
	var collect func(g *ir.Graph)
	collect = func(g *ir.Graph) {
		for _, v := range g.Inputs {
			defined[v] = true
		}
		for n := range g.Nodes() {
			for s := range n.Subgraphs() {
				collect(s)
			}
		}
	}
	collect(f.Body)
	for n := range f.Body.AllNodes() {
		for _, v := range n.Inputs() {
			if v != nil && v.Producer() == nil && !defined[v] {
				return v.Name
			}
		}
	}
	for _, v := range f.Body.Outputs {
		if v.Producer() == nil && !defined[v] {
			return v.Name
		}
	}
	return ""
}

const bodies = `
<domain: "d", opset_import: ["": 18]> F (x) => (y) { y = Neg (x) }
<domain: "d", opset_import: ["": 23]> F (x) => (y) { y = Abs (x) }
<domain: "ai.onnx", opset_import: ["": 18]> G (x) => (y) { y = Neg (x) }
`

func TestChoiceOfBody(t *testing.T) {
	table, err := readFunctions(fstest.MapFS{"functions/a.onnxtxt": {Data: []byte(bodies)}})
	if err != nil {
		t.Fatal(err)
	}
	saved := functions
	functions = func() map[key][]*ir.Function { return table }
	defer func() { functions = saved }()
	for _, c := range []struct {
		domain, op string
		opset      int64
		want       string
	}{
		{"d", "F", 17, ""}, {"d", "F", 18, "Neg"}, {"d", "F", 22, "Neg"}, {"d", "F", 23, "Abs"}, {"d", "F", 99, "Abs"},
		{"", "G", 20, "Neg"}, {"ai.onnx", "G", 20, "Neg"}, {"", "F", 20, ""}, {"d", "H", 20, ""},
	} {
		got := ""
		if f := FunctionFor(c.domain, c.op, c.opset); f != nil {
			got = f.Body.First().OpType
		}
		if got != c.want {
			t.Errorf("%s.%s at opset %d: the body calls %q, want %q", c.domain, c.op, c.opset, got, c.want)
		}
	}
}

func TestFunctionFaults(t *testing.T) {
	for text, want := range map[string]string{
		"F (x":                         "functions/a.onnxtxt:1:5: found the end of the text, expected ',' or ')' in the inputs",
		"F (x) => (y) { y = Neg (x) }": "functions/a.onnxtxt: function F imports no ai.onnx opset, expected the lowest that it is for",
		strings.Repeat(`<domain: "d", opset_import: ["": 18]> F (x) => (x) {}`, 2): "functions: d/F has two bodies for opset 18, expected one",
	} {
		_, err := readFunctions(fstest.MapFS{"functions/a.onnxtxt": {Data: []byte(text)}})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
