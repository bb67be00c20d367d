package main

import (
	"github.com/urfave/cli/v2"

	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
	"mobiusc/schemas"
)

func expandCommand() *cli.Command {
	return &cli.Command{
		Name:        "expand",
		Usage:       "print a spec with its parents merged, and where each line comes from",
		ArgsUsage:   "SPEC",
		Description: "SPEC is a file, or the name of a spec that mobiusc carries.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "variant", Usage: "apply a `VARIANT` of the spec"},
			verboseFlag(),
		},
		Action: func(c *cli.Context) error {
			path, err := oneArgument(c, "one spec")
			if err != nil {
				return err
			}
			s, found := spec.Load(path, nil)
			if !found.HasErrors() && c.String("variant") != "" {
				var faults diag.List
				s, faults = s.Variant(c.String("variant"))
				found = append(found, faults...)
			}
			if err := report(c, found); err != nil {
				return err
			}
			return s.Expand(c.App.Writer)
		},
	}
}

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:        "schema",
		Usage:       "print the JSON Schema of specs",
		Description: "Editors complete and check specs with it.",
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage(c, "takes no arguments")
			}
			_, err := c.App.Writer.Write(schemas.Spec)
			return err
		},
	}
}
