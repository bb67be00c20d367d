package passes

import (
	"errors"
	"slices"
	"testing"

	"mobiusc/ir"
)

func TestRun(t *testing.T) {
	var calls []string
	pass := func(name string, changed bool, err error) Pass {
		return Pass{Name: name, Run: func(*ir.Model) (bool, error) {
			calls = append(calls, name)
			return changed, err
		}}
	}
	after := func(p Pass, _ *ir.Model) error {
		calls = append(calls, "after "+p.Name)
		return nil
	}
	fault := errors.New("fault")
	for _, c := range []struct {
		name  string
		list  []Pass
		after func(Pass, *ir.Model) error
		calls []string
		err   string
	}{
		{"in order", []Pass{pass("a", true, nil), pass("b", false, nil), pass("c", true, nil)}, after, []string{"a", "after a", "b", "c", "after c"}, ""},
		{"without a hook", []Pass{pass("a", true, nil), pass("b", true, nil)}, nil, []string{"a", "b"}, ""},
		{"until an error", []Pass{pass("a", false, fault), pass("b", true, nil)}, after, []string{"a"}, "a: fault"},
		{"until the hook fails", []Pass{pass("a", true, nil), pass("b", true, nil)},
			func(Pass, *ir.Model) error { return fault }, []string{"a"}, "after a: fault"},
	} {
		calls = nil
		err := Run(&ir.Model{}, c.list, c.after)
		if !slices.Equal(calls, c.calls) {
			t.Errorf("%s: calls %q, want %q", c.name, calls, c.calls)
		}
		if (err == nil) != (c.err == "") || err != nil && (err.Error() != c.err || !errors.Is(err, fault)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
	}
}
