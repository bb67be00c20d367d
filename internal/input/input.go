// Package input reads files that a command line names. Such a file may be
// anything, a device that never ends included, so every reading is bounded.
package input

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// MaxText is the most bytes that a spec or a config may have: a hundred times
// what the largest published ones have.
const MaxText = 32 << 20

// ReadText reads a spec, a config or another text of at most [MaxText] bytes.
func ReadText(path string) ([]byte, error) { return ReadFile(path, MaxText) }

// ReadFile reads a whole file, which may be a pipe. A file of more than limit
// bytes is an error, as soon as it is known.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeDevice != 0 {
		limit = min(limit, MaxText) // it may never end
	}
	if info.Size() > limit {
		return nil, tooLarge(path, limit)
	}
	if info.Mode().IsRegular() { // read in one piece
		return readAll(f, path, limit, info.Size())
	}
	return readAll(f, path, limit, 0)
}

// ReadAll reads all of a stream, of at most limit bytes; name is what errors call it.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	return readAll(r, name, limit, 0)
}

// readAll reads all of r, which is likely to have size bytes.
func readAll(r io.Reader, name string, limit, size int64) ([]byte, error) {
	const least = 512
	data := make([]byte, 0, max(size+1, least)) // one more, in which to see the end
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, tooLarge(name, limit)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

func tooLarge(name string, limit int64) error {
	return &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it has more than %d MiB, the most that is read", limit>>20)}
}
