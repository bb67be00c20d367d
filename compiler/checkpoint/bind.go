package checkpoint

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mobiusc/internal/diag"
	"mobiusc/internal/glob"
	"mobiusc/ir"
)

// Param is a parameter of a graph: what the graph wants to find under a name.
type Param struct {
	Component string
	Name      string // module path
	DType     ir.DataType
	Shape     []int64
	Range     diag.Range // the block of the spec that owns it
	// Parts are the tensors whose rows, one after the other, are the parameter's,
	// where the checkpoint does not store it under its own name.
	Parts []string
}

// Binding says where every parameter's bytes come from, and what became of the
// tensors that no parameter reads.
type Binding struct {
	Bound   []*Bound // in the order of the parameters
	Ignored []Ignored
	Copies  []Copied

	dir string // of the checkpoint
}

// Bound is one parameter with its source.
type Bound struct {
	Param   Param
	Source  *Source
	Tensors []string // the checkpoint's tensors, in the order the transform reads them
	Steps   []string // what is done to them; none if their bytes are the parameter
}

// Transform returns the steps as one text, "" if there are none.
func (b *Bound) Transform() string { return strings.Join(b.Steps, ", ") }

// Ignored is a tensor that a rule leaves out.
type Ignored struct {
	Tensor TensorInfo
	Rule   IgnoreRule
}

// Copied is a tensor that repeats another one under a second name, and is
// not read.
type Copied struct {
	Tensor TensorInfo
	Of     string // name in the checkpoint
}

// Bind finds the tensors of the parameters. A parameter may be listed by several
// components. Every fault is reported: parameters without tensor, tensors
// without parameter, shapes and types that do not fit, rules that cannot be
// applied. The binding is nil if any is an error.
func Bind(params []Param, c *Checkpoint, rules Rules) (*Binding, diag.List) {
	b := &binder{checkpoint: c, wanted: map[string]bool{}, broken: map[string]bool{}, misfits: newFamilies(), binding: Binding{dir: c.dir}}
	for _, p := range params {
		b.wanted[p.Name] = true
	}
	items := b.applyTransforms(b.ignore(b.rename(b.items(), rules.Rename), rules.Ignore), rules.Transforms)
	held := b.unique(b.tie(b.assemble(items, params), rules.Ties))
	b.bind(params, held)
	for _, f := range b.misfits.list {
		b.faults.Add(f.finding(f))
	}
	b.reportUnused()
	if b.faults.HasErrors() {
		return nil, b.faults
	}
	return &b.binding, b.faults
}

// binder is the state of one Bind.
type binder struct {
	checkpoint *Checkpoint
	wanted     map[string]bool // names of parameters
	broken     map[string]bool // names that a rule should have given and did not, which is reported
	missing    []Param         // parts that are not there
	ties       []Tie           // those that a parameter needs
	binding    Binding
	misfits    *families // parameters whose tensors do not fit them
	faults     diag.List
	idle       []diag.Diagnostic // rules that matched nothing
}

// items returns the checkpoint's tensors.
func (b *binder) items() []*item {
	var items []*item
	for _, s := range b.checkpoint.shards {
		for _, info := range s.tensors {
			n := &stored{file: s.file, info: info, linked: s.linked}
			items = append(items, &item{name: info.Name, node: n, tensors: []string{info.Name}})
		}
	}
	slices.SortFunc(items, func(x, y *item) int { return cmp.Compare(x.name, y.name) })
	return items
}

// pattern compiles a rule's pattern; nil if it is malformed.
func (b *binder) pattern(text string, at diag.Range) *glob.Pattern {
	p, err := glob.Parse(text)
	if err != nil {
		b.faults.Add(badRule(at, err))
		return nil
	}
	return p
}

func (b *binder) template(text string, p *glob.Pattern, at diag.Range) glob.Template {
	t, err := p.Template(text)
	if err != nil {
		b.faults.Add(badRule(at, err))
		return nil
	}
	return t
}

func (b *binder) rename(items []*item, rules []RenameRule) []*item {
	for _, r := range rules {
		p := b.pattern(r.From, r.Range)
		if p == nil {
			continue
		}
		to := b.template(r.To, p, r.Range)
		if to == nil {
			continue
		}
		used := false
		for _, x := range items {
			if sub := p.Match(x.name); sub != nil {
				x.name, used = to.Expand(sub), true
			}
		}
		if !used {
			b.unused(r.Range, "rename", r.From)
		}
	}
	return items
}

func (b *binder) ignore(items []*item, rules []IgnoreRule) []*item {
	for _, r := range rules {
		p := b.pattern(r.Match, r.Range)
		if p == nil {
			continue
		}
		n := len(items)
		items = slices.DeleteFunc(items, func(x *item) bool {
			if p.Match(x.name) == nil {
				return false
			}
			b.binding.Ignored = append(b.binding.Ignored, Ignored{x.node.(*stored).info, r})
			if b.wanted[x.name] {
				b.faults.Add(ignoredParam(r.Range, x.name))
				b.broken[x.name] = true
			}
			return true
		})
		if len(items) == n {
			b.faults.Add(idleRule(r.Range, "ignore", r.Match))
		}
	}
	return items
}

// tie gives the tensors of tied parameters the name of the parameter that they
// repeat, and remembers which parameters read another's tensor.
func (b *binder) tie(items []*item, ties []Tie) []*item {
	for _, t := range ties {
		if b.wanted[t.From] {
			b.ties = append(b.ties, t)
		}
		for _, x := range items {
			if x.name == t.From {
				x.name = t.To
			}
		}
	}
	return items
}

// unique returns the items by name. Of several with one name the one whose
// tensor already had it is read, and the others must repeat it.
func (b *binder) unique(items []*item) map[string]*item {
	held := map[string]*item{}
	rank := func(x *item) int {
		if x.tensors[0] == x.name {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(items, func(x, y *item) int {
		return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(rank(x), rank(y)), cmp.Compare(x.tensors[0], y.tensors[0]))
	})
	for _, x := range items {
		first := held[x.name]
		if first == nil {
			held[x.name] = x
			continue
		}
		if problem := differ(first.node, x.node); problem != "" {
			b.faults.Add(collision(b.path(x), x.name, first.tensors[0], x.tensors[0], problem))
			continue
		}
		for _, tensor := range x.tensors {
			info, _ := b.checkpoint.Tensor(tensor)
			b.binding.Copies = append(b.binding.Copies, Copied{info, first.tensors[0]})
		}
	}
	return held
}

// path returns the file that holds (the first part of) an item.
func (b *binder) path(x *item) diag.Range {
	info, _ := b.checkpoint.Tensor(x.tensors[0])
	return inFile(b.checkpoint.path(info.File))
}

// differ says how two tensors that should be copies differ, or "". It reads both,
// a part at a time: a difference in a single value would otherwise be lost.
func differ(x, y node) string {
	switch {
	case x.dtype() != y.dtype():
		return fmt.Sprintf("%s and %s", dtypeName(x), dtypeName(y))
	case !slices.Equal(x.dims(), y.dims()):
		return fmt.Sprintf("shapes %s and %s", shape(x.dims()), shape(y.dims()))
	}
	a, b := &Source{x}, &Source{y}
	size := a.Size()
	p, q := make([]byte, min(size, partSize)), make([]byte, min(size, partSize))
	for off := int64(0); off < size; off += partSize {
		n := min(size-off, partSize)
		_, err := a.ReadAt(p[:n], off)
		if err == nil {
			_, err = b.ReadAt(q[:n], off)
		}
		if err != nil {
			return err.Error()
		}
		if !bytes.Equal(p[:n], q[:n]) {
			return "their values"
		}
	}
	return ""
}

// bind gives each parameter its item.
func (b *binder) bind(params []Param, held map[string]*item) {
	tied := map[string]string{}
	for _, t := range b.ties {
		tied[t.From] = t.To
	}
	read := map[string]bool{}
	missing := b.missing
	for _, p := range params {
		name := p.Name
		for range b.ties { // a tie may lead to a tie; one that leads in a circle ends here
			if to, ok := tied[name]; ok {
				name = to
			}
		}
		x := held[name]
		if x == nil {
			if !b.broken[name] {
				missing = append(missing, p)
			}
			continue
		}
		read[name] = true
		b.bindOne(p, x)
	}
	var left []*item
	for _, name := range slices.Sorted(maps.Keys(held)) {
		if !read[name] {
			left = append(left, held[name])
		}
	}
	b.reportUnbound(missing, left)
}

func (b *binder) bindOne(p Param, x *item) {
	if !slices.Equal(p.Shape, x.node.dims()) {
		b.unfit(p, x, wrongShape)
		return
	}
	n, steps := x.node, x.steps
	if n.dtype() != p.DType {
		if !Convertible(n.dtype(), p.DType) {
			b.unfit(p, x, wrongDType)
			return
		}
		n, steps = castOf(n, p.DType), append(slices.Clip(steps), Cast{p.DType}.String())
	}
	b.binding.Bound = append(b.binding.Bound, &Bound{p, &Source{n}, x.tensors, steps})
}

func (b *binder) unused(at diag.Range, kind, pattern string) {
	b.idle = append(b.idle, idleRule(at, kind, pattern))
}

// reportUnused reports renames and transforms that matched nothing: a family's
// spec lists what any of its checkpoints may hold, so that this matters only where
// something else is wrong.
func (b *binder) reportUnused() {
	severity := diag.Note
	if b.faults.HasErrors() {
		severity = diag.Warning
	}
	for _, d := range b.idle {
		d.Severity = severity
		b.faults.Add(d)
	}
}

// misfit reports a transform that does not fit a tensor, which is left out.
// gives are the names that it would have got.
func (b *binder) misfit(t Transform, x *item, problem string, gives ...string) {
	for _, name := range gives {
		b.broken[name] = true
	}
	b.faults.Add(ruleMisfit(t.Range, t.Step, x.name, problem))
}
