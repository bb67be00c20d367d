package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler"
	"mobiusc/internal/diag"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		code int
		want string
	}{
		{"success", nil, exitClean, ""},
		{"findings", errFindings, exitFindings, ""},
		{"a missing file", &fs.PathError{Op: "stat", Path: "x", Err: fs.ErrNotExist}, exitUsage, "mobiusc: x: file does not exist\n"},
		{"another error", errors.New("no space left"), exitUsage, "mobiusc: no space left\n"},
		{"interruption", fmt.Errorf("component decoder: %w", context.Canceled), exitInterrupted, "mobiusc: interrupted\n"},
		{"a graph of ours that is invalid", compiler.ErrInvalidGraph, exitInternal,
			"mobiusc: internal error: a compiled graph is not a valid ONNX model\n" + ourFault + "\n"},
	} {
		var stderr bytes.Buffer
		if code := exit(&stderr, c.err); code != c.code || stderr.String() != c.want {
			t.Errorf("%s: exit code %d and %q, want %d and %q", c.name, code, stderr.String(), c.code, c.want)
		}
	}
}

// panicking is a stream that fails in the way of a bug.
type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("out of cheese") }

func TestPanic(t *testing.T) {
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"mobiusc", "schema"}, streams{strings.NewReader(""), panicking{}, &stderr})
	if code != exitInternal {
		t.Errorf("exit code %d, want %d", code, exitInternal)
	}
	for _, want := range []string{"internal error: out of cheese", ourFault, "app_test.go"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("the message lacks %q:\n%s", want, &stderr)
		}
	}
}

func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	args := []string{"mobiusc", "compile", "llama", "--config", "../../testdata/reference/llama/config.json", "-o", dir + "/out"}
	if code := run(ctx, args, streams{strings.NewReader(""), &stdout, &stderr}); code != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, exitInterrupted, &stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// Errors about the command line alone are usage; with one of another kind there
// are findings.
func TestReportKinds(t *testing.T) {
	missing := diag.Diagnostic{Code: "MB0112", Severity: diag.Error}
	fault := diag.Diagnostic{Code: "MB0201", Severity: diag.Error}
	warning := diag.Diagnostic{Code: "MB0401", Severity: diag.Warning, Message: "a warning"}
	note := diag.Diagnostic{Code: "MB0828", Severity: diag.Note, Message: "a note"}
	for _, c := range []struct {
		found diag.List
		code  exitCode
	}{
		{nil, exitClean},
		{diag.List{warning, note}, exitClean},
		{diag.List{missing, warning}, exitUsage},
		{diag.List{missing, fault}, exitFindings},
		{diag.List{fault}, exitFindings},
	} {
		app := newApp(streams{err: &bytes.Buffer{}})
		app.Action = func(ctx *cli.Context) error { return report(ctx, c.found) }
		err := app.Run([]string{"mobiusc"})
		var got exitCode
		if err != nil && !errors.As(err, &got) || got != c.code {
			t.Errorf("%v: %v, want %d", c.found, err, c.code)
		}
	}
}

func TestHelp(t *testing.T) {
	help := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), append([]string{"mobiusc"}, args...), streams{strings.NewReader(""), &stdout, &stderr}); code != exitClean || stderr.Len() > 0 {
			t.Errorf("mobiusc %v: exit code %d\n%s", args, code, &stderr)
		}
		return stdout.String()
	}
	app := newApp(streams{})
	all := help("--help")
	if help() != all || help("help") != all || help("-h") != all {
		t.Error("the forms of help differ")
	}
	for _, c := range app.Commands {
		if strings.Contains(all, "\n  "+c.Name+" ") == c.Hidden {
			t.Errorf("the help does not list %s", c.Name)
		}
		text := help(c.Name, "--help")
		if text != help("help", c.Name) || text != help(c.Name, "-h") {
			t.Errorf("the forms of help for %s differ", c.Name)
		}
		for _, f := range c.Flags {
			if label, what := describeFlag(f); what == "" || !strings.Contains(text, "\n  "+label+" ") {
				t.Errorf("the help of %s does not explain %s", c.Name, label)
			}
		}
		for line := range strings.Lines(text) {
			if len([]rune(line)) > 130 {
				t.Errorf("the help of %s has a line of %d characters: %s", c.Name, len([]rune(line)), line)
			}
		}
	}
}
