package suggest

import (
	"strings"
	"testing"
)

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

// TestWords has names of several words, whole words that differ, and
// abbreviations.
func TestWords(t *testing.T) {
	names := []string{"self_attention", "cross_attention", "attention_bias", "epsilon", "feed_forward", "final_norm", "rms_norm", "rope", "rope_scaling",
		"hidden_act", "hidden_size", "head_dim", "tie_word_embeddings"}
	for _, c := range []struct{ name, want string }{
		{"self_attn", "self_attention"},
		{"Self_Attn", "self_attention"},
		{"eps", "epsilon"},
		{"feed_foward", "feed_forward"},
		{"final_nrom", "final_norm"},
		{"hidden_activation", "hidden_act"},
		{"rope_scale", "rope_scaling"},
		{"tie_embeddings", "tie_word_embeddings"},
		{"rms", "rms_norm"},
		{"attn_bias", "attention_bias"},
		{"attention_softcap", ""},
		{"hidden", ""}, // two begin with it
		{"head_mix", ""},
		{"rope_theta", ""},
		{"head_k", ""},
		{"ep", ""},
		{"_", ""},
		{"é_", ""},
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

func TestSameNumber(t *testing.T) {
	words := []string{"float16", "float32", "float", "int8", "auto"}
	for name, want := range map[string]string{"flot16": "float16 float auto", "float8": "float int8 auto", "flaot": "float16 float32 float int8 auto"} {
		if got := strings.Join(SameNumber(name, words), " "); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
