package lsp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// client is an editor: it speaks to a server over a pair of streams.
type client struct {
	t     testing.TB
	in    io.WriteCloser
	id    int
	dir   string
	ended chan error // what the server ended with

	mu      sync.Mutex
	changed *sync.Cond
	answers map[string]answer
	shown   map[string][]diagnostic // by URI, the newest
	count   map[string]int          // publications, by URI
	version map[string]int
	asked   []message // requests and notifications of the server, but diagnostics
	gone    bool
}

type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

// logWriter shows in the test's log what the server logs, and fails the test:
// it logs only faults of its own.
type logWriter struct{ t testing.TB }

func (w logWriter) Write(p []byte) (int, error) {
	w.t.Errorf("the server logged: %s", p)
	return len(p), nil
}

// start starts a server in this process, and initialises it.
func start(t testing.TB) *client {
	c := connect(t)
	c.initialize()
	return c
}

// connect starts a server in this process.
func connect(t testing.TB) *client {
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	c := newClient(t, in, out)
	go func() {
		err := Serve(t.Context(), toServer, fromServer, logWriter{t}, "test")
		fromServer.Close()
		c.ended <- err
	}()
	t.Cleanup(func() { in.Close() })
	return c
}

func newClient(t testing.TB, in io.WriteCloser, out io.Reader) *client {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // for copies of carried specs
	c := &client{
		t: t, in: in, dir: filepath.ToSlash(t.TempDir()), ended: make(chan error, 1),
		answers: map[string]answer{}, shown: map[string][]diagnostic{}, count: map[string]int{}, version: map[string]int{},
	}
	c.changed = sync.NewCond(&c.mu)
	go c.listen(out)
	return c
}

func (c *client) listen(out io.Reader) {
	r := &reader{bufio.NewReader(out)}
	for {
		body, err := r.next()
		c.mu.Lock()
		if err != nil {
			c.gone = true
			c.changed.Broadcast()
			c.mu.Unlock()
			return
		}
		var a answer
		if err := json.Unmarshal(body, &a); err != nil {
			c.t.Errorf("the server wrote %q: %v", body, err)
		}
		switch {
		case a.Method == "textDocument/publishDiagnostics":
			var p publishParams
			if err := json.Unmarshal(a.Params, &p); err != nil {
				c.t.Error(err)
			}
			c.shown[p.URI] = p.Diagnostics
			c.count[p.URI]++
			if p.Version != nil {
				c.version[p.URI] = *p.Version
			}
		case a.Method != "":
			c.asked = append(c.asked, message{a.ID, a.Method, a.Params})
		default:
			c.answers[string(a.ID)] = a
		}
		c.changed.Broadcast()
		c.mu.Unlock()
	}
}

// until waits for a condition; the lock is held while it is looked at.
func (c *client) until(what string, holds func() bool) {
	c.t.Helper()
	limit := time.AfterFunc(60*time.Second, func() {
		c.mu.Lock()
		c.gone = true
		c.changed.Broadcast()
		c.mu.Unlock()
	})
	defer limit.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !holds() {
		if c.gone {
			c.t.Fatalf("the server ended, or a minute passed, before %s", what)
		}
		c.changed.Wait()
	}
}

// raw writes bytes as they are.
func (c *client) raw(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text); err != nil {
		c.t.Fatal(err)
	}
}

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func (c *client) send(v object) {
	c.t.Helper()
	v["jsonrpc"] = "2.0"
	body, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	c.raw(frame(string(body)))
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	c.send(object{"method": method, "params": params})
}

// ask sends a request without waiting for its answer.
func (c *client) ask(method string, params any) (id string) {
	c.t.Helper()
	c.id++
	c.send(object{"id": c.id, "method": method, "params": params})
	return fmt.Sprint(c.id)
}

func (c *client) answer(id string) answer {
	c.t.Helper()
	var a answer
	c.until("answer "+id, func() (ok bool) { a, ok = c.answers[id]; return ok })
	return a
}

// call sends a request and decodes its result.
func (c *client) call(method string, params, result any) {
	c.t.Helper()
	a := c.answer(c.ask(method, params))
	if a.Error != nil {
		c.t.Fatalf("%s: %v", method, a.Error)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		c.t.Fatalf("%s: %s: %v", method, a.Result, err)
	}
}

// refused sends a request that must fail with a code.
func (c *client) refused(code int, method string, params any) string {
	c.t.Helper()
	a := c.answer(c.ask(method, params))
	if a.Error == nil || a.Error.Code != code {
		c.t.Fatalf("%s: %s %v, want an error with code %d", method, a.Result, a.Error, code)
	}
	return a.Error.Message
}

func (c *client) initialize() {
	c.t.Helper()
	c.call("initialize", object{"processId": nil, "rootUri": nil, "capabilities": object{
		"workspace": object{"didChangeWatchedFiles": object{"dynamicRegistration": true}},
		"textDocument": object{
			"publishDiagnostics": object{"relatedInformation": true},
			"documentSymbol":     object{"hierarchicalDocumentSymbolSupport": true},
			"completion":         object{"completionItem": object{"snippetSupport": true}},
		},
	}}, nil)
	c.notify("initialized", object{})
}

// leave ends the conversation as the protocol wants it.
func (c *client) leave() {
	c.t.Helper()
	c.call("shutdown", nil, nil)
	c.notify("exit", nil)
	if err := <-c.ended; err != nil {
		c.t.Errorf("the server ended with %v", err)
	}
}

func (c *client) uri(name string) string { return uriOf(c.dir + "/" + name) }

// write puts a file on disk.
func (c *client) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) open(name, text string) string {
	c.t.Helper()
	uri := c.uri(name)
	c.notify("textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
	return uri
}

// edit replaces a piece of a document, at the places of its text that «» marks
// in before, and returns its new version.
func (c *client) edit(uri string, version int, at span, text string) {
	c.t.Helper()
	c.notify("textDocument/didChange", object{
		"textDocument":   object{"uri": uri, "version": version},
		"contentChanges": []object{{"range": at, "text": text}},
	})
}

// diagnostics waits for what is found in a version of a document.
func (c *client) diagnostics(uri string, version int) []diagnostic {
	c.t.Helper()
	var found []diagnostic
	c.until(fmt.Sprintf("diagnostics of version %d", version), func() bool {
		found = c.shown[uri]
		return c.count[uri] > 0 && c.version[uri] >= version
	})
	return found
}

// expect compares diagnostics, each written as line:column-line:column name,
// counted from 0 as the protocol does.
func (c *client) expect(uri string, version int, want ...string) {
	c.t.Helper()
	var got []string
	for _, d := range c.diagnostics(uri, version) {
		got = append(got, show(d.Range)+" "+d.Code)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		c.t.Errorf("version %d has the findings\n%s\nwant\n%s\n%s", version, strings.Join(got, "\n"), strings.Join(want, "\n"), messages(c.diagnostics(uri, version)))
	}
}

func messages(found []diagnostic) string {
	var s strings.Builder
	for _, d := range found {
		s.WriteString(d.Message + "\n")
	}
	return s.String()
}

func show(r span) string {
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character)
}

// marked removes the «» pairs of a text and returns what they enclose as the
// protocol counts it; the texts of tests have their wide characters elsewhere.
func marked(text string) (string, []span) {
	var spans []span
	for {
		before, rest, ok := strings.Cut(text, "«")
		inside, after, _ := strings.Cut(rest, "»")
		if !ok {
			return text, spans
		}
		text = before + inside + after
		t := newText(text)
		spans = append(spans, span{t.position(len(before)), t.position(len(before + inside))})
	}
}
