package checkpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mobiusc/internal/glob"
)

// item is a tensor on its way from the checkpoint to a parameter: under its
// present name, with what was done to it.
type item struct {
	name    string
	node    node
	tensors []string // names in the checkpoint
	steps   []string
}

func (x *item) with(name string, n node, step Step) *item {
	return &item{name, n, x.tensors, append(slices.Clip(x.steps), step.String())}
}

// matched is an item that a transform applies to, with the submatches.
type matched struct {
	*item
	sub []string
}

// applyTransforms applies the transforms in the order written.
func (b *binder) applyTransforms(items []*item, transforms []Transform) []*item {
	for _, t := range transforms {
		p := b.pattern(t.Match, t.Range)
		if p == nil {
			continue
		}
		var rest []*item
		var hit []matched
		for _, x := range items {
			if sub := p.Match(x.name); sub != nil {
				hit = append(hit, matched{x, sub})
			} else {
				rest = append(rest, x)
			}
		}
		if len(hit) == 0 {
			b.unused(t.Range, "transform", t.Match)
			continue
		}
		items = append(rest, b.transform(t, p, hit)...)
	}
	return items
}

// transform applies one rule to the tensors that match it. One that it does not
// fit is reported and left out.
func (b *binder) transform(t Transform, p *glob.Pattern, hit []matched) (out []*item) {
	switch s := t.Step.(type) {
	case single:
		for _, x := range hit {
			n, problem := s.node(x.node)
			if problem != "" {
				b.misfit(t, x.item, problem, x.name)
				continue
			}
			out = append(out, x.with(x.name, n, s))
		}
	case Split:
		out = b.split(t, s, p, hit)
	case Concat:
		out = b.concat(t, s, p, hit)
	case Stack:
		out = b.stack(t, s, hit)
	case Unstack:
		out = b.unstack(t, s, hit)
	}
	return out
}

func (b *binder) split(t Transform, s Split, p *glob.Pattern, hit []matched) (out []*item) {
	into := make([]glob.Template, len(s.Into))
	for i, name := range s.Into {
		if into[i] = b.template(name, p, t.Range); into[i] == nil {
			return nil
		}
	}
	for _, x := range hit {
		names := make([]string, len(into))
		for i := range into {
			names[i] = into[i].Expand(x.sub)
		}
		sizes, problem := s.sizes(x.node)
		if problem != "" {
			b.misfit(t, x.item, problem, names...)
			continue
		}
		var from int64
		for i, size := range sizes {
			part := sliceOf(x.node, s.Axis, from, size)
			out = append(out, x.with(names[i], part, rows{s.Axis, from, from + size}))
			from += size
		}
	}
	return out
}

// rows names a part of a tensor.
type rows struct {
	axis     int
	from, to int64
}

func (r rows) String() string { return fmt.Sprintf("axis %d from %d to %d", r.axis, r.from, r.to) }
func (rows) step()            {}

// sizes returns the sizes of the parts.
func (s Split) sizes(n node) ([]int64, string) {
	if s.Axis < 0 || s.Axis >= len(n.dims()) {
		return nil, fmt.Sprintf("%s has no axis %d", shape(n.dims()), s.Axis)
	}
	if width(n) == 0 {
		return nil, noBytes(n)
	}
	whole := n.dims()[s.Axis]
	if len(s.Sizes) == 0 {
		parts := int64(len(s.Into))
		if parts == 0 || whole%parts != 0 {
			return nil, fmt.Sprintf("%d is not divisible into %d equal parts", whole, parts)
		}
		return slices.Repeat([]int64{whole / parts}, len(s.Into)), ""
	}
	var sum int64
	for _, size := range s.Sizes {
		if size < 0 || size > whole-sum {
			return nil, fmt.Sprintf("the sizes %v do not sum up to %d", s.Sizes, whole)
		}
		sum += size
	}
	if sum != whole || len(s.Sizes) != len(s.Into) {
		return nil, fmt.Sprintf("the sizes %v do not cut %d into %d parts", s.Sizes, whole, len(s.Into))
	}
	return s.Sizes, ""
}

func (b *binder) concat(t Transform, s Concat, p *glob.Pattern, hit []matched) (out []*item) {
	into := b.template(s.Into, p, t.Range)
	if into == nil {
		return nil
	}
	groups, names := grouped(hit, func(x matched) string { return into.Expand(x.sub) })
	for _, name := range names {
		parts := groups[name]
		slices.SortStableFunc(parts, func(a, b matched) int { return slices.Compare(p.Words(a.sub), p.Words(b.sub)) })
		if want := p.Combinations(); len(parts) != want {
			b.misfit(t, parts[0].item, fmt.Sprintf("%s needs %d parts, there are %d", name, want, len(parts)), name)
			continue
		}
		out = append(out, b.join(t, name, parts, s.Axis)...)
	}
	return out
}

// join concatenates tensors that agree in type and in all dims but one.
func (b *binder) join(t Transform, name string, parts []matched, axis int) []*item {
	first := parts[0]
	nodes, tensors := []node{}, []string{}
	for _, p := range parts {
		if problem := joinable(first.node, p.node, axis); problem != "" {
			b.misfit(t, p.item, fmt.Sprintf("it does not go with %s: %s", first.name, problem), name)
			return nil
		}
		if !slices.Equal(p.steps, first.steps) {
			b.misfit(t, p.item, fmt.Sprintf("other transforms were applied to it than to %s", first.name), name)
			return nil
		}
		nodes, tensors = append(nodes, p.node), append(tensors, p.tensors...)
	}
	x := first.with(name, concatOf(nodes, axis), t.Step)
	x.tensors = tensors
	return []*item{x}
}

func joinable(a, b node, axis int) string {
	x, y := slices.Clone(a.dims()), slices.Clone(b.dims())
	if axis < 0 || axis >= len(x) || axis >= len(y) {
		return fmt.Sprintf("%s and %s have no axis %d", shape(x), shape(y), axis)
	}
	x[axis], y[axis] = 0, 0
	switch {
	case a.dtype() != b.dtype():
		return fmt.Sprintf("%s and %s", a.dtype(), b.dtype())
	case !slices.Equal(x, y):
		return fmt.Sprintf("shapes %s and %s", shape(a.dims()), shape(b.dims()))
	case width(a) == 0:
		return noBytes(a)
	}
	return ""
}

func (b *binder) stack(t Transform, s Stack, hit []matched) (out []*item) {
	numbers := map[*item]int{}
	var numbered []matched
	for _, x := range hit {
		before, n, after, ok := cutNumber(x.name, s.Segment)
		if !ok {
			b.misfit(t, x.item, fmt.Sprintf("its name has no number after %q", s.Segment))
			continue
		}
		numbers[x.item] = n
		x.sub = []string{before + after}
		numbered = append(numbered, x)
	}
	groups, names := grouped(numbered, func(x matched) string { return x.sub[0] })
	for _, name := range names {
		parts := groups[name]
		slices.SortStableFunc(parts, func(x, y matched) int { return cmp.Compare(numbers[x.item], numbers[y.item]) })
		whole := true
		for i := range parts {
			if n := numbers[parts[i].item]; n != i {
				b.misfit(t, parts[i].item, fmt.Sprintf("%s: number %d is missing or there twice", name, min(i, n)), name)
				whole = false
				break
			}
			one := *parts[i].item
			one.node = reshapeOf(one.node, append([]int64{1}, one.node.dims()...))
			parts[i].item = &one
		}
		if whole {
			out = append(out, b.join(t, name, parts, 0)...)
		}
	}
	return out
}

// maxUnstack limits the parts of a tensor: a header of a few bytes can claim any
// number of empty ones.
const maxUnstack = 1 << 16

func (b *binder) unstack(t Transform, s Unstack, hit []matched) (out []*item) {
	for _, x := range hit {
		dims := x.node.dims()
		before, after, ok := cutSegment(x.name, s.Segment)
		switch {
		case !ok:
			b.misfit(t, x.item, fmt.Sprintf("its name has no segment %q", s.Segment))
		case len(dims) == 0:
			b.misfit(t, x.item, "it is a scalar")
		case dims[0] == 0:
			b.misfit(t, x.item, "it has no parts")
		case width(x.node) == 0:
			b.misfit(t, x.item, noBytes(x.node))
		case dims[0] > maxUnstack:
			b.misfit(t, x.item, fmt.Sprintf("%d parts are too many", dims[0]))
		default:
			for i := range dims[0] {
				one := reshapeOf(sliceOf(x.node, 0, i, 1), dims[1:])
				out = append(out, x.with(fmt.Sprintf("%s.%d%s", before, i, after), one, rows{0, i, i + 1}))
			}
		}
	}
	return out
}

// cutSegment cuts a name after a path segment: a.experts.w at experts is
// a.experts and .w.
func cutSegment(name, segment string) (before, after string, ok bool) {
	padded := "." + name + "."
	i := strings.Index(padded, "."+segment+".")
	if i < 0 {
		return "", "", false
	}
	end := i + len(segment)
	return name[:end], name[end:], true
}

// cutNumber is cutSegment for a segment that a number follows.
func cutNumber(name, segment string) (before string, n int, after string, ok bool) {
	before, rest, ok := cutSegment(name, segment)
	if !ok || rest == "" {
		return "", 0, "", false
	}
	digits, after, more := strings.Cut(rest[1:], ".")
	n, err := strconv.Atoi(digits)
	if more {
		after = "." + after
	}
	return before, n, after, err == nil && n >= 0
}

// grouped returns the items by key, and the keys in the order they come in.
func grouped(items []matched, key func(matched) string) (groups map[string][]matched, keys []string) {
	groups = map[string][]matched{}
	for _, x := range items {
		k := key(x)
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], x)
	}
	return groups, keys
}
