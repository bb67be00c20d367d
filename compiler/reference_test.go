package compiler_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mobiusc/compiler/verify"
	"mobiusc/internal/ort"
)

// wantedCases lists what the reference cases of the hybrid family must hold
// between them, in the words of caseTraits.
var wantedCases = map[string][]string{
	"qwen3_5_text": {
		"1 tokens, 1 rows, 4 decode steps", "6 tokens, 1 rows, 4 decode steps", "31 tokens, 1 rows, 4 decode steps",
		"65 tokens, 1 rows, 4 decode steps", "130 tokens, 1 rows, 4 decode steps",
		"1 tokens, 2 rows, 4 decode steps", "6 tokens, 2 rows, 4 decode steps", "31 tokens, 2 rows, 4 decode steps",
		"65 tokens, 2 rows, 4 decode steps", "130 tokens, 2 rows, 4 decode steps",
		"6 tokens, 2 rows, 4 decode steps, padded", "31 tokens, 1 rows, 4 decode steps, padded", "31 tokens, 2 rows, 4 decode steps, padded",
		"65 tokens, 2 rows, 4 decode steps, padded", "130 tokens, 2 rows, 4 decode steps, padded",
		"prompt in pieces",
	},
	"qwen3_5_vl": {"3 images of 3 sizes", "video", "image and video in one row", "rows with media in opposite orders", "2 rows without media", "media in two calls", "padded"},
	"qwen3_vl":   {"image and video in one row", "rows with media in opposite orders", "2 rows without media"},
}

// TestReferenceCoverage checks that the committed cases hold all of it, so that
// no edit of the generator loses a kind of input.
func TestReferenceCoverage(t *testing.T) {
	for _, m := range readIndex(t).Models {
		wanted, ok := wantedCases[m.Name]
		if !ok {
			continue
		}
		var have []string
		for _, c := range m.Cases {
			have = append(have, caseTraits(t, m, c)...)
		}
		for _, trait := range wanted {
			if !slices.Contains(have, trait) {
				t.Errorf("%s has no case with %q; it has %q", m.Name, trait, have)
			}
		}
		delete(wantedCases, m.Name)
	}
	if len(wantedCases) > 0 {
		t.Errorf("testdata/reference lacks %v", wantedCases)
	}
}

// TestReferenceShapes checks the sizes that the reduced models are to have.
func TestReferenceShapes(t *testing.T) {
	var text, depth struct {
		LayerTypes []string `json:"layer_types"`
		Layers     int      `json:"num_hidden_layers"`
		Heads      int      `json:"num_attention_heads"`
		KVHeads    int      `json:"num_key_value_heads"`
		KeyHeads   int      `json:"linear_num_key_heads"`
		ValueHeads int      `json:"linear_num_value_heads"`
		KeyDim     int      `json:"linear_key_head_dim"`
		ValueDim   int      `json:"linear_value_head_dim"`
		Kernel     int      `json:"linear_conv_kernel_dim"`
		Fraction   float64  `json:"partial_rotary_factor"`
	}
	readConfig(t, "qwen3_5_text", &text)
	readConfig(t, "qwen3_5_depth", &depth)
	if !slices.Equal(text.LayerTypes, []string{"linear_attention", "linear_attention", "linear_attention", "full_attention"}) {
		t.Errorf("the layers are %v, want one cycle", text.LayerTypes)
	}
	if text.Heads != 6*text.KVHeads || text.ValueHeads != 3*text.KeyHeads || text.KVHeads < 2 || text.KeyHeads < 2 {
		t.Errorf("the heads are %+v, want 6 queries a key and 3 values a key, and several of each", text)
	}
	if text.KeyDim == text.ValueDim || text.Kernel != 4 || text.Fraction != 0.25 {
		t.Errorf("the sizes are %+v, want unequal widths, a kernel of 4 and a quarter rotated", text)
	}
	if depth.Layers != 64 || len(depth.LayerTypes) != 64 {
		t.Errorf("the deep model has %d layers", depth.Layers)
	}
}

func readConfig(t *testing.T, model string, to any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(referenceDir, model, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatal(err)
	}
}

// caseTraits says what is special about a case, from its tensors.
func caseTraits(t *testing.T, m referenceModel, c referenceCase) (traits []string) {
	ref := readReference(t, c)
	name := "model"
	if ref.Steps[0].Components[name] == nil {
		name = "decoder"
	}
	var prompts []int64
	decodes, padded, media := 0, false, 0
	for _, s := range ref.Steps {
		in := s.Components[name].Inputs
		positions := in["position_ids"].Dims
		if n := positions[len(positions)-1]; n == 1 && len(prompts) > 0 {
			decodes++
		} else {
			prompts = append(prompts, n)
		}
		padded = padded || slices.Contains(int64s(in["attention_mask"]), 0)
		if s.Components["vision_encoder"] != nil {
			media++
		}
	}
	rows := ref.Steps[0].Components[name].Inputs["attention_mask"].Dims[0]
	if name == "decoder" {
		traits = mediaTraits(t, m, ref, rows)
		if media > 1 {
			traits = append(traits, "media in two calls")
		}
		if padded {
			traits = append(traits, "padded")
		}
		return traits
	}
	trait := fmt.Sprintf("%d tokens, %d rows, %d decode steps", prompts[0], rows, decodes)
	if padded {
		trait += ", padded"
	}
	if len(prompts) > 1 {
		trait = "prompt in pieces"
	}
	return []string{trait}
}

// mediaTraits says which media the first call has, and in which order.
func mediaTraits(t *testing.T, m referenceModel, ref *verify.Reference, rows int64) (traits []string) {
	call := ref.Steps[0].Components["vision_encoder"]
	if call == nil {
		return []string{fmt.Sprintf("%d rows without media", rows)}
	}
	var tokens struct {
		Image int64 `json:"image_token_id"`
		Video int64 `json:"video_token_id"`
	}
	readConfig(t, m.Name, &tokens)
	ids := ref.Steps[0].Components["embedding"].Inputs["input_ids"]
	var first []int64 // the placeholder that each row begins with
	mixed, video := false, false
	for row := range slices.Chunk(int64s(ids), int(ids.Dims[1])) {
		row = slices.DeleteFunc(slices.Clone(row), func(id int64) bool { return id != tokens.Image && id != tokens.Video })
		if len(row) > 0 {
			first = append(first, row[0])
		}
		mixed = mixed || slices.Contains(row, tokens.Image) && slices.Contains(row, tokens.Video)
		video = video || slices.Contains(row, tokens.Video)
	}
	grids := map[string]bool{}
	for grid := range slices.Chunk(int64s(call.Inputs["image_grid_thw"]), 3) {
		grids[fmt.Sprint(grid)] = true
	}
	switch {
	case rows == 2 && len(first) == 2 && first[0] != first[1] && mixed:
		traits = append(traits, "rows with media in opposite orders")
	case mixed:
		traits = append(traits, "image and video in one row")
	case video:
		traits = append(traits, "video")
	default:
		traits = append(traits, fmt.Sprintf("%d images of %d sizes", call.Inputs["image_grid_thw"].Dims[0], len(grids)))
	}
	return traits
}

func int64s(t ort.Tensor) []int64 {
	out := make([]int64, len(t.Raw)/8)
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(t.Raw[8*i:]))
	}
	return out
}
