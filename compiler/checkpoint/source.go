package checkpoint

import (
	"fmt"
	"io"

	"mobiusc/ir"
)

// Source yields the bytes of one parameter: those of a tensor, or of several,
// transformed and converted while they are read. It may be used concurrently.
type Source struct{ node node }

// Region is a stretch of a checkpoint file.
type Region struct {
	tensor *stored
	Offset int64 // of the first byte, from the start of the file
	Length int64 // bytes
}

// File returns the file's path relative to the checkpoint's directory, slash
// separated.
func (r Region) File() string { return r.tensor.info.File }

// DType returns the element type.
func (s *Source) DType() ir.DataType { return s.node.dtype() }

// Shape returns the dims.
func (s *Source) Shape() []int64 { return s.node.dims() }

// Size returns the number of bytes.
func (s *Source) Size() int64 {
	if r, ok := s.Region(); ok {
		return r.Length
	}
	return elements(s.Shape()) * width(s.node)
}

// Region returns where the bytes lie unchanged in one file of the checkpoint. ok
// is false if they are converted, reordered or joined.
func (s *Source) Region() (r Region, ok bool) { return regionOf(s.node) }

// ReadAt reads len(p) bytes from byte off on. It implements io.ReaderAt.
func (s *Source) ReadAt(p []byte, off int64) (int, error) {
	return s.readAt(p, off, new(Counts))
}

func (s *Source) readAt(p []byte, off int64, counts *Counts) (int, error) {
	size := s.Size()
	if off < 0 || off > size {
		return 0, fmt.Errorf("byte %d of a source of %d bytes", off, size)
	}
	var short error
	if int64(len(p)) > size-off {
		p, short = p[:size-off], io.EOF
	}
	if r, ok := s.Region(); ok {
		n, err := r.tensor.file.ReadAt(p, r.Offset+off)
		if err != nil {
			return n, fmt.Errorf("%s: tensor %q: %w", r.File(), r.tensor.info.Name, reason(err))
		}
		return n, short
	}
	if err := s.readElements(p, off, counts); err != nil {
		return 0, err
	}
	return len(p), short
}

// readElements reads computed bytes; where p begins or ends inside an element,
// by way of a buffer of whole elements.
func (s *Source) readElements(p []byte, off int64, counts *Counts) error {
	w := width(s.node)
	first, last := off/w, (off+int64(len(p))+w-1)/w
	if off%w == 0 && int64(len(p))%w == 0 {
		return s.node.read(p, first, last-first, counts)
	}
	whole := make([]byte, (last-first)*w)
	err := s.node.read(whole, first, last-first, counts)
	copy(p, whole[off-first*w:])
	return err
}
