package main

import (
	"errors"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler/emit"
	"mobiusc/internal/diag"
	"mobiusc/internal/input"
	"mobiusc/ir"
)

func inspectCommand() *cli.Command {
	return &cli.Command{
		Name:      "inspect",
		Usage:     "show what a package or an ONNX file holds",
		ArgsUsage: "PATH",
		Description: "Prints components, inputs, outputs, states, and the numbers of nodes, parameters and bytes. PATH is a\n" +
			"package, a directory with ONNX files, or one ONNX file, of this tool or any other.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON instead of tables"}},
		Action: func(c *cli.Context) error {
			path, err := oneArgument(c, "one package or ONNX file")
			if err != nil {
				return err
			}
			s, err := emit.Inspect(path)
			if found := modelFindings(err); found != nil {
				return report(c, found)
			}
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
		Description: "FILE is an ONNX model; a name that ends in .onnxtxt or .txt is read as textual syntax and printed again.\n" +
			"Large tensors are shortened.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "full", Usage: "print every element of every tensor"}},
		Action: func(c *cli.Context) error {
			path, err := oneArgument(c, "one ONNX file")
			if err != nil {
				return err
			}
			m, found, err := readModel(path)
			if err != nil {
				return err
			}
			if err := report(c, found); err != nil {
				return err
			}
			if c.Bool("full") {
				return ir.Printer{Comments: true}.Model(c.App.Writer, m)
			}
			return ir.PrintModel(c.App.Writer, m)
		},
	}
}

// readModel reads an ONNX file, or, by its name, one in ONNX's textual syntax. A
// file that cannot be read is an error; one that is no model is a finding.
func readModel(path string) (*ir.Model, diag.List, error) {
	m, err := parseModel(path)
	if found := modelFindings(err); found != nil {
		return nil, found, nil
	}
	return m, nil, err
}

// modelFindings returns what is wrong with the text of a model or a manifest; nil
// if the error is another one.
func modelFindings(err error) diag.List {
	if e, ok := errors.AsType[*emit.ModelError](err); ok {
		return diag.List{unreadableModel(diag.Range{File: e.Path}, "not an ONNX model: "+e.Reason)}
	}
	if e, ok := errors.AsType[*ir.SyntaxError](err); ok {
		at := diag.Pos{Line: e.Line, Col: e.Col}
		return diag.List{unreadableModel(diag.Range{File: e.File, Start: at, End: at}, e.Msg)}
	}
	if errors.Is(err, emit.ErrNotPackage) {
		return diag.List{badManifest(err)}
	}
	return nil
}

func parseModel(path string) (*ir.Model, error) {
	if ext := filepath.Ext(path); ext != ".onnxtxt" && ext != ".txt" {
		return emit.Read(path)
	}
	text, err := input.ReadFile(path, emit.MaxProtoBytes)
	if err != nil {
		return nil, err
	}
	return ir.ParseModel(path, text)
}
