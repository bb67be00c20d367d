package spec

import (
	"maps"
	"slices"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/internal/suggest"
)

// unused reports what the leaf spec states and neither it nor a variant uses.
func (s *Spec) unused(u *uses) diag.List {
	var found diag.List
	own := func(section string, used map[string]bool, what string) {
		n := s.root.Get(section)
		if n == nil {
			return
		}
		for _, e := range n.Entries {
			if !used[e.Key.Text] && s.states(section, e.Key.Text) {
				found.Add(*fault.Unused(s.statedAt(section, e), what+" `"+e.Key.Text+"`"))
			}
		}
	}
	own("let", u.lets, "the named expression")
	own("blocks", u.blocks, "the block")
	own("defaults", u.defaults, "the default for")
	own("functions", u.functions, "the function")
	found = append(found, s.unusedKeys(s.compiled.config, u)...)
	return append(found, s.strangeSymbols(u)...)
}

// states reports whether the leaf file itself has an entry.
func (s *Spec) states(section, key string) bool {
	return s.files[len(s.files)-1].root.At(section, key) != nil
}

func (s *Spec) statedAt(section string, e tree.Entry) diag.Range {
	return s.files[len(s.files)-1].root.Get(section).Entry(e.Key.Text).Key.Range
}

func (s *Spec) unusedKeys(sec *section, u *uses) (found diag.List) {
	for _, k := range sec.keys {
		switch {
		case k.section != nil:
			found = append(found, s.unusedKeys(k.section, u)...)
		case k.refused == "" && len(k.values) == 0 && !u.config[k.path]:
			found.Add(*s.unusedKey(k))
		}
	}
	return found
}

// unusedKey reports a key where the spec declares it, or, if a parent does, where
// the parent is named: the child has dropped the use.
func (s *Spec) unusedKey(k *configKey) *diag.Diagnostic {
	leaf := s.files[len(s.files)-1]
	if parent := leaf.root.Get("extends"); parent != nil && k.keyAt.File != leaf.path {
		return fault.InheritedUnusedKey(parent.Range, k.path, k.keyAt)
	}
	return fault.UnusedKey(k.keyAt, k.path)
}

// strangeSymbols reports a symbol of a dim that stands in one place only and
// looks like another name.
func (s *Spec) strangeSymbols(u *uses) (found diag.List) {
	names := slices.Sorted(maps.Keys(u.symbols))
	for _, name := range names {
		places := u.symbols[name]
		if len(places) != 1 {
			continue
		}
		var others []string
		for _, other := range slices.Concat(names, s.compiled.config.names(), s.root.Get("let").Keys()) {
			if other != name && suggest.Distance(name, other) <= 1+len(name)/8 {
				others = append(others, other)
			}
		}
		if near := suggest.Nearest(name, others); near != "" && len(name) > 3 {
			found.Add(*fault.SuspiciousDim(places[0], name, near))
		}
	}
	return found
}
