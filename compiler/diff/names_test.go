package diff

import "testing"

func TestLayerOf(t *testing.T) {
	for path, want := range map[string]struct {
		rest  string
		layer int
	}{
		"model.layers.3.mlp":                    {"model.layers.{i}.mlp", 3},
		"model.layers.12":                       {"model.layers.{i}", 12},
		"h.0.attn.1.x":                          {"h.{i}.attn.1.x", 0},
		"past_key_values.7.key":                 {"past_key_values.{i}.key", 7},
		"3.mlp":                                 {"3.mlp", -1},                   // the name of a layer follows the name of its list
		"const.repeat.0.0883.128":               {"const.repeat.0.0883.128", -1}, // a number with a fraction
		"model.layers2.mlp":                     {"model.layers2.mlp", -1},
		"":                                      {"", -1},
		"model.layers.99999999999999999999.mlp": {"model.layers.99999999999999999999.mlp", -1},
	} {
		if rest, layer := layerOf(path); rest != want.rest || layer != want.layer {
			t.Errorf("%s: got %s, %d, want %s, %d", path, rest, layer, want.rest, want.layer)
		}
	}
	if got := general("Add of model.layers.3.mlp (3, float {0.3}) of layers.3, Add of layers.2)", 3); got != "Add of model.layers.{i}.mlp (3, float {0.3}) of layers.{i}, Add of layers.{i-1})" {
		t.Error(got)
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{
		"": {}, "0": {0}, "0–1": {1, 0}, "0–2, 4": {0, 1, 2, 4}, "3, 7, …, 15": {3, 7, 11, 15},
		"0, 2, 5": {0, 2, 5}, "0–2, 4–6, …, 16–18": {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18},
	} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v: got %s, want %s", numbers, got, want)
		}
	}
}
