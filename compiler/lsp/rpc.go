package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
)

// Limits of what is read. No editor comes near them.
const (
	maxHeader  = 4 << 10
	maxMessage = 64 << 20
)

// Error codes of JSON-RPC and of the protocol.
const (
	codeParseError       = -32700
	codeInvalidRequest   = -32600
	codeMethodNotFound   = -32601
	codeInvalidParams    = -32602
	codeInternalError    = -32603
	codeNotInitialized   = -32002
	codeRequestFailed    = -32803
	codeRequestCancelled = -32800
)

// rpcError is an answer that says why there is no result.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

func failed(code int, format string, args ...any) *rpcError {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// message is a request (ID and Method), a notification (Method alone) or an
// answer to a request of ours (ID alone).
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

var null = json.RawMessage("null")

// parseMessage reads the body of a message. The error is for the sender.
func parseMessage(body []byte) (*message, *rpcError) {
	if !json.Valid(body) {
		return nil, failed(codeParseError, "the message is not JSON")
	}
	m := &message{}
	if body = bytes.TrimSpace(body); body[0] != '{' {
		return nil, failed(codeInvalidRequest, "a message is a JSON object")
	}
	if err := json.Unmarshal(body, m); err != nil {
		return nil, failed(codeInvalidRequest, "not a request: %v", err)
	}
	if len(m.ID) > 0 && !strings.ContainsRune(`"-0123456789n`, rune(m.ID[0])) {
		return nil, failed(codeInvalidRequest, "an id is a number or text")
	}
	if m.Method == "" && len(m.ID) == 0 {
		return nil, failed(codeInvalidRequest, "a message has a method or an id")
	}
	return m, nil
}

// reader takes messages out of a stream.
type reader struct{ in *bufio.Reader }

// errNoLength is the error of a header without a usable Content-Length. The
// next header is looked for where the stream goes on.
var errNoLength = errors.New("a message needs a header Content-Length: BYTES")

// next returns the body of the next message. After errNoLength reading can go
// on; any other error ends the stream.
func (r *reader) next() ([]byte, error) {
	length, size := -1, 0
	for first := true; ; first = false {
		line, err := r.line()
		if err != nil {
			if err == io.EOF && !first {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		size += len(line)
		text := textproto.TrimString(string(line))
		if text == "" && length < 0 && first {
			first = true // blank lines between messages are harmless
			continue
		}
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok || size > maxHeader {
			return nil, errNoLength
		}
		if strings.EqualFold(name, "Content-Length") {
			n, err := strconv.Atoi(textproto.TrimString(value))
			if err != nil || n < 0 || n > maxMessage {
				return nil, errNoLength
			}
			length = n
		}
	}
	if length < 0 {
		return nil, errNoLength
	}
	var body bytes.Buffer // grows with what comes, not with what the header claims
	if _, err := io.CopyN(&body, r.in, int64(length)); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return body.Bytes(), nil
}

// line reads one line of a header, of which an overlong one is cut into several.
func (r *reader) line() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		err = nil
	}
	return bytes.Clone(line), err
}

// writer puts messages into a stream; several goroutines may use it.
type writer struct {
	mu  sync.Mutex
	out io.Writer
	err error // the first, after which nothing is written
}

func (w *writer) send(v any) {
	body, err := json.Marshal(v)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.err == nil {
		_, err = fmt.Fprintf(w.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	if w.err == nil {
		w.err = err
	}
}

// reply answers a request.
func (w *writer) reply(id json.RawMessage, result any, e *rpcError) {
	if len(id) == 0 {
		id = null
	}
	if e != nil {
		w.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": e})
		return
	}
	w.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (w *writer) notify(method string, params any) {
	w.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (w *writer) request(id int, method string, params any) {
	w.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}
