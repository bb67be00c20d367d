package emit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync"
)

// ErrNoChecksums says that a package was written without checksums.
var ErrNoChecksums = errors.New("the package holds no checksums")

// Mismatch is a tensor whose content differs from what the manifest records.
type Mismatch struct {
	File   string // that holds the tensor, as a path
	Tensor string
}

// VerifyChecksums hashes the content of every bound tensor of the package in dir
// and returns those that differ from the manifest. The files must be there and
// long enough, as package validate checks. The error wraps [ErrNoChecksums] if a
// bound tensor has no hash. progress, unless nil, is called with the bytes hashed
// so far and in all.
func VerifyChecksums(ctx context.Context, dir string, m *Manifest, progress func(done, total int64)) ([]Mismatch, error) {
	var regions []region
	var tensors []Mismatch
	var want []string
	for _, c := range m.Components {
		for _, t := range c.Tensors {
			if !t.Bound {
				continue
			}
			if t.SHA256 == "" {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, ManifestName), ErrNoChecksums)
			}
			name := filepath.FromSlash(path.Join(path.Dir(c.Model), t.Location))
			if !filepath.IsLocal(name) {
				return nil, fmt.Errorf("%s: the data %q of tensor %s is not inside the package", filepath.Join(dir, ManifestName), t.Location, t.Name)
			}
			name = filepath.Join(dir, name)
			regions = append(regions, region{name, t.Offset, t.Length})
			tensors = append(tensors, Mismatch{File: name, Tensor: t.Name})
			want = append(want, t.SHA256)
		}
	}
	sums, err := hashRegions(ctx, regions, progress)
	if err != nil {
		return nil, err
	}
	var differ []Mismatch
	for i, sum := range sums {
		if sum != want[i] {
			differ = append(differ, tensors[i])
		}
	}
	return differ, nil
}

// hash enters the SHA-256 of every bound tensor into the manifest. The
// components' own files lie in root; what an in-place package points to lies in
// dir.
func (p *Package) hash(ctx context.Context, root, dir string, m *Manifest, progress func(done, total int64)) error {
	var regions []region
	var tensors []*ManifestTensor
	for i, c := range p.Components {
		own := path.Base(c.file) + ".data"
		for j := range m.Components[i].Tensors {
			t := &m.Components[i].Tensors[j]
			if !t.Bound {
				continue
			}
			at := dir
			if t.Location == own {
				at = root
			}
			name := filepath.Join(at, filepath.FromSlash(path.Join(path.Dir(c.file), t.Location)))
			regions, tensors = append(regions, region{name, t.Offset, t.Length}), append(tensors, t)
		}
	}
	sums, err := hashRegions(ctx, regions, progress)
	if err != nil {
		return err
	}
	for i, sum := range sums {
		tensors[i].SHA256 = sum
	}
	return nil
}

// region is a stretch of a file.
type region struct {
	file           string
	offset, length int64 // bytes
}

// hashRegions returns the SHA-256 of each region, in hexadecimal. A region that
// stands several times, as a tied weight does, is read once.
func hashRegions(ctx context.Context, regions []region, progress func(done, total int64)) ([]string, error) {
	sums := map[region]string{}
	var jobs []region
	total := int64(0)
	for _, r := range regions {
		if _, known := sums[r]; !known {
			sums[r], jobs, total = "", append(jobs, r), total+r.length
		}
	}
	var mu sync.Mutex // guards sums and done
	done := int64(0)
	err := inParallel(ctx, len(jobs), func() func(int) error {
		buf := make([]byte, chunkSize)
		return func(i int) error {
			sum, err := jobs[i].hash(ctx, buf)
			mu.Lock()
			defer mu.Unlock()
			sums[jobs[i]], done = sum, done+jobs[i].length
			if progress != nil && err == nil {
				progress(done, total)
			}
			return err
		}
	})
	out := make([]string, len(regions))
	for i, r := range regions {
		out[i] = sums[r]
	}
	return out, err
}

// hash reads the region through buf.
func (r region) hash(ctx context.Context, buf []byte) (sum string, err error) {
	f, err := os.Open(r.file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	h := sha256.New()
	for at := int64(0); at < r.length; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.ReadAt(buf[:min(int64(len(buf)), r.length-at)], r.offset+at)
		h.Write(buf[:n])
		at += int64(n)
		if errors.Is(err, io.EOF) && at < r.length {
			return "", fmt.Errorf("%s: %w", r.file, io.ErrUnexpectedEOF)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
