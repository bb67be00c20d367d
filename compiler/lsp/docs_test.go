package lsp

import (
	"os"
	"strings"
	"testing"
)

// TestSnippets: what docs/editors.md tells the reader to write is what the files
// of editors hold, comments aside.
func TestSnippets(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := read("docs/editors.md")
	helix := read("editors/helix/languages.toml")
	_, snippet, _ := strings.Cut(helix, "are not specs.\n")
	if snippet == "" || !strings.Contains(page, "```toml\n"+snippet+"```") {
		t.Errorf("the page does not show editors/helix/languages.toml")
	}
	neovim := read("editors/neovim/lsp/mobiusc.lua")
	for line := range strings.Lines(neovim) {
		if line = strings.Trim(line, " ,\n"); strings.Contains(line, " = ") && !strings.Contains(page, line) {
			t.Errorf("the page does not show %q of editors/neovim/lsp/mobiusc.lua", line)
		}
	}
	for _, key := range []string{"mobiusc.path", "npm run package", "dist/mobiusc.vsix"} {
		if !strings.Contains(page, key) || !strings.Contains(read("editors/vscode/package.json"), strings.TrimPrefix(key, "npm run ")) {
			t.Errorf("%s is not in both the page and editors/vscode/package.json", key)
		}
	}
}

// TestWideCharactersAndCRLF: every answer is in UTF-16 units, whatever the line
// ends are.
func TestWideCharactersAndCRLF(t *testing.T) {
	c := start(t)
	text := strings.ReplaceAll(child+"let: {größe: hidden_size * 2}\nchecks: {\"😀 𝛼\": \"'😀' != '' and größe > 1\"}\n", "\n", "\r\n")
	uri := c.open("x.yaml", text)
	c.expect(uri, 1, "4:6-4:11 unused-block")
	use := position{5, 34} // größe, behind three characters of two units
	var found []location
	c.call("textDocument/definition", at(uri, use), &found)
	if len(found) != 1 || show(found[0].Range) != "4:6-4:11" {
		t.Errorf("%+v", found)
	}
	var h *hover
	c.call("textDocument/hover", at(uri, use), &h)
	if h == nil || show(h.Range) != "5:34-5:39" || !strings.Contains(h.Contents.Value, "hidden_size * 2") {
		t.Errorf("%+v", h)
	}
	var list struct{ Items []completionItem }
	c.call("textDocument/completion", at(uri, position{5, 36}), &list)
	for _, i := range list.Items {
		if show(i.TextEdit.Range) != "5:34-5:39" {
			t.Errorf("%s replaces %s", i.Label, show(i.TextEdit.Range))
		}
	}
	if len(list.Items) == 0 {
		t.Error("nothing is offered")
	}
	c.leave()
}
