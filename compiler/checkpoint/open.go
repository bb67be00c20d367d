package checkpoint

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"mobiusc/internal/diag"
)

// The file names that Transformers writes.
const (
	singleName = "model.safetensors"
	indexName  = "model.safetensors.index.json"
)

// Options changes how Open reads.
type Options struct {
	// FollowLinks accepts files that are links to outside the directory, as
	// the hub's download cache lays them out.
	FollowLinks bool
}

// Checkpoint is an open checkpoint: its files and what they hold. Its methods
// may be called concurrently. Close it.
type Checkpoint struct {
	dir     string
	index   string // path of the index file in dir, or ""
	shards  []*shard
	tensors []TensorInfo // sorted by name
}

// Open opens the checkpoint at path: a directory that holds model.safetensors
// or model.safetensors.index.json with its shards, or one such file. It reads
// and checks the headers only, and reports every fault of every file. The
// checkpoint is nil if any of them is an error.
func Open(path string, opts Options) (*Checkpoint, diag.List) {
	var faults diag.List
	o := &opener{opts: opts, faults: &faults}
	c := o.open(path)
	if o.root != nil {
		o.root.Close() //nolint:errcheck // a directory handle, nothing was written
	}
	if faults.HasErrors() {
		c.Close()
		return nil, faults
	}
	return c, faults
}

// opener is the state of one Open.
type opener struct {
	opts   Options
	root   *os.Root // of the checkpoint's directory: refuses links that leave it
	faults *diag.List
}

func (o *opener) open(path string) *Checkpoint {
	dir, name := o.locate(path)
	if name == "" {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		o.faults.Add(unreadable(dir, err))
		return nil
	}
	o.root = root
	c := &Checkpoint{dir: dir}
	if !strings.HasSuffix(name, ".json") {
		c.shards = o.openShards(dir, []string{name})
		c.collect(nil, o.faults)
		return c
	}
	c.index = name
	ix := o.readIndex(dir, name)
	if ix == nil {
		return nil
	}
	c.shards = o.openShards(dir, ix.files())
	c.collect(ix, o.faults)
	return c
}

// locate returns the directory and the file in it to begin with: a safetensors
// file or an index.
func (o *opener) locate(path string) (dir, name string) {
	info, err := os.Stat(path)
	if err != nil {
		o.faults.Add(unreadable(path, err))
		return "", ""
	}
	if !info.IsDir() {
		if !strings.HasSuffix(path, ".safetensors") && !strings.HasSuffix(path, ".json") {
			o.faults.Add(notACheckpoint(path))
			return "", ""
		}
		return filepath.Dir(path), filepath.Base(path)
	}
	single, index := exists(path, singleName), exists(path, indexName)
	switch {
	case single && index:
		o.faults.Add(bothLayouts(filepath.Join(path, indexName)))
		return path, singleName
	case single:
		return path, singleName
	case index:
		return path, indexName
	}
	o.faults.Add(noCheckpoint(path))
	return "", ""
}

// exists reports whether dir has an entry of the name; a dangling link is one.
func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// openShards opens the files and reads their headers, in parallel. A file that
// has a fault is left out of the result.
func (o *opener) openShards(dir string, names []string) []*shard {
	shards := make([]*shard, len(names))
	faults := make([]diag.List, len(names))
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			shards[i] = o.openShard(dir, name, &faults[i])
		})
	}
	wg.Wait()
	*o.faults = append(*o.faults, slices.Concat(faults...)...)
	return slices.DeleteFunc(shards, func(s *shard) bool { return s == nil })
}

func (o *opener) openShard(dir, name string, faults *diag.List) *shard {
	path := filepath.Join(dir, filepath.FromSlash(name))
	file, size, fault := o.openRegular(path, name)
	if fault != nil {
		faults.Add(*fault)
		return nil
	}
	_, err := o.root.Stat(name)
	linked := err != nil // only where links are followed
	h, err := readHeader(file, size)
	if err != nil {
		faults.Add(unreadable(path, err))
		file.Close() //nolint:errcheck // opened for reading
		return nil
	}
	for _, f := range h.faults {
		faults.Add(badHeader(path, f))
	}
	if h.dropped > 0 {
		faults.Add(moreFaults(path, h.dropped))
	}
	for i := range h.tensors {
		h.tensors[i].File = name
	}
	return &shard{name: name, file: file, size: size, linked: linked, tensors: h.tensors, faulty: len(h.faults) > 0}
}

// openRegular opens a regular file of the directory for reading. It looks
// before it opens: opening a pipe would wait for a writer.
func (o *opener) openRegular(path, name string) (*os.File, int64, *diag.Diagnostic) {
	refuse := func(d diag.Diagnostic) (*os.File, int64, *diag.Diagnostic) { return nil, 0, &d }
	stat, open := o.root.Stat, o.root.Open
	if o.opts.FollowLinks {
		stat = func(string) (os.FileInfo, error) { return os.Stat(path) }
		open = func(string) (*os.File, error) { return os.Open(path) }
	}
	info, err := stat(name)
	if err != nil {
		if target, readErr := filepath.EvalSymlinks(path); readErr == nil {
			return refuse(leavingLink(path, target))
		}
		return refuse(missingFile(path, err))
	}
	if !info.Mode().IsRegular() {
		return refuse(notRegular(path))
	}
	file, err := open(name)
	if err != nil {
		return refuse(unreadable(path, err))
	}
	return file, info.Size(), nil
}

// collect merges the shards' tensors and compares them with the index, which is
// nil for a checkpoint of one file.
func (c *Checkpoint) collect(ix *index, faults *diag.List) {
	for _, s := range c.shards {
		c.tensors = append(c.tensors, s.tensors...)
	}
	slices.SortFunc(c.tensors, func(a, b TensorInfo) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File))
	})
	for i := 1; i < len(c.tensors); i++ {
		if a, b := c.tensors[i-1], c.tensors[i]; a.Name == b.Name {
			faults.Add(twoShards(filepath.Join(c.dir, b.File), b.Name, a.File))
		}
	}
	if ix != nil {
		ix.compare(c, faults)
	}
}

// Dir returns the checkpoint's directory.
func (c *Checkpoint) Dir() string { return c.dir }

// path returns the path of one of the checkpoint's files.
func (c *Checkpoint) path(file string) string { return filepath.Join(c.dir, filepath.FromSlash(file)) }

// Tensors returns every tensor, sorted by name. Do not change it.
func (c *Checkpoint) Tensors() []TensorInfo { return c.tensors }

// Tensor returns the tensor of the given name.
func (c *Checkpoint) Tensor(name string) (TensorInfo, bool) {
	i := sort.Search(len(c.tensors), func(i int) bool { return c.tensors[i].Name >= name })
	if i < len(c.tensors) && c.tensors[i].Name == name {
		return c.tensors[i], true
	}
	return TensorInfo{}, false
}

// Files returns the paths of the checkpoint's files relative to Dir, slash
// separated: the shards, then the index if there is one.
func (c *Checkpoint) Files() []string {
	var names []string
	for _, s := range c.shards {
		names = append(names, s.name)
	}
	if c.index != "" {
		names = append(names, c.index)
	}
	return names
}

// Close closes the files and unmaps them: slices that Bytes returned are gone.
// A nil checkpoint may be closed.
func (c *Checkpoint) Close() {
	if c == nil {
		return
	}
	for _, s := range c.shards {
		s.close()
	}
}
