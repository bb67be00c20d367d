package passes

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mobiusc/internal/golden"
	"mobiusc/ir"
)

// parse reads a model and gives every named node a source.
func parse(t testing.TB, name, text string) *ir.Model {
	t.Helper()
	m, err := ir.ParseModel(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for n := range m.Graph.AllNodes() {
		if n.Name != "" {
			n.Meta.Set("source", "spec:"+n.Name)
		}
	}
	return m
}

func text(t testing.TB, m *ir.Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := (ir.Printer{Comments: true}).Model(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// opsetOf returns the target that the first line of a test file states.
func opsetOf(t testing.TB, text string) int64 {
	t.Helper()
	line, _, _ := strings.Cut(text, "\n")
	opset, err := strconv.ParseInt(strings.TrimPrefix(line, "# opset: "), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return opset
}

func TestLegalise(t *testing.T) {
	files, err := filepath.Glob("testdata/legalise/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			target := Target{Opset: opsetOf(t, string(src))}
			m := parse(t, file, string(src))
			outputs := append([]*ir.Value(nil), m.Graph.Outputs...)
			changed, err := Legalise(m, target)
			if err != nil {
				t.Fatal(err)
			}
			if !changed {
				t.Error("reports no change")
			}
			for i, v := range m.Graph.Outputs {
				if v != outputs[i] {
					t.Errorf("output %s is another value", v.Name)
				}
			}
			checkGraph(t, m.Graph)
			golden.File(t, strings.TrimSuffix(file, ".txt")+".golden", text(t, m))
			if changed, err := Legalise(m, target); changed || err != nil {
				t.Errorf("a second run: changed %v, %v", changed, err)
			}
		})
	}
}

// checkGraph checks what every pass promises: ordered nodes, unique names,
// typed values, and values that know their definitions and uses.
func checkGraph(t *testing.T, g *ir.Graph) {
	t.Helper()
	c := &graphCheck{t: t, names: map[string]bool{}, nodes: map[string]bool{}, defined: map[*ir.Value]bool{}, uses: map[*ir.Value]int{}}
	c.graph(g)
	for v, n := range c.uses {
		if len(v.Uses()) != n {
			t.Errorf("%s counts %d uses, %d nodes read it", v.Name, len(v.Uses()), n)
		}
	}
}

type graphCheck struct {
	t            *testing.T
	names, nodes map[string]bool
	defined      map[*ir.Value]bool
	uses         map[*ir.Value]int
}

func (c *graphCheck) define(values []*ir.Value) {
	for _, v := range values {
		if v == nil {
			continue
		}
		if c.names[v.Name] && !c.defined[v] {
			c.t.Errorf("the name %s is given twice", v.Name)
		}
		if v.Type == nil {
			c.t.Errorf("%s has no type", v.Name)
		}
		c.names[v.Name], c.defined[v] = true, true
	}
}

func (c *graphCheck) graph(g *ir.Graph) {
	c.define(g.Inputs)
	c.define(g.Initializers)
	for n := range g.Nodes() {
		if n.Graph() != g {
			c.t.Errorf("%s does not know its graph", n)
		}
		if c.nodes[n.Name] && n.Name != "" && len(n.Meta) > 1 {
			c.t.Errorf("the name %s is given to two nodes", n.Name)
		}
		c.nodes[n.Name] = true
		for _, v := range n.Inputs() {
			if v == nil {
				continue
			}
			if !c.defined[v] {
				c.t.Errorf("%s reads %s before it is defined", n, v.Name)
			}
			c.uses[v]++
		}
		for s := range n.Subgraphs() {
			c.graph(s)
		}
		for i, v := range n.Outputs() {
			if v == nil {
				continue
			}
			if def, at := v.Def(); def != n || at != i {
				c.t.Errorf("%s does not know that %s defines it", v.Name, n)
			}
		}
		c.define(n.Outputs())
	}
	for _, v := range g.Outputs {
		if !c.defined[v] {
			c.t.Errorf("graph %s returns %s, which is not defined", g.Name, v.Name)
		}
	}
}

// TestImports checks that a domain which inlined nodes bring is imported, and
// that one whose nodes are gone is not.
func TestImports(t *testing.T) {
	m := parse(t, "t", `<ir_version: 10, opset_import: ["ai.onnx": 18, "f": 1, "kept": 2, "used": 3]>
g (float[4] x) => (y) { a = used.Op (x) y = f.A (a) }
<domain: "f", opset_import: ["": 18, "new": 5, "idle": 6, "used": 3]> A (x) => (y) { b = new.Op (x) y = Neg (b) }`)
	target := Target{Opset: 21, Accepts: func(n *ir.Node) bool { return n.Domain != "f" }}
	if _, err := Legalise(m, target); err != nil {
		t.Fatal(err)
	}
	want := []ir.Opset{{Version: 21}, {Domain: "kept", Version: 2}, {Domain: "used", Version: 3}, {Domain: "new", Version: 5}}
	if !slices.Equal(m.Opsets, want) {
		t.Errorf("imports %v, want %v", m.Opsets, want)
	}
}

// TestOlderModel checks that the nodes of a model written for an older opset
// have to mean the same under the target.
func TestOlderModel(t *testing.T) {
	const src = `<ir_version: 8, opset_import: ["": 12]> g (float[4,4] x) => (y) { a = Relu (x) [s] y = Softmax (a) }`
	m := parse(t, "t", strings.Replace(src, "Softmax", "Neg", 1))
	if changed, err := Legalise(m, Target{Opset: 21}); !changed || err != nil || m.OpsetVersion("") != 21 {
		t.Errorf("changed %v, %v, imports %v", changed, err, m.Opsets)
	}
	_, err := Legalise(parse(t, "t", src), Target{Opset: 21})
	want := `spec:s: node "s" (Softmax), for opset 21: it is written for opset 12, and Softmax-11 and Softmax-13 differ: attribute axis has another default`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// FuzzLegalise checks that no model makes the pass panic or run on.
func FuzzLegalise(f *testing.F) {
	files, err := filepath.Glob("testdata/legalise/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte(mixerText(1)))
	f.Add([]byte(`<ir_version: 10, opset_import: ["": 21]> g () => (y) { y, z = Constant <value_int = 1> () }`)) // too many outputs
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := ir.ParseModel("t", src)
		if err != nil {
			return
		}
		l := newLegaliser(m, Target{Opset: 21})
		l.limit = 10000
		if l.graph(m.Graph) != nil {
			return
		}
		for n := range m.Graph.AllNodes() {
			if !Defines(n, 21) {
				t.Fatalf("%s stays", n)
			}
		}
	})
}
