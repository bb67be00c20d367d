package spec

import (
	"reflect"
	"testing"
)

func TestGeneration(t *testing.T) {
	g, found := parseGeneration("generation_config.json", []byte(`{
		"bos_token_id": 1, "eos_token_id": [3, 2], "pad_token_id": null,
		"do_sample": true, "temperature": 1, "top_k": 20.0, "top_p": 0.95, "max_length": 20, "cache_implementation": "hybrid"
	}`))
	want := &Generation{
		Path: "generation_config.json", BOS: []int64{1}, EOS: []int64{3, 2},
		Search: map[string]any{"do_sample": true, "temperature": 1.0, "top_k": int64(20), "top_p": 0.95},
	}
	if len(found) > 0 || !reflect.DeepEqual(g, want) {
		t.Errorf("got %+v, %v, want %+v", g, found, want)
	}
}

// FuzzGeneration reads anything without a panic, and reports what it does not read.
func FuzzGeneration(f *testing.F) {
	for _, text := range []string{`{"eos_token_id": [1, 2], "top_k": 5}`, `{"eos_token_id": "x"}`, `{"do_sample": 1}`, `[]`, `{`, ``, `{"top_k": 1e99}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if g, found := parseGeneration("g.json", text); (g == nil) != found.HasErrors() {
			t.Errorf("%q: read as %v, findings %v", text, g, found)
		}
	})
}
