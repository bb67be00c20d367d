package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/golden"
	"mobiusc/specs"
)

const (
	specsDir  = "../../specs"
	goldenDir = "../../testdata/expanded"
)

func loadClean(t *testing.T, path string, read ReadFile) *Spec {
	t.Helper()
	s, found := Load(path, read)
	for _, d := range found {
		t.Error(d)
	}
	if s == nil {
		t.FailNow()
	}
	return s
}

func expanded(t *testing.T, s *Spec) string {
	t.Helper()
	var b strings.Builder
	if err := s.Expand(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestExpandedSpecs keeps the expanded form of every spec, so that an edit of a
// parent shows in every relative. An expanded spec is a spec that means the same.
func TestExpandedSpecs(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			s := loadClean(t, filepath.Join(specsDir, name+".yaml"), nil)
			text := expanded(t, s)
			golden.File(t, filepath.Join(goldenDir, name+".yaml"), text)

			again := loadClean(t, name+".yaml", func(string) ([]byte, error) { return []byte(text), nil })
			want := s.root
			if e := want.Entry("extends"); e != nil {
				want = want.With(e.Key, nil)
			}
			if !tree.Equal(again.root, want) {
				t.Error("the expanded spec reads differently")
			}
			for _, v := range s.Variants() {
				patched, found := s.Variant(v)
				if len(found) > 0 {
					t.Error(found)
				}
				golden.File(t, filepath.Join(goldenDir, name+"."+v+".yaml"), expanded(t, patched))
			}
		})
	}
}

// TestEverySpecIsCarried compares the directory with what the binary holds.
func TestEverySpecIsCarried(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(specsDir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		onDisk, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if carried, err := specs.FS.ReadFile(filepath.Base(f)); err != nil || string(carried) != string(onDisk) {
			t.Errorf("%s is not what the binary carries: %v", f, err)
		}
	}
}
