package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
)

// verboseFlag shows the findings that most readers need not see.
func verboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Usage: "print notes too, not errors and warnings alone", Category: "Messages"}
}

// quietFlag leaves out what is printed when all is well.
func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but findings", Category: "Messages"}
}

// usageFindings are the findings about the command line: what it asks for does
// not exist, or is impossible whatever the files hold.
var usageFindings = []string{
	"MB0001", // option
	"MB0112", // unreadable-file
	"MB0208", // unknown-variant
	"MB0210", // abstract-spec
	"MB0409", // no-config
	"MB0801", // unreadable-checkpoint
}

// report prints findings, notes only with --verbose. If any is an error it
// returns the exit code: exitUsage if all errors are about the command line.
func report(c *cli.Context, found diag.List) error {
	shown := found
	if !c.Bool("verbose") {
		shown = slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool { return d.Severity == diag.Note })
	}
	p := diag.Printer{W: c.App.ErrWriter, Color: useColor(c), Source: spec.ReadSource}
	if err := p.Print(shown); err != nil {
		return err
	}
	code := exitUsage
	for _, d := range found {
		if d.Severity == diag.Error && !slices.Contains(usageFindings, d.Code) {
			code = exitFindings
		}
	}
	if found.HasErrors() {
		return exitCode(code)
	}
	return nil
}

func checkColor(_ *cli.Context, when string) error {
	if !slices.Contains([]string{"auto", "always", "never"}, when) {
		return fmt.Errorf("--color takes auto, always or never, not %q", when)
	}
	return nil
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
