package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/docs/diagnostics"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name:      "explain",
		Usage:     "say what a finding means, with an example",
		ArgsUsage: "[CODE|NAME]",
		Description: "CODE or NAME are what a finding ends with: explain MB0201 and explain unknown-key print the same page.\n" +
			"Without either, lists all kinds of findings.",
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return listKinds(c)
			}
			word, err := oneArgument(c, "one code or name")
			if err != nil {
				return err
			}
			page, err := explanation(c, strings.Trim(word, "[]"))
			if err != nil {
				return err
			}
			_, err = c.App.Writer.Write(page)
			return err
		},
	}
}

func listKinds(c *cli.Context) error {
	for _, k := range catalogue() {
		if _, err := fmt.Fprintf(c.App.Writer, "%s  %-7s  %s: %s\n", k.Code, k.Severity, k.Name, k.Summary); err != nil {
			return err
		}
	}
	return nil
}

// explanation returns the page of the kind with a code or a name.
func explanation(c *cli.Context, word string) ([]byte, error) {
	all := catalogue()
	k := all.Find(word)
	if k == nil {
		k = all.Find(strings.ToUpper(word))
	}
	if k == nil {
		hint := "mobiusc explain lists them"
		known := all.Names()
		for _, k := range all {
			known = append(known, k.Code)
		}
		if near := nearestName(word, known); near != "" {
			hint = near
		}
		return nil, usage(c, "there is no finding %q; %s", word, hint)
	}
	return diagnostics.FS.ReadFile(k.Code + ".md")
}
