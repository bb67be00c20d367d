package architecture

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// read returns the text of a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pages returns the paths of the pages that people read, from the root. Those of
// findings have tests of their own.
func pages(t *testing.T) []string {
	t.Helper()
	files := []string{"README.md", "CONTRIBUTING.md", "testdata/reference/README.md", "editors/vscode/README.md"}
	docs, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(docs) < 10 {
		t.Fatalf("%d pages in docs: %v", len(docs), err)
	}
	for _, path := range docs {
		files = append(files, "docs/"+filepath.Base(path))
	}
	return files
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	unsaid  = regexp.MustCompile(`[^\p{L}\p{N} _-]`) // what an anchor leaves out
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
)

// anchors returns the names under which the headings of a page can be linked.
func anchors(text string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		all = append(all, strings.ReplaceAll(unsaid.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

// TestLinks checks that every link from one page into the repository leads to a
// file, and to a heading where it names one.
func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := filepath.ToSlash(filepath.Join(filepath.Dir(page), target))
			if target == "" {
				to = page
			}
			if _, err := os.Stat(filepath.Join("..", "..", to)); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			} else if anchor != "" && !slices.Contains(anchors(read(t, to)), anchor) {
				t.Errorf("%s links to %s: no heading of %s has that anchor", page, m[1], to)
			}
		}
	}
}

// TestPagesAreLinked checks that a reader finds every page from the README or
// from the page about how the compiler is built.
func TestPagesAreLinked(t *testing.T) {
	entries := read(t, "README.md") + read(t, "docs/architecture.md")
	for _, page := range pages(t) {
		if name, ok := strings.CutPrefix(page, "docs/"); ok && !strings.Contains(entries, "("+page+")") && !strings.Contains(entries, "("+name+")") {
			t.Errorf("neither README.md nor docs/architecture.md links to %s", page)
		}
	}
}

// TestFoldersAreDescribed checks that docs/architecture.md says what every folder
// with an import rule holds, and every package of compiler and of internal.
func TestFoldersAreDescribed(t *testing.T) {
	text := read(t, "docs/architecture.md")
	folders := slices.Collect(maps.Keys(mayImport))
	for _, parent := range []string{"compiler", "internal"} {
		files, err := filepath.Glob(filepath.Join("..", "..", parent, "*", "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no packages in %s: %v", parent, err)
		}
		for _, file := range files {
			folders = append(folders, parent+"/"+filepath.Base(filepath.Dir(file)))
		}
	}
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		if !strings.Contains(text, "`"+folder+"`") && !strings.Contains(text, "`"+folder+"/") {
			t.Errorf("docs/architecture.md does not say what %s holds", folder)
		}
	}
}

var command = regexp.MustCompile("(?m)(?:`|^|^ *- |run: )(?:\\$ )?(?:go run \\./cmd/)?mobiusc ([a-z][a-z-]*)")

// TestCommandsExist checks that every command that a page names in code is one
// of the program: docs/cli.md, which a test writes, lists those.
func TestCommandsExist(t *testing.T) {
	known, count := map[string]bool{}, 0
	for _, m := range regexp.MustCompile(`(?m)^### ([a-z]+)$`).FindAllStringSubmatch(read(t, "docs/cli.md"), -1) {
		known[m[1]] = true
	}
	for _, page := range pages(t) {
		for _, m := range command.FindAllStringSubmatch(code(read(t, page)), -1) {
			if count++; !known[m[1]] {
				t.Errorf("%s names the command mobiusc %s, which does not exist", page, m[1])
			}
		}
	}
	if len(known) < 10 || count < 40 {
		t.Errorf("%d commands known, %d named: the test looks in the wrong place", len(known), count)
	}
}

// code returns what a page sets as code: its fenced blocks and its spans.
func code(text string) string {
	blocks := fence.FindAllString(text, -1)
	spans := regexp.MustCompile("`[^`\n]+`").FindAllString(fence.ReplaceAllString(text, ""), -1)
	return strings.Join(append(blocks, spans...), "\n")
}

// TestLanes checks that the lanes of CONTRIBUTING.md are the targets of the
// Makefile, each described once, and that no page names another.
func TestLanes(t *testing.T) {
	targets := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z-]*):(?:[^=]|$)`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets[m[1]] = 0
	}
	_, lanes, _ := strings.Cut(read(t, "CONTRIBUTING.md"), "## Lanes")
	for _, m := range regexp.MustCompile("(?m)^\\| `make ([a-z-]+)` \\|").FindAllStringSubmatch(lanes, -1) {
		targets[m[1]]++
	}
	for name, rows := range targets {
		if rows != 1 {
			t.Errorf("CONTRIBUTING.md has %d rows for make %s", rows, name)
		}
	}
	if len(targets) < 8 {
		t.Errorf("only %d targets found", len(targets))
	}
	for _, page := range pages(t) {
		for _, m := range regexp.MustCompile("(?m)(?:`|^)make ([a-z][a-z-]*)").FindAllStringSubmatch(code(read(t, page)), -1) {
			if _, ok := targets[m[1]]; !ok {
				t.Errorf("%s names make %s, which the Makefile does not have", page, m[1])
			}
		}
	}
}
