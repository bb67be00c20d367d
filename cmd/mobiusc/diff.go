package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler"
	"mobiusc/compiler/diff"
	"mobiusc/compiler/emit"
	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
)

func diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "show how two specs, packages or ONNX files differ",
		ArgsUsage: "A B",
		Description: "A and B are specs (files, names of carried ones, or REVISION:FILE of git), which are compiled, packages,\n" +
			"directories of ONNX files, or ONNX files. Nodes are compared by structure: their names do not count. With\n" +
			"--base there is one argument, a spec file, which is compared with what it was.\n\n" +
			"Exit code 1 says that inputs or outputs differ; --fail-if says what counts.",
		Flags: append(modelFlags(),
			&cli.StringFlag{Name: "base-config", Usage: "config.json of A, a `FILE` (default: that of --config)", Category: modelGroup},
			&cli.StringFlag{Name: "base", Usage: "compare the spec with itself at a `REVISION` of git", Category: modelGroup},
			&cli.Int64Flag{Name: "opset", Value: compiler.DefaultOpset, Usage: fmt.Sprintf("`VERSION` of ai.onnx that specs are compiled for (default: %d)", compiler.DefaultOpset), Category: targetGroup, Action: aboveZero[int64]("opset")},
			&cli.BoolFlag{Name: "json", Usage: "print JSON", Category: outputGroup},
			&cli.BoolFlag{Name: "markdown", Usage: "print Markdown, for a comment on a change", Category: outputGroup},
			&cli.IntFlag{Name: "limit", Value: 50, Usage: "print so many `LINES` of a section, but JSON whole; 0: all (default: 50)", Category: outputGroup, Action: notBelowZero("limit")},
			&cli.StringFlag{Name: "fail-if", Value: failIf[0], Usage: "exit with 1 if `WHAT` differs: interface (default), graph, which is anything, or never", Category: outputGroup, Action: oneOf("fail-if", failIf)},
			verboseFlag(),
		),
		Action: runDiff,
	}
}

// failIf are the values of --fail-if.
var failIf = []string{string(diff.Interface), string(diff.Graph), "never"}

func runDiff(c *cli.Context) error {
	a, b, err := diffArguments(c)
	if err != nil {
		return err
	}
	base := diffOptions(c)
	if c.IsSet("base-config") {
		base.Config = c.String("base-config")
	}
	sideA, found, err := readSide(a, base)
	if err != nil {
		return err
	}
	sideB, faults, err := readSide(b, diffOptions(c))
	if err != nil {
		return err
	}
	if err := report(c, append(found, faults...)); err != nil {
		return err
	}
	r := diff.Compare(sideA.Side, sideB.Side)
	switch {
	case c.Bool("json"):
		err = r.WriteJSON(c.App.Writer)
	case c.Bool("markdown"):
		err = r.WriteMarkdown(c.App.Writer, c.Int("limit"))
	default:
		err = r.WriteText(c.App.Writer, c.Int("limit"))
	}
	if err != nil {
		return err
	}
	if at := c.String("fail-if"); r.Severity == diff.Interface && at != "never" || r.Severity == diff.Graph && at == "graph" {
		return errFindings
	}
	return nil
}

func diffArguments(c *cli.Context) (a, b string, err error) {
	if rev := c.String("base"); rev != "" {
		b, err = oneArgument(c, "one spec file with --base")
		return rev + ":" + b, b, err
	}
	if c.NArg() != 2 {
		return "", "", usage(c, "give two specs, packages or ONNX files, or one spec with --base REVISION")
	}
	return c.Args().Get(0), c.Args().Get(1), nil
}

func diffOptions(c *cli.Context) compiler.Options {
	return compiler.Options{
		Config: c.String("config"), Variant: c.String("variant"), DType: c.String("dtype"), Storage: c.String("storage-dtype"),
		Strict: c.Bool("strict"), Opset: c.Int64("opset"), ChunkSize: compiler.DefaultChunkSize, Tool: version(),
	}
}

// readSide reads what an argument names: ONNX files, or a spec, which is compiled.
// A carried spec goes before a directory of its name, which is ./NAME.
func readSide(arg string, o compiler.Options) (modelSide, diag.List, error) {
	side := modelSide{diff.Side{Name: arg}}
	info, err := os.Stat(arg)
	switch ext := filepath.Ext(arg); {
	case err == nil && info.IsDir() && !slices.Contains(spec.Names(), arg):
		return readModels(side)
	case err == nil && (ext == ".onnx" || ext == ".onnxtxt" || ext == ".txt"):
		found, err := side.add(arg, "")
		return side, found, err
	case err != nil && strings.Contains(arg, ":"):
		rev, path, _ := strings.Cut(arg, ":")
		g, err := newGitFiles(rev)
		if err != nil {
			return side, nil, err
		}
		o.Read, arg = g.read, g.path(path)
	}
	o.Spec = arg
	built, found, err := compiler.Build(o)
	if err != nil || found.HasErrors() {
		return side, found, err
	}
	side.Made = made(built.Header)
	for i, m := range built.Models {
		side.Models = append(side.Models, diff.Model{Name: built.Names[i], Model: m})
	}
	return side, found, nil
}

// readModels reads the models of a package, or of a directory of ONNX files.
func readModels(side modelSide) (modelSide, diag.List, error) {
	dir := side.Name
	files := map[string]string{} // path in the directory: name
	if emit.HasManifest(dir) {
		m, err := emit.ReadManifest(dir)
		if found := modelFindings(err); found != nil {
			return side, found, nil
		}
		if err != nil {
			return side, nil, err
		}
		side.Made = made(m.Header)
		for _, c := range m.Components {
			files[filepath.FromSlash(c.Model)] = c.Name
		}
	}
	for _, pattern := range []string{"*.onnx", "*/*.onnx"} {
		names, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return side, nil, err
		}
		for _, name := range names {
			if len(side.Made) == 0 {
				files[filepath.FromSlash(name)] = strings.TrimSuffix(strings.TrimSuffix(name, ".onnx"), "/model")
			}
		}
	}
	if len(files) == 0 {
		return side, nil, fmt.Errorf("%s is not a package (it has no %s) and holds no ONNX files", dir, emit.ManifestName)
	}
	var found diag.List
	for _, name := range slices.Sorted(maps.Keys(files)) {
		faults, err := side.add(filepath.Join(dir, name), files[name])
		if err != nil {
			return side, nil, err
		}
		found = append(found, faults...)
	}
	return side, found, nil
}

// modelSide is a side of the comparison that is being read.
type modelSide struct{ diff.Side }

// add reads one model file; it is called by the name of its graph if name is "".
func (s *modelSide) add(path, name string) (diag.List, error) {
	m, found, err := readModel(path)
	if err != nil || found.HasErrors() {
		return found, err
	}
	model := diff.Model{Name: cmp.Or(name, m.Graph.Name), Model: m}
	if info, err := os.Stat(path); err == nil && filepath.Ext(path) == ".onnx" {
		model.Bytes = info.Size()
	}
	s.Models = append(s.Models, model)
	return found, nil
}

// made returns what a package says it was made of, by key.
func made(h emit.Header) map[string]string {
	origin := func(o emit.Origin) string {
		if len(o.SHA256) < 8 {
			return o.Name
		}
		return o.Name + " (sha256 " + o.SHA256[:8] + "…)"
	}
	out := maps.Clone(h.Options)
	out["spec"], out["config"], out["tool"] = origin(h.Spec), origin(h.Config), h.Tool
	return out
}
