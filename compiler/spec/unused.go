package spec

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
	"mobiusc/internal/suggest"
)

// namedSections are those whose entries other sections mention by name.
var namedSections = []struct{ name, what string }{
	{"blocks", "the block"}, {"defaults", "the default for"}, {"functions", "the function"}, {"let", "the named expression"},
}

// unused reports what the leaf spec states and neither it nor a variant uses.
func (s *Spec) unused(u *uses) diag.List {
	var found diag.List
	var all []idle
	used := map[string]map[string]bool{"blocks": u.blocks, "defaults": u.defaults, "functions": u.functions, "let": u.lets}
	for _, section := range namedSections {
		used := used[section.name]
		known := slices.DeleteFunc(slices.Sorted(maps.Keys(used)), func(name string) bool { return s.states(section.name, name) })
		for _, e := range entries(s.root.Get(section.name)) {
			if name := e.Key.Text; !used[name] && s.states(section.name, name) {
				all = append(all, idle{name, e.Value, fault.Unused(s.statedAt(section.name, e), section.what, name, known)})
			}
		}
	}
	for _, d := range heads(append(all, s.unusedKeys(s.compiled.config, u)...)) {
		found.Add(*d)
	}
	return append(found, s.strangeSymbols(u)...)
}

// misspelt reports, beside errors, what the leaf spec adds under a name that
// nothing mentions and that is close to one it inherits. Of the rest that is
// unused nothing is said then: what uses it may be what is wrong.
func (s *Spec) misspelt() (found diag.List) {
	words := map[string]bool{}
	mentioned(s.root, words)
	for _, section := range namedSections {
		var added []tree.Entry
		var known []string
		for _, e := range entries(s.root.Get(section.name)) {
			switch name := e.Key.Text; {
			case !s.states(section.name, name):
				known = append(known, name)
			case !words[name] && !s.inherits(section.name, name):
				added = append(added, e)
			}
		}
		for _, e := range added {
			if d := fault.Unused(e.Key.Range, section.what, e.Key.Text, known); d.Fix != nil {
				found.Add(*d)
			}
		}
	}
	s.compiled.config.walk(func(k *configKey) {
		if words[k.path] || !s.addsKey(k) || k.section != nil || k.refused != "" || len(k.values) > 0 || s.root.At(append(k.keyPath(), "type")...) == nil {
			return
		}
		if d := fault.UnusedKey(k.keyAt, k.path, s.keysBeside(k, s.compiled.config)); d.Fix != nil {
			found.Add(*d)
		}
	})
	return found
}

// idle is something that nothing uses but, perhaps, what is idle itself.
type idle struct {
	name  string
	value *tree.Node // what it says, or nil
	d     *diag.Diagnostic
}

// heads returns the findings about what no other idle thing uses, and of a
// circle that about the first: with it goes the rest, which the finding lists.
// What a value mentions is told by its words alone, and so more may be taken for
// used than is; that is found once the head is gone.
func heads(all []idle) []*diag.Diagnostic {
	uses := make([][]int, len(all))
	used := make([]bool, len(all))
	for i, from := range all {
		words := map[string]bool{}
		mentioned(from.value, words)
		for j, to := range all {
			if i != j && words[to.name] {
				uses[i] = append(uses[i], j)
				used[j] = true
			}
		}
	}
	gone := make([]bool, len(all))
	var found []*diag.Diagnostic
	head := func(i int) {
		if gone[i] {
			return
		}
		d := all[i].d
		var visit func(i int)
		visit = func(i int) {
			gone[i] = true
			for _, j := range uses[i] {
				if !gone[j] {
					fault.GoesWith(d, all[j].d.Range)
					visit(j)
				}
			}
		}
		visit(i)
		found = append(found, d)
	}
	for i := range all {
		if !used[i] {
			head(i)
		}
	}
	for i := range all {
		head(i) // of circles
	}
	return found
}

var dottedName = regexp.MustCompile(`[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}_][\p{L}\p{N}_]*)*`)

// mentioned collects the names in the text of a node, with and without what
// follows their dots.
func mentioned(n *tree.Node, into map[string]bool) {
	if n == nil {
		return
	}
	for _, item := range n.Items {
		mentioned(item, into)
	}
	for _, e := range n.Entries {
		mentioned(e.Value, into)
	}
	if n.Kind != tree.String {
		return
	}
	for _, path := range dottedName.FindAllString(n.Text, -1) {
		for end := range path {
			if path[end] == '.' {
				into[path[:end]] = true
			}
		}
		into[path] = true
	}
}

// states reports whether the leaf file itself has an entry.
func (s *Spec) states(path ...string) bool { return s.leaf().root.At(path...) != nil }

// inherits reports whether a parent has an entry.
func (s *Spec) inherits(path ...string) bool {
	return slices.ContainsFunc(s.files[:len(s.files)-1], func(f file) bool { return f.root.At(path...) != nil })
}

// keyPath returns the path in a spec's file of a config key.
func (k *configKey) keyPath() []string {
	return strings.Split("config."+strings.ReplaceAll(k.path, ".", ".keys."), ".")
}

// addsKey reports whether the leaf file declares a key that no parent has.
func (s *Spec) addsKey(k *configKey) bool {
	return s.states(k.keyPath()...) && !s.inherits(k.keyPath()...)
}

// keysBeside returns the names of the keys in the section of k, of which sec holds
// all, that the leaf file does not state.
func (s *Spec) keysBeside(k *configKey, sec *section) (names []string) {
	outer := strings.TrimSuffix(k.path, k.name)
	sec.walk(func(o *configKey) {
		if o.path == outer+o.name && !s.states(o.keyPath()...) {
			names = append(names, o.name)
		}
	})
	return names
}

func (s *Spec) statedAt(section string, e tree.Entry) diag.Range {
	return s.leaf().root.Get(section).Entry(e.Key.Text).Key.Range
}

func (s *Spec) unusedKeys(sec *section, u *uses) (found []idle) {
	for _, k := range sec.keys {
		switch {
		case k.section != nil:
			found = append(found, s.unusedKeys(k.section, u)...)
		case k.refused == "" && len(k.values) == 0 && !u.config[k.path]:
			found = append(found, idle{k.path, k.def, s.unusedKey(k)})
		}
	}
	return found
}

// unusedKey reports a key where the spec declares it, or, if a parent does, where
// the parent is named: the child has dropped the use.
func (s *Spec) unusedKey(k *configKey) *diag.Diagnostic {
	leaf := s.leaf()
	if parent := leaf.root.Get("extends"); parent != nil && k.keyAt.File != leaf.path {
		return fault.InheritedUnusedKey(parent.Range, k.path, k.keyAt)
	}
	return fault.UnusedKey(k.keyAt, k.path, s.keysBeside(k, s.compiled.config))
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
