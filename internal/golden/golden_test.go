package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder keeps what a test under test says.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(format string, args ...any) { r.said += fmt.Sprintf(format, args...) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

// says returns what a comparison reports.
func says(t *testing.T, compare func(testing.TB)) string {
	r := &recorder{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(r) {
				panic(p)
			}
		}()
		compare(r)
	}()
	return r.said
}

func TestFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "file.txt")
	compare := func(want string) func(testing.TB) {
		return func(t testing.TB) { File(t, file, want) }
	}
	t.Setenv("UPDATE", "")
	if said := says(t, compare("a\n")); !strings.Contains(said, "UPDATE=1") {
		t.Errorf("a file that is not there: %q", said)
	}
	t.Setenv("UPDATE", "1")
	if said := says(t, compare("a\n")); said != "" {
		t.Error(said)
	}
	t.Setenv("UPDATE", "")
	if said := says(t, compare("a\n")); said != "" {
		t.Error(said)
	}
	if said := says(t, compare("b\n")); !strings.Contains(said, "-a\n+b\n") {
		t.Errorf("a difference: %q", said)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "a\n" {
		t.Errorf("a comparison wrote: %q %v", got, err)
	}
}

func TestPage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	text := "by hand\n<!-- begin x -->\nold\n<!-- end x -->\n<!-- begin y -->\n<!-- end y -->\nby hand\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	compare := func(sections map[string]string) string {
		return says(t, func(t testing.TB) { Page(t, file, sections) })
	}
	t.Setenv("UPDATE", "")
	if said := compare(map[string]string{"x": "old\n", "y": ""}); said != "" {
		t.Error(said)
	}
	if said := compare(map[string]string{"x": "new\n"}); !strings.Contains(said, "-old\n+new\n") {
		t.Errorf("a difference: %q", said)
	}
	if said := compare(map[string]string{"z": ""}); !strings.Contains(said, "no markers for z") {
		t.Errorf("no markers: %q", said)
	}
	t.Setenv("UPDATE", "1")
	if said := compare(map[string]string{"x": "new\n", "y": "more\n"}); said != "" {
		t.Error(said)
	}
	want := "by hand\n<!-- begin x -->\nnew\n<!-- end x -->\n<!-- begin y -->\nmore\n<!-- end y -->\nby hand\n"
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%q %v", got, err)
	}
}
