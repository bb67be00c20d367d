package spec

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// IsCarried reports whether a path that findings show is that of a carried spec,
// and returns its name.
func IsCarried(path string) (name string, ok bool) {
	name, ok = strings.CutPrefix(filepath.ToSlash(path), carried)
	return strings.TrimSuffix(name, ".yaml"), ok
}

// CarriedPath returns the path that findings show for a carried spec.
func CarriedPath(name string) string { return carried + name + ".yaml" }

// Types returns the model types that the spec answers to, variants included.
func (s *Spec) Types() []string { return s.types }

// Parent returns the name of the spec that this one extends, or "".
func (s *Spec) Parent() string { return textOf(s.leaf().root.Get("extends")) }

// Accepts reports whether the spec answers to a model type.
func (s *Spec) Accepts(modelType string) bool { return slices.Contains(s.types, modelType) }

// configComment names the config that a spec is looked at with while it is
// edited: `# mobiusc:config ../configs/small.json`, relative to the spec.
var configComment = regexp.MustCompile(`^(\s*#\s*mobiusc:config\s+)(\S.*?)\s*$`)

// OwnConfig reads the config that the spec itself names: in a comment
// `# mobiusc:config FILE`, else the one that it pins. at is where it is named;
// the Config is nil without a finding when the spec names none.
func (s *Spec) OwnConfig() (c *Config, at diag.Range, found diag.List) {
	leaf := s.leaf()
	for i, line := range tree.Lines(leaf.text) {
		m := configComment.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		from := utf8.RuneCountInString(m[1]) + 1
		at := diag.Range{File: leaf.path, Start: diag.Pos{Line: i + 1, Col: from}, End: diag.Pos{Line: i + 1, Col: from + utf8.RuneCountInString(m[2])}}
		file := filepath.ToSlash(m[2])
		if !path.IsAbs(file) && !filepath.IsAbs(m[2]) {
			file = beside(leaf.path, file)
		}
		text, err := s.read(file)
		if err != nil {
			return nil, at, diag.List{*fault.Unreadable(at, file, reason(err))}
		}
		c, found = ParseConfig(file, text)
		return c, at, found
	}
	if n := s.root.At("pins", "config", "file"); n != nil {
		c, found = s.PinnedConfig()
		return c, n.Range, found
	}
	return nil, at, nil
}
