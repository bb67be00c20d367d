package passes

import (
	"fmt"
	"strings"
	"testing"

	"mobiusc/ir"
	"mobiusc/ops"
)

// mixerText is a model of n layers that call a standard operator and one of the
// compiler's own.
func mixerText(n int) string {
	var b strings.Builder
	b.WriteString(`<ir_version: 10, opset_import: ["": 21]>
g (float16[B,T,64] x0, float16[64,1,4] w, float16[B,64,3] conv, float16[B,4,16,16] past, float16[B,T,4] decay, float16[B,T,4] beta) => (float16[B,T,64] y) {
`)
	for i := range n {
		fmt.Fprintf(&b, `
  ["layers.%[1]d.conv"] c%[1]d, conv%[1]d = mobiusc.CausalConvWithState <activation = "silu"> (x%[1]d, w, "", conv)
  ["layers.%[1]d.attn"] x%[2]d, state%[1]d = LinearAttention <q_num_heads = 4, kv_num_heads = 4> (c%[1]d, c%[1]d, c%[1]d, past, decay, beta)`, i, i+1)
	}
	fmt.Fprintf(&b, "\n  y = Identity (x%d)\n}", n)
	return b.String()
}

// TestTargets checks what stays a call under which target.
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		name   string
		target Target
		keeps  bool // LinearAttention
	}{
		{"an opset without the operator", Target{Opset: 21}, false},
		{"the default opset", Target{Opset: 24}, false},
		{"an opset with the operator", Target{Opset: 27}, true},
		{"a runtime that lacks the operator", Target{Opset: 27, Accepts: func(n *ir.Node) bool {
			return n.OpType != "LinearAttention" && Defines(n, 27)
		}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, "t", mixerText(1))
			if _, err := Legalise(m, c.target); err != nil {
				t.Fatal(err)
			}
			checkGraph(t, m.Graph)
			kept := false
			for n := range m.Graph.AllNodes() {
				if !Defines(n, c.target.Opset) {
					t.Errorf("%s stays", n)
				}
				kept = kept || n.OpType == "LinearAttention"
			}
			if kept != c.keeps {
				t.Errorf("LinearAttention stays: %v", kept)
			}
			if got := m.OpsetVersion(""); got != c.target.Opset || m.OpsetVersion("mobiusc") != 0 {
				t.Errorf("imports %v", m.Opsets)
			}
		})
	}
}

// TestUnchanged checks that a model of target operators is left alone.
func TestUnchanged(t *testing.T) {
	m := parse(t, "t", `<ir_version: 10, opset_import: ["": 21]> g (float[4] x) => (float[4] y) { unread = Neg (x) y = Relu (x) }`)
	if changed, err := Legalise(m, Target{Opset: 21}); changed || err != nil {
		t.Errorf("changed %v, %v", changed, err)
	}
	if got := m.Graph.Len(); got != 2 {
		t.Errorf("%d nodes are left", got)
	}
}

// TestDeterminism checks that two runs give the same text.
func TestDeterminism(t *testing.T) {
	var first string
	for range 3 {
		m := parse(t, "t", mixerText(2))
		if _, err := Legalise(m, Target{Opset: 24}); err != nil {
			t.Fatal(err)
		}
		if got := text(t, m); first == "" {
			first = got
		} else if got != first {
			t.Fatal("two runs differ")
		}
	}
}

// TestFunctionsAreNotTouched checks that inlining leaves the shared bodies alone.
func TestFunctionsAreNotTouched(t *testing.T) {
	var before []string
	for _, f := range ops.Functions() {
		before = append(before, f.String())
	}
	if _, err := Legalise(parse(t, "t", mixerText(1)), Target{Opset: 24}); err != nil {
		t.Fatal(err)
	}
	for i, f := range ops.Functions() {
		if f.String() != before[i] {
			t.Errorf("%s.%s has changed", f.Domain, f.Name)
		}
	}
}

func BenchmarkLegalise(b *testing.B) {
	src := mixerText(48)
	for b.Loop() {
		if _, err := Legalise(parse(b, "t", src), Target{Opset: 24}); err != nil {
			b.Fatal(err)
		}
	}
}
