package stats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/ir"
)

func TestOf(t *testing.T) {
	m, err := ir.ParseModel("m", []byte(`<ir_version: 10, opset_import: ["": 24, "f": 1]>
g (bool c, float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}, int64 one = {1}>
{ a = f.F (x) y = If (c) <then_branch = t () => (float[2] p) { p = Add (a, w) }, else_branch = e () => (float[2] q) { r = Neg (a) q = Abs (r) }> }
<domain: "f", opset_import: ["": 24]> F (p) => (q) { q = Relu (p) }`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Of(m), (Counts{Nodes: 2, SubgraphNodes: 3, FunctionNodes: 1, Parameters: 3, ParameterBytes: 16}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestLimits checks both counts at both limits, on either side of each.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		nodes, bytes    int64
		wantN, wantB    Verdict
		before, before2 int64
	}{
		{1000, 1000, OK, OK, 1000, 1000},
		{1050, 1050, OK, OK, 1000, 1000},
		{1051, 1051, Warn, Warn, 1000, 1000},
		{1100, 1100, Warn, Warn, 1000, 1000},
		{1101, 1101, Fail, Fail, 1000, 1000},
		{950, 950, OK, OK, 1000, 1000},
		{949, 949, Note, Warn, 1000, 1000},
		{100, 899, Note, Fail, 1000, 1000},
		{5, 5, Fail, Fail, 0, 0},
		{0, 0, Note, Fail, 5, 5},
	} {
		count := func(n, b int64) Model {
			return Model{Spec: "s", Counts: map[string]Counts{"m": {Nodes: n, ParameterBytes: b}}}
		}
		rows := Compare(count(c.before, c.before2), count(c.nodes, c.bytes))
		if rows[0].Verdict != c.wantN || rows[1].Verdict != c.wantB {
			t.Errorf("%d → %d nodes, %d → %d bytes: %s, %s; want %s, %s", c.before, c.nodes, c.before2, c.bytes, rows[0].Verdict, rows[1].Verdict, c.wantN, c.wantB)
		}
	}
}

func TestComponents(t *testing.T) {
	two := Model{Spec: "s", Counts: map[string]Counts{"a": {Nodes: 1}, "b": {Nodes: 2}}}
	one := Model{Spec: "s", Counts: map[string]Counts{"a": {Nodes: 3}}}
	if rows := Compare(two, one); Worst(rows) != Fail || rows[0].Why != "the components were a, b" {
		t.Errorf("got %+v", rows)
	}
	if rows := Compare(Model{Spec: "s"}, one); Worst(rows) != Note {
		t.Errorf("a model that is not recorded yet: %+v", rows)
	}
	if got := two.Total(); got != (Counts{Nodes: 3}) {
		t.Errorf("total %+v", got)
	}
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"models": [{"spec": "a", "config": "x/b.json"}, {"spec": "a"}]}`: "",
		`{"models": []}`:                     "it lists no models",
		`{"models": [{"config": "x.json"}]}`: "a model has no spec",
		`{"models": [{"spec": "a"}, {"spec": "a", "config": "a.json"}]}`: "a stands twice",
		`{"models": [{"spec": "a", "size": 3}]}`:                         `unknown field "size"`,
		`{`:                                                              "not a baseline",
	} {
		path := filepath.Join(t.TempDir(), "b.json")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		b, err := Read(path)
		if want == "" && err == nil {
			again, err := b.Text()
			if err != nil || !strings.Contains(string(again), `{"spec":"a","config":"x/b.json"}`) {
				t.Errorf("%s, %v", again, err)
			}
			continue
		}
		if err == nil || want == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
