package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler/spec"
)

func specsCommand() *cli.Command {
	return &cli.Command{
		Name:      "specs",
		Usage:     "list the specs that mobiusc carries, or print one",
		ArgsUsage: "[NAME]",
		Description: "Without NAME: every carried spec, the model types in config.json that it answers to, and what it describes.\n" +
			"With NAME: the text of that spec. expand prints it with its parents merged.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "text", Usage: "print the list as `FORMAT`: text (default) or json", Action: oneOf("format", []string{"text", "json"})},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return printSpec(c)
			}
			list, err := carriedSpecs()
			if err != nil {
				return err
			}
			if c.String("format") == "json" {
				e := json.NewEncoder(c.App.Writer)
				e.SetIndent("", "  ")
				return e.Encode(list)
			}
			return writeSpecs(c, list)
		},
	}
}

// carriedSpec is an entry of the list.
type carriedSpec struct {
	Name       string   `json:"name"`
	Parent     string   `json:"extends,omitempty"`
	Abstract   bool     `json:"abstract,omitempty"`
	ModelTypes []string `json:"model_types"`
	Task       string   `json:"task,omitempty"`
	Variants   []string `json:"variants,omitempty"`
	Summary    string   `json:"summary"`
}

func carriedSpecs() ([]carriedSpec, error) {
	list := []carriedSpec{}
	for _, name := range spec.Names() {
		s, found := spec.Load(spec.CarriedPath(name), nil)
		if s == nil {
			return nil, fmt.Errorf("a spec that mobiusc carries has faults: %v", found)
		}
		list = append(list, carriedSpec{Name: s.Name, Parent: s.Parent(), Abstract: s.Abstract, ModelTypes: append([]string{}, s.Types()...),
			Task: s.Task, Variants: s.Variants(), Summary: s.Summary})
	}
	return list, nil
}

func writeSpecs(c *cli.Context, list []carriedSpec) error {
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "spec\tmodel types\tvariants\twhat it describes")
	for _, s := range list {
		types := strings.Join(s.ModelTypes, ", ")
		if s.Abstract {
			types = "(only extended)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, types, strings.Join(s.Variants, ", "), s.Summary)
	}
	return w.Flush()
}

func printSpec(c *cli.Context) error {
	name, err := oneArgument(c, "the name of one spec")
	if err != nil {
		return err
	}
	text, err := spec.ReadSource(spec.CarriedPath(name))
	if err != nil {
		hint := "mobiusc specs lists them"
		if near := nearestName(name, spec.Names()); near != "" {
			hint = near
		}
		return usage(c, "mobiusc carries no spec %q; %s", name, hint)
	}
	_, err = c.App.Writer.Write(text)
	return err
}
