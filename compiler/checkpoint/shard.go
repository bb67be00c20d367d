package checkpoint

import (
	"fmt"
	"os"
	"sync"

	"github.com/edsrzf/mmap-go"
)

// shard is one open safetensors file.
type shard struct {
	name    string // path relative to the checkpoint's directory, slash separated
	file    *os.File
	size    int64
	linked  bool // reached by a link that leaves the directory
	tensors []TensorInfo
	faulty  bool

	once   sync.Once // guards the mapping
	data   mmap.MMap
	mapErr error
}

// mapped returns the file's bytes, mapped into memory on the first call.
func (s *shard) mapped() ([]byte, error) {
	s.once.Do(func() { s.data, s.mapErr = mmap.Map(s.file, mmap.RDONLY, 0) })
	return s.data, s.mapErr
}

func (s *shard) close() {
	if s.data != nil {
		s.data.Unmap() //nolint:errcheck // read only; nothing to do about it
	}
	s.file.Close() //nolint:errcheck // opened for reading
}

// Bytes returns a tensor's bytes, memory-mapped: only the pages that are read
// take memory. The slice is read-only and valid until Close. Someone else
// truncating the file makes reading it a fault of the process, so that Copy
// reads the file instead.
func (c *Checkpoint) Bytes(t TensorInfo) ([]byte, error) {
	s, err := c.shardOf(t)
	if err != nil {
		return nil, err
	}
	data, err := s.mapped()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.file.Name(), err)
	}
	return data[t.Offset : t.Offset+t.Length : t.Offset+t.Length], nil
}

// shardOf returns the file that holds t, which must be one of c's tensors.
func (c *Checkpoint) shardOf(t TensorInfo) (*shard, error) {
	for _, s := range c.shards {
		if s.name == t.File {
			if t.Offset < 0 || t.Length < 0 || t.Offset > s.size-t.Length {
				break
			}
			return s, nil
		}
	}
	return nil, fmt.Errorf("tensor %q is not of this checkpoint", t.Name)
}
