package checkpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"mobiusc/internal/diag"
	"mobiusc/ir"
)

// DefaultInPlaceLimit is how many bytes an in-place package may hold itself: the
// small parameters that a transform or another type makes. More means that the
// types or the layout do not fit, and that a copy is meant.
const DefaultInPlaceLimit = 64 << 20

// Placement says where an in-place package finds each parameter.
type Placement struct {
	Pointed []Pointed
	Copied  []*Bound // to be written beside the graphs, with Copy
	Bytes   int64    // of Copied
}

// Pointed is a parameter that lies in a file of the checkpoint as it is.
type Pointed struct {
	Bound    *Bound
	External ir.External // Location is relative to the checkpoint's directory
}

// InPlace plans a package that lies in the checkpoint's own directory: every
// parameter whose bytes lie unchanged in one file points there. Findings are
// errors: more than limit bytes of others, or a file that is a link to outside
// the directory, which runtimes refuse to follow.
func (b *Binding) InPlace(limit int64) (*Placement, diag.List) {
	p := &Placement{}
	var faults diag.List
	linked := map[string]bool{}
	for _, bound := range b.Bound {
		r, ok := bound.Source.Region()
		if !ok {
			p.Copied = append(p.Copied, bound)
			p.Bytes += bound.Source.Size()
			continue
		}
		if r.tensor.linked {
			linked[r.tensor.file.Name()] = true
		}
		p.Pointed = append(p.Pointed, Pointed{bound, ir.External{Location: r.File(), Offset: r.Offset, Length: r.Length}})
	}
	for _, path := range slices.Sorted(maps.Keys(linked)) {
		faults.Add(pointsOutside(path))
	}
	if p.Bytes > limit {
		faults.Add(copiesTooMuch(b.dir, p, limit))
	}
	if faults.HasErrors() {
		return nil, faults
	}
	return p, nil
}

// storable are the types that a package can store, as the command line names them.
var storable = []struct {
	dtype ir.DataType
	word  string
}{{ir.BFloat16, "bfloat16"}, {ir.Float16, "float16"}, {ir.Float32, "float32"}}

// storedType returns the type in which the checkpoint holds what would be copied,
// "" if storing that would leave more than limit bytes to copy.
func (p *Placement) storedType(limit int64) string {
	bytes := map[ir.DataType]int64{} // of the parameters that are converted and nothing else
	for _, b := range p.Copied {
		if c, ok := b.Source.node.(*cast); ok {
			if _, ok := regionOf(c.base); ok {
				bytes[c.base.dtype()] += b.Source.Size()
			}
		}
	}
	for _, t := range storable {
		if p.Bytes-bytes[t.dtype] <= limit {
			return t.word
		}
	}
	return ""
}

// copiedNotes lists what would be copied, the largest first: a note a kind of
// parameter.
func (p *Placement) copiedNotes() []diag.Related {
	type group struct {
		family
		steps string
		bytes int64
	}
	groups := map[string]*group{}
	for _, b := range p.Copied {
		pattern := familyOf(b.Param.Name)
		key := pattern + "\n" + b.Transform()
		if groups[key] == nil {
			groups[key] = &group{family: family{pattern: pattern, at: b.Param.Range}, steps: b.Transform()}
		}
		g := groups[key]
		g.names = append(g.names, b.Param.Name)
		g.bytes += b.Source.Size()
	}
	sorted := slices.SortedFunc(maps.Values(groups), func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.pattern, b.pattern))
	})
	var notes []diag.Related
	for _, g := range sorted {
		notes = append(notes, diag.Related{Range: g.at, Message: fmt.Sprintf("%s: %s, %d bytes", g.list(), g.steps, g.bytes)})
	}
	return notes
}
