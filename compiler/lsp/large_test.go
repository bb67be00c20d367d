package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// smallConfig is a config that the specs of these tests compile.
const smallConfig = `{
  "model_type": "llama",
  "hidden_size": 64,
  "intermediate_size": 128,
  "num_hidden_layers": 2,
  "num_attention_heads": 4,
  "num_key_value_heads": 2,
  "rms_norm_eps": 1e-5,
  "vocab_size": 256
}
`

// largeSpec returns a spec of about the given number of lines, all of them used:
// blocks of twenty lines, each of which stands in the body of the model.
func largeSpec(lines int) string {
	var blocks, body strings.Builder
	for i := range (lines - 20) / 20 {
		fmt.Fprintf(&body, ", part_%d", i)
		fmt.Fprintf(&blocks, `
  part_%[1]d:
    # The %[1]dth part: a gated MLP of its own width between two norms.
    - residual:
        - rms_norm:
            name: parts.%[1]d.before
            epsilon: rms_norm_eps
        - gated_mlp:
            name: parts.%[1]d.mlp
            width: intermediate_size * 2 + %[1]d
            activation: hidden_act
            bias: mlp_bias
            down:
              name: down
              bias: mlp_bias
            up:
              name: up
        - rms_norm:
            name: "parts.%[1]d.{hidden_size // 2}.after"
            epsilon: rms_norm_eps
`, i)
	}
	return child + "# mobiusc:config small.json\n" + "config: {attention_bias: {type: bool, default: true}}\n\nblocks:" + blocks.String() +
		"\ncomponents:\n  model:\n    body: [token_embedding" + body.String() + ", decoder_layers, final_norm, head]\n"
}

// openLarge opens a large spec with its config, and waits until it is checked.
func (c *client) openLarge(lines int) (uri, text string) {
	c.t.Helper()
	c.write("small.json", smallConfig)
	text = largeSpec(lines)
	uri = c.open("x.yaml", text)
	if found := c.diagnostics(uri, 1); len(found) > 0 {
		c.t.Fatalf("the spec of the test is wrong: %v", found)
	}
	return uri, text
}

func TestTenThousandLines(t *testing.T) {
	c := start(t)
	uri, text := c.openLarge(10_000)
	if n := strings.Count(text, "\n"); n < 9_900 {
		t.Fatalf("only %d lines", n)
	}
	line := strings.Count(text[:strings.Index(text, "part_450:")], "\n") + 8
	begin := time.Now()
	c.edit(uri, 2, span{position{line, 21}, position{line, 22}}, "") // inermediate_size
	c.expect(uri, 2, fmt.Sprintf("%d:19-%d:35 unknown-name", line, line))
	t.Logf("findings after %v", time.Since(begin))
	for i := range 100 { // a key held down: one check for all, at the end
		c.edit(uri, 3+i, span{position{line, 19}, position{line, 19}}, "x")
	}
	c.expect(uri, 102, fmt.Sprintf("%d:19-%d:135 unknown-name", line, line))
	c.mu.Lock()
	if n := c.count[uri]; n > 50 {
		t.Errorf("%d publications for 102 versions", n)
	}
	c.mu.Unlock()
	c.leave()
}

// BenchmarkKeystroke measures what an editor waits for: from a change of one
// character in a spec of 500 lines to its findings, all checks with shapes
// included, through the protocol.
func BenchmarkKeystroke(b *testing.B) {
	c := start(b)
	uri, text := c.openLarge(500)
	line := strings.Count(text[:strings.Index(text, "part_12:")], "\n") + 8
	version := 1
	for b.Loop() {
		version++
		c.edit(uri, version, span{position{line, 44}, position{line, 45}}, fmt.Sprint(version%7+1))
		if found := c.diagnostics(uri, version); len(found) > 0 {
			b.Fatal(found)
		}
	}
	b.ReportMetric(float64(strings.Count(text, "\n")), "lines")
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/keystroke")
}

// BenchmarkKeystrokePinned is the same for the largest model that is carried: a
// spec with five parents, bound to its published config, 64 layers and all.
func BenchmarkKeystrokePinned(b *testing.B) {
	c := start(b)
	path, err := filepath.Abs("../../specs/qwen3_8.yaml")
	if err != nil {
		b.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	uri := uriOf(path)
	c.notify("textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": "yaml", "version": 1, "text": string(text)}})
	if found := c.diagnostics(uri, 1); len(found) > 0 {
		b.Fatal(found)
	}
	version := 1
	for b.Loop() {
		version++
		c.edit(uri, version, span{position{0, 0}, position{0, 0}}, "#\n")
		if found := c.diagnostics(uri, version); len(found) > 0 {
			b.Fatal(found)
		}
	}
}
