package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler/emit"
	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
	"mobiusc/internal/number"
	"mobiusc/ir"
	"mobiusc/validate"
)

func validateCommand() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check ONNX files and packages against the standard",
		ArgsUsage: "PATH…",
		Description: "PATH is a package, a directory with ONNX files, or one ONNX file, of this tool or any other; a name\n" +
			"that ends in .onnxtxt or .txt is read as ONNX's textual syntax. Every graph, subgraph and function is\n" +
			"checked, and the files that hold external data. A package must need standard operators only; of other\n" +
			"files --standard demands it.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "standard", Usage: "a custom operator or a function is an error"},
			&cli.BoolFlag{Name: "checksums", Usage: "compare the data of packages with the hashes that compile --checksums recorded"},
		}, append(reportFlags(), quietFlag())...),
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return usage(c, "give at least one package or ONNX file")
			}
			v := &validation{cli: c}
			for _, path := range c.Args().Slice() {
				if err := v.path(path); err != nil {
					return err
				}
			}
			if err := reportOf(c, v.found, sources{read: spec.ReadSource, files: v.files}); err != nil {
				return err
			}
			if !c.Bool("quiet") && c.String("format") == diag.Formats[0] {
				fmt.Fprintln(c.App.Writer, v.summary())
			}
			return nil
		},
	}
}

// validation is one run of the command.
type validation struct {
	cli     *cli.Context
	found   diag.List
	models  int
	files   []string // that were read, or could not be
	unbound tally    // weights that the packages' manifests say have no content
	hashed  tally    // tensors that were compared with their hashes
}

func (v *validation) path(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		if v.cli.Bool("checksums") {
			return usage(v.cli, "--checksums needs packages, and %s is a file", path)
		}
		return v.model(path, validate.Options{Standard: v.cli.Bool("standard")}, emit.EntryOf(path))
	}
	if emit.HasManifest(path) {
		m, err := emit.ReadManifest(path)
		if found := modelFindings(err); found != nil {
			v.found = append(v.found, found...)
			return nil
		}
		if err != nil {
			return err
		}
		return v.pack(path, m)
	}
	if v.cli.Bool("checksums") {
		return usage(v.cli, "--checksums needs packages, and %s has no %s", path, emit.ManifestName)
	}
	return v.directory(path)
}

// pack validates a package: its models, its files, and its data if asked for.
func (v *validation) pack(path string, m *emit.Manifest) error {
	before := len(v.found)
	for _, f := range m.Files {
		if _, err := os.Lstat(filepath.Join(path, filepath.FromSlash(f))); errors.Is(err, fs.ErrNotExist) && filepath.Ext(f) != ".data" { // see validate
			v.found.Add(missingFile(path, f))
		}
	}
	for i := range m.Components {
		c := &m.Components[i]
		err := v.model(filepath.Join(path, filepath.FromSlash(c.Model)), validate.Options{Standard: true}, c)
		if errors.Is(err, fs.ErrNotExist) && slices.Contains(m.Files, c.Model) {
			continue // reported
		}
		if err != nil {
			return err
		}
	}
	// Data that is missing or too short is reported by now.
	if !v.cli.Bool("checksums") || v.found[before:].HasErrors() {
		return nil
	}
	return v.checksums(path, m)
}

func (v *validation) checksums(path string, m *emit.Manifest) error {
	bar := newProgress(v.cli)
	differ, err := emit.VerifyChecksums(v.cli.Context, path, m, func(done, total int64) { bar.show("hashing", done, total) })
	bar.clear()
	if errors.Is(err, emit.ErrNoChecksums) {
		v.found.Add(noChecksums(path))
		return nil
	}
	for _, d := range differ {
		v.found.Add(contentDiffers(d))
	}
	for _, c := range m.Components {
		for _, t := range c.Tensors {
			if t.Bound {
				v.hashed.add(t.Length)
			}
		}
	}
	return err
}

// directory validates every ONNX file directly in a directory.
func (v *validation) directory(path string) error {
	files, err := filepath.Glob(filepath.Join(path, "*.onnx"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return usage(v.cli, "%s is not a package (it has no %s) and holds no .onnx file", path, emit.ManifestName)
	}
	for _, f := range files {
		if err := v.model(f, validate.Options{Standard: v.cli.Bool("standard")}, emit.EntryOf(f)); err != nil {
			return err
		}
	}
	return nil
}

// model validates one file. If it is of a package, c is its entry in the manifest:
// the two are compared, and the content of weights that are not bound is not
// looked for.
func (v *validation) model(path string, o validate.Options, c *emit.ManifestComponent) error {
	v.files = append(v.files, path)
	m, faults, err := readModel(path)
	if err != nil || len(faults) > 0 {
		v.found = append(v.found, faults...)
		return err
	}
	v.models++
	o.Dir = filepath.Dir(path)
	if c != nil {
		v.compare(path, m, c)
		o.Unplaced = v.unplace(m, c)
	}
	for _, f := range validate.Model(m, o) {
		v.found.Add(f.Diagnostic(path))
	}
	return nil
}

// maxDifferences limits what is said of one model that is not the manifest's.
const maxDifferences = 10

// compare compares a model with its entry in the manifest.
func (v *validation) compare(path string, m *ir.Model, c *emit.ManifestComponent) {
	differences := c.Differences(m)
	if n := len(differences); n > maxDifferences {
		differences = append(differences[:maxDifferences], fmt.Sprintf("%d more differences", n-maxDifferences))
	}
	for _, d := range differences {
		v.found.Add(manifestDiffers(path, d))
	}
}

// unplace takes the places from the weights that are not bound and reports
// whether there are any.
func (v *validation) unplace(m *ir.Model, c *emit.ManifestComponent) bool {
	unbound := map[string]bool{}
	for _, t := range c.Tensors {
		if !t.Bound {
			unbound[t.Name] = true
			v.unbound.add(t.Length)
		}
	}
	for _, i := range m.Graph.Initializers {
		if i.Init != nil && i.Init.External != nil && unbound[i.Name] {
			i.Init.External = &ir.External{}
		}
	}
	return len(unbound) > 0
}

// summary says what was valid: "3 models valid; 1184 weights (54.7 GB) not bound".
func (v *validation) summary() string {
	s := number.Count(v.models, "model") + " valid"
	if v.unbound.count > 0 {
		s += "; " + v.unbound.String() + " not bound"
	}
	if v.cli.Bool("checksums") {
		s += fmt.Sprintf("; %d tensors (%s) have the recorded content", v.hashed.count, byteSize(v.hashed.bytes))
	}
	return s
}
