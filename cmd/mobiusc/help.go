package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// The help is printed by this file, not by the library's templates, which know
// one order of options: the alphabet's.

// appHelp returns the help of the program.
func appHelp(app *cli.App) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s\n\n%s\n\nCommands:\n", app.Name, app.Usage, app.Description)
	for _, c := range app.Commands {
		if !c.Hidden {
			fmt.Fprintf(&s, "  %-10s %s\n", c.Name, c.Usage)
		}
	}
	writeOptions(&s, append(app.Flags, helpFlag(), &cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version"}))
	return s.String()
}

// commandHelp returns the help of a command.
func commandHelp(app *cli.App, c *cli.Command) string {
	var s strings.Builder
	usage := strings.TrimSpace("[options] " + c.ArgsUsage)
	fmt.Fprintf(&s, "%s %s: %s\n\n  %s %s %s\n", app.Name, c.Name, c.Usage, app.Name, c.Name, usage)
	if c.Description != "" {
		fmt.Fprintf(&s, "\n%s\n", c.Description)
	}
	writeOptions(&s, append(c.Flags, helpFlag()))
	return s.String()
}

func helpFlag() cli.Flag {
	return &cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "print this"}
}

// writeOptions writes options below the headings of their categories, in the
// order they are declared in.
func writeOptions(s *strings.Builder, flags []cli.Flag) {
	category, first := "", true
	for _, f := range flags {
		if c := f.(cli.CategorizableFlag).GetCategory(); first || c != category && c != "" {
			category = c
			if c == "" {
				c = "Options"
			}
			fmt.Fprintf(s, "\n%s:\n", c)
		}
		first = false
		label, text := describeFlag(f)
		fmt.Fprintf(s, "  %-24s %s\n", label, text)
	}
}

// describeFlag returns an option as it is written, and what it does. The word in
// backquotes in the usage stands for its value.
func describeFlag(f cli.Flag) (label, text string) {
	var names []string
	for _, n := range f.Names() {
		names = append(names, dashed(n))
	}
	label = strings.Join(names, ", ")
	text = f.(cli.DocGenerationFlag).GetUsage()
	if before, rest, ok := strings.Cut(text, "`"); ok {
		value, after, _ := strings.Cut(rest, "`")
		return label + " " + value, before + value + after
	}
	return label, text
}
