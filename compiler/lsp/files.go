package lsp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path"
	"path/filepath"

	"mobiusc/compiler/spec"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// configOf reads the config that a spec is checked with: the one that it names,
// else config.json beside it if that is of one of its model types.
func (c *check) configOf(s *spec.Spec) (*spec.Config, diag.List) {
	config, at, found := s.OwnConfig()
	c.configAt = at
	if config != nil || found.HasErrors() {
		return config, found
	}
	beside := path.Join(path.Dir(c.path), "config.json")
	content, err := c.file(beside)
	if err != nil {
		return nil, nil
	}
	if config, _ = spec.ParseConfig(beside, content); config == nil || !s.Accepts(config.ModelType()) {
		return nil, nil
	}
	return config, nil
}

// anchor returns the place in the document that stands for another file: the
// name of the parent, or where the config is named.
func (c *check) anchor(file string) span {
	t := c.open[c.path]
	if clean(file) == c.config && c.configAt.File != "" && clean(c.configAt.File) == c.path {
		return t.span(c.configAt)
	}
	if root, _ := tree.ParseYAML(c.path, []byte(t.s)); root != nil && clean(file) != c.config {
		if parent := root.Get("extends"); parent != nil {
			return t.span(parent.Range)
		}
	}
	return t.span(diag.Range{})
}

// locate returns a place as the protocol names it. ok is false where an editor
// could not open the file.
func (s *server) locate(open map[string]*text, r diag.Range) (location, bool) {
	p := clean(r.File)
	t := textOf(open, p)
	if t == nil {
		return location{}, false
	}
	uri := uriOf(p)
	if d := s.docs[p]; d != nil {
		uri = d.uri
	} else if name, ok := spec.IsCarried(p); ok {
		file, err := s.written(name)
		if err != nil {
			return location{}, false
		}
		uri = uriOf(file)
	}
	return location{uri, t.span(r)}, true
}

// written returns the path of a copy of a carried spec, which has none of its
// own. The copies stand side by side in the user's cache, so that a parent of
// one is found from there too.
func (s *server) written(name string) (string, error) {
	if s.copies == "" {
		dir, err := writeCarried()
		if err != nil {
			return "", err
		}
		s.copies = dir
	}
	return filepath.Join(s.copies, name+".yaml"), nil
}

// writeCarried writes all carried specs into a directory that their content
// names. They cannot be written to: an edit there would change nothing.
func writeCarried() (string, error) {
	sum := sha256.New()
	texts := map[string][]byte{}
	for _, name := range spec.Names() {
		content, err := spec.ReadSource(spec.CarriedPath(name))
		if err != nil {
			return "", err
		}
		texts[name] = content
		sum.Write(content)
	}
	root, err := os.UserCacheDir()
	if err != nil {
		root = os.TempDir()
	}
	dir := filepath.Join(root, "mobiusc", "specs", hex.EncodeToString(sum.Sum(nil))[:12])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, content := range texts {
		file := filepath.Join(dir, name+".yaml")
		if old, err := os.ReadFile(file); err == nil && string(old) == string(content) {
			continue
		}
		if err := writeReadOnly(file, content); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// writeReadOnly puts a file in its place whole: another server may read it, or
// write it too.
func writeReadOnly(file string, content []byte) error {
	t, err := os.CreateTemp(filepath.Dir(file), "new")
	if err != nil {
		return err
	}
	_, err = t.Write(content)
	err = errors.Join(err, t.Chmod(0o444), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), file)
	}
	if err != nil {
		os.Remove(t.Name()) //nolint:errcheck // the first error counts
	}
	return err
}
