package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTyping writes a spec character by character, as one does, and asks for
// completion and hover now and then; at the end the server has the same text.
func TestTyping(t *testing.T) {
	c := start(t)
	c.write("base.yaml", base)
	c.write("config.json", strings.Replace(smallConfig, "llama", "leaf", 1))
	text := strings.Replace(leaf, "A leaf.", "A 😀 leaf, größe.", 1)
	uri := c.open("leaf.yaml", "")
	p, version := position{}, 1
	for i, r := range text {
		version++
		c.edit(uri, version, span{p, p}, string(r))
		switch {
		case r == '\n':
			p = position{p.Line + 1, 0}
		case r > 0xffff:
			p.Character += 2
		default:
			p.Character++
		}
		if i%13 == 0 {
			c.call("textDocument/completion", at(uri, p), nil)
			c.call("textDocument/hover", at(uri, p), nil)
		}
	}
	c.expect(uri, version)
	// And takes it away again from the end, line by line.
	lines := strings.SplitAfter(text, "\n")
	for n := len(lines) - 1; n > 0; n-- {
		version++
		c.edit(uri, version, span{position{n - 1, 0}, position{n, 0}}, "")
		c.call("textDocument/documentSymbol", object{"textDocument": object{"uri": uri}}, nil)
	}
	c.expect(uri, version)
	c.leave()
}

// TestOutOfOrder sends what a well-behaved editor sends, but not when it should.
func TestOutOfOrder(t *testing.T) {
	c := start(t)
	uri := c.uri("x.yaml")
	p := position{1, 2}
	c.edit(uri, 7, span{p, p}, "lost") // before it is open
	c.notify("textDocument/didClose", object{"textDocument": object{"uri": uri}})
	c.refused(codeRequestFailed, "textDocument/hover", at(uri, p)) // of nothing
	c.open("x.yaml", child+"taks: a\n")
	c.expect(uri, 1, "4:0-4:4 unknown-key")
	c.open("x.yaml", child) // a second time: the newer text counts
	c.until("no findings", func() bool { return c.count[uri] > 1 && len(c.shown[uri]) == 0 })
	c.edit(uri, 9, span{position{4, 0}, position{4, 0}}, "taks: a\n")
	c.expect(uri, 9, "4:0-4:4 unknown-key")
	c.edit(uri, 3, span{position{4, 0}, position{4, 4}}, "task") // versions go backwards: the editor knows best
	c.until("version 3", func() bool { return c.version[uri] == 3 && len(c.shown[uri]) == 0 })
	c.notify("textDocument/didClose", object{"textDocument": object{"uri": uri}})
	c.notify("textDocument/didClose", object{"textDocument": object{"uri": uri}})        // twice
	c.raw(frame(`{"jsonrpc": "2.0", "id": 999, "error": {"code": 1, "message": "no"}}`)) // answers to no question
	c.raw(frame(`{"jsonrpc": "2.0", "id": "x", "result": {}}`))
	c.notify("initialized", object{})                                                // a second time
	c.notify("$/cancelRequest", object{"id": 4711})                                  // of no request
	first, second := c.ask("textDocument/hover", at(uri, p)), c.ask("shutdown", nil) // answered in order
	if a := c.answer(first); a.Error == nil || a.Error.Code != codeRequestFailed {
		t.Errorf("%+v", a)
	}
	if a := c.answer(second); a.Error != nil {
		t.Errorf("%+v", a)
	}
	c.notify("exit", nil)
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

// TestConfig: the config that a comment names counts as the editor shows it, and
// what is wrong with it is shown where it is named.
func TestConfig(t *testing.T) {
	c := start(t)
	text, at := marked(child + "# mobiusc:config «small.json»\n")
	uri := c.open("x.yaml", text)
	c.expect(uri, 1, show(at[0])+" unreadable-file")
	config := c.open("small.json", smallConfig)
	c.until("no findings", func() bool { return len(c.shown[uri]) == 0 && c.count[uri] > 1 })
	// Four heads of width 16 need a query of 64 features, which 63 cannot give.
	line := strings.Count(smallConfig[:strings.Index(smallConfig, "num_attention_heads")], "\n")
	c.edit(config, 2, span{position{line, 0}, position{line + 1, 0}}, "  \"num_attention_heads\": 3,\n")
	c.until("findings", func() bool { return len(c.shown[uri]) > 0 })
	c.mu.Lock()
	found := c.shown[uri]
	c.mu.Unlock()
	if len(found) != 1 || found[0].Code != "failed-check" {
		t.Errorf("%+v", found)
	}
	c.edit(config, 3, span{position{line, 0}, position{line + 1, 0}}, "  \"num_attention_heads\": \"4\",\n")
	c.until("a finding in the config", func() bool { return len(c.shown[uri]) == 1 && c.shown[uri][0].Code == "bad-config-value" })
	c.mu.Lock()
	found = c.shown[uri]
	c.mu.Unlock()
	if d := found[0]; d.Range != at[0] || len(d.Related) != 1 || d.Related[0].Location.URI != config || d.Related[0].Location.Range.Start.Line != line ||
		!strings.HasPrefix(d.Message, fmt.Sprintf("small.json:%d:", line+1)) {
		t.Errorf("%+v", d)
	}
	c.leave()
}

// TestShapesWithoutConfig: where there is no config, made-up ones show what fits
// for none of them, as they do for the command line.
func TestShapesWithoutConfig(t *testing.T) {
	c := start(t)
	text, at := marked("spec: v1\nname: x\nsummary: A test.\ndtype: float32\nconfig: {a: int, b: int}\ncomponents:\n  model:\n" +
		"    inputs: {x: \"float32[batch, a]\"}\n    body: [{use: x}, {«residual»: {linear: {name: out, out: b}}}]\n    outputs: {y: result}\n")
	uri := c.open("x.yaml", text)
	c.expect(uri, 1, show(at[0])+" unlikely-shapes")
	c.leave()
}

// TestShapes: what only the shapes show is found while typing.
func TestShapes(t *testing.T) {
	c := start(t)
	c.write("config.json", strings.Replace(smallConfig, "llama", "x", 1))
	text, at := marked(strings.Replace(child, "llama\n", "llama\nmodel_types: [x]\n", 1) +
		"components:\n  model:\n    body: [token_embedding, decoder_layers, {«linear»: {name: extra, out: 63}}, {save: v}, final_norm, {add: v}, head]\n")
	uri := c.open("x.yaml", text)
	c.expect(uri, 1)
	c.edit(uri, 2, span{position{7, 0}, position{8, 0}}, "    body: [token_embedding, {save: v}, decoder_layers, {linear: {name: extra, out: 63}}, {add: v}, final_norm, head]\n")
	found := c.diagnostics(uri, 2)
	if len(found) != 1 || found[0].Code != "block-misfit" || found[0].Range.Start.Line != at[0].Start.Line {
		t.Errorf("%+v", found)
	}
	c.leave()
}

// TestRepositorySpecs opens all specs of the repository at once: all are right.
func TestRepositorySpecs(t *testing.T) {
	files, err := filepath.Glob("../../specs/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	c := start(t)
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c.notify("textDocument/didOpen", object{"textDocument": object{"uri": uriOf(path), "languageId": "yaml", "version": 1, "text": string(text)}})
	}
	for _, file := range files {
		path, _ := filepath.Abs(file)
		if found := c.diagnostics(uriOf(path), 1); len(found) > 0 {
			t.Errorf("%s: %s", file, messages(found))
		}
	}
	c.leave()
}
