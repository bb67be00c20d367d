package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"mobiusc/internal/diag"
)

// Job is one parameter to write at an offset of a file, in bytes.
type Job struct {
	Bound  *Bound
	Offset int64
}

// CopyOptions changes how Copy works.
type CopyOptions struct {
	// Workers is how many parts are read, converted and written at a time;
	// 0 means one a processor, at most 8.
	Workers int
	// Progress is called, by one goroutine at a time, with the bytes written
	// so far and in all.
	Progress func(done, total int64)
}

// The workers take parts of parameters. One that gathers its elements is
// computed a whole part at a time, which makes the runs that it reads longest.
// Others go through memory in blocks that stay in the processor's cache: with
// parts of 4 MB in their place the kernel took three times as long to copy them.
const (
	partSize   = 4 << 20
	blockSize  = 256 << 10
	maxWorkers = 8
)

// ErrSource says that a file to be written is one of those that are read.
var ErrSource = errors.New("the file to be written is a file of the checkpoint")

// Copy writes the parameters into the file at path, which exists and is large
// enough. Memory does not grow with the parameters: each worker holds one part.
// The findings are conversions that lost values, one a parameter. After an
// error the file's content is undefined. The error wraps [ErrSource] if the file
// is one of the sources, reached by any path or link.
func Copy(ctx context.Context, path string, jobs []Job, o CopyOptions) (diag.List, error) {
	dst, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	c := &copier{dst: dst, jobs: jobs, options: o, counts: make([]Counts, len(jobs))}
	err = c.refuseSources()
	if err == nil {
		err = c.run(ctx)
	}
	if e := dst.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	var lost diag.List
	for i, n := range c.counts {
		if n.Any() {
			lost.Add(lossyConversion(jobs[i].Bound, n))
		}
	}
	return lost, nil
}

// copier is the state of one Copy.
type copier struct {
	dst     *os.File
	jobs    []Job
	options CopyOptions

	mu     sync.Mutex // guards what follows
	counts []Counts
	done   int64
}

// filePart is a stretch of one job.
type filePart struct {
	job          int
	from, length int64 // bytes of the source
}

// refuseSources compares the open file with those of the sources, which no link
// or rename can deceive.
func (c *copier) refuseSources() error {
	to, err := c.dst.Stat()
	if err != nil {
		return err
	}
	seen := map[*os.File]bool{}
	for _, j := range c.jobs {
		for _, f := range filesOf(j.Bound.Source.node, nil) {
			if seen[f] {
				continue
			}
			seen[f] = true
			from, err := f.Stat()
			if err != nil {
				return err
			}
			if os.SameFile(from, to) {
				return fmt.Errorf("%s: %w", c.dst.Name(), ErrSource)
			}
		}
	}
	return nil
}

// filesOf appends the files that a node reads.
func filesOf(n node, files []*os.File) []*os.File {
	switch n := n.(type) {
	case *stored:
		return append(files, n.file)
	case *view:
		return filesOf(n.base, files)
	case *cast:
		return filesOf(n.base, files)
	case *affine:
		return filesOf(n.base, files)
	case *joined:
		for _, p := range n.parts {
			files = filesOf(p, files)
		}
	}
	return files
}

// run cuts the jobs into parts and lets the workers write them. The first error
// stops them all.
func (c *copier) run(ctx context.Context) error {
	parts, total := c.parts()
	workers := c.options.Workers
	if workers <= 0 {
		workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, len(parts)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(parts) {
					return
				}
				if err := c.write(parts[i], total); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (c *copier) parts() (parts []filePart, total int64) {
	for i, j := range c.jobs {
		size := j.Bound.Source.Size()
		for from := int64(0); from < size; from += partSize {
			parts = append(parts, filePart{i, from, min(partSize, size-from)})
		}
		total += size
	}
	return parts, total
}

// write writes one part.
func (c *copier) write(p filePart, total int64) error {
	j := c.jobs[p.job]
	block := int64(partSize)
	if inOrder(j.Bound.Source.node) {
		block = blockSize
	}
	buffer := getBuffer(min(block, p.length))
	defer putBuffer(buffer)
	var lost Counts
	for done := int64(0); done < p.length; {
		b := (*buffer)[:min(int64(len(*buffer)), p.length-done)]
		if _, err := j.Bound.Source.readAt(b, p.from+done, &lost); err != nil {
			return fmt.Errorf("%s: %w", j.Bound.Param.Name, err)
		}
		if _, err := c.dst.WriteAt(b, j.Offset+p.from+done); err != nil {
			return fmt.Errorf("%s: %w", j.Bound.Param.Name, err)
		}
		done += int64(len(b))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[p.job].Add(lost)
	c.done += p.length
	if c.options.Progress != nil {
		c.options.Progress(c.done, total)
	}
	return nil
}
