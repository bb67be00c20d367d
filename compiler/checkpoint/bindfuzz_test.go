package checkpoint_test

import (
	"path/filepath"
	"slices"
	"testing"

	"mobiusc/compiler/checkpoint"
	"mobiusc/internal/checkpointtest"
	"mobiusc/ir"
)

// choices draws from the bytes of a fuzz input; when they are used up, the first
// of every choice.
type choices []byte

func (c *choices) of(n int) int {
	if len(*c) == 0 {
		return 0
	}
	b := int((*c)[0]) % n
	*c = (*c)[1:]
	return b
}

func pick[T any](c *choices, list ...T) T { return list[c.of(len(list))] }

// name draws a name or pattern of few words, so that they often meet.
func (c *choices) name() string {
	return pick(c, "a.0.w", "a.1.w", "a.w", "b.w", "b", "a.*.w", "*", "{a,b}.w", "{1}.w", "*.w", "a.{0,1}.w", "**", "{", "")
}

func (c *choices) dims() []int64 {
	dims := make([]int64, c.of(4))
	for i := range dims {
		dims[i] = int64(pick(c, 2, 4, 1, 0, 3, -1))
	}
	return dims
}

func (c *choices) step() checkpoint.Step {
	axis := pick(c, 0, 1, 2, -1)
	switch c.of(10) {
	case 0:
		return checkpoint.Cast{To: pick(c, ir.Float32, ir.Float16, ir.BFloat16, ir.Float64, ir.Int8)}
	case 1:
		return checkpoint.Reshape{Dims: c.dims()}
	case 2:
		return checkpoint.Transpose{Perm: pick(c, []int{1, 0}, []int{0}, []int{2, 0, 1}, nil, []int{0, 0})}
	case 3:
		return checkpoint.PermuteHeads{Heads: int64(pick(c, 1, 2, 0)), From: pick(c, "adjacent", "half")}
	case 4:
		return checkpoint.Split{Into: []string{c.name(), c.name()}, Sizes: pick(c, nil, []int64{1, 1}, []int64{3, 1}, []int64{-1, 3}), Axis: axis}
	case 5:
		return checkpoint.Concat{Into: c.name(), Axis: axis}
	case 6:
		return checkpoint.Stack{Segment: pick(c, "a", "b", "")}
	case 7:
		return checkpoint.Unstack{Segment: pick(c, "a", "b", "")}
	case 8:
		return checkpoint.Add{Value: 1}
	}
	return checkpoint.Scale{Value: 2}
}

func (c *choices) rules() (r checkpoint.Rules) {
	for range c.of(3) {
		r.Rename = append(r.Rename, checkpoint.RenameRule{From: c.name(), To: c.name()})
	}
	for range c.of(2) {
		r.Ignore = append(r.Ignore, checkpoint.IgnoreRule{Match: c.name(), Reason: "a reason"})
	}
	for range c.of(4) {
		r.Transforms = append(r.Transforms, checkpoint.Transform{Match: c.name(), Step: c.step()})
	}
	for range c.of(3) {
		r.Ties = append(r.Ties, checkpoint.Tie{From: c.name(), To: c.name()})
	}
	return r
}

func (c *choices) tensors() (tensors []checkpointtest.Tensor) {
	seen := map[string]bool{}
	for range c.of(5) {
		x := checkpointtest.Tensor{Name: c.name(), DType: pick(c, checkpoint.F32, checkpoint.BF16, checkpoint.F64, checkpoint.F16, checkpoint.I8, checkpoint.F8E4M3, checkpoint.F4)}
		for _, d := range c.dims() {
			x.Shape = append(x.Shape, max(d, 0))
		}
		if x.DType == checkpoint.F4 {
			x.Shape = append(x.Shape, 2)
		}
		if !seen[x.Name] {
			seen[x.Name], tensors = true, append(tensors, x)
		}
	}
	return tensors
}

// FuzzBind binds arbitrary checkpoints with arbitrary rules: nothing panics, and
// where nothing is reported every tensor is bound, ignored or tied, and every
// parameter has a source of its own type and shape that can be read.
func FuzzBind(f *testing.F) {
	for i := range 40 {
		seed := make([]byte, 60)
		for j := range seed {
			seed[j] = byte(i*j + j*j/3 + i)
		}
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		c := choices(data)
		tensors := c.tensors()
		path := filepath.Join(dir, "model.safetensors")
		check(t, checkpointtest.WriteFile(path, tensors))
		var params []checkpoint.Param
		for range c.of(4) {
			p := checkpoint.Param{Name: c.name(), DType: pick(&c, ir.Float32, ir.BFloat16, ir.Float8E4M3FN), Shape: c.dims()}
			if c.of(4) == 1 && len(p.Shape) > 1 {
				p.Parts = []string{c.name(), c.name()}
			}
			params = append(params, p)
		}
		rules := c.rules()
		opened, faults := checkpoint.Open(path, checkpoint.Options{})
		if faults.HasErrors() {
			t.Fatal(faults)
		}
		defer opened.Close()
		b, faults := checkpoint.Bind(params, opened, rules)
		if faults.HasErrors() {
			return
		}
		checkBinding(t, b, params, tensors)
	})
}

func checkBinding(t *testing.T, b *checkpoint.Binding, params []checkpoint.Param, tensors []checkpointtest.Tensor) {
	t.Helper()
	used := map[string]bool{}
	for _, x := range b.Bound {
		for _, name := range x.Tensors {
			used[name] = true
		}
		if x.Source.DType() != x.Param.DType || !slices.Equal(x.Source.Shape(), x.Param.Shape) {
			t.Errorf("%s is %s%v, its source %s%v", x.Param.Name, x.Param.DType, x.Param.Shape, x.Source.DType(), x.Source.Shape())
		}
		whole := make([]byte, x.Source.Size())
		if _, err := x.Source.ReadAt(whole, 0); err != nil {
			t.Errorf("%s cannot be read: %v", x.Param.Name, err)
		}
	}
	for _, x := range b.Ignored {
		used[x.Tensor.Name] = true
	}
	for _, x := range b.Copies {
		used[x.Tensor.Name] = true
	}
	for _, x := range tensors {
		if !used[x.Name] {
			t.Errorf("tensor %q is lost", x.Name)
		}
	}
	if len(b.Bound) != len(params) {
		t.Errorf("%d of %d parameters are bound", len(b.Bound), len(params))
	}
}
