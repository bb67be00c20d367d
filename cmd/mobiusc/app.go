package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/internal/diag"
)

// Exit codes.
const (
	exitClean    = 0
	exitFindings = 1 // the input was read and has errors
	exitUsage    = 2 // wrong arguments, or a file that cannot be read or written
	exitInternal = 3 // a fault of mobiusc itself
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// errFindings says that errors were reported already.
var errFindings = errors.New("findings")

// internalError marks a fault of mobiusc itself.
type internalError struct{ error }

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, s streams) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(s.err, "mobiusc: internal error: %v\nThis is a fault of mobiusc, not of your files; please report it with what follows.\n%s", r, debug.Stack())
			code = exitInternal
		}
	}()
	app := newApp(s)
	err := app.RunContext(ctx, flagsFirst(app, args))
	var internal internalError
	switch {
	case err == nil:
		return exitClean
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, &internal):
		fmt.Fprintln(s.err, "mobiusc: internal error:", err)
		return exitInternal
	}
	fmt.Fprintln(s.err, "mobiusc:", err)
	return exitUsage
}

func newApp(s streams) *cli.App {
	cli.OsExiter = func(int) {} // exit codes are run's
	app := &cli.App{
		Name:                   "mobiusc",
		Usage:                  "compile architecture specs and checkpoints to ONNX packages",
		Version:                version(),
		Reader:                 s.in,
		Writer:                 s.out,
		ErrWriter:              s.err,
		HideHelpCommand:        true,
		UseShortOptionHandling: true,
		Suggest:                true,
		EnableBashCompletion:   true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "color", Value: "auto", Usage: "colour in messages: auto, always, never"},
		},
		Commands: []*cli.Command{
			compileCommand(), lintCommand(), expandCommand(), validateCommand(), inspectCommand(), showCommand(), schemaCommand(),
		},
		CommandNotFound: func(*cli.Context, string) {},
		OnUsageError:    func(_ *cli.Context, err error, _ bool) error { return err },
		ExitErrHandler:  func(*cli.Context, error) {},
	}
	app.Action = func(c *cli.Context) error {
		if c.NArg() == 0 {
			return cli.ShowAppHelp(c)
		}
		return unknownCommand(app, c.Args().First())
	}
	for _, cmd := range app.Commands {
		cmd.OnUsageError = app.OnUsageError
	}
	return app
}

func unknownCommand(app *cli.App, name string) error {
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	return fmt.Errorf("no command %q; there are %s", name, strings.Join(names, ", "))
}

// version returns the version that the module was built as.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// report prints findings and returns errFindings if any is an error.
func report(c *cli.Context, l diag.List) error {
	p := diag.Printer{W: c.App.ErrWriter, Color: useColor(c)}
	if err := p.Print(l); err != nil {
		return err
	}
	if l.HasErrors() {
		return errFindings
	}
	return nil
}

func useColor(c *cli.Context) bool {
	switch c.String("color") {
	case "always":
		return true
	case "never":
		return false
	}
	f, ok := c.App.ErrWriter.(*os.File)
	return ok && isTerminal(f) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// oneArgument returns the only argument of a command.
func oneArgument(c *cli.Context, what string) (string, error) {
	switch c.NArg() {
	case 1:
		return c.Args().First(), nil
	case 0:
		return "", fmt.Errorf("%s: give %s", c.Command.Name, what)
	}
	return "", fmt.Errorf("%s: give %s, not %d arguments (options go before it or after it, each with --)", c.Command.Name, what, c.NArg())
}
