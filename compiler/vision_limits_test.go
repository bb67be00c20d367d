package compiler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/compiler"
	"mobiusc/internal/diag"
)

// TestRefusedVisionConfigs edits a published config so that the spec does not
// cover it, or so that its numbers do not fit: each is refused, none compiled.
func TestRefusedVisionConfigs(t *testing.T) {
	o := published("gemma3_vl", "gemma-3-4b")
	o.Strict = false
	text, err := os.ReadFile(o.Config)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ was, is, want string }{
		{`"siglip_vision_model"`, `"clip_vision_model"`, "vision_config.model_type is \"clip_vision_model\", and the spec covers siglip_vision_model"},
		{`"sliding_window"`, `"final_logit_softcapping": 30.0, "sliding_window"`, "text_config.final_logit_softcapping is not supported"},
		{`"image_token_index": 262144`, `"image_token_index": 262208`, "the placeholder must have a row in the embedding"},
		{`"mm_tokens_per_image": 256`, `"mm_tokens_per_image": 255`, "an image's tokens must be a square"},
		{`"mm_tokens_per_image": 256`, `"mm_tokens_per_image": 144`, "the square of an image's tokens must divide that of its patches"},
		{`"num_attention_heads": 16`, `"num_attention_heads": 7`, "the vision encoder's heads must divide its width"},
		{`"vision_config"`, `"vision_configs"`, "vision is read here, and the config does not have it"},
	} {
		edited := strings.Replace(string(text), c.was, c.is, 1)
		if edited == string(text) {
			t.Fatalf("the config has no %s", c.was)
		}
		o.Config = filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(o.Config, []byte(edited), 0o666); err != nil {
			t.Fatal(err)
		}
		refused := false
		found := compiler.Lint(o)
		for _, d := range found {
			refused = refused || d.Severity == diag.Error && strings.Contains(d.Message, c.want)
		}
		if !refused {
			t.Errorf("%s: found %v, want %s", c.is, found, c.want)
		}
	}
}
