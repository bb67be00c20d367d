package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler/lsp"
)

func lspCommand() *cli.Command {
	return &cli.Command{
		Name:        "lsp",
		Usage:       "serve editors: the language server of specs",
		Description: "Speaks the Language Server Protocol on standard input and output. Editors start it; docs/editors.md says how.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stdio", Usage: "speak on standard input and output, which is the only way (for editors that insist on saying so)"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage(c, "takes no arguments")
			}
			err := lsp.Serve(c.Context, c.App.Reader, c.App.Writer, c.App.ErrWriter, version())
			if errors.Is(err, lsp.ErrNoShutdown) {
				return exitCode(1) // as the protocol has it; the editor is gone and reads nothing
			}
			return err
		},
	}
}
