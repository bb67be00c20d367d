package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler/emit"
	"mobiusc/internal/diag"
	"mobiusc/validate"
)

func validateCommand() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check ONNX files and packages against the standard: every graph, subgraph and function, and the data files",
		ArgsUsage: "PATH…",
		Description: "PATH is a package, a directory with ONNX files, or one ONNX file, of this tool or any other. A package must need\n" +
			"standard operators only; for other files --standard demands it.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "standard", Usage: "a custom operator or a function is an error"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print findings only"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return errors.New("validate: give at least one package or ONNX file")
			}
			v := &validation{cli: c}
			for _, path := range c.Args().Slice() {
				if err := v.path(path); err != nil {
					return err
				}
			}
			if err := report(c, v.found); err != nil {
				return err
			}
			if !c.Bool("quiet") {
				fmt.Fprintf(c.App.Writer, "%d models valid\n", v.models)
			}
			return nil
		},
	}
}

// validation is one run of the command.
type validation struct {
	cli    *cli.Context
	found  diag.List
	models int
}

func (v *validation) path(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return v.model(path, v.cli.Bool("standard"))
	}
	m, err := emit.ReadManifest(path)
	if errors.Is(err, emit.ErrNotPackage) {
		return v.directory(path)
	}
	if err != nil {
		return err
	}
	for _, c := range m.Components {
		if err := v.model(filepath.Join(path, filepath.FromSlash(c.Model)), true); err != nil {
			return err
		}
	}
	if m.Weights == "none" {
		v.unbound(path, m)
	}
	return nil
}

// unbound says that a package without weights is one, in a single note.
func (v *validation) unbound(path string, m *emit.Manifest) {
	count, bytes := 0, int64(0)
	for _, c := range m.Components {
		for _, t := range c.Tensors {
			if !t.Bound {
				count++
				bytes += t.Length
			}
		}
	}
	v.found.Add(diag.Diagnostic{Code: "MB0901", Name: "unbound-weights", Severity: diag.Note,
		Range: diag.Range{File: filepath.Join(path, emit.ManifestName)}, Message: fmt.Sprintf("%d weights (%d bytes) are not bound", count, bytes),
		Hint: "compile with --weights to bind them"})
}

// directory validates every ONNX file directly in a directory.
func (v *validation) directory(path string) error {
	files, err := filepath.Glob(filepath.Join(path, "*.onnx"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s is not a package (it has no %s) and holds no .onnx file", path, emit.ManifestName)
	}
	for _, f := range files {
		if err := v.model(f, v.cli.Bool("standard")); err != nil {
			return err
		}
	}
	return nil
}

func (v *validation) model(path string, standard bool) error {
	m, err := readModel(path)
	if err != nil {
		v.found.Add(diag.Diagnostic{Code: "MB0902", Name: "unreadable-model", Severity: diag.Error,
			Range: diag.Range{File: path}, Message: strings.TrimPrefix(err.Error(), path+": ")})
		return nil
	}
	v.models++
	for _, f := range validate.Model(m, validate.Options{Dir: filepath.Dir(path), Standard: standard}) {
		v.found.Add(f.Diagnostic(path))
	}
	return nil
}

// isText reports whether a file holds ONNX's textual syntax.
func isText(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".onnxtxt" || ext == ".txt"
}
