// Package lsp is the language server of specs: it speaks the Language Server
// Protocol 3.17 over a pair of streams.
//
// One goroutine reads messages, one (Server.run) handles them in the order they
// came and alone touches the documents, and one at a time checks a document in
// the background, on texts that do not change. So an answer is always about the
// text that the editor shows, and nothing is locked.
package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"mobiusc/compiler/spec"
	"mobiusc/internal/input"
)

// ErrNoShutdown says that the editor went away without a request to shut down.
var ErrNoShutdown = errors.New("the client left without a shutdown request")

// Serve speaks with one editor until it says exit or closes the stream. Faults
// of the server itself are written to log and told to the editor.
func Serve(ctx context.Context, in io.Reader, out, log io.Writer, version string) error {
	s := newServer(out, log, version)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go s.read(ctx, in)
	return s.run(ctx)
}

func newServer(out, log io.Writer, version string) *server {
	return &server{
		out: &writer{out: out}, log: log, version: version,
		events: make(chan event, 64), checks: make(chan *check, 1),
		waiting: &waiting{ids: map[string]bool{}},
		docs:    map[string]*document{}, pending: map[string]bool{}, outlines: map[string]*spec.Outline{}, methods: methods(),
	}
}

// state is where the conversation stands.
type state uint8

const (
	starting state = iota // before initialize
	running
	closing // after shutdown
)

type server struct {
	out     *writer
	log     io.Writer
	version string
	events  chan event
	checks  chan *check // that are done
	waiting *waiting
	methods map[string]handler

	state    state
	client   initializeParams
	docs     map[string]*document // open, by path
	pending  map[string]bool      // paths of documents to check
	outlines map[string]*spec.Outline
	checking bool
	asked    int    // requests of ours
	copies   string // the directory with copies of the carried specs, or ""
}

// event is what the reader hands over: a message, a fault of one, or the end.
type event struct {
	message *message
	fault   *rpcError
	end     error
}

// handler answers a request or takes a notification; the result of the latter
// is not sent.
type handler func(s *server, params json.RawMessage) (any, *rpcError)

// waiting knows the requests that are read and not answered.
type waiting struct {
	mu  sync.Mutex
	ids map[string]bool // whether it is cancelled
}

func (w *waiting) add(id string) {
	w.mu.Lock()
	w.ids[id] = false
	w.mu.Unlock()
}

func (w *waiting) cancel(id string) {
	w.mu.Lock()
	if _, ok := w.ids[id]; ok {
		w.ids[id] = true
	}
	w.mu.Unlock()
}

// take forgets a request and reports whether it was cancelled.
func (w *waiting) take(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	cancelled := w.ids[id]
	delete(w.ids, id)
	return cancelled
}

// read hands messages over until the stream ends. A request can be cancelled
// as long as it waits: cancellations overtake what was read before.
func (s *server) read(ctx context.Context, in io.Reader) {
	r := &reader{bufio.NewReaderSize(in, 64<<10)}
	lost := false // between a bad header and the next good one
	for {
		body, err := r.next()
		e := event{end: err}
		switch {
		case errors.Is(err, errNoLength):
			if lost {
				continue
			}
			lost, e = true, event{fault: failed(codeParseError, "%v", err)}
		case err == nil:
			lost = false
			e.message, e.fault = parseMessage(body)
			if m := e.message; m != nil && m.Method == "$/cancelRequest" {
				if p, bad := decode[struct{ ID json.RawMessage }](m.Params); bad == nil {
					s.waiting.cancel(string(p.ID))
				}
				continue
			}
			if m := e.message; m != nil && m.Method != "" && len(m.ID) > 0 {
				s.waiting.add(string(m.ID))
			}
		}
		select {
		case s.events <- e:
		case <-ctx.Done():
			return
		}
		if e.end != nil {
			return
		}
	}
}

// run handles what comes, in order. Documents are checked when nothing waits,
// so that only the last of several quick edits is.
func (s *server) run(ctx context.Context) error {
	for {
		if len(s.events) == 0 {
			s.startCheck()
		}
		select {
		case c := <-s.checks:
			s.finishCheck(c)
		case e := <-s.events:
			if e.end != nil {
				return s.ended(e.end)
			}
			if e.message != nil && e.message.Method == "exit" {
				return s.ended(nil)
			}
			s.take(e)
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.out.err != nil {
			return s.out.err
		}
	}
}

func (s *server) ended(err error) error {
	if s.state == closing {
		return nil
	}
	if err != nil && err != io.EOF {
		return fmt.Errorf("%w: %v", ErrNoShutdown, err)
	}
	return ErrNoShutdown
}

// take handles one message.
func (s *server) take(e event) {
	if e.fault != nil {
		s.out.reply(null, nil, e.fault)
		return
	}
	m := e.message
	if m.Method == "" {
		return // the answer to a request of ours, none of which needs one
	}
	isRequest := len(m.ID) > 0
	if isRequest && s.waiting.take(string(m.ID)) {
		s.out.reply(m.ID, nil, failed(codeRequestCancelled, "cancelled"))
		return
	}
	result, fault := s.call(m, isRequest)
	switch {
	case isRequest:
		s.out.reply(m.ID, result, fault)
	case fault != nil && fault.Code != codeMethodNotFound && fault.Code != codeNotInitialized:
		s.out.notify("window/logMessage", object{"type": 2, "message": m.Method + ": " + fault.Message})
	}
}

// call runs the handler of a method, if the conversation is where it may be.
func (s *server) call(m *message, isRequest bool) (result any, fault *rpcError) {
	defer func() {
		if r := recover(); r != nil {
			fault = failed(codeInternalError, "internal error: %v", r)
			s.internal(m.Method, r)
		}
	}()
	h := s.methods[m.Method]
	switch {
	case s.state == starting && m.Method != "initialize":
		return nil, failed(codeNotInitialized, "the first request is initialize, not %s", m.Method)
	case s.state == closing, s.state == running && m.Method == "initialize":
		return nil, failed(codeInvalidRequest, "%s may not come now", m.Method)
	case h == nil:
		return nil, failed(codeMethodNotFound, "there is no method %s", m.Method)
	}
	return h(s, m.Params)
}

// methods lists what the server answers.
func methods() map[string]handler {
	nothing := func(*server, json.RawMessage) (any, *rpcError) { return nil, nil }
	return map[string]handler{
		"initialize":  (*server).initialize,
		"initialized": (*server).initialized,
		"shutdown":    (*server).shutdown,

		"textDocument/didOpen":            (*server).didOpen,
		"textDocument/didChange":          (*server).didChange,
		"textDocument/didClose":           (*server).didClose,
		"textDocument/didSave":            (*server).didSave,
		"workspace/didChangeWatchedFiles": (*server).didChangeWatchedFiles,

		"textDocument/hover":          (*server).hover,
		"textDocument/completion":     (*server).completion,
		"textDocument/definition":     (*server).definition,
		"textDocument/references":     (*server).references,
		"textDocument/prepareRename":  (*server).prepareRename,
		"textDocument/rename":         (*server).rename,
		"textDocument/documentSymbol": (*server).documentSymbol,
		"textDocument/codeAction":     (*server).codeActions,
		"textDocument/formatting":     (*server).formatting,

		"workspace/didChangeConfiguration": nothing,
		"$/setTrace":                       nothing,
	}
}

func (s *server) initialize(params json.RawMessage) (any, *rpcError) {
	p, bad := decode[initializeParams](params)
	if bad != nil {
		return nil, bad
	}
	s.client, s.state = *p, running
	return object{
		"capabilities": object{
			"positionEncoding":           "utf-16",
			"textDocumentSync":           object{"openClose": true, "change": 2, "save": true},
			"hoverProvider":              true,
			"completionProvider":         object{"triggerCharacters": []string{".", " ", "[", "{"}},
			"definitionProvider":         true,
			"referencesProvider":         true,
			"renameProvider":             object{"prepareProvider": true},
			"documentSymbolProvider":     true,
			"codeActionProvider":         object{"codeActionKinds": []string{quickFix, fixAll}},
			"documentFormattingProvider": true,
		},
		"serverInfo": object{"name": "mobiusc", "version": s.version},
	}, nil
}

// initialized asks to be told of files that change outside the editor.
func (s *server) initialized(json.RawMessage) (any, *rpcError) {
	if s.client.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		s.asked++
		s.out.request(s.asked, "client/registerCapability", object{"registrations": []object{{
			"id": "files", "method": "workspace/didChangeWatchedFiles",
			"registerOptions": object{"watchers": []object{{"globPattern": "**/*.{yaml,yml,json}"}}},
		}}})
	}
	return nil, nil
}

func (s *server) shutdown(json.RawMessage) (any, *rpcError) {
	s.state = closing
	return nil, nil
}

// readFile reads a file as the editor shows it: an open document, or from disk.
func readFile(open map[string]*text, path string) ([]byte, error) {
	if t := open[path]; t != nil {
		return []byte(t.s), nil
	}
	return input.ReadText(path)
}
