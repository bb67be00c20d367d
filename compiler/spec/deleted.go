package spec

import (
	"maps"
	"slices"
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// lacking adds to a finding about something that is missing where it was deleted:
// at the first of the paths that was.
func (c *checked) lacking(d *diag.Diagnostic, paths ...string) *diag.Diagnostic {
	for _, path := range paths {
		if at, ok := c.s.deleted[path]; ok {
			fault.DeletedAt(d, at)
			break
		}
	}
	return d
}

// lackingOption is lacking for a field of n, the options of a block or a part of
// them: it was deleted there, or among the defaults for the block's type.
func (c *checked) lackingOption(d *diag.Diagnostic, n *tree.Node, f *form, name string) *diag.Diagnostic {
	var paths []string
	for _, path := range slices.Sorted(maps.Keys(c.s.deleted)) {
		if outer, ok := strings.CutSuffix(path, "."+name); ok {
			if at := c.s.root.At(strings.Split(outer, ".")...); at != nil && at.Range == n.Range {
				paths = append(paths, path)
			}
		}
	}
	if f.decl != nil {
		paths = append(paths, "defaults."+f.decl.Name+"."+name, "defaults."+f.decl.Name)
	}
	return c.lacking(d, paths...)
}

// leadToChild adds to the findings that lie in a parent, and have no note about
// the child, where the child names its parent: by itself a parent may be sound.
func (s *Spec) leadToChild(found diag.List) {
	leaf := s.leaf()
	extends := leaf.root.Get("extends")
	if extends == nil {
		return
	}
	for i := range found {
		d := &found[i]
		led := func(n diag.Related) bool { return n.Range.File == leaf.path }
		if d.Range.File != leaf.path && !slices.ContainsFunc(d.Notes, led) {
			fault.InheritedBy(d, extends.Range)
		}
	}
}
