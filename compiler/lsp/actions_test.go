package lsp

import (
	"strings"
	"testing"
)

// actions returns the titles of what is offered at ‸ in a document that has
// been checked, and what the text is after each.
func (c *client) actions(text string, only ...string) (titles []string, after map[string]string) {
	c.t.Helper()
	before, rest, _ := strings.Cut(text, "‸")
	text = before + rest
	uri := c.open("x.yaml", text)
	c.diagnostics(uri, 1)
	p := newText(text).position(len(before))
	context := object{"diagnostics": []object{}}
	if len(only) > 0 {
		context["only"] = only
	}
	var actions []struct {
		codeAction
		Edit struct{ Changes map[string][]textEdit } `json:"edit"`
	}
	c.call("textDocument/codeAction", object{"textDocument": object{"uri": uri}, "range": span{p, p}, "context": context}, &actions)
	after = map[string]string{}
	for _, a := range actions {
		titles = append(titles, a.Title)
		changed := newText(text)
		for _, e := range a.Edit.Changes[uri] {
			changed = changed.change(e.Range, e.NewText)
		}
		after[a.Title] = changed.s
		if a.Kind == quickFix && (len(a.Diagnostics) != 1 || !overlap(a.Diagnostics[0].Range, span{p, p})) {
			c.t.Errorf("%s is about %v", a.Title, a.Diagnostics)
		}
	}
	return titles, after
}

func TestCodeActions(t *testing.T) {
	const ignore = "ignore unused-block here"
	for _, test := range []struct {
		text, title, want string // the text after the action; "": it is not offered
	}{
		{child + "ta‸ks: a\n", "write `task`", child + "task: a\n"},
		{child + "taks: ‸a\n", "write `task`", ""},
		{strings.ReplaceAll(child, "\n", "\r\n") + "checks: {\"😀\": hiden‸_size > 1}\r\n", "write `hidden_size`", strings.ReplaceAll(child, "\n", "\r\n") + "checks: {\"😀\": hidden_size > 1}\r\n"},
		{child + "blocks: {ex‸tra: []}\n", ignore, child + "blocks: {extra: []}  # mobiusc:ignore unused-block\n"},
		{child + "blocks:\n  ex‸tra: []   # why not\n", ignore, child + "blocks:\n  # mobiusc:ignore unused-block\n  extra: []   # why not\n"},
		{child + "blocks:\n  ex‸tra: []  # mobiusc:ignore suspicious-dim\n", ignore, child + "blocks:\n  extra: []  # mobiusc:ignore unused-block, suspicious-dim\n"},
		{child + "let: {ex‸tra: |\n   1 + 1\n }\n", ignore, ""}, // not YAML
		{child + "ta‸ks: a\n", "ignore unknown-key here", ""},   // no judgement
		{"apiVersion: v1\nspec:\n  ta‸ks: a\n", "write `task`", ""},
	} {
		c := start(t)
		titles, after := c.actions(test.text)
		got, offered := after[test.title]
		if test.want == "" && offered || test.want != "" && got != test.want {
			t.Errorf("%q: %s gives %q; offered are %q", test.text, test.title, got, titles)
		}
		c.leave()
	}
}

// An ignore that is offered silences the finding.
func TestIgnoreSilences(t *testing.T) {
	for _, text := range []string{
		child + "blocks: {ex‸tra: []}\n",
		child + "blocks: {extra: [],\n   ot‸her: []}\nlet: {more: 1} # x\n",
		child + "blocks:\n  extra: []\n  ot‸her:   # text\n    rms_norm: |-\n      a\n",
	} {
		c := start(t)
		_, after := c.actions(text)
		changed := after["ignore unused-block here"]
		uri := c.uri("x.yaml")
		old := len(c.diagnostics(uri, 1))
		c.notify("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": 2}, "contentChanges": []object{{"text": changed}}})
		if now := c.diagnostics(uri, 2); len(now) != old-1 {
			t.Errorf("%d findings, then %d in\n%s%s", old, len(now), changed, messages(now))
		}
		c.leave()
	}
}

func TestFixAll(t *testing.T) {
	c := start(t)
	titles, after := c.actions(child+"‸taks: a\ncheks: {\"😀\": hidden_size > 1}\n", "source.fixAll")
	want := child + "task: a\nchecks: {\"😀\": hidden_size > 1}\n"
	if len(titles) != 1 || after[titles[0]] != want {
		t.Errorf("%q", after)
	}
	titles, _ = c.actions(child+"ta‸ks: a\n", "refactor")
	if len(titles) > 0 {
		t.Errorf("%q are offered as refactorings", titles)
	}
	c.leave()
}

func TestFormatting(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{child, ""},
		{child + "task:   a\n", child + "task: a\n"},
		{"spec:   v1\n" + child[9:], child},
		{child + "blocks:\n    feed_forward:\n        - a\n        -   b # 😀\n\n\n\nlet: {a: 1 }", child + "blocks:\n  feed_forward:\n    - a\n    - b       # 😀\n\nlet: {a: 1}\n"},
		{strings.ReplaceAll(child, "\n", "\r\n"), child},
	} {
		c := start(t)
		uri := c.open("x.yaml", test.text)
		var edits []textEdit
		c.call("textDocument/formatting", object{"textDocument": object{"uri": uri}, "options": object{"tabSize": 8, "insertSpaces": false}}, &edits)
		got := newText(test.text)
		for _, e := range edits {
			got = got.change(e.Range, e.NewText)
		}
		if want := test.want; want == "" && len(edits) > 0 || want != "" && got.s != want {
			t.Errorf("%q becomes %q", test.text, got.s)
		}
		c.leave()
	}
	c := start(t)
	uri := c.open("x.yaml", child+"a: {\n")
	if message := c.refused(codeRequestFailed, "textDocument/formatting", object{"textDocument": object{"uri": uri}}); !strings.Contains(message, "not YAML") {
		t.Error(message)
	}
	c.leave()
}

// The server is silent about YAML that is no spec, whatever it is asked.
func TestOtherYAML(t *testing.T) {
	c := start(t)
	for i, test := range []struct {
		text string
		ours bool
	}{
		{"apiVersion: v1\nkind: Pod\nspec:\n  containers: []\n", false},
		{"services: {web: {image: x}}\n", false},
		{"", false},
		{"# a comment\n\nspec:\n", true},
		{"name: x\nspec: v1\n", true},
		{"name: x\nspec: \"v1\"\n", true},
		{"# yaml-language-server: $schema=../schemas/spec.schema.json\n", true},
		{"# yaml-language-server: $schema=https://example.org/schema.json\n", false},
	} {
		uri := c.open(strings.Repeat("d/", i)+"x.yaml", test.text)
		if found := c.diagnostics(uri, 1); (len(found) > 0) != test.ours {
			t.Errorf("%q: %v", test.text, found)
		}
		var list *struct{ Items []completionItem }
		c.call("textDocument/completion", at(uri, position{}), &list)
		if (list != nil) != test.ours {
			t.Errorf("%q: %v", test.text, list)
		}
		var symbols []documentSymbol
		c.call("textDocument/documentSymbol", object{"textDocument": object{"uri": uri}}, &symbols)
		if len(symbols) > 0 && !test.ours {
			t.Errorf("%q: %v", test.text, symbols)
		}
	}
	c.leave()
}
