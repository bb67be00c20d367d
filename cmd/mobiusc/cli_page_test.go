package main

import (
	"os"
	"strings"
	"testing"
)

// TestCLIPage keeps docs/cli.md equal to the help of every command, and checks that
// the table of exit codes has them all. UPDATE=1 rewrites the help.
func TestCLIPage(t *testing.T) {
	const page = "../../docs/cli.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- begin commands -->\n", "<!-- end commands -->\n"
	before, rest, ok := strings.Cut(string(data), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the page has no markers")
	}
	app := newApp(streams{})
	var help strings.Builder
	for _, c := range app.Commands {
		if !c.Hidden {
			help.WriteString("### " + c.Name + "\n\n```\n" + commandHelp(app, c) + "```\n\n")
		}
	}
	if want := before + begin + help.String() + end + after; want != string(data) {
		if os.Getenv("UPDATE") == "" {
			t.Fatalf("%s is out of date: run UPDATE=1 go test ./cmd/mobiusc -run CLIPage", page)
		}
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Commands that print and check nothing have no findings.
	silent := map[string]bool{"specs": true, "explain": true, "schema": true, "lsp": true, "completion": true, "init": true}
	for _, c := range app.Commands {
		if !c.Hidden && !silent[c.Name] && !strings.Contains(before, "`"+c.Name+"`") {
			t.Errorf("the table of exit codes in %s does not have %s", page, c.Name)
		}
	}
}
