package checkpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mobiusc/internal/diag"
	"mobiusc/internal/suggest"
	"mobiusc/ir"
)

// family is the tensors or parameters of one kind in all layers: names that
// differ in numbers only, with the same shape. One finding stands for them all.
type family struct {
	pattern string // model.layers.*.mlp.up_proj.weight
	names   []string
	shape   []int64
	at      diag.Range // of the first

	// Of parameters whose tensors do not fit them:
	dtype   ir.DataType
	tensor  *item // of the first
	finding func(*family) diag.Diagnostic
}

// familyOf replaces the segments of a name that are numbers.
func familyOf(name string) string {
	segments := strings.Split(name, ".")
	for i, s := range segments {
		if _, err := strconv.ParseUint(s, 10, 63); err == nil {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, ".")
}

// families groups names, in the order they come in.
type families struct {
	list  []*family
	index map[string]*family
	seen  map[string]bool
}

func newFamilies() *families {
	return &families{index: map[string]*family{}, seen: map[string]bool{}}
}

// add adds a name, once: several components may list a parameter. Members of a
// family have the same properties. It returns nil for a name that is there.
func (f *families) add(name string, shape []int64, at diag.Range, properties ...any) *family {
	if f.seen[name] {
		return nil
	}
	f.seen[name] = true
	pattern := familyOf(name)
	key := fmt.Sprintln(pattern, shape, properties)
	x := f.index[key]
	if x == nil {
		x = &family{pattern: pattern, shape: shape, at: at}
		f.list, f.index[key] = append(f.list, x), x
	}
	x.names = append(x.names, name)
	return x
}

// unfit adds a parameter whose tensor does not fit it, to be reported by finding.
func (b *binder) unfit(p Param, x *item, finding func(*family) diag.Diagnostic) {
	f := b.misfits.add(p.Name, p.Shape, p.Range, p.DType, familyOf(x.tensors[0]), x.node.dims(), dtypeName(x.node))
	if f != nil && f.tensor == nil {
		f.dtype, f.tensor, f.finding = p.DType, x, finding
	}
}

// reportUnbound reports parameters without tensor and tensors without
// parameter, a finding a family, each with the nearest of the other side.
func (b *binder) reportUnbound(missing []Param, left []*item) {
	params, tensors := newFamilies(), newFamilies()
	for _, p := range missing {
		params.add(p.Name, p.Shape, p.Range)
	}
	for _, x := range left {
		tensors.add(x.name, x.node.dims(), b.path(x))
	}
	for _, f := range params.list {
		b.faults.Add(unboundParam(f, nearest(f, tensors.list)))
	}
	for _, f := range tensors.list {
		b.faults.Add(unboundTensor(f, nearest(f, params.list)))
	}
}

// nearest returns the family that f may have been meant to be, or nil: one with
// the most path segments in common from the end, then of the same shape, then
// with the nearest name; or one with a misspelt name.
func nearest(f *family, others []*family) *family {
	var best *family
	var bestRank []int
	for _, o := range others {
		shared := sharedSuffix(f.pattern, o.pattern)
		if shared < 2 {
			continue
		}
		same := 0
		if slices.Equal(f.shape, o.shape) {
			same = 1
		}
		rank := []int{shared, same, -suggest.Distance(f.pattern, o.pattern)}
		if best == nil || slices.Compare(rank, bestRank) > 0 {
			best, bestRank = o, rank
		}
	}
	if best != nil {
		return best
	}
	patterns := make([]string, len(others))
	for i, o := range others {
		patterns[i] = o.pattern
	}
	if i := slices.Index(patterns, cmp.Or(suggest.Nearest(f.pattern, patterns), "\x00")); i >= 0 {
		return others[i]
	}
	return nil
}

// sharedSuffix returns how many path segments two names have in common from the
// end.
func sharedSuffix(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	n := 0
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}
