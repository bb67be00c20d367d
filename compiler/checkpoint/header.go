package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"
)

// maxHeader is the largest header accepted, in bytes: the limit of the
// reference implementation.
const maxHeader = 100_000_000

// maxOffset is the largest offset accepted, in bytes; sums with the length of
// the header then fit 64 bits.
const maxOffset = math.MaxInt64 - maxHeader - 8

// maxFaults limits the faults reported for one file, so that a file of garbage
// does not bury the others.
const maxFaults = 100

// TensorInfo says what a checkpoint stores under a name, and where.
type TensorInfo struct {
	Name   string
	DType  DType
	Shape  []int64
	File   string // path relative to the checkpoint's directory, slash separated
	Offset int64  // of the first byte, from the start of the file
	Length int64  // bytes
}

// header is the parsed header of one safetensors file.
type header struct {
	tensors []TensorInfo // in the order of their bytes
	faults  []string
	dropped int // faults beyond maxFaults
}

func (h *header) fault(format string, args ...any) {
	if len(h.faults) == maxFaults {
		h.dropped++
		return
	}
	h.faults = append(h.faults, fmt.Sprintf(format, args...))
}

// readHeader reads and checks the header of a safetensors file of size bytes:
//
//	8 bytes   N, the length of the header, little-endian
//	N bytes   JSON: {"name": {"dtype": …, "shape": […], "data_offsets": [begin, end]}, …}
//	the rest  the tensors' bytes, offsets counting from here
//
// As in the reference implementation the tensors must cover the data exactly,
// without hole, overlap or trailing bytes. Stricter than there: no name twice,
// no key in an entry that the format does not define (its meaning could change
// that of the bytes). The error is that of r.
func readHeader(r io.ReaderAt, size int64) (*header, error) {
	h := new(header)
	var prefix [8]byte
	if size < int64(len(prefix)) {
		h.fault("the file has %d bytes; a safetensors file has at least 8", size)
		return h, nil
	}
	if _, err := r.ReadAt(prefix[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	switch {
	case n > maxHeader:
		h.fault("the header claims %d bytes; at most %d are allowed, so this is no safetensors file", n, maxHeader)
		return h, nil
	case int64(n) > size-8:
		h.fault("the header claims %d bytes, but only %d follow: the file is truncated", n, size-8)
		return h, nil
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(r, 8, int64(n)), text); err != nil {
		return nil, err
	}
	begin := 8 + int64(n)
	h.parse(text, begin)
	if len(h.faults) == 0 {
		h.layout(begin, size)
	}
	return h, nil
}

// parse reads the JSON of the header and checks every tensor alone. begin is
// the first byte after the header.
func (h *header) parse(text []byte, begin int64) {
	if !utf8.Valid(text) {
		h.fault("the header is not UTF-8")
		return
	}
	r := &jsonReader{text: text}
	ok, err := r.object(func(name string) error {
		if name == "__metadata__" {
			return h.metadata(r)
		}
		return h.entry(r, name, begin)
	}, func(name string) { h.fault("tensor %q is there twice", name) })
	if err == nil {
		err = r.end()
	}
	switch {
	case err != nil:
		h.fault("the header is not the JSON it should be: %v", err)
	case !ok:
		h.fault("the header is not a JSON object")
	}
}

// metadata checks that the free-form part maps strings to strings.
func (h *header) metadata(r *jsonReader) error {
	v, err := r.value()
	if err != nil || v == nil {
		return err
	}
	m, ok := v.(map[string]any)
	for _, e := range m {
		_, isString := e.(string)
		ok = ok && isString
	}
	if !ok {
		h.fault("__metadata__ must map strings to strings")
	}
	return nil
}

// entry reads one tensor's description and appends it if it makes sense alone.
func (h *header) entry(r *jsonReader, name string, begin int64) error {
	var e rawEntry
	ok, err := r.object(func(key string) error { return e.read(r, key) },
		func(key string) { e.note("key %q is there twice", key) })
	if err != nil {
		return err
	}
	if !ok {
		e.note("its entry is not an object")
	}
	e.check()
	if e.problem != "" {
		h.fault("tensor %q: %s", name, e.problem)
		return nil
	}
	h.tensors = append(h.tensors, TensorInfo{Name: name, DType: DType(e.dtype), Shape: e.shape,
		Offset: begin + e.offsets[0], Length: e.offsets[1] - e.offsets[0]})
	return nil
}

// rawEntry is the description of a tensor as written.
type rawEntry struct {
	dtype          string
	shape, offsets []int64
	problem        string // the first one found
}

func (e *rawEntry) note(format string, args ...any) {
	if e.problem == "" {
		e.problem = fmt.Sprintf(format, args...)
	}
}

// read reads the value of a key.
func (e *rawEntry) read(r *jsonReader, key string) (err error) {
	var other any
	var ok bool
	switch key {
	case "dtype":
		e.dtype, other, ok, err = r.str()
	case "shape":
		e.shape, other, ok, err = r.sizes()
	case "data_offsets":
		e.offsets, other, ok, err = r.sizes()
		if ok && len(e.offsets) != 2 {
			other, ok = e.offsets, false
		}
	default:
		e.note("key %q is none of dtype, shape, data_offsets", key)
		_, err = r.value()
		return err
	}
	if !ok {
		e.note("%s is %s", key, shorten(other))
	}
	return err
}

// check compares the parts of the description with each other.
func (e *rawEntry) check() {
	if e.problem != "" {
		return
	}
	switch t := DType(e.dtype); {
	case e.dtype == "" || e.shape == nil || e.offsets == nil:
		e.note("dtype, shape and data_offsets are all required")
	case !t.Valid():
		e.note("dtype %q is none that the format defines", t)
	case e.offsets[1] > maxOffset:
		e.note("data_offsets %v lie beyond any file", e.offsets)
	case e.offsets[0] > e.offsets[1]:
		e.note("data_offsets %v end before they begin", e.offsets)
	default:
		want, why := t.byteLen(e.shape)
		if got := e.offsets[1] - e.offsets[0]; why != "" {
			e.note("%s%s: %s", t, shape(e.shape), why)
		} else if got != want {
			e.note("%s%s takes %d bytes, data_offsets %v hold %d", t, shape(e.shape), want, e.offsets, got)
		}
	}
}

// shorten prints a JSON value for a message.
func shorten(v any) string {
	b, _ := json.Marshal(v) // a value that came from JSON
	if len(b) > 60 {
		return string(bytes.ToValidUTF8(b[:57], nil)) + "…"
	}
	return string(b)
}

// layout checks that the tensors cover the bytes from begin to end of the file
// exactly, and sorts them by their place. Offsets count from the start of the
// file by now.
func (h *header) layout(begin, end int64) {
	slices.SortFunc(h.tensors, func(a, b TensorInfo) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Length, b.Length), cmp.Compare(a.Name, b.Name))
	})
	at, last := begin, ""
	for _, t := range h.tensors {
		switch {
		case t.Offset > at:
			h.fault("tensor %q: %d bytes before it belong to no tensor", t.Name, t.Offset-at)
		case t.Offset < at:
			h.fault("tensor %q overlaps tensor %q by %d bytes", t.Name, last, min(at, t.Offset+t.Length)-t.Offset)
		}
		if stop := t.Offset + t.Length; stop > at || last == "" {
			at, last = stop, t.Name
		}
	}
	switch {
	case at > end:
		h.fault("the file is truncated: tensor %q ends at byte %d, the file at byte %d", last, at, end)
	case at < end:
		h.fault("the last %d bytes of the file belong to no tensor", end-at)
	}
}
