package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler"
	"mobiusc/compiler/spec"
	"mobiusc/compiler/stats"
	"mobiusc/internal/diag"
)

func statsCommand() *cli.Command {
	return &cli.Command{
		Name:  "stats",
		Usage: "compare the sizes of the carried specs' models with recorded ones",
		Description: "The baseline lists models, each a carried spec and a config.json, with their numbers of nodes and bytes\n" +
			"of parameters. They are compiled again: over 5 % more nodes, or over 5 % more or fewer bytes, is a warning, over\n" +
			"10 % is exit code 1, and so is a carried spec that the baseline has no model of. --update records what there is now.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "baseline", Usage: "`FILE` with the recorded sizes; that of the repository is testdata/stats.json"},
			&cli.BoolFlag{Name: "update", Usage: "write the present sizes into the baseline"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			&cli.BoolFlag{Name: "markdown", Usage: "print what changed as Markdown, for a comment on a change"},
			verboseFlag(),
		},
		Action: func(c *cli.Context) error {
			path := c.String("baseline")
			if c.NArg() > 0 {
				return usage(c, "takes no arguments: the baseline says what is compiled")
			}
			if path == "" {
				return usage(c, "say where the recorded sizes are: --baseline FILE")
			}
			return runStats(c, path)
		},
	}
}

func runStats(c *cli.Context, path string) error {
	baseline, err := stats.Read(path)
	if err != nil {
		return err
	}
	var rows []stats.Row
	var found diag.List
	now := &stats.Baseline{}
	for _, m := range baseline.Models {
		counted, faults, err := measureModel(m, filepath.Dir(path))
		if found = append(found, faults...); err != nil {
			return err
		}
		now.Models = append(now.Models, counted)
		rows = append(rows, stats.Compare(m, counted)...)
	}
	if err := report(c, found); err != nil {
		return err
	}
	if c.Bool("update") {
		return updateBaseline(path, now)
	}
	write := stats.WriteText
	switch {
	case c.Bool("json"):
		write = stats.WriteJSON
	case c.Bool("markdown"):
		write = stats.WriteMarkdown
	}
	if err := write(c.App.Writer, rows); err != nil {
		return err
	}
	missing := uncounted(baseline)
	for _, name := range missing {
		fmt.Fprintf(c.App.ErrWriter, "%s: no model of the spec %s; add {\"spec\": %q, \"config\": …} and run with --update\n", path, name, name)
	}
	if stats.Worst(rows) == stats.Fail || len(missing) > 0 {
		return errFindings
	}
	return nil
}

// measureModel compiles a model of a baseline in dir.
func measureModel(m stats.Model, dir string) (stats.Model, diag.List, error) {
	o := compiler.Options{Spec: m.Spec, Tool: version()}
	if m.Config != "" {
		o.Config = filepath.Join(dir, filepath.FromSlash(m.Config))
	}
	built, found, err := compiler.Build(o)
	if err != nil || found.HasErrors() {
		return m, found, err
	}
	m.Counts = map[string]stats.Counts{}
	for i, model := range built.Models {
		m.Counts[built.Names[i]] = stats.Of(model)
	}
	return m, found, nil
}

// uncounted returns the carried specs that can be compiled and that the baseline
// has no model of.
func uncounted(b *stats.Baseline) []string {
	var missing []string
	for _, name := range spec.Names() {
		if slices.ContainsFunc(b.Models, func(m stats.Model) bool { return m.Spec == name }) {
			continue
		}
		if s, found := spec.Load(name, nil); !found.HasErrors() && !s.Abstract {
			missing = append(missing, name)
		}
	}
	return missing
}

// updateBaseline writes a baseline, if anything changed.
func updateBaseline(path string, now *stats.Baseline) error {
	text, err := now.Text()
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	beside := filepath.Join(filepath.Dir(path), "."+strings.TrimPrefix(filepath.Base(path), ".")+".new")
	if err := os.WriteFile(beside, text, 0o666); err != nil {
		return err
	}
	return os.Rename(beside, path)
}
