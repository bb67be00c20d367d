package spec

import (
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler/spec/tree"
)

func sourcesOf(name string) *Sources {
	return ReadSources(CarriedPath(name), ReadSource, NewOutline)
}

// TestOutlineOfCarriedSpecs: whatever a carried spec names, one of its files
// states, and every name is found where it stands.
func TestOutlineOfCarriedSpecs(t *testing.T) {
	for _, name := range Names() {
		s := sourcesOf(name)
		if s.Leaf().Root.Get("abstract") != nil {
			continue // its children state what it names
		}
		all := s.Occurrences()
		if len(all) < 20 {
			t.Errorf("%s: only %d names", name, len(all))
		}
		for _, n := range all {
			states := slices.ContainsFunc(Same(all, n), func(o Occurrence) bool { return o.Defines })
			if !states && n.Kind != DimSymbol && n.Kind != SpecSymbol {
				t.Errorf("%s: nothing states the %s %s", n.Range, n.Kind, n.Name)
			}
			if n.Range.File != s.Leaf().Path {
				continue
			}
			if found, ok := s.At(n.Range.Start); !ok || found.Symbol != n.Symbol {
				t.Errorf("%s: %v is found as %v", n.Range, n.Symbol, found.Symbol)
			}
			line := []rune(tree.Lines(s.Leaf().Text)[n.Range.Start.Line-1])
			text := strings.Trim(string(line[n.Range.Start.Col-1:n.Range.End.Col-1]), `"`)
			if last := n.Name[strings.LastIndexByte(n.Name, '.')+1:]; n.Range.Start.Line == n.Range.End.Line && text != last {
				t.Errorf("%s: %s stands there, not %s", n.Range, text, last)
			}
		}
	}
}

// TestCursorInCarriedSpecs: at the end of every key and value, the path by
// indentation is the path of the tree.
func TestCursorInCarriedSpecs(t *testing.T) {
	for _, name := range Names() {
		o := sourcesOf(name).Leaf()
		checked := 0
		for _, p := range o.Places {
			if p.Range.Start.Line != p.Range.End.Line || p.Range.File != o.Path {
				continue
			}
			end := p.Range.End
			c := tree.CursorAt(o.Text, end)
			if !c.Key && !c.Value {
				continue // behind a closing quote
			}
			var got []string
			for _, step := range c.Path {
				if !step.Item {
					got = append(got, step.Key)
				}
			}
			if want := p.Path; p.IsKey && !slices.Equal(got, want[:len(want)-1]) || !p.IsKey && !slices.Equal(got, want) {
				t.Errorf("%s: the path is %v, want %v", p.Range, got, want)
			}
			checked++
		}
		if checked < len(o.Places)/2 {
			t.Errorf("%s: only %d of %d places", name, checked, len(o.Places))
		}
	}
}

// TestCompleteCarriedSpecs: what a carried spec writes, completion offers.
func TestCompleteCarriedSpecs(t *testing.T) {
	for _, name := range Names() {
		s := sourcesOf(name)
		for _, p := range s.Leaf().Places {
			if p.field == nil && (p.form == nil || p.form.decl == nil) || !p.IsKey || p.Range.File != s.Leaf().Path {
				continue
			}
			c := tree.CursorAt(s.Leaf().Text, p.Range.Start)
			if !c.Key {
				t.Errorf("%s: no key may stand where %s does", p.Range, p.Name())
				continue
			}
			c.Keys = slices.DeleteFunc(c.Keys, func(k string) bool { return k == p.Name() })
			out, _ := s.Complete(c)
			conditional := p.owner == s.grammar().blocks["if"]
			if !conditional && !slices.ContainsFunc(out, func(c Candidate) bool { return c.Text == p.Name() && c.IsKey }) {
				t.Errorf("%s: %s is not offered", p.Range, p.Name())
			}
		}
	}
}

func (s *Sources) grammar() *grammar { return language() }

// TestOutlineRepairs: names are known while a line is being written.
func TestOutlineRepairs(t *testing.T) {
	text := child + "let: {a: hidden_size}\nblocks:\n  x: {rms_norm: {name: \n  y: feed_forward\n"
	o := NewOutline("x.yaml", []byte(text))
	if o.Root == nil {
		t.Fatal("nothing is left")
	}
	names := map[string]bool{}
	for _, n := range o.names {
		names[n.Name] = true
	}
	if !names["a"] || !names["hidden_size"] {
		t.Error(names)
	}
}

func FuzzOutline(f *testing.F) {
	f.Add([]byte(base), 3)
	f.Add([]byte(child+"blocks: {feed_forward: {gated_mlp: {width: hidden_size * 2}}, a: [{save: v}, {use: v}]}\n"), 3)
	f.Add([]byte("blocks: {a: &a [*a, {<<: *a}]}\nlet: {if: {if: if}}\nconfig: [config: {keys: config}]"), 2)
	f.Fuzz(func(t *testing.T, text []byte, n int) {
		read := inMemory(map[string]string{"x.yaml": string(text)})
		s := ReadSources("x.yaml", read, NewOutline)
		all := s.Occurrences()
		for i, o := range all {
			if i%17 == 0 {
				Same(all, o)
				CheckNewName(all, o.Symbol, "x")
				s.Sourced(o.Symbol)
				s.Key(o.Name)
			}
		}
		for i, p := range s.Leaf().Places {
			if i%17 == 0 {
				s.Leaf().Info(p)
				s.At(p.Range.Start)
				s.Complete(tree.CursorAt(text, p.Range.End))
			}
		}
	})
}
