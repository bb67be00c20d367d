package textdiff

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestUnified(t *testing.T) {
	const old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n"
	for _, c := range []struct{ name, old, new, want string }{
		{"equal", old, old, ""},
		{"one line", old, strings.Replace(old, "5\n", "five\n", 1), "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"two places", old, strings.NewReplacer("2\n3", "2\nx\n3", "13\n", "").Replace(old),
			"--- a\n+++ b\n@@ -1,5 +1,6 @@\n 1\n 2\n+x\n 3\n 4\n 5\n@@ -10,5 +11,4 @@\n 10\n 11\n 12\n-13\n 14\n"},
		{"all new", "", "1\n2\n", "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+1\n+2\n"},
		{"no line feed", "1\n2", "1\n2\n", "--- a\n+++ b\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+2\n"},
	} {
		if got := Unified("a", "b", c.old, c.new); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestPatch applies differences of random texts with the program patch.
func TestPatch(t *testing.T) {
	patch, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is needed: ", err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	random := func() string {
		var s strings.Builder
		for range r.IntN(40) {
			s.WriteString(string(rune('a'+r.IntN(4))) + "\n")
		}
		return s.String()
	}
	for range 30 {
		dir := t.TempDir()
		old, new := random(), random()
		if old == new {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(old), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(patch, "apply", "--unidiff-zero", "-p0", "-")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		diff := Unified("f", "f", old, new)
		cmd.Stdin = strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, diff)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "f")); string(got) != new {
			t.Errorf("patched to\n%s\nwant\n%s\nby\n%s", got, new, diff)
		}
	}
}

// Texts that have little in common are compared in bounded time.
func TestUnrelated(t *testing.T) {
	old, new := strings.Repeat("a\nb\n", 20000), strings.Repeat("c\n", 30000)
	if diff := Unified("a", "b", old, new); strings.Count(diff, "\n-") != 40000 || strings.Count(diff, "\n+") != 30001 {
		t.Error("not all lines are replaced")
	}
}
