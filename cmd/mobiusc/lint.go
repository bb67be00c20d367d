package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler"
	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
	"mobiusc/internal/input"
	"mobiusc/internal/number"
)

const fixGroup = "Fixes"

func lintCommand() *cli.Command {
	return &cli.Command{
		Name:      "lint",
		Usage:     "check specs",
		ArgsUsage: "SPEC…",
		Description: "SPEC is a file, the name of a spec that mobiusc carries, a directory with specs, or - for the standard\n" +
			"input. Checks all that is known without a config, of every variant; with --config, or where the spec pins\n" +
			"a config, also the values and the shape of every tensor. Says nothing if all is well.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "config", Usage: "`FILE` is a config.json to check the specs with", Category: modelGroup},
			&cli.StringFlag{Name: "variant", Usage: "`VARIANT` of the specs to check the config with", Category: modelGroup},
			&cli.BoolFlag{Name: "strict", Usage: "a config key that a spec neither reads nor ignores is an error, not a warning", Category: modelGroup},
			&cli.StringFlag{Name: "stdin-filename", Usage: "`FILE` is the path that the standard input stands for", Category: modelGroup},
			&cli.BoolFlag{Name: "fix", Usage: "mend in the files what is certain, and report the rest", Category: fixGroup},
			&cli.BoolFlag{Name: "diff", Usage: "print what --fix would change, and change nothing", Category: fixGroup},
		}, reportFlags()...),
		Action: func(c *cli.Context) error {
			l, err := newLinter(c)
			if err != nil {
				return err
			}
			return l.run()
		},
	}
}

// linter is one run of the command.
type linter struct {
	cli     *cli.Context
	options compiler.Options
	paths   []string
	stdin   *readText // nil unless it is among the paths
}

func newLinter(c *cli.Context) (*linter, error) {
	if c.NArg() == 0 {
		return nil, usage(c, "give at least one spec")
	}
	if c.Bool("fix") && c.Bool("diff") {
		return nil, usage(c, "--fix changes files and --diff does not: give one of them")
	}
	l := &linter{cli: c, options: compiler.Options{Config: c.String("config"), Variant: c.String("variant"), Strict: c.Bool("strict")}}
	var err error
	if l.paths, l.stdin, err = specFiles(c); err != nil {
		return nil, err
	}
	return l, nil
}

// readText is the text of a spec that comes from no file.
type readText struct {
	path string
	text []byte
}

// specFiles returns the paths that the arguments name: directories give the
// specs in them, and - the standard input, which is read.
func specFiles(c *cli.Context) (paths []string, stdin *readText, err error) {
	for _, arg := range c.Args().Slice() {
		switch info, statErr := os.Stat(arg); {
		case arg == spec.Stdin && stdin == nil:
			stdin = &readText{path: arg}
			if name := c.String("stdin-filename"); name != "" {
				stdin.path = name
			}
			if stdin.text, err = input.ReadAll(c.App.Reader, "the standard input", input.MaxText); err != nil {
				return nil, nil, err
			}
			paths = append(paths, stdin.path)
		case statErr == nil && info.IsDir():
			within, err := specsIn(arg)
			if err != nil {
				return nil, nil, err
			}
			_, noConfig := os.Stat(filepath.Join(arg, "config.json"))
			if len(within) == 0 && noConfig != nil && !slices.Contains(spec.Names(), arg) {
				return nil, nil, usage(c, "%s holds no specs", arg)
			}
			if len(within) == 0 {
				within = []string{arg} // the name of a carried spec, or a checkpoint, which is reported
			}
			paths = append(paths, within...)
		default:
			paths = append(paths, arg)
		}
	}
	if stdin == nil && c.String("stdin-filename") != "" {
		return nil, nil, usage(c, "--stdin-filename is of use with - only")
	}
	return paths, stdin, nil
}

var specKey = regexp.MustCompile(`(?m)^(\x{feff})?spec\s*:`)

// specsIn returns the specs below a directory: YAML files with the key spec.
func specsIn(dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch ext := filepath.Ext(path); {
		case err != nil:
			return err
		case e.IsDir():
			if strings.HasPrefix(e.Name(), ".") && path != dir {
				return filepath.SkipDir
			}
			return nil
		case ext != ".yaml" && ext != ".yml":
			return nil
		}
		text, err := input.ReadText(path)
		if err == nil && specKey.Match(text) {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}

func (l *linter) run() error {
	files := l.lintAll()
	if !l.cli.Bool("fix") && !l.cli.Bool("diff") {
		return l.report(files)
	}
	l.mendAll(files)
	if l.cli.Bool("diff") {
		return l.diff(files)
	}
	return l.write(files)
}

// lintedFile is a file with what is found in it.
type lintedFile struct {
	path  string
	found diag.List
	// Of a file that is mended: its text, the new one, and how many changes that took.
	text, mended []byte
	changes      int
}

// lintAll checks all files, some at a time.
func (l *linter) lintAll() []*lintedFile {
	files := make([]*lintedFile, len(l.paths))
	for i, path := range l.paths {
		files[i] = &lintedFile{path: path}
	}
	eachFile(files, func(f *lintedFile) { f.found = l.lint(f) })
	return files
}

// eachFile does something for all files, as many at a time as there are cores.
func eachFile(files []*lintedFile, do func(*lintedFile)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, f := range files {
		slots <- struct{}{}
		all.Go(func() {
			do(f)
			<-slots
		})
	}
	all.Wait()
}

// lint checks a file as it stands, or as it is mended.
func (l *linter) lint(f *lintedFile) diag.List {
	o := l.options
	o.Spec = f.path
	o.Read = func(path string) ([]byte, error) {
		if f.mended != nil && path == f.path {
			return f.mended, nil
		}
		return l.read(path)
	}
	return compiler.Lint(o)
}

// read reads a file, or the standard input by the path it stands for.
func (l *linter) read(path string) ([]byte, error) {
	if l.stdin != nil && path == l.stdin.path {
		return l.stdin.text, nil
	}
	return spec.ReadSource(path)
}

func (l *linter) report(files []*lintedFile) error {
	var found diag.List
	for _, f := range files {
		found = append(found, f.found...)
	}
	read := func(path string) ([]byte, error) {
		for _, f := range files {
			if f.path == path && f.mended != nil {
				return f.mended, nil
			}
		}
		return l.read(path)
	}
	return reportOf(l.cli, found, sources{read: read, files: l.paths})
}

// maxRounds bounds how often a file is mended: a fix may uncover what the fault
// had hidden.
const maxRounds = 10

// mendAll applies the fixes that are certain, in memory.
func (l *linter) mendAll(files []*lintedFile) {
	eachFile(files, func(f *lintedFile) {
		text, err := l.read(f.path)
		if err != nil {
			return // reported as a finding
		}
		f.text, f.mended = text, text
		for range maxRounds {
			mended, changes := diag.Apply(f.mended, certainFixes(f.path, f.found))
			if changes == 0 {
				return
			}
			f.mended, f.changes = mended, f.changes+changes
			f.found = l.lint(f)
		}
	})
}

func certainFixes(path string, found diag.List) (fixes []diag.Fix) {
	for _, d := range found {
		if d.Fix != nil && !d.Fix.Guess && d.Fix.Range.File == path {
			fixes = append(fixes, *d.Fix)
		}
	}
	return fixes
}

// diff prints what the fixes change. A difference is a finding.
func (l *linter) diff(files []*lintedFile) error {
	changed := false
	for _, f := range files {
		changed = printDiff(l.cli, f.path, f.text, f.mended) || changed
	}
	if err := l.report(files); err != nil || !changed {
		return err
	}
	return errFindings
}

// write writes the mended files, and reports what is left. The standard input
// goes to the standard output.
func (l *linter) write(files []*lintedFile) error {
	changed, changes := 0, 0
	for _, f := range files {
		if l.stdin != nil && f.path == l.stdin.path {
			if _, err := l.cli.App.Writer.Write(f.mended); err != nil {
				return err
			}
			l.stdin.text = f.mended
		} else if f.changes > 0 {
			if err := replaceFile(f.path, f.mended); err != nil {
				return err
			}
		}
		if f.changes > 0 {
			changed, changes = changed+1, changes+f.changes
		}
	}
	if changed > 0 {
		fmt.Fprintf(l.cli.App.ErrWriter, "mobiusc: %s in %s\n", number.Count(changes, "fix"), number.Count(changed, "file"))
		if len(files) > 1 {
			files = l.lintAll() // a file may be the parent of another
		}
	}
	return l.report(files)
}
