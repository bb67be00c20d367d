package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler/verify"
	"mobiusc/internal/ort"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "run a package in ONNX Runtime and compare it with reference tensors",
		ArgsUsage: "PACKAGE",
		Description: "Each reference is a safetensors file of one sequence of calls; docs/numerics.md says how to make one. Every output\n" +
			"and state that it holds is compared. Exit code 1 says that an element is off by more than TOLERANCE + TOLERANCE·|expected|.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "reference", Aliases: []string{"r"}, Usage: "compare with this `FILE`; may be given several times"},
			&cli.Float64Flag{Name: "tolerance", Value: 1e-4, Usage: "absolute and relative `TOLERANCE` (default: 1e-4)"},
			&cli.BoolFlag{Name: "steps", Usage: "also print every output of every step"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON instead of tables"},
			&cli.IntFlag{Name: "threads", Value: 2, Usage: "`N` threads of the runtime (default: 2)", Action: aboveZero[int]("threads")},
		},
		Action: verifyPackage,
	}
}

func verifyPackage(c *cli.Context) error {
	dir, err := oneArgument(c, "one package")
	if err != nil {
		return err
	}
	if t := c.Float64("tolerance"); !(t >= 0) || math.IsInf(t, 0) {
		return usage(c, "--tolerance takes a number, 0 or more, not %g", t)
	}
	if c.Int("threads") < 1 {
		return usage(c, "--threads takes a number, 1 or more, not %d", c.Int("threads"))
	}
	references, err := readReferences(c)
	if err != nil {
		return err
	}
	p, err := verify.Open(dir, ort.Options{Threads: c.Int("threads")})
	if err != nil {
		return lines(c, err)
	}
	defer p.Close()
	var misfits []error
	for _, r := range references {
		misfits = append(misfits, p.Check(r))
	}
	if err := errors.Join(misfits...); err != nil {
		return lines(c, err)
	}
	reports, err := compare(c, p, references)
	if err != nil {
		return lines(c, err)
	}
	return printReports(c, reports)
}

// readReferences reads every reference before anything runs, and reports what is
// wrong with any.
func readReferences(c *cli.Context) ([]*verify.Reference, error) {
	files := c.StringSlice("reference")
	if len(files) == 0 {
		return nil, usage(c, "give at least one reference: --reference FILE")
	}
	var references []*verify.Reference
	var problems []error
	for _, file := range files {
		r, err := verify.ReadReference(file)
		references, problems = append(references, r), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, lines(c, err)
	}
	return references, nil
}

// lines returns an error of several lines as one that says on each what it is
// about.
func lines(c *cli.Context, err error) error {
	return usage(c, "%s", strings.ReplaceAll(err.Error(), "\n", fmt.Sprintf("\nmobiusc: %s: ", c.Command.Name)))
}

func compare(c *cli.Context, p *verify.Package, references []*verify.Reference) ([]verify.Report, error) {
	tol := c.Float64("tolerance")
	var reports []verify.Report
	for _, ref := range references {
		results, err := p.Compare(ref, verify.Tolerance{Abs: tol, Rel: tol})
		if err != nil {
			return nil, err
		}
		r := verify.Report{Reference: ref.Name, Tolerance: tol, Rows: verify.Summarise(results)}
		if c.Bool("steps") {
			r.Results = results
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// printReports prints all reports, and fails if anything is outside the tolerance.
func printReports(c *cli.Context, reports []verify.Report) error {
	if c.Bool("json") {
		if err := verify.WriteJSON(c.App.Writer, reports); err != nil {
			return err
		}
	}
	outside := false
	for _, r := range reports {
		outside = outside || r.Outside()
		if c.Bool("json") {
			continue
		}
		if err := r.WriteText(c.App.Writer); err != nil {
			return err
		}
	}
	if outside {
		return errFindings
	}
	return nil
}
