package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"mobiusc/compiler/spec"
	"mobiusc/compiler/spec/tree"
)

// FuzzFraming feeds a server any bytes: it ends in peace when they end, and all
// that it writes are messages.
func FuzzFraming(f *testing.F) {
	f.Add("")
	f.Add(frame(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}`))
	f.Add(frame(`{"id": 1, "method": "initialize", "params": {}}`) + frame(`{"id": "a", "method": "shutdown"}`) + frame(`{"method": "exit"}`))
	f.Add("Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\nxyz")
	f.Add("Content-Length: -5\nContent-Length: 9223372036854775807\n\n")
	f.Add("\r\n\r\n:\r\n")
	f.Add(frame(`{"id": null, "method": null}`) + frame(`[[[`) + frame("\xff\xfe"))
	f.Fuzz(func(t *testing.T, in string) {
		var out, log bytes.Buffer
		err := Serve(context.Background(), strings.NewReader(in), &out, &log, "fuzz")
		if err != nil && !errors.Is(err, ErrNoShutdown) {
			t.Fatal(err)
		}
		if log.Len() > 0 {
			t.Fatal(log.String())
		}
		r := &reader{bufio.NewReader(&out)}
		for {
			body, err := r.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, bad := parseMessage(body); bad != nil {
				t.Fatalf("%s: %v", body, bad)
			}
		}
	})
}

// requests are all that ask about a place.
var requests = []string{
	"textDocument/hover", "textDocument/completion", "textDocument/definition", "textDocument/references",
	"textDocument/prepareRename", "textDocument/rename", "textDocument/documentSymbol", "textDocument/codeAction", "textDocument/formatting",
}

// askAll sends every request about a place to a server that has the text open,
// and reports an internal error.
func askAll(t *testing.T, s *server, p position) {
	t.Helper()
	params, err := json.Marshal(object{
		"textDocument": object{"uri": "file:///nowhere/x.yaml"}, "position": p, "newName": "renamed",
		"context": object{"includeDeclaration": true, "diagnostics": []object{}}, "range": span{p, p}, "options": object{},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range requests {
		if _, bad := s.call(&message{ID: null, Method: method, Params: params}, true); bad != nil && bad.Code != codeRequestFailed {
			t.Fatalf("%s at %v of %q: %v", method, p, s.docs["/nowhere/x.yaml"].text.s, bad)
		}
	}
}

// holding returns a server that runs nothing, with one checked document.
func holding(t *testing.T, text string) *server {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := newServer(io.Discard, logWriter{t}, "test")
	s.state = running
	path := "/nowhere/x.yaml"
	d := &document{uri: "file://" + path, path: path, text: newText(text), ours: true}
	s.docs[path] = d
	c := &check{path: path, open: s.texts(), read: map[string]bool{}}
	c.run()
	if d.last = c; c.fault != "" {
		t.Fatal(c.fault)
	}
	c.diagnostics(s)
	return s
}

// FuzzRequests asks everything about any place of any text.
func FuzzRequests(f *testing.F) {
	f.Add(leaf, 11, 25)
	f.Add(child+"blocks: {feed_forward: {gated_mlp: {width: hidden_size * 2}}, a: [{save: v}, {use: v}]}\n", 4, 20)
	f.Add("a: &a [*a, {<<: *a}]\r\nconfig: {😀: {keys: {x: int}}}\nlet: {b: 😀.x}\n", 2, 12)
	f.Add("spec: v1\nname: x\nextends: x\n", 2, 9)
	f.Fuzz(func(t *testing.T, text string, line, character int) {
		if len(text) > 5000 {
			return
		}
		askAll(t, holding(t, text), position{line, character})
	})
}

// TestEveryPlace asks everything at many places of a large spec, whole and cut
// off, as it is while somebody writes it.
func TestEveryPlace(t *testing.T) {
	text, err := spec.ReadSource(spec.CarriedPath("qwen3_5"))
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.Replace(string(text), "name: qwen3_5", "name: x", 1)
	s := holding(t, whole)
	d := s.docs["/nowhere/x.yaml"]
	for i := 0; i < len(whole); i += 61 {
		askAll(t, s, d.text.position(i))
	}
	for i := 200; i < len(whole); i += 331 {
		d.text = newText(whole[:i])
		askAll(t, s, d.text.position(i))
		d.text = newText(whole[:i] + whole[min(i+7, len(whole)):])
		askAll(t, s, d.text.position(i))
	}
}

// FuzzPositions checks that the ways to name a place agree, and that no place
// is too strange.
func FuzzPositions(f *testing.F) {
	for _, s := range []string{"", "a", "a\nb", "a\r\nb\r\n", "\r\r\n\n", "😀a\n😀", "\ufeffa: 1\n", "a\u0085b\u2028c\u2029", "\xff\xfe\n", "\u2028\r\n", "é\té"} {
		f.Add(s, 1, 1, 3)
	}
	f.Fuzz(func(t *testing.T, s string, line, col, at int) {
		if len(s) > 500 {
			return // the comparison is quadratic
		}
		x := newText(s)
		for i := range s {
			if i > 0 && s[i] == '\n' && s[i-1] == '\r' {
				continue // in the middle of a line end
			}
			if got := x.offset(x.position(i)); got != i {
				t.Fatalf("%q: byte %d is at %v, which is byte %d", s, i, x.position(i), got)
			}
			if strings.HasPrefix(s, "\ufeff") && i == 0 {
				continue
			}
			if got := x.offsetOf(x.pos(i)); got != i {
				t.Fatalf("%q: byte %d is at %v, which is byte %d", s, i, x.pos(i), got)
			}
		}
		if utf8.ValidString(s) { // the reader of YAML has the same lines
			lines, o := tree.Lines([]byte(s)), x.offsets()
			if len(lines) != o.Lines() {
				t.Fatalf("%q: %d lines, %d for YAML", s, o.Lines(), len(lines))
			}
			for n, want := range lines {
				if got := o.Line(n + 1); got != want {
					t.Fatalf("%q: line %d is %q, %q for YAML", s, n, got, want)
				}
			}
		}
		p := position{line, col}
		if got := x.offset(p); got < 0 || got > len(s) {
			t.Fatalf("%q: %v is byte %d", s, p, got)
		}
		x.position(at)
		x.pos(at)
		changed := x.change(span{p, position{col, at}}, "é")
		if !strings.Contains(changed.s, "é") {
			t.Fatalf("%q", changed.s)
		}
	})
}
