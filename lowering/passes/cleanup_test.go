package passes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mobiusc/internal/golden"
	"mobiusc/ir"
	"mobiusc/ops"
)

func legalise21(m *ir.Model) (bool, error) { return Legalise(m, Target{Opset: 21}) }

// TestCleanup compares the text of models after a pass with testdata/PASS.
func TestCleanup(t *testing.T) {
	for name, pass := range map[string]func(*ir.Model) (bool, error){"fold": legalise21, "cse": CSE, "dce": DCE} {
		files, err := filepath.Glob("testdata/" + name + "/*.txt")
		if err != nil || len(files) == 0 {
			t.Fatalf("no files for %s: %v", name, err)
		}
		for _, file := range files {
			t.Run(name+"/"+filepath.Base(file), func(t *testing.T) {
				src, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				m := parse(t, file, string(src))
				if _, err := ops.InferModel(m); err != nil {
					t.Fatal(err)
				}
				inputs, outputs := slices.Clone(m.Graph.Inputs), slices.Clone(m.Graph.Outputs)
				changed, err := pass(m)
				if err != nil {
					t.Fatal(err)
				}
				if !changed {
					t.Error("reports no change")
				}
				if !slices.Equal(m.Graph.Inputs, inputs) || !slices.Equal(m.Graph.Outputs, outputs) {
					t.Error("the graph has other inputs or outputs")
				}
				checkGraph(t, m.Graph)
				golden.File(t, strings.TrimSuffix(file, ".txt")+".golden", text(t, m))
				if changed, err := pass(m); changed || err != nil {
					t.Errorf("a second run: changed %v, %v", changed, err)
				}
			})
		}
	}
}

func TestFoldLimits(t *testing.T) {
	m := parse(t, "limits", `<ir_version: 10, opset_import: ["": 21]>
g (float[4097] x, float[64,64] z, float[2] k) => (float[4097] y, float[64,64] w, float[2] v)
<float[2] k = {1.0, 2.0}>
{
  long = Constant <value_ints: ints = [4097]> ()
  zeros = ConstantOfShape (long)
  y = Add (x, zeros)
  square = Constant <value_ints: ints = [64, 64]> ()
  small = ConstantOfShape (square)
  w = Add (z, small)
  v = Neg (k)
}`)
	if _, err := legalise21(m); err != nil {
		t.Fatal(err)
	}
	var left []string
	for n := range m.Graph.Nodes() {
		left = append(left, n.OpType)
	}
	if want := []string{"ConstantOfShape", "Add", "Add", "Neg"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v: large results and inputs with defaults are not folded", left, want)
	}
}

func TestFoldReportsContradictions(t *testing.T) {
	m := parse(t, "bad", `<ir_version: 10, opset_import: ["": 21]>
g (float[2,5] x, float[7,3] z) => (y) { y = MatMul (x, z) }`)
	_, err := legalise21(m)
	if want := `node "y" (MatMul), for opset 21: MatMul: inner dims 5 and 7 differ: input 0 is [2, 5], input 1 is [7, 3]`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestCSEKeepsParameters(t *testing.T) {
	m := &ir.Model{Graph: ir.NewGraph("g"), Opsets: []ir.Opset{{Version: 21}}}
	for _, name := range []string{"a", "b"} {
		m.Graph.AddInitializer(name, &ir.Tensor{Type: ir.Float32, Dims: []int64{2}, External: &ir.External{Location: "x"}})
	}
	if changed, err := CSE(m); changed || err != nil || len(m.Graph.Initializers) != 2 {
		t.Errorf("changed %v, %v; %d parameters left", changed, err, len(m.Graph.Initializers))
	}
}
