package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler/verify"
	"mobiusc/internal/ort"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "run a package in ONNX Runtime and compare it with reference tensors",
		ArgsUsage: "PACKAGE",
		Description: "Each reference is a safetensors file of one sequence of calls (testdata/reference/README.md). Every output and state is\n" +
			"compared; exit code 1 says that an element is off by more than TOLERANCE + TOLERANCE·|expected|.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "reference", Aliases: []string{"r"}, Usage: "compare with this `FILE`; may be given several times"},
			&cli.Float64Flag{Name: "tolerance", Value: 1e-4, Usage: "absolute and relative `TOLERANCE`"},
			&cli.BoolFlag{Name: "steps", Usage: "also print every output of every step"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON instead of tables"},
			&cli.IntFlag{Name: "threads", Value: 2, Usage: "threads of the runtime"},
		},
		Action: func(c *cli.Context) error {
			dir, err := oneArgument(c, "one package")
			if err != nil {
				return err
			}
			files := c.StringSlice("reference")
			if len(files) == 0 {
				return errors.New("verify: give at least one reference file: --reference FILE")
			}
			p, err := verify.Open(dir, ort.Options{Threads: c.Int("threads")})
			if err != nil {
				return err
			}
			defer p.Close()
			return verifyAll(c, p, files)
		},
	}
}

func verifyAll(c *cli.Context, p *verify.Package, files []string) error {
	tol := c.Float64("tolerance")
	var reports []verify.Report
	outside := false
	for _, file := range files {
		ref, err := verify.ReadReference(file)
		if err != nil {
			return err
		}
		results, err := p.Compare(ref, verify.Tolerance{Abs: tol, Rel: tol})
		if err != nil {
			return err
		}
		r := verify.Report{Reference: ref.Name, Tolerance: tol, Rows: verify.Summarise(results)}
		outside = outside || r.Outside()
		if c.Bool("steps") {
			r.Results = results
		}
		if !c.Bool("json") {
			if err := r.WriteText(c.App.Writer); err != nil {
				return err
			}
		}
		reports = append(reports, r)
	}
	if c.Bool("json") {
		if err := verify.WriteJSON(c.App.Writer, reports); err != nil {
			return err
		}
	}
	if outside {
		return errFindings
	}
	return nil
}
