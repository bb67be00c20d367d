package spec

import (
	"errors"
	"strings"
	"testing"
)

func TestLoadByName(t *testing.T) {
	s := loadClean(t, "qwen3", inMemory(nil))
	if s.Name != "qwen3" || s.Path != carried+"qwen3.yaml" || len(s.Files()) != 0 {
		t.Errorf("loaded %s from %s", s.Name, s.Path)
	}
	if s.Task != "text-generation" || s.Summary == "" || len(s.ModelTypes) != 1 || s.Abstract {
		t.Errorf("described as %+v", s)
	}
}

// TestParentBeside prefers the parent that stands beside a file to a carried one.
func TestParentBeside(t *testing.T) {
	own := strings.Replace(base, "name: x", "name: llama", 1)
	s := loadClean(t, "dir/x.yaml", inMemory(map[string]string{"dir/x.yaml": child, "dir/llama.yaml": own}))
	if got := s.Files(); len(got) != 2 || got[0] != "dir/llama.yaml" || got[1] != "dir/x.yaml" {
		t.Errorf("files %v", got)
	}
	if s.Hash() == loadClean(t, "x.yaml", inMemory(map[string]string{"x.yaml": child})).Hash() {
		t.Error("other parents give the same hash")
	}
}

// TestChains merges three files, whose order decides.
func TestChains(t *testing.T) {
	files := map[string]string{
		"a.yaml": strings.Replace(base, "name: x", "name: a", 1) + "let: {k: 1}\nchecks: {c: k > 0}\n",
		"b.yaml": "spec: v1\nname: b\nextends: a\nsummary: B.\nabstract: true\nlet: {k: 2}\n",
		"c.yaml": "spec: v1\nname: c\nextends: b\nsummary: C.\nchecks: {c: null, d: k == 2}\n",
	}
	s := loadClean(t, "c.yaml", inMemory(files))
	if s.Abstract || s.root.At("let", "k").Int != 2 || s.root.At("checks", "c") != nil || s.root.Get("checks").Keys()[0] != "d" {
		t.Errorf("merged to %v", s.root.Interface())
	}
	files["a.yaml"] = strings.Replace(files["a.yaml"], "summary", "extends: c\nsummary", 1)
	if _, found := Load("c.yaml", inMemory(files)); len(found) != 1 || found[0].Message != "a spec extends itself: c → b → a → c" {
		t.Errorf("a cycle gives %v", found)
	}
}

func TestLoadFaults(t *testing.T) {
	for _, c := range []struct{ name, path, want string }{
		{"no such file", "none.yaml", "unreadable-file"},
		{"no such name", "none", "unreadable-file"},
	} {
		if s, found := Load(c.path, inMemory(nil)); s != nil || len(found) != 1 || found[0].Name != c.want {
			t.Errorf("%s: %v", c.name, found)
		}
	}
	failing := func(string) ([]byte, error) { return nil, errors.New("the disk is on fire") }
	if _, found := Load("x.yaml", failing); len(found) != 1 || found[0].Message != "x.yaml cannot be read: the disk is on fire" {
		t.Errorf("a failing reader gives %v", found)
	}
}

func TestVariants(t *testing.T) {
	s := loadClean(t, "qwen3_5", nil)
	if _, found := s.Variant("txt_only"); len(found) != 1 || found[0].Hint != "did you mean `text_only`?" {
		t.Errorf("an unknown variant gives %v", found)
	}
	if _, found := loadClean(t, "llama", nil).Variant("text_only"); len(found) != 1 || found[0].Hint != "it has none" {
		t.Errorf("a variant of a spec without any gives %v", found)
	}
	v := variant(t, s, "text_only")
	if v.VariantName != "text_only" || v.Task != "text-generation" || v.ModelTypes[0] != "qwen3_5_text" {
		t.Errorf("the variant is described as %+v", v)
	}
}

func TestAbstractSpec(t *testing.T) {
	s := loadClean(t, "transformers", nil)
	r, found := s.Bind(parseConfigText(t, "config.json", llamaConfig), Options{})
	if r != nil || len(found) != 1 || found[0].Name != "abstract-spec" {
		t.Errorf("binding an abstract spec gives %v", found)
	}
}

// TestDeletedNames points at the line that deleted what another line misses.
func TestDeletedNames(t *testing.T) {
	s := child + "config: {intermediate_size: null}\n"
	_, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": s}))
	if len(found) != 1 || found[0].Name != "unknown-name" || len(found[0].Notes) != 1 || found[0].Notes[0].Range.String() != "x.yaml:5:10" {
		t.Errorf("found %v", found)
	}
}
