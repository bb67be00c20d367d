package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler"
	"mobiusc/internal/suggest"
)

// Exit codes; docs/cli.md says what each command means by them.
const (
	exitClean       = 0
	exitFindings    = 1   // the input was read and has errors
	exitUsage       = 2   // what the command line asks for cannot be done: see isRequest
	exitInternal    = 3   // a fault of mobiusc itself
	exitInterrupted = 130 // 128 + SIGINT, as shells have it
)

// exitCode is an error that has been reported already.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// errFindings says that errors were reported already.
const errFindings = exitCode(exitFindings)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, s streams) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(s.err, "mobiusc: internal error: %v\n%s\n%s", r, ourFault, debug.Stack())
			code = exitInternal
		}
	}()
	app := newApp(s)
	args, err := arrange(app, args)
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	return exit(s.err, err)
}

const ourFault = "This is a fault of mobiusc, not of your files; please report it with what stands here."

// exit reports the error that a command ended with and returns the exit code.
func exit(w io.Writer, err error) int {
	var reported exitCode
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &reported):
		return int(reported)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "mobiusc: interrupted")
		return exitInterrupted
	case errors.Is(err, compiler.ErrInvalidGraph):
		fmt.Fprintf(w, "mobiusc: internal error: %v\n%s\n", err, ourFault)
		return exitInternal
	}
	fmt.Fprintln(w, "mobiusc:", plain(err))
	return exitUsage
}

// plain drops the name of the system call from an error that says nothing else:
// "x: no such file or directory", not "stat x: …".
func plain(err error) string {
	if p, ok := err.(*fs.PathError); ok {
		return p.Path + ": " + p.Err.Error()
	}
	return err.Error()
}

func newApp(s streams) *cli.App {
	cli.OsExiter = func(int) {} // exit codes are run's
	app := &cli.App{
		Name:  "mobiusc",
		Usage: "compile architecture specs and checkpoints to ONNX packages",
		Description: "  mobiusc compile SPEC --weights CHECKPOINT --out DIR       makes a package of a checkpoint\n" +
			"  mobiusc COMMAND --help                                    says more of a command\n\n" +
			"Options stand before or after a command's arguments. Exit codes: 0 clean, 1 findings, 2 what the command\n" +
			"line asks for cannot be done, 3 internal error.",
		Version:         version(),
		Reader:          s.in,
		Writer:          s.out,
		ErrWriter:       s.err,
		HideHelpCommand: true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "color", Value: "auto", Usage: "colour messages: `WHEN` is auto, always or never (default: auto)", Action: oneOf("color", []string{"auto", "always", "never"})},
		},
		Commands: []*cli.Command{
			compileCommand(), bindCommand(), verifyCommand(),
			specsCommand(), initCommand(), lintCommand(), fmtCommand(), explainCommand(), expandCommand(), schemaCommand(), lspCommand(),
			validateCommand(), inspectCommand(), diffCommand(), statsCommand(), showCommand(),
			completionCommand(), completeCommand(),
		},
		OnUsageError:   func(_ *cli.Context, err error, _ bool) error { return err },
		ExitErrHandler: func(*cli.Context, error) {},
	}
	app.Action = func(c *cli.Context) error {
		if c.NArg() == 0 {
			return cli.ShowAppHelp(c)
		}
		return unknownCommand(app, c.Args().First())
	}
	for _, cmd := range app.Commands {
		cmd.HideHelpCommand, cmd.OnUsageError, cmd.CustomHelpTemplate = true, app.OnUsageError, commandHelp(app, cmd)
	}
	app.CustomAppHelpTemplate = appHelp(app)
	return app
}

func unknownCommand(app *cli.App, name string) error {
	var names []string
	for _, c := range app.Commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	hint := "mobiusc --help lists the commands"
	if near := suggest.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Errorf("there is no command %q; %s", name, hint)
}

// version returns the version that the module was built as.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		return cmp.Or(info.Main.Version, "devel")
	}
	return "devel"
}

// oneArgument returns the only argument of a command.
func oneArgument(c *cli.Context, what string) (string, error) {
	switch c.NArg() {
	case 1:
		return c.Args().First(), nil
	case 0:
		return "", usage(c, "give %s", what)
	}
	return "", usage(c, "give %s, not %d: %s", what, c.NArg(), strings.Join(c.Args().Slice(), " "))
}

// usage returns an error about the command line.
func usage(c *cli.Context, format string, args ...any) error {
	return fmt.Errorf("%s: %s", c.Command.Name, fmt.Sprintf(format, args...))
}
