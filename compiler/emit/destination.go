package emit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Reasons why a destination is refused.
var (
	// ErrExists says that the destination exists and force was not asked for.
	ErrExists = errors.New("the destination exists")
	// ErrForeignFiles says that the destination holds files that would be lost
	// and that no earlier package in the same place lists as its own.
	ErrForeignFiles = errors.New("the destination holds files that are not of the package")
	// ErrInput says that writing would replace a file that is read.
	ErrInput = errors.New("the destination holds an input of the compilation")
)

// destination is where a package is to stand.
type destination struct {
	path    string // absolute, without links
	name    string // as the caller wrote it, for messages
	options WriteOptions
}

// openDestination resolves dir and refuses what must not be replaced.
func openDestination(dir string, o WriteOptions) (*destination, error) {
	full, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	cleanStale(filepath.Dir(full), filepath.Base(full))
	d := &destination{path: full, name: dir, options: o}
	if _, err := d.check(); err != nil {
		return nil, err
	}
	return d, nil
}

// resolve returns the absolute path of dir with links followed; dir itself need
// not exist.
func resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	full, err := filepath.EvalSymlinks(abs)
	if err == nil {
		return full, nil
	}
	if _, e := os.Lstat(abs); e == nil {
		return "", fmt.Errorf("%s is a link to nowhere: %w", dir, err)
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("the directory %s, which is to hold the package, does not exist; make it first", filepath.Dir(dir))
	}
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s, which is to hold the package, is not a directory", filepath.Dir(dir))
	}
	return filepath.Join(parent, filepath.Base(abs)), nil
}

// check says whether the destination exists, an empty directory or a package to
// replace, and refuses anything else.
func (d *destination) check() (exists bool, err error) {
	entries, err := os.ReadDir(d.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case errors.Is(err, syscall.ENOTDIR):
		return false, fmt.Errorf("%s: %w, and is not a directory", d.name, ErrExists)
	case err != nil:
		return false, err
	}
	if err := d.checkMovable(); err != nil || len(entries) == 0 {
		return true, err
	}
	if !d.options.Force {
		return false, fmt.Errorf("%s: %w and is not empty; --force replaces it if it is a package", d.name, ErrExists)
	}
	m, err := ReadManifest(d.name)
	if err != nil {
		return false, fmt.Errorf("%w; only a package is replaced", err)
	}
	files, err := listFiles(d.path)
	if err != nil {
		return false, err
	}
	return true, checkOwn(d.name, files, m, d.options.Inputs)
}

// checkMovable refuses directories that cannot be renamed: the one the user stands
// in, and mount points, before the work is done and not after it.
func (d *destination) checkMovable() error {
	here, err := os.Stat(".")
	if err != nil {
		return err
	}
	info, err := os.Stat(d.path)
	if err != nil {
		return err
	}
	if os.SameFile(info, here) {
		return fmt.Errorf("%s is the working directory, which cannot be replaced; name a directory inside it", d.name)
	}
	if parent, err := os.Stat(filepath.Dir(d.path)); err == nil && onOtherDevice(info, parent) {
		return d.mountPoint(nil)
	}
	return nil
}

// mountPoint says that the destination is one; err is the system's word, if it was
// asked.
func (d *destination) mountPoint(err error) error {
	text := d.name + " is a mount point, which cannot be replaced; name a directory inside it"
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return errors.New(text)
}

// listFiles returns the files below root, relative and slash separated.
func listFiles(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	return files, err
}

// checkOwn refuses to replace files of dir that the manifest (nil: none) does
// not list, or that are inputs under another name.
func checkOwn(dir string, files []string, m *Manifest, inputs []string) error {
	var foreign []string
	for _, f := range files {
		if m == nil || f != ManifestName && !slices.Contains(m.Files, f) {
			foreign = append(foreign, f)
		}
	}
	if n := len(foreign); n > 0 {
		shown := strings.Join(foreign[:min(n, 3)], ", ")
		return fmt.Errorf("%s: %w: %s (%d in all); move them away", dir, ErrForeignFiles, shown, n)
	}
	var read []os.FileInfo
	for _, in := range inputs {
		if info, err := os.Stat(in); err == nil {
			read = append(read, info)
		}
	}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f)))
		if err != nil {
			continue // a link to nowhere is no input
		}
		if slices.ContainsFunc(read, func(in os.FileInfo) bool { return os.SameFile(in, info) }) {
			return fmt.Errorf("%s: %w: %s", dir, ErrInput, f)
		}
	}
	return nil
}

// replace puts the complete package of the stage in the destination's place.
func (d *destination) replace(s *stage) error {
	// Compiling took its time: look again.
	exists, err := d.check()
	if err != nil {
		return err
	}
	if err := syncTree(s.path); err != nil {
		return err
	}
	hook("synced")
	if exists {
		err = exchange(s.path, d.path)
	} else {
		err = os.Rename(s.path, d.path)
	}
	switch {
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST):
		return fmt.Errorf("%s: %w: it was made in the meantime", d.name, ErrExists)
	case errors.Is(err, syscall.EBUSY):
		return d.mountPoint(err)
	case err != nil:
		return err
	}
	hook("renamed")
	return syncDir(filepath.Dir(d.path))
}

// moveInto renames the files of the stage into dir, the manifest last, and
// removes those of an earlier package there that the new one lacks.
func (s *stage) moveInto(dir string, files []string, o WriteOptions) error {
	old, err := ReadManifest(dir)
	if err != nil && !errors.Is(err, ErrNotPackage) {
		return err
	}
	files = append(slices.Clone(files), ManifestName)
	present := func(f string) bool {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f)))
		return err == nil
	}
	replaced := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !present(f) })
	if len(replaced) > 0 && !o.Force {
		return fmt.Errorf("%s: %w: %s; --force replaces it if it is of a package", dir, ErrExists, strings.Join(replaced, ", "))
	}
	var gone []string
	if old != nil {
		gone = slices.DeleteFunc(slices.Clone(old.Files), func(f string) bool { return slices.Contains(files, f) || !present(f) })
	}
	if err := checkOwn(dir, append(replaced, gone...), old, o.Inputs); err != nil {
		return err
	}
	hook("synced")
	for _, f := range files {
		target := filepath.Join(dir, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(s.path, filepath.FromSlash(f)), target); err != nil {
			return err
		}
		hook("moved")
	}
	for _, f := range gone {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(f))); err != nil {
			return err
		}
	}
	hook("renamed")
	return syncTree(dir)
}
