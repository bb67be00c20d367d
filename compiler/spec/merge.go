package spec

import (
	"strings"

	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// merger lays one tree over another by the one rule of the language: mappings
// merge key by key, a block of the same type merges, null deletes, and all else
// is replaced.
type merger struct {
	g     *grammar
	found diag.List
	// deleted remembers where a path was deleted, for messages about what then
	// misses it.
	deleted map[string]diag.Range
}

// merge lays over on base. keep is set below a patch that is applied later: its
// nulls stay.
func (m *merger) merge(base, over *tree.Node, f *form, keep bool, path []string) *tree.Node {
	switch {
	case over == nil:
		return base
	case f != nil && f.kind == formBody:
		return m.body(base, over, keep, path)
	case over.Kind != tree.Map || f == nil || f.kind != formRecord && f.kind != formMap:
		return over
	case base == nil || base.Kind != tree.Map:
		base = &tree.Node{Kind: tree.Map, Range: over.Range}
	}
	return m.entries(base, over, f, keep || f.late, path)
}

func (m *merger) entries(base, over *tree.Node, f *form, keep bool, path []string) *tree.Node {
	out := *base
	out.Entries = append([]tree.Entry(nil), base.Entries...)
	result := &out
	for _, e := range over.Entries {
		key := e.Key.Text
		here := append(path[:len(path):len(path)], key)
		old := base.Entry(key)
		if e.Value.Kind == tree.Null && !keep {
			if old == nil {
				m.found.Add(*fault.NothingToDelete(e.Key.Range, key, base.Keys()))
			}
			m.deleted[strings.Join(here, ".")] = e.Key.Range
			result = result.With(e.Key, nil)
			continue
		}
		delete(m.deleted, strings.Join(here, "."))
		if old == nil {
			result = result.With(e.Key, m.merge(nil, e.Value, f.child(key), keep, here))
			continue
		}
		keyNode := old.Key
		value := m.merge(old.Value, e.Value, f.child(key), keep, here)
		if value == e.Value || value.Kind != tree.Map || value.Range == e.Value.Range {
			keyNode = e.Key // replaced: it now stands where the child says it
		}
		result = result.With(keyNode, value)
	}
	return result
}

// body lays one body over another: blocks of one type merge, else the child's
// replaces the parent's.
func (m *merger) body(base, over *tree.Node, keep bool, path []string) *tree.Node {
	if over.Kind == tree.List {
		out := *over
		out.Items = make([]*tree.Node, len(over.Items))
		for i, item := range over.Items {
			out.Items[i] = m.body(nil, item, keep, path)
		}
		return &out
	}
	if over.Kind != tree.Map || len(over.Entries) == 0 {
		return over
	}
	if isConditional(over) {
		if base != nil && !isConditional(base) {
			base = nil
		}
		return m.merge(base, over, m.g.blocks["if"], keep, path)
	}
	e := over.Entries[0]
	old := base.Entry(e.Key.Text)
	if old == nil {
		return over.With(e.Key, m.merge(nil, e.Value, m.g.blocks[e.Key.Text], keep, append(path[:len(path):len(path)], e.Key.Text)))
	}
	value := m.merge(old.Value, e.Value, m.g.blocks[e.Key.Text], keep, append(path[:len(path):len(path)], e.Key.Text))
	return base.With(old.Key, value)
}
