package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler/emit"
	"mobiusc/ir"
)

func inspectCommand() *cli.Command {
	return &cli.Command{
		Name:      "inspect",
		Usage:     "show components, inputs, outputs, states, nodes and parameters of a package or an ONNX file",
		ArgsUsage: "PATH",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON instead of a table"}},
		Action: func(c *cli.Context) error {
			path, err := oneArgument(c, "one package or ONNX file")
			if err != nil {
				return err
			}
			s, err := emit.Inspect(path)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return s.WriteJSON(c.App.Writer)
			}
			return s.WriteText(c.App.Writer)
		},
	}
}

func showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "print an ONNX model as text, in ONNX's textual syntax",
		ArgsUsage: "FILE",
		Description: "FILE is an ONNX model, or one in textual syntax, which is read and printed again. Large tensors are shortened unless\n" +
			"--full is given.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "full", Usage: "print every element of every tensor"}},
		Action: func(c *cli.Context) error {
			path, err := oneArgument(c, "one ONNX file")
			if err != nil {
				return err
			}
			m, err := readModel(path)
			if err != nil {
				return err
			}
			if c.Bool("full") {
				return ir.Printer{Comments: true}.Model(c.App.Writer, m)
			}
			return ir.PrintModel(c.App.Writer, m)
		},
	}
}

// readModel reads an ONNX file, or one in ONNX's textual syntax by its extension.
func readModel(path string) (*ir.Model, error) {
	if !isText(path) {
		return emit.Read(path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := ir.ParseModel(path, text)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	return m, nil
}
