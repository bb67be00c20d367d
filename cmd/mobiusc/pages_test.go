package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mobiusc/internal/diag"
	"mobiusc/internal/golden"
)

const pages = "../../docs/diagnostics"

// TestPages runs the examples of every page of docs/diagnostics and compares
// what they print; UPDATE=1 writes what is printed into the pages. A page is
//
//	# CODE name
//	> severity and summary, as the catalogue has them
//	what it means and why it is a fault
//	## Example
//	the name of a file in backquotes on a line of its own, and its content
//	in a fence; commands after $ in a fence of the kind console
//	## Mended
//	the same, after which no command finds anything of the code
//
// A page whose finding cannot be shown has instead a section ## No example that
// says why. Commands run in a directory that holds llama, a small checkpoint.
func TestPages(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chdir(here) }) //nolint:errcheck // the next test names what it misses
	all := catalogue()
	for _, k := range all {
		file := filepath.Join(here, pages, k.Code+".md")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s %s has no page: write docs/diagnostics/%s.md, as its README.md says: %v", k.Code, k.Name, k.Code, err)
			continue
		}
		p := &page{t: t, kind: k, dir: filepath.Join(t.TempDir(), "models")} // its name is in what some findings say
		for _, f := range []string{"config.json", "model.safetensors"} {
			if err := copyFile(filepath.Join(here, "../../testdata/reference/llama", f), filepath.Join(p.dir, "llama", f)); err != nil {
				t.Fatal(err)
			}
		}
		p.run(string(text))
		p.check()
		golden.File(t, file, p.out.String())
	}
	refreshIndex(t, filepath.Join(here, pages), all)
}

// refreshIndex keeps the table of the overview.
func refreshIndex(t *testing.T, dir string, all diag.Catalogue) {
	var table strings.Builder
	table.WriteString("| code | name | severity | what is wrong |\n|---|---|---|---|\n")
	for _, k := range all {
		fmt.Fprintf(&table, "| [%s](%s.md) | %s | %s | %s |\n", k.Code, k.Code, k.Name, k.Severity, k.Summary)
	}
	golden.Page(t, filepath.Join(dir, "README.md"), map[string]string{"kinds": table.String()})
	files, _ := filepath.Glob(filepath.Join(dir, "*.md"))
	if len(files) != len(all)+1 {
		t.Errorf("%d pages for %d kinds", len(files)-1, len(all))
	}
}

// page is a page whose examples are being run.
type page struct {
	t    *testing.T
	kind *diag.Kind
	dir  string
	out  strings.Builder // the page with the output of now

	section string
	printed map[string]string // section → what its commands print
	code    int               // of the last command
	noted   bool              // there is text in the section No example
}

var fileName = regexp.MustCompile("^`([^`]+)`$")

func (p *page) run(text string) {
	p.printed = map[string]string{}
	lines := strings.SplitAfter(text, "\n")
	file := ""
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\n")
		switch m := fileName.FindStringSubmatch(line); {
		case i == 0:
			line = "# " + p.kind.Code + " " + p.kind.Name
		case strings.HasPrefix(line, "> "):
			line = "> " + p.kind.Severity.String() + ": " + p.kind.Summary
			if p.kind.Judgement {
				line += "; `# mobiusc:ignore " + p.kind.Name + "` on the line silences it"
			}
		case strings.HasPrefix(line, "## "):
			p.section = line[3:]
		case m != nil:
			file = m[1]
		case strings.HasPrefix(line, "```"):
			end := i + 1
			for end < len(lines) && lines[end] != "```\n" {
				end++
			}
			body := strings.Join(lines[i+1:end], "")
			if strings.HasSuffix(line, "console") {
				body = p.console(body)
			} else if file != "" {
				p.write(file, body)
			}
			file = ""
			p.out.WriteString(line + "\n" + body)
			i, line = end, "```"
		case p.section == "No example" && line != "":
			p.noted = true
		}
		if i < len(lines) && (line != "" || strings.HasSuffix(lines[i], "\n")) {
			p.out.WriteString(line + "\n")
		}
	}
}

func (p *page) write(file, body string) {
	path := filepath.Join(p.dir, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o666); err != nil {
		p.t.Fatal(err)
	}
}

// console runs the lines that begin with $ and returns them with what they
// print, both streams together.
func (p *page) console(body string) string {
	var out strings.Builder
	for line := range strings.Lines(body) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		printed := p.command(strings.TrimSuffix(command, "\n"))
		out.WriteString(line + printed)
		p.printed[p.section] += printed
	}
	return out.String()
}

func (p *page) command(line string) string {
	if err := os.Chdir(p.dir); err != nil {
		p.t.Fatal(err)
	}
	args, ours := strings.CutPrefix(line, "mobiusc ")
	if !ours {
		cmd := exec.Command("sh", "-c", line)
		out, err := cmd.CombinedOutput()
		if err != nil {
			p.t.Errorf("%s: %s: %v\n%s", p.kind.Code, line, err, out)
		}
		return string(out)
	}
	var out bytes.Buffer
	p.code = run(context.Background(), append([]string{"mobiusc"}, strings.Fields(args)...), streams{strings.NewReader(""), &out, &out})
	text := strings.ReplaceAll(out.String(), p.dir, "$PWD")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// check checks that the example shows the finding and its mended form does not.
func (p *page) check() {
	mark := "[" + p.kind.Code + " " + p.kind.Name + "]"
	example, shown := p.printed["Example"]
	_, mended := p.printed["Mended"]
	switch {
	case !shown && p.noted && !mended:
		return
	case !strings.Contains(example, mark):
		p.t.Errorf("the example of %s %s prints\n%s", p.kind.Code, p.kind.Name, example)
	case !mended:
		p.t.Errorf("the page of %s %s does not mend its example", p.kind.Code, p.kind.Name)
	case strings.Contains(p.printed["Mended"], mark) || p.code != exitClean:
		p.t.Errorf("the mended example of %s %s ends with code %d and prints\n%s", p.kind.Code, p.kind.Name, p.code, p.printed["Mended"])
	}
}
