// Package golden compares what tests make with recorded text, and records it
// anew where the environment variable UPDATE is set. Only tests import it.
package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/internal/textdiff"
)

// Updating says whether recorded text is to be written and not compared.
func Updating() bool { return os.Getenv("UPDATE") != "" }

// File compares a file with what it should hold. A difference fails the test,
// which goes on.
func File(t testing.TB, file, want string) {
	t.Helper()
	have, err := os.ReadFile(file)
	if err != nil && !Updating() {
		t.Fatalf("%v; UPDATE=1 go test writes it", err)
	}
	if err == nil && string(have) == want {
		return
	}
	if !Updating() {
		t.Errorf("%s is out of date; if the difference is meant, UPDATE=1 go test writes it\n%s", file, textdiff.Unified("recorded", "now", string(have), want))
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Page compares sections of a page, by name, with what they should hold; the rest
// of the page is written by hand.
func Page(t testing.TB, file string, sections map[string]string) {
	t.Helper()
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(have)
	for name, content := range sections {
		before, _, after, err := Section(want, name)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		want = before + content + after
	}
	File(t, file, want)
}

// Section cuts a page around the lines between <!-- begin NAME --> and
// <!-- end NAME -->; the markers stay with what is before and after.
func Section(page, name string) (before, content, after string, err error) {
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->\n"
	before, rest, ok := strings.Cut(page, begin)
	content, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", "", "", fmt.Errorf("the page has no markers for %s", name)
	}
	return before + begin, content, end + after, nil
}
