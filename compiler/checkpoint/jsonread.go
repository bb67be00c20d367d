package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// jsonReader reads JSON key by key: encoding/json does not see a key that is
// there twice, and took ten times as long for the headers of a large
// checkpoint. Strings and arrays of sizes, all that a sound header consists of,
// are read here; every other value is left to encoding/json.
type jsonReader struct {
	text []byte // valid UTF-8
	pos  int
}

// next skips white space and returns the byte that follows, 0 at the end.
func (r *jsonReader) next() byte {
	for ; r.pos < len(r.text); r.pos++ {
		switch c := r.text[r.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// accept skips white space and c, if c follows.
func (r *jsonReader) accept(c byte) bool {
	if r.next() != c || r.pos == len(r.text) {
		return false
	}
	r.pos++
	return true
}

func (r *jsonReader) expected(what string) error {
	if r.next() == 0 && r.pos == len(r.text) {
		return fmt.Errorf("it ends where %s should be", what)
	}
	return fmt.Errorf("byte %d should be %s", r.pos, what)
}

// value reads any value: nil, bool, json.Number, string, []any or map[string]any.
func (r *jsonReader) value() (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(r.text[r.pos:]))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("it ends inside a value")
		}
		return nil, fmt.Errorf("in the value at byte %d: %w", r.pos, err)
	}
	r.pos += int(dec.InputOffset())
	return v, nil
}

// str reads a string; ok is false, and other holds the value, if it is none.
func (r *jsonReader) str() (s string, other any, ok bool, err error) {
	if r.next() == '"' {
		for i := r.pos + 1; i < len(r.text); i++ {
			switch c := r.text[i]; {
			case c == '"':
				s, r.pos = string(r.text[r.pos+1:i]), i+1
				return s, nil, true, nil
			case c == '\\' || c < ' ':
				i = len(r.text) // for value to unescape or refuse
			}
		}
	}
	v, err := r.value()
	s, ok = v.(string)
	return s, v, ok, err
}

// sizes reads an array of non-negative integers; ok is false, and other holds
// the value, if it is none. The list is not nil when ok.
func (r *jsonReader) sizes() (list []int64, other any, ok bool, err error) {
	start := r.pos
	if list, ok := r.plainSizes(); ok {
		return list, nil, true, nil
	}
	r.pos = start
	v, err := r.value()
	return nil, v, false, err
}

func (r *jsonReader) plainSizes() ([]int64, bool) {
	list := make([]int64, 0, 4)
	if !r.accept('[') {
		return nil, false
	}
	for !r.accept(']') {
		if len(list) > 0 && !r.accept(',') {
			return nil, false
		}
		n, ok := r.size()
		if !ok {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

// size reads the digits of an integer from 0 to 2^63-1.
func (r *jsonReader) size() (n int64, ok bool) {
	r.next()
	start := r.pos
	for ; r.pos < len(r.text) && '0' <= r.text[r.pos] && r.text[r.pos] <= '9'; r.pos++ {
		d := int64(r.text[r.pos] - '0')
		if n > (math.MaxInt64-d)/10 {
			return 0, false
		}
		n = 10*n + d
	}
	digits := r.pos - start
	return n, digits == 1 || digits > 1 && r.text[start] != '0'
}

// object reads an object. It calls key for each key, which must read the value,
// and twice for each key that was there before, whose value it skips. ok is
// false if the value is no object, which is skipped.
func (r *jsonReader) object(key func(string) error, twice func(string)) (ok bool, err error) {
	if r.next() != '{' {
		_, err := r.value()
		return false, err
	}
	r.pos++
	seen := map[string]struct{}{}
	for !r.accept('}') {
		if len(seen) > 0 && !r.accept(',') {
			return false, r.expected("a comma or the end of the object")
		}
		name, err := r.key()
		if err != nil {
			return false, err
		}
		if _, ok := seen[name]; ok {
			twice(name)
			_, err = r.value()
		} else {
			seen[name] = struct{}{}
			err = key(name)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

func (r *jsonReader) key() (string, error) {
	if r.next() != '"' {
		return "", r.expected("a key")
	}
	name, _, _, err := r.str()
	if err == nil && !r.accept(':') {
		err = r.expected("a colon")
	}
	return name, err
}

// end checks that nothing but white space follows.
func (r *jsonReader) end() error {
	r.next()
	if r.pos < len(r.text) {
		return r.expected("the end")
	}
	return nil
}
