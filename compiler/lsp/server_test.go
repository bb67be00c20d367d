package lsp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// child is a spec that extends a carried one and is right.
const child = "spec: v1\nname: x\nextends: llama\nsummary: A test.\n"

func TestLifecycle(t *testing.T) {
	c := connect(t)
	c.refused(codeNotInitialized, "textDocument/hover", object{})
	c.notify("textDocument/didOpen", object{}) // before its time: dropped
	c.refused(codeInvalidParams, "initialize", nil)
	c.refused(codeInvalidParams, "initialize", []int{1})
	var result struct {
		Capabilities struct {
			PositionEncoding string
			TextDocumentSync struct{ Change int }
		}
		ServerInfo struct{ Name, Version string }
	}
	c.call("initialize", object{"capabilities": object{}}, &result)
	if r := result; r.Capabilities.PositionEncoding != "utf-16" || r.Capabilities.TextDocumentSync.Change != 2 || r.ServerInfo.Name != "mobiusc" || r.ServerInfo.Version != "test" {
		t.Errorf("capabilities: %+v", r)
	}
	c.refused(codeInvalidRequest, "initialize", object{"capabilities": object{}})
	if message := c.refused(codeMethodNotFound, "textDocument/willFly", object{}); !strings.Contains(message, "textDocument/willFly") {
		t.Error(message)
	}
	c.notify("$/whatever", object{}) // an unknown notification is no matter
	c.call("shutdown", nil, nil)
	c.refused(codeInvalidRequest, "textDocument/hover", object{})
	c.notify("exit", nil)
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

// An editor that is killed leaves without a word.
func TestLeftWithoutShutdown(t *testing.T) {
	for name, leave := range map[string]func(*client){
		"end of the stream":    func(c *client) { c.in.Close() },
		"exit alone":           func(c *client) { c.notify("exit", nil) },
		"in a header":          func(c *client) { c.raw("Content-Length: 5\r\n"); c.in.Close() },
		"in a message":         func(c *client) { c.raw("Content-Length: 500\r\n\r\n{\"jsonrpc\""); c.in.Close() },
		"before it has begun":  func(c *client) { c.in.Close() },
		"after a false header": func(c *client) { c.raw("Content-Length: none\r\n\r\n"); c.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t)
			if !strings.HasPrefix(name, "before") {
				c.initialize()
			}
			leave(c)
			if err := <-c.ended; !errors.Is(err, ErrNoShutdown) {
				t.Error(err)
			}
		})
	}
}

// What is no message is answered as such, and the next message is read.
func TestMalformedMessages(t *testing.T) {
	c := start(t)
	for _, test := range []struct {
		name, bytes string
		code        int
	}{
		{"text instead of JSON", frame("hello"), codeParseError},
		{"JSON cut off", frame(`{"jsonrpc": "2.0", "id": 1`), codeParseError},
		{"nothing", frame(""), codeParseError},
		{"blanks", frame("  "), codeParseError},
		{"a list", frame(`[]`), codeInvalidRequest},
		{"a number", frame(`1`), codeInvalidRequest},
		{"a message without method and id", frame(`{}`), codeInvalidRequest},
		{"a method that is no text", frame(`{"id": 1, "method": 3}`), codeInvalidRequest},
		{"an id that is a list", frame(`{"id": [1], "method": "shutdown"}`), codeInvalidRequest},
		{"no length", "Content-Type: x\r\n\r\n", codeParseError},
		{"a length that is no number", "Content-Length: much\r\n\r\n", codeParseError},
		{"a negative length", "Content-Length: -1\r\n\r\n", codeParseError},
		{"a length without end", "Content-Length: 99999999999999999999\r\n\r\n", codeParseError},
		{"a line that is no header", "GET / HTTP/1.1\r\n\r\n", codeParseError},
		{"a very long line", strings.Repeat("x", 100_000) + "\n\n", codeParseError},
	} {
		c.mu.Lock()
		delete(c.answers, "null")
		c.mu.Unlock()
		c.raw(test.bytes)
		if a := c.answer("null"); a.Error == nil || a.Error.Code != test.code {
			t.Errorf("%s: %+v, want code %d", test.name, a.Error, test.code)
		}
		c.refused(codeMethodNotFound, "still/there", object{})
	}
	c.raw("\r\n\r\ncontent-length:2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}") // lower case, no blank
	c.raw(frame(`{"id": 77, "result": null}`))                                                             // an answer that nobody waits for
	c.leave()
}

func TestParameters(t *testing.T) {
	c := start(t)
	uri := c.open("x.yaml", child)
	for _, params := range []any{nil, 3, "x", []any{}, object{"textDocument": 3}, object{"textDocument": object{"uri": []int{1}}},
		object{"textDocument": object{"uri": uri}, "contentChanges": object{}},
		object{"textDocument": object{"uri": uri}, "contentChanges": []any{object{"range": object{"start": "x"}}}},
		object{"textDocument": object{"uri": c.uri("never-opened.yaml")}, "contentChanges": []any{object{"text": "a"}}},
	} {
		for _, method := range []string{"textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave"} {
			if method == "textDocument/didClose" || method == "textDocument/didOpen" {
				continue // those with a URI do what they say
			}
			c.notify(method, params)
		}
	}
	c.expect(uri, 1)
	c.leave()
}

// A request that is cancelled while it waits behind another is not worked on.
func TestCancellation(t *testing.T) {
	c := start(t)
	uri, _ := c.openLarge(10_000)
	slow := c.ask("textDocument/formatting", object{"textDocument": object{"uri": uri}}) // more than 0.1 s
	hover, kept := c.ask("textDocument/hover", at(uri, position{})), c.ask("textDocument/hover", at(uri, position{}))
	c.notify("$/cancelRequest", object{"id": c.number(hover)})
	c.notify("$/cancelRequest", object{"id": "unknown"})
	c.notify("$/cancelRequest", nil)
	if a := c.answer(hover); a.Error == nil || a.Error.Code != codeRequestCancelled {
		t.Errorf("%s %+v", a.Result, a.Error)
	}
	for _, id := range []string{slow, kept} {
		if a := c.answer(id); a.Error != nil {
			t.Errorf("%+v", a.Error)
		}
	}
	c.leave()
}

func (c *client) number(id string) (n int) {
	if _, err := fmt.Sscan(id, &n); err != nil {
		c.t.Fatal(err)
	}
	return n
}

// A request that is cancelled while it waits is answered with that; each
// request has one answer.
func TestCancelledWhileWaiting(t *testing.T) {
	w := &waiting{ids: map[string]bool{}}
	w.add("1")
	w.add("2")
	w.cancel("2")
	w.cancel("3")
	if w.take("1") || !w.take("2") || w.take("2") || w.take("3") {
		t.Error("the wrong requests are cancelled")
	}
	s := &server{waiting: w, out: &writer{out: new(strings.Builder)}}
	w.add("4")
	w.cancel("4")
	s.take(event{message: &message{ID: []byte("4"), Method: "textDocument/hover"}})
	if got := s.out.out.(*strings.Builder).String(); !strings.Contains(got, "-32800") {
		t.Error(got)
	}
}

func TestEdits(t *testing.T) {
	c := start(t)
	text, at := marked(child + "blocks:\n  feed_forward:\n    gated_mlp: {width: «intermediate_size», «»act: hidden_act}\n")
	uri := c.open("x.yaml", text)
	c.expect(uri, 1, "6:42-6:45 unknown-key")
	c.edit(uri, 2, span{at[1].Start, position{6, 42 + 3}}, "activation")
	c.expect(uri, 2)
	c.edit(uri, 3, span{position{6, 25}, position{6, 26}}, "") // in the middle of a token: inermediate_size
	c.expect(uri, 3, "6:23-6:39 unknown-name")
	c.edit(uri, 4, span{position{6, 25}, position{6, 25}}, "t")
	c.expect(uri, 4)
	// Two changes in one message, the second in terms of the first.
	c.notify("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": 5}, "contentChanges": []object{
		{"range": span{position{0, 0}, position{0, 0}}, "text": "# a comment 😀\n"},
		{"range": span{position{1, 6}, position{1, 8}}, "text": "v9"},
	}})
	c.expect(uri, 5, "1:6-1:8 unknown-word")
	// The whole text.
	c.notify("textDocument/didChange", object{"textDocument": object{"uri": uri, "version": 6}, "contentChanges": []object{{"text": child}}})
	c.expect(uri, 6)
	// Ranges beyond the text are its end, and a range that ends before it starts is turned round.
	c.edit(uri, 7, span{position{900, 3}, position{901, 0}}, "taks: x\n")
	c.expect(uri, 7, "4:0-4:4 unknown-key")
	c.edit(uri, 8, span{position{4, 4}, position{4, -7}}, "task")
	c.expect(uri, 8)
	c.leave()
}

// Columns are UTF-16 code units, whatever stands before.
func TestColumns(t *testing.T) {
	c := start(t)
	for i, test := range []string{
		child + "config: {größe: {type: «itn»}}\n",
		child + "config: {\"😀\": {type: «itn»}, größe: int}\n",
		strings.ReplaceAll(child, "\n", "\r\n") + "checks: {\"a 😀 b\": «hiden_size» > 0}\r\n",
		child + "checks: {a: \"'😀' == «hiden_size»\"}\n",
		child + "task: \"a\u2028 b\"\nchecks: {a: «hiden_size»}\n", // not a line end of the protocol
		strings.ReplaceAll(child, "\n", "\r") + "checks: {a: «hiden_size»}\r",
		"\ufeff" + child + "«taks»: x\n",
		"\ufeff" + strings.Replace(child, "v1", "«v7»", 1),
		child + "checks:\n  a: >-\n    '😀' ==\n    '' + «hiden_size»\n",
	} {
		text, at := marked(test)
		uri := c.open(fmt.Sprintf("%d/x.yaml", i), text)
		found := c.diagnostics(uri, 1)
		ok := false
		for _, d := range found {
			ok = ok || d.Range == at[0]
		}
		if !ok {
			t.Errorf("%q: no finding at %s:", text, show(at[0]))
			for _, d := range found {
				t.Log(show(d.Range), d.Message)
			}
		}
	}
	c.leave()
}

// A parent that is open in another buffer counts as it stands there.
func TestUnsavedParent(t *testing.T) {
	c := start(t)
	c.write("base.yaml", strings.Replace(child, "name: x", "name: base", 1))
	leaf := "spec: v1\nname: leaf\nextends: base\nsummary: A leaf.\nchecks: {the width is even: hidden_size % 2 == 0}\n"
	uri := c.open("leaf.yaml", leaf)
	c.expect(uri, 1)
	// The parent is opened, and deletes in its buffer what the leaf uses.
	base := c.open("base.yaml", strings.Replace(child, "name: x", "name: base", 1)+"config: {hidden_size: null, width: {type: int, from: hidden_size}}\n")
	c.until("findings in the leaf", func() bool { return len(c.shown[uri]) > 0 })
	c.mu.Lock()
	first := c.shown[uri][0]
	c.mu.Unlock()
	if first.Code != "unknown-name" || show(first.Range) != "4:28-4:39" || len(first.Related) != 1 || first.Related[0].Location.URI != base {
		t.Errorf("%+v", first)
	}
	// It is closed without being saved: the file on disk counts again.
	c.notify("textDocument/didClose", object{"textDocument": object{"uri": base}})
	c.until("no findings in the leaf", func() bool { return len(c.shown[uri]) == 0 })
	// It changes on disk, and the editor says so.
	c.write("base.yaml", "spec: v1\n")
	c.notify("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": base, "type": 2}}})
	c.until("findings in the leaf", func() bool { return len(c.shown[uri]) > 0 })
	c.mu.Lock()
	first = c.shown[uri][0]
	c.mu.Unlock()
	if first.Code != "missing-key" || show(first.Range) != "2:9-2:13" || len(first.Related) != 1 || first.Related[0].Location.URI != base {
		t.Errorf("%+v", first)
	}
	c.leave()
}

// A buffer that was never saved has the name that it states.
func TestBufferWithoutFile(t *testing.T) {
	c := start(t)
	uri := "untitled:Untitled-1"
	c.notify("textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": "yaml", "version": 1, "text": child + "taks: a\n"}})
	c.expect(uri, 1, "4:0-4:4 unknown-key")
	c.edit(uri, 2, span{position{1, 6}, position{1, 7}}, "other")
	c.edit(uri, 3, span{position{4, 0}, position{4, 4}}, "checks: {a: hiden_size > 1}\n#")
	c.expect(uri, 3, "4:12-4:22 unknown-name")
	var h *hover
	c.call("textDocument/hover", at(uri, position{2, 10}), &h)
	if h == nil || !strings.Contains(h.Contents.Value, "spec") {
		t.Errorf("%+v", h)
	}
	c.notify("textDocument/didClose", object{"textDocument": object{"uri": uri}})
	c.until("no findings", func() bool { return len(c.shown[uri]) == 0 })
	c.leave()
}
