package main

import (
	"bytes"
	"fmt"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

func fmtCommand() *cli.Command {
	return &cli.Command{
		Name:      "fmt",
		Usage:     "lay specs out in one way",
		ArgsUsage: "SPEC…",
		Description: "SPEC is a file, a directory with specs, or - to read the standard input and write the standard output.\n" +
			"Two spaces a level, one after colon, comma and dash. Comments, anchors, the order of keys and the breaks\n" +
			"between lines stay, and what the file says stays the same. A file that is not YAML is left as it is.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "change nothing: print the names of files that would change, and exit with 1 if there are any"},
			&cli.BoolFlag{Name: "diff", Usage: "change nothing: print what would change, and exit with 1 if anything would"},
			&cli.StringFlag{Name: "stdin-filename", Usage: "`FILE` is the path that messages give to the standard input"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return usage(c, "give at least one spec")
			}
			return formatFiles(c)
		},
	}
}

func formatFiles(c *cli.Context) error {
	paths, stdin, err := specFiles(c)
	if err != nil {
		return err
	}
	l := linter{cli: c, stdin: stdin}
	var found diag.List
	unformatted := false
	for _, path := range paths {
		text, err := l.read(path)
		if err != nil {
			return err
		}
		formatted, faults := tree.Format(path, text)
		if found = append(found, faults...); len(faults) > 0 {
			formatted = text
		}
		unformatted = unformatted || !bytes.Equal(text, formatted)
		if err := l.place(path, text, formatted); err != nil {
			return err
		}
	}
	if err := reportOf(c, found, sources{read: l.read, files: paths}); err != nil {
		return err
	}
	if unformatted && (c.Bool("check") || c.Bool("diff")) {
		return errFindings
	}
	return nil
}

// place puts a formatted text where it is asked for.
func (l *linter) place(path string, text, formatted []byte) error {
	same := bytes.Equal(text, formatted)
	if l.cli.Bool("check") && !same {
		fmt.Fprintln(l.cli.App.Writer, path)
	}
	switch {
	case l.cli.Bool("diff"):
		printDiff(l.cli, path, text, formatted)
	case l.cli.Bool("check"):
	case l.stdin != nil && path == l.stdin.path:
		_, err := l.cli.App.Writer.Write(formatted)
		return err
	case !same:
		return replaceFile(path, formatted)
	}
	return nil
}
