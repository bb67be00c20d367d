package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
	"mobiusc/internal/suggest"
)

// verboseFlag shows the findings that most readers need not see.
func verboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Usage: "print notes too, not errors and warnings alone", Category: "Messages"}
}

// quietFlag leaves out what is printed when all is well.
func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but findings", Category: "Messages"}
}

// isRequest reports whether a finding is about the command line: what it asks for
// does not exist, or is impossible whatever the files hold.
func isRequest(d diag.Diagnostic) bool {
	k := catalogue().Find(d.Code)
	return k != nil && k.Request
}

// reportFlags are those of commands whose result is what they find.
func reportFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: diag.Formats[0], Category: "Messages", Action: oneOf("format", diag.Formats),
			Usage: "print findings as `FORMAT`: text (default), json, sarif, github, gitlab or junit"},
		&cli.StringFlag{Name: "fail-on", Value: failOn[0], Category: "Messages", Action: oneOf("fail-on", failOn),
			Usage: "exit with 1 if there is a finding of `SEVERITY` or worse: error (default), warning, note or never"},
		verboseFlag(),
	}
}

// failOn are the values of --fail-on; their indices are severities.
var failOn = []string{diag.Error: "error", diag.Warning: "warning", diag.Note: "note", neverFails: "never"}

const neverFails = diag.Note + 1

// oneOf checks the value of an option that takes one of some words.
func oneOf(option string, words []string) func(*cli.Context, string) error {
	return func(c *cli.Context, got string) error {
		if slices.Contains(words, got) {
			return nil
		}
		err := fmt.Sprintf("--%s takes %s or %s, not %q", option, strings.Join(words[:len(words)-1], ", "), words[len(words)-1], got)
		if near := nearestName(got, words); near != "" {
			err += "; " + near
		}
		if c.Command.Name == c.App.Name { // an option of the program
			return errors.New(err)
		}
		return usage(c, "%s", err)
	}
}

// aboveZero checks the value of an option that takes a number of things. To the
// compiler 0 is an option that was not given.
func aboveZero[T int | int64](option string) func(*cli.Context, T) error {
	return func(c *cli.Context, got T) error {
		if got > 0 {
			return nil
		}
		return usage(c, "--%s takes a whole number above 0, not %d", option, got)
	}
}

// notBelowZero checks the value of an option that takes a number, or 0.
func notBelowZero(option string) func(*cli.Context, int) error {
	return func(c *cli.Context, got int) error {
		if got >= 0 {
			return nil
		}
		return usage(c, "--%s takes a whole number from 0 on, not %d", option, got)
	}
}

// nearestName asks whether the nearest of some names was meant, or returns "".
func nearestName(got string, names []string) string {
	if near := suggest.Nearest(got, names); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// sources are the files that findings are about.
type sources struct {
	read  func(path string) ([]byte, error)
	files []string // all that were checked
}

// report prints findings, notes only with --verbose. If any is an error it
// returns the exit code: exitUsage if all errors are about the command line.
func report(c *cli.Context, found diag.List) error {
	return reportOf(c, found, sources{read: spec.ReadSource})
}

// reportOf is report with the files that were checked. It honours --format and
// --fail-on.
func reportOf(c *cli.Context, found diag.List, from sources) error {
	shown := found
	if !c.Bool("verbose") {
		shown = slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool { return d.Severity == diag.Note })
	}
	if err := printFindings(c, shown, from); err != nil {
		return err
	}
	limit := diag.Error
	if i := slices.Index(failOn, c.String("fail-on")); i >= 0 {
		limit = diag.Severity(i)
	}
	code := exitClean
	for _, d := range shown {
		switch {
		case limit == neverFails || d.Severity > limit:
		case code != exitFindings && isRequest(d):
			code = exitUsage
		default:
			code = exitFindings
		}
	}
	if code != exitClean {
		return exitCode(code)
	}
	return nil
}

func printFindings(c *cli.Context, found diag.List, from sources) error {
	if format := c.String("format"); format != "" && format != diag.Formats[0] {
		r := diag.Report{Tool: "mobiusc", Version: version(), Kinds: catalogue(), Files: from.files}
		return r.Write(c.App.Writer, format, found)
	}
	p := diag.Printer{W: c.App.ErrWriter, Color: useColor(c), Source: from.read}
	return p.Print(found)
}

func useColor(c *cli.Context) bool {
	switch c.String("color") {
	case "always":
		return true
	case "never":
		return false
	}
	return terminal(c) != nil && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// terminal returns the terminal that messages go to, or nil.
func terminal(c *cli.Context) *os.File {
	f, ok := c.App.ErrWriter.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}
