package suggest

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"Reshape", "Shape", "MatMul", "Gemm", "num_heads", "kv_num_heads", "Add"}
	for _, c := range []struct{ name, want string }{
		{"Matmul", "MatMul"},
		{"Reshpae", "Reshape"},
		{"shape", "Shape"},
		{"num_head", "num_heads"},
		{"Ad", "Add"},
		{"Softmax", ""},
		{"xyz", ""},
		{"x", ""},
		{"", ""},
		{"Gemn", "Gemm"},
	} {
		if got := Nearest(c.name, names); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "acb", 1}, {"kitten", "sitting", 3},
		{"ABC", "abc", 0}, {"größe", "grösse", 2}, {"ca", "abc", 3},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
