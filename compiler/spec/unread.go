package spec

import (
	"slices"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// unread reports the keys of an object that nothing reads and no rule ignores.
// s is the section that the object belongs to, outer the sections around it.
func (r *reading) unread(n *tree.Node, path string, s *section, outer []*section) {
	for _, e := range n.Entries {
		here := e.Key.Text
		if path != "" {
			here = path + "." + here
		}
		if r.read[e.Key] {
			continue
		}
		inner := r.sectionAt(e.Value)
		if inner == nil && r.entered[e.Value] {
			inner = s
		}
		if inner != nil {
			around := outer
			if inner != s {
				around = append(outer[:len(outer):len(outer)], s)
			}
			r.unread(e.Value, here, inner, around)
			continue
		}
		if rule := ignoredBy(append(outer, s), path, e.Key.Text); rule != nil {
			r.ignored = append(r.ignored, IgnoredKey{here, rule.reason})
			if rule.leftOut && !isEmpty(e.Value) {
				r.report(fault.LeftOut(e.Key.Range, here, rule.reason))
			}
			continue
		}
		r.unreadKey(e, here, s.names())
	}
}

func (r *reading) unreadKey(e tree.Entry, path string, known []string) {
	d := fault.UnreadKey(e.Key.Range, path, isEmpty(e.Value), known)
	r.left = append(r.left, unreadKey{path, e.Value})
	if r.strict && d.Severity == diag.Warning {
		d.Severity = diag.Error
	}
	r.report(d)
}

// sectionAt returns the section that reads an object, or nil.
func (r *reading) sectionAt(n *tree.Node) *section {
	for _, s := range r.sections {
		for _, o := range s.objects {
			if o.node == n && n.Kind == tree.Map {
				return s.section
			}
		}
	}
	return nil
}

// ignoredBy returns the rule that matches a key, or nil, by its name or by
// its whole path. The innermost section decides; in it a rule without wildcards
// goes before one with, and a child's before a parent's.
func ignoredBy(sections []*section, path, key string) (found *ignoreRule) {
	full := key
	if path != "" {
		full = path + "." + key
	}
	for _, s := range slices.Backward(sections) {
		for _, rule := range slices.Backward(s.ignore) {
			if rule.name == key || rule.name == full {
				return &rule
			}
			if found == nil && (rule.pattern.Match(key) != nil || rule.pattern.Match(full) != nil) {
				found = &rule
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// isEmpty reports whether a value says nothing: null, false, zero or empty.
func isEmpty(n *tree.Node) bool {
	switch n.Kind {
	case tree.Null:
		return true
	case tree.Bool:
		return !n.Bool
	case tree.Int, tree.Float:
		return n.Float == 0
	case tree.String:
		return n.Text == ""
	}
	return len(n.Items) == 0 && len(n.Entries) == 0
}
