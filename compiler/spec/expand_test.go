package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/compiler/spec/tree"
	"mobiusc/specs"
)

const (
	specsDir  = "../../specs"
	goldenDir = "../../testdata/expanded"
)

// golden compares text with a file, or writes it with UPDATE=1.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if line, a, b := firstDifference(string(want), got); line > 0 {
		t.Errorf("%s:%d differs (UPDATE=1 go test writes it)\nfile %s\nnow  %s", file, line, a, b)
	}
}

// firstDifference returns the first line in which two texts differ, from 1.
func firstDifference(a, b string) (line int, inA, inB string) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		inA, inB = "", ""
		if i < len(x) {
			inA = x[i]
		}
		if i < len(y) {
			inB = y[i]
		}
		if inA != inB {
			return i + 1, inA, inB
		}
	}
	return 0, "", ""
}

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
			golden(t, filepath.Join(goldenDir, name+".yaml"), text)

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
				golden(t, filepath.Join(goldenDir, name+"."+v+".yaml"), expanded(t, patched))
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
