package validate

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mobiusc/ir"
)

// dataFile is what the checks need to know of one file of external data; they
// are made once a file, however many tensors it holds.
type dataFile struct {
	usable bool
	size   int64
}

// external checks that the content of a tensor lies where the model says:
// in a regular file in the model's directory or below, reached without leaving
// it, and inside the file.
func (w *walk) external(name string, t *ir.Tensor) {
	e := t.External
	if len(t.Raw) > 0 || len(t.Strings) > 0 {
		w.report(tensorData, "the tensor %q has external data and content in the model", name)
	}
	if t.Type == ir.String {
		w.report(tensorData, "the tensor %q holds strings, which cannot be external", name)
		return
	}
	want := t.ByteLen()
	switch {
	case e.Offset < 0 || e.Length < 0:
		w.report(externalRange, "the external data of %q has offset %d and length %d", name, e.Offset, e.Length)
		return
	case e.Length != 0 && e.Length != want:
		w.report(externalRange, "the external data of %q has %d bytes, %s%v takes %d", name, e.Length, t.Type, t.Dims, want)
	}
	if !w.location(name, e.Location) || w.opts.Dir == "" {
		return
	}
	f, ok := w.files[e.Location]
	if !ok {
		f = w.dataFile(name, e.Location)
		w.files[e.Location] = f
	}
	if f.usable && (e.Offset > f.size || want > f.size-e.Offset) {
		w.report(externalRange, "the external data of %q ends at byte %d of %s, which has %d", name, e.Offset+want, e.Location, f.size)
	}
}

// location checks the name of a file of external data: relative, without steps
// out of the directory.
func (w *walk) location(name, location string) bool {
	slashed := strings.ReplaceAll(location, `\`, "/")
	clean := path.Clean(slashed)
	switch {
	case location == "" && w.opts.Unplaced:
		return false
	case location == "":
		w.report(externalLocation, "the external data of %q has no location", name)
	case path.IsAbs(slashed) || filepath.IsAbs(location) || hasVolume(slashed):
		w.report(externalLocation, "the external data of %q lies at the absolute path %q", name, location)
	case clean == ".." || strings.HasPrefix(clean, "../"):
		w.report(externalLocation, "the external data of %q lies outside the model's directory: %q", name, location)
	case clean == "." || strings.ContainsRune(location, 0):
		w.report(externalLocation, "the external data of %q has the location %q, which names no file", name, location)
	default:
		return true
	}
	return false
}

// hasVolume reports whether a path starts with a drive letter, on any system.
func hasVolume(p string) bool {
	return len(p) >= 2 && p[1] == ':' && ('a' <= p[0] && p[0] <= 'z' || 'A' <= p[0] && p[0] <= 'Z')
}

// dataFile looks at a file on disk and reports what keeps it from being read.
func (w *walk) dataFile(name, location string) dataFile {
	full := filepath.Join(w.opts.Dir, filepath.FromSlash(location))
	info, err := os.Lstat(full)
	if err != nil {
		w.report(externalMissing, "the external data of %q lies in %s, which cannot be read: %v", name, location, reason(err))
		return dataFile{}
	}
	if !w.links(name, location, full) {
		return dataFile{}
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(full); err != nil {
			w.report(externalMissing, "the external data of %q lies in %s, which cannot be read: %v", name, location, reason(err))
			return dataFile{}
		}
	}
	if !info.Mode().IsRegular() {
		w.report(externalFile, "the external data of %q lies in %s, which is not a regular file", name, location)
		return dataFile{}
	}
	if n := hardLinks(info); n > 1 {
		w.reportHint(externalLink, "copy the file: ONNX's checker rejects it", "%s, which holds the external data of %q, has %d hard links", location, name, n)
	}
	return dataFile{usable: true, size: info.Size()}
}

// links reports links on the path of a file, which runtimes follow only inside
// the model's directory and ONNX's checker not at all. It returns false when
// the file lies outside.
func (w *walk) links(name, location, full string) bool {
	dir, err := filepath.EvalSymlinks(w.opts.Dir)
	if err != nil {
		dir = w.opts.Dir
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		w.report(externalMissing, "the external data of %q lies in %s, a link that leads nowhere: %v", name, location, reason(err))
		return false
	}
	if real == filepath.Join(dir, filepath.FromSlash(location)) {
		return true
	}
	if rel, err := filepath.Rel(dir, real); err != nil || !filepath.IsLocal(rel) {
		w.report(externalEscape, "the external data of %q lies in %s, which links to %s outside the model's directory", name, location, real)
		return false
	}
	w.reportHint(externalLink, "copy the file: ONNX's checker rejects it", "%s, which holds the external data of %q, is reached through a link", location, name)
	return true
}

// reason returns an error of the file system without the path, which the
// message has already.
func reason(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}
