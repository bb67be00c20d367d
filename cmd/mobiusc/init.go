package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler"
	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
	"mobiusc/internal/input"
	"mobiusc/internal/number"
	"mobiusc/schemas"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name:      "init",
		Usage:     "begin a new spec from a config.json",
		ArgsUsage: "CONFIG",
		Description: "CONFIG is a config.json, or a directory with one. Finds the carried spec that reads most of it, and writes a spec\n" +
			"that extends it and states the difference as far as the config tells it; what a person must decide is in comments.\n" +
			"Then checks the new spec with the config and prints what is left to do. Where there is no schemas/spec.schema.json\n" +
			"beside or above the new spec, spec.schema.json is written beside it: editors complete the spec by it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write `FILE`; - is the standard output (default: the model type, .yaml)"},
			&cli.StringFlag{Name: "extends", Usage: "extend `SPEC`, a carried spec, instead of the nearest"},
			&cli.BoolFlag{Name: "force", Usage: "replace a file that is there"},
		},
		Action: func(c *cli.Context) error {
			path, err := oneArgument(c, "one config.json")
			if err != nil {
				return err
			}
			return beginSpec(c, path)
		},
	}
}

func beginSpec(c *cli.Context, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "config.json")
	}
	text, err := input.ReadText(path)
	if err != nil {
		return err
	}
	config, found := spec.ParseConfig(path, text)
	if config == nil {
		return report(c, found)
	}
	if config.ModelType() == "" {
		return usage(c, "%s states no model_type, by which a spec is chosen", path)
	}
	fit, err := chooseParent(c, config)
	if err != nil {
		return err
	}
	out := outputOf(c, config, fit)
	if out == "-" {
		_, err := fmt.Fprint(c.App.Writer, fit.Draft(specName(config.ModelType()), config.ModelType(), schemaName))
		return err
	}
	return writeDraft(c, fit, config, out)
}

// chooseParent returns the spec that was named, or the nearest.
func chooseParent(c *cli.Context, config *spec.Config) (spec.Fit, error) {
	name := c.String("extends")
	if name == "" {
		return spec.Nearest(config)[0], nil
	}
	s, found := spec.Load(spec.CarriedPath(name), nil)
	if s == nil {
		hint := "mobiusc specs lists them"
		if near := nearestName(name, spec.Names()); near != "" {
			hint = near
		}
		return spec.Fit{}, usage(c, "mobiusc carries no spec %q; %s", name, hint)
	}
	return spec.FitOf(s, config), report(c, found)
}

// outputOf returns the path of the new spec. Its name must not be its parent's.
func outputOf(c *cli.Context, config *spec.Config, fit spec.Fit) string {
	if out := c.String("out"); out != "" {
		return out
	}
	name := specName(config.ModelType())
	if name == fit.Spec.Name {
		name = "my_" + name
	}
	return name + ".yaml"
}

// specName returns a model type as the name of a spec.
func specName(modelType string) string {
	return strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9_]+`).ReplaceAllString(modelType, "_"))
}

func writeDraft(c *cli.Context, fit spec.Fit, config *spec.Config, out string) error {
	name := strings.TrimSuffix(filepath.Base(out), filepath.Ext(out))
	if name == fit.Spec.Name {
		return usage(c, "a spec cannot extend one of its own name, %s: choose another file with -o", name)
	}
	if _, err := os.Stat(out); err == nil && !c.Bool("force") {
		return usage(c, "%s is there already; --force replaces it", out)
	}
	schema, err := schemaFor(filepath.Dir(out))
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, []byte(fit.Draft(name, config.ModelType(), schema)), 0o666); err != nil {
		return err
	}
	w := c.App.Writer
	if fit.Accepted {
		fmt.Fprintf(w, "%s answers to model type %s already: it may be all that is needed\n", fit.Spec.Name, config.ModelType())
	}
	fmt.Fprintf(w, "%s: extends %s, which reads %s of the config, does not know %d and misses %d\n", out, fit.Spec.Name,
		number.Count(fit.Read, "key"), len(fit.Unread()), len(fit.Missing()))
	left := compiler.Lint(compiler.Options{Spec: out, Config: config.Path})
	if len(left) == 0 {
		fmt.Fprintf(w, "nothing is left to state; next, mobiusc bind %s --weights CHECKPOINT compares the names of tensors\n", out)
		return nil
	}
	fmt.Fprintf(w, "to decide, and to check again with mobiusc lint %s --config %s:\n", out, config.Path)
	p := diag.Printer{W: w, Source: spec.ReadSource}
	return p.Print(left)
}

// schemaName is the file of the JSON Schema that is written beside a spec.
const schemaName = "spec.schema.json"

// schemaFor returns the path, from a directory, of the JSON Schema of specs: that
// in a folder schemas beside or above, or one that is written into the directory.
func schemaFor(dir string) (string, error) {
	for up := "."; ; up = filepath.Join("..", up) {
		path := filepath.Join(up, "schemas", schemaName)
		if _, err := os.Stat(filepath.Join(dir, path)); err == nil {
			return filepath.ToSlash(path), nil
		}
		absolute, err := filepath.Abs(filepath.Join(dir, up))
		if err != nil {
			return "", err
		}
		if absolute == filepath.Dir(absolute) {
			break
		}
	}
	file := filepath.Join(dir, schemaName)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return schemaName, err
	}
	return schemaName, os.WriteFile(file, schemas.Spec, 0o666)
}
