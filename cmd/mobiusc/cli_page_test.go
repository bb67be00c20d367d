package main

import (
	"os"
	"strings"
	"testing"

	"mobiusc/internal/golden"
)

// TestCLIPage keeps docs/cli.md equal to the help of every command, and checks that
// the table of exit codes has them all. UPDATE=1 rewrites the help.
func TestCLIPage(t *testing.T) {
	const page = "../../docs/cli.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _, err := golden.Section(string(data), "commands")
	if err != nil {
		t.Fatal(err)
	}
	app := newApp(streams{})
	var help strings.Builder
	for _, c := range app.Commands {
		if !c.Hidden {
			help.WriteString("### " + c.Name + "\n\n```\n" + commandHelp(app, c) + "```\n\n")
		}
	}
	golden.Page(t, page, map[string]string{"commands": help.String()})
	// Commands that print and check nothing have no findings.
	silent := map[string]bool{"specs": true, "explain": true, "schema": true, "lsp": true, "completion": true, "init": true}
	for _, c := range app.Commands {
		if !c.Hidden && !silent[c.Name] && !strings.Contains(before, "`"+c.Name+"`") {
			t.Errorf("the table of exit codes in %s does not have %s", page, c.Name)
		}
	}
}
