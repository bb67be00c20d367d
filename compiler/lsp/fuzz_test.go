package lsp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

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
		x := newText("x.yaml", s)
		for i := range s {
			if i > 0 && s[i] == '\n' && s[i-1] == '\r' {
				continue // in the middle of a line end
			}
			if got := x.offset(x.position(i)); got != i {
				t.Fatalf("%q: byte %d is at %v, which is byte %d", s, i, x.position(i), got)
			}
			if strings.HasPrefix(s, byteOrderMark) && i == 0 {
				continue
			}
			if got := x.offsetOf(x.pos(i)); got != i && x.yaml == nil {
				t.Fatalf("%q: byte %d is at %v, which is byte %d", s, i, x.pos(i), got)
			}
		}
		if utf8.ValidString(s) { // the reader of YAML has the same lines
			lines := tree.Lines([]byte(s))
			if starts := x.findingLines(); len(lines) != len(starts) {
				t.Fatalf("%q: %d lines, %d for YAML", s, len(starts), len(lines))
			}
			for n, want := range lines {
				from, to := x.line(x.findingLines(), n)
				if got := strings.TrimPrefix(s[from:to], byteOrderMark); n == 0 && got != want || n > 0 && s[from:to] != want {
					t.Fatalf("%q: line %d is %q, %q for YAML", s, n, s[from:to], want)
				}
			}
		}
		p := position{line, col}
		if got := x.offset(p); got < 0 || got > len(s) {
			t.Fatalf("%q: %v is byte %d", s, p, got)
		}
		x.position(at)
		x.pos(at)
		changed := x.change("x.yaml", span{p, position{col, at}}, "é")
		if !strings.Contains(changed.s, "é") {
			t.Fatalf("%q", changed.s)
		}
	})
}
