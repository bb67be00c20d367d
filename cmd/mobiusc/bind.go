package main

import (
	"github.com/urfave/cli/v2"

	"mobiusc/compiler"
)

func bindCommand() *cli.Command {
	return &cli.Command{
		Name:      "bind",
		Usage:     "show where each weight of a spec comes from in a checkpoint, and write nothing",
		ArgsUsage: "SPEC",
		Description: "Prints a line for each parameter: its type and shape, the tensor that it comes from, and what is\n" +
			"done to it; then what is not read, and why. It is what compile would do with the same options.",
		Flags: append(append(modelFlags(), checkpointFlags("`DIR` holds the safetensors checkpoint")...),
			&cli.BoolFlag{Name: "all", Usage: "print each parameter with its place in the files, not one line for all layers", Category: outputGroup},
			verboseFlag(),
		),
		Action: func(c *cli.Context) error {
			o, err := modelOptions(c)
			if err != nil {
				return err
			}
			if o.Weights.Dir == "" {
				return usage(c, "say where the checkpoint is: --weights DIR")
			}
			binding, found := compiler.BindWeights(o)
			if err := report(c, found); err != nil {
				return err
			}
			return binding.WriteTable(c.App.Writer, c.Bool("all"))
		},
	}
}
