package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// root is the repository's.
const root = "../.."

func readYAML(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

func readRoot(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// checkLine checks that a command line is one of mobiusc's.
func checkLine(t *testing.T, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " > ")
	app := newApp(streams{})
	args, err := arrange(app, append(strings.Fields(line), "specs"))
	if err != nil || len(args) < 2 || app.Command(args[1]) == nil {
		t.Errorf("%s is no command line: %v", line, err)
	}
}

func TestPreCommitHooks(t *testing.T) {
	var hooks []struct{ ID, Name, Description, Entry, Language, Files string }
	readYAML(t, readRoot(t, ".pre-commit-hooks.yaml"), &hooks)
	if len(hooks) != 2 {
		t.Errorf("%d hooks", len(hooks))
	}
	for _, h := range hooks {
		checkLine(t, h.Entry)
		files := regexp.MustCompile(h.Files)
		for path, want := range map[string]bool{"specs/a.yaml": true, "models/specs/a.yaml": true, "myspecs/a.yaml": false, "specs.yaml": false} {
			if files.MatchString(path) != want {
				t.Errorf("%s: %s matches %s: %v", h.ID, h.Files, path, !want)
			}
		}
		if h.ID == "" || h.Name == "" || h.Description == "" || h.Language != "golang" {
			t.Errorf("%+v", h)
		}
	}
}

// TestProblemMatcher matches what the matcher must find in what is printed.
func TestProblemMatcher(t *testing.T) {
	var file struct {
		ProblemMatcher []struct {
			Owner   string
			Pattern []struct {
				Regexp                                      string
				File, Line, Column, Severity, Message, Code int
			}
		}
	}
	if err := json.Unmarshal(readRoot(t, ".ci/problem-matcher.json"), &file); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("spec: v1\nname: bad\nextends: llama\nsummary: s\ntaks: a\nmodel_types: a # mobiusc:ignore x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing.yaml")
	var out bytes.Buffer
	run(context.Background(), []string{"mobiusc", "lint", bad, missing}, streams{strings.NewReader(""), &out, &out})
	var got []string
	for line := range strings.Lines(out.String()) {
		for _, m := range file.ProblemMatcher {
			p := m.Pattern[0]
			if f := regexp.MustCompile(p.Regexp).FindStringSubmatch(strings.TrimSuffix(line, "\n")); f != nil {
				f[0] = "" // what index 0, absent, stands for
				got = append(got, strings.Join([]string{m.Owner, f[p.File], f[p.Line], f[p.Column], f[p.Severity], f[p.Message], f[p.Code]}, "|"))
			}
		}
	}
	want := []string{
		"mobiusc|" + bad + "|5|1|error|a spec has no key `taks`|MB0201 unknown-key",
		`mobiusc|` + bad + `|6|14|error|a list is expected here, not "a"|MB0203 wrong-type`,
		"mobiusc|" + bad + "|6|33|warning|there is no `x` that a comment could silence|MB0114 idle-ignore",
		"mobiusc-files|" + missing + "|||error|" + missing + " cannot be read: no such file or directory|MB0112 unreadable-file",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("matched\n%s\nwant\n%s\nin\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), &out)
	}
}

// TestAction runs the script of the action with the real program.
func TestAction(t *testing.T) {
	var action struct {
		Inputs map[string]struct{ Description, Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Name, Shell, Run, Uses string
				Env                    map[string]string
			}
		}
	}
	readYAML(t, readRoot(t, "action.yml"), &action)
	steps := action.Runs.Steps
	if action.Runs.Using != "composite" || len(steps) != 3 {
		t.Fatalf("%+v", action)
	}
	dir := t.TempDir()
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	bash := func(script string, env ...string) (string, error) {
		cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), "RUNNER_TEMP="+dir), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := bash(steps[1].Run, "ACTION_PATH="+absolute); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{
		"good.yaml":    "spec: v1\nname: good\nextends: llama\nsummary: s\n",
		"loose.yaml":   "spec: v1\nname:   loose\nextends: llama\nsummary: s\n",
		"idle.yaml":    "spec: v1\nname: idle\nextends: llama\nsummary: s # mobiusc:ignore unused-block\n",
		"bad.yaml":     "spec: v1\nname: bad\nextends: llama\nsummary: s\ntaks: a\n",
		"config.json":  `{"model_type": "llama"}`,
		"two/one.yaml": "spec: v1\nname: one\nextends: llama\nsummary: s\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		inputs map[string]string
		ok     bool
		want   string // part of what is printed
	}{
		{map[string]string{"specs": "good.yaml two"}, true, ""},
		{map[string]string{"specs": "good.yaml bad.yaml"}, false, "::error file=bad.yaml,line=5,endLine=5,col=1,endColumn=5,title=MB0201 unknown-key::"},
		{map[string]string{"specs": "bad.yaml", "fail-on": "never"}, true, "::error file=bad.yaml"},
		{map[string]string{"specs": "idle.yaml"}, true, "::warning file=idle.yaml"},
		{map[string]string{"specs": "idle.yaml", "fail-on": "warning"}, false, "::warning file=idle.yaml"},
		{map[string]string{"specs": "good.yaml", "config": "config.json"}, false, "::error file=config.json"},
		{map[string]string{"specs": "loose.yaml"}, true, ""},
		{map[string]string{"specs": "loose.yaml", "format": "true"}, false, "+name: loose"},
		{map[string]string{"specs": "bad.yaml", "sarif": "out.sarif"}, false, "::error file=bad.yaml"},
		{map[string]string{"specs": "nothing.yaml"}, false, "::error file=nothing.yaml"},
	} {
		var env []string
		for name, value := range steps[2].Env {
			input := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
			in, known := action.Inputs[input]
			if !known || in.Description == "" {
				t.Fatalf("%s: %s is no input", name, value)
			}
			if v, given := c.inputs[input]; given {
				in.Default = v
			}
			env = append(env, name+"="+in.Default)
		}
		out, err := bash(steps[2].Run, env...)
		if (err == nil) != c.ok || !strings.Contains(out, c.want) || c.want == "" && out != "" {
			t.Errorf("%v: %v and\n%s\nwant %q", c.inputs, err, out, c.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "out.sarif")); err != nil || !json.Valid(text) || !bytes.Contains(text, []byte(`"ruleId": "MB0201"`)) {
		t.Errorf("the SARIF file is %v\n%s", err, text)
	}
}

var fence = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestPageOfCI checks every piece of YAML in docs/ci.md, the command lines in it,
// and that its hooks, inputs and formats exist.
func TestPageOfCI(t *testing.T) {
	page := readRoot(t, "docs/ci.md")
	lines := 0
	for _, m := range fence.FindAllSubmatch(page, -1) {
		readYAML(t, m[1], new(any))
		for _, line := range regexp.MustCompile(`mobiusc (lint|fmt) .*`).FindAllString(string(m[1]), -1) {
			checkLine(t, strings.TrimSuffix(line, "specs"))
			lines++
		}
	}
	if lines < 4 {
		t.Errorf("only %d command lines", lines)
	}
	hooks, action := readRoot(t, ".pre-commit-hooks.yaml"), readRoot(t, "action.yml")
	for _, m := range regexp.MustCompile(`- id: (\S+)`).FindAllStringSubmatch(string(page), -1) {
		if !bytes.Contains(hooks, []byte("- id: "+m[1]+"\n")) {
			t.Errorf("there is no hook %s", m[1])
		}
	}
	for _, input := range []string{"specs", "fail-on", "format"} {
		if !bytes.Contains(action, []byte("\n  "+input+":\n")) {
			t.Errorf("the action has no input %s", input)
		}
	}
}
