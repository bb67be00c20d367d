package spec

import (
	"maps"
	"slices"
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// deletions are the paths that were deleted from a tree, and where: from the whole
// spec, or from the blocks and named expressions of a kind of layers.
type deletions struct {
	at   map[string]diag.Range
	root *tree.Node
}

// deletions returns those that hold where the check stands, the innermost first.
func (c *checked) deletions() []deletions {
	all := slices.Clone(c.inKinds)
	slices.Reverse(all)
	return append(all, deletions{c.s.deleted, c.s.root})
}

// lacking adds to a finding about something that is missing where it was deleted:
// at the first of the paths that was.
func (c *checked) lacking(d *diag.Diagnostic, paths ...string) *diag.Diagnostic {
	for _, path := range paths {
		for _, deleted := range c.deletions() {
			if at, ok := deleted.at[path]; ok {
				fault.DeletedAt(d, at)
				return d
			}
		}
	}
	return d
}

// lackingOption is lacking for a field of n, the options of a block or a part of
// them: it was deleted there, or among the defaults for the block's type.
func (c *checked) lackingOption(d *diag.Diagnostic, n *tree.Node, f *form, name string) *diag.Diagnostic {
	var paths []string
	for _, deleted := range c.deletions() {
		for _, path := range slices.Sorted(maps.Keys(deleted.at)) {
			if outer, ok := strings.CutSuffix(path, "."+name); ok {
				if at := deleted.root.At(strings.Split(outer, ".")...); at != nil && at.Range == n.Range {
					paths = append(paths, path)
				}
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
