package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/compiler"
	"mobiusc/compiler/spec"
	"mobiusc/internal/diag"
)

// The scripts that teach a shell to complete mobiusc's command line. They know
// nothing of it themselves: each asks the hidden command complete.
var (
	//go:embed completion/mobiusc.bash
	bashCompletion string
	//go:embed completion/mobiusc.zsh
	zshCompletion string
	//go:embed completion/mobiusc.fish
	fishCompletion string
	//go:embed completion/mobiusc.ps1
	powershellCompletion string
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand() *cli.Command {
	scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion, "powershell": powershellCompletion}
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the script by which a shell completes command lines",
		ArgsUsage: "SHELL",
		Description: "SHELL is bash, zsh, fish or powershell.\n\n" +
			"  bash        source <(mobiusc completion bash)                     in ~/.bashrc\n" +
			"  zsh         source <(mobiusc completion zsh)                      in ~/.zshrc, after compinit\n" +
			"  fish        mobiusc completion fish | source                      in ~/.config/fish/config.fish\n" +
			"  PowerShell  mobiusc completion powershell | Out-String | Invoke-Expression   in $PROFILE",
		Action: func(c *cli.Context) error {
			shell, err := oneArgument(c, "one shell: "+strings.Join(shells, ", "))
			if err != nil {
				return err
			}
			script, ok := scripts[shell]
			if !ok {
				err := fmt.Sprintf("there is no script for %s: there are %s", shell, strings.Join(shells, ", "))
				if near := nearestName(shell, shells); near != "" {
					err += "; " + near
				}
				return usage(c, "%s", err)
			}
			_, err = fmt.Fprint(c.App.Writer, script)
			return err
		},
	}
}

// completeCommand prints what may stand in place of a word of a command line:
// one candidate a line, a tab, what it is. The line :files asks the shell to add
// the names of files.
func completeCommand() *cli.Command {
	return &cli.Command{
		Name:      "complete",
		Hidden:    true,
		Usage:     "print what can stand next on a command line; the scripts of completion call it",
		ArgsUsage: "-- WORD…",
		Flags:     []cli.Flag{&cli.StringFlag{Name: "current", Usage: "`WORD` is what is typed so far of the word in hand"}},
		Action: func(c *cli.Context) error {
			for _, line := range complete(c.App, c.Args().Slice(), c.String("current")) {
				fmt.Fprintln(c.App.Writer, line)
			}
			return nil
		},
	}
}

const files = ":files"

// complete returns the candidates for a word after the given ones.
func complete(app *cli.App, before []string, current string) []string {
	before = slices.DeleteFunc(slices.Clone(before), func(w string) bool { return w == "=" }) // bash cuts --x=y
	current = strings.TrimPrefix(current, "=")
	cmd, flags := (*cli.Command)(nil), app.Flags
	if name := commandIn(app, before); name == "help" {
		return matching(commandNames(app), current)
	} else if name != "" {
		if cmd = app.Command(name); cmd == nil {
			return nil
		}
		flags = slices.Concat(cmd.Flags, app.Flags)
	}
	if option, value, joined := strings.Cut(current, "="); joined && strings.HasPrefix(option, "-") {
		var out []string
		for _, v := range optionValues(cmd, flags, option, before) {
			if v != files && strings.HasPrefix(v, value) {
				out = append(out, option+"="+v)
			}
		}
		return out
	}
	if n := len(before); n > 0 {
		if values := optionValues(cmd, flags, before[n-1], before); values != nil {
			return matching(values, current)
		}
	}
	switch {
	case strings.HasPrefix(current, "-"):
		return matching(optionNames(flags), current)
	case cmd == nil:
		return matching(commandNames(app), current)
	}
	return matching(argumentsOf(cmd), current)
}

// commandIn returns the first word that is neither an option of the program nor
// the value of one, or "".
func commandIn(app *cli.App, words []string) string {
	for i, w := range words {
		isValue := i > 0 && optionValues(nil, app.Flags, words[i-1], nil) != nil
		if !strings.HasPrefix(w, "-") && !isValue {
			return w
		}
	}
	return ""
}

func matching(candidates []string, current string) (out []string) {
	for _, c := range candidates {
		if c == files || strings.HasPrefix(c, current) {
			out = append(out, c)
		}
	}
	return out
}

func optionNames(flags []cli.Flag) (names []string) {
	for _, f := range append(slices.Clone(flags), helpFlag()) {
		_, text := describeFlag(f)
		names = append(names, dashed(f.Names()[0])+"\t"+text)
	}
	return names
}

func commandNames(app *cli.App) (names []string) {
	for _, c := range app.Commands {
		if !c.Hidden {
			names = append(names, c.Name+"\t"+c.Usage)
		}
	}
	return append(names, "help\tprint the help of a command")
}

// optionValues returns what can follow a word: nil if it is no option that takes
// a value.
func optionValues(cmd *cli.Command, flags []cli.Flag, word string, before []string) []string {
	f := find(flags, strings.TrimLeft(word, "-"))
	if f == nil || !strings.HasPrefix(word, "-") {
		return nil
	}
	if _, isBool := f.(*cli.BoolFlag); isBool {
		return nil
	}
	switch name := f.Names()[0]; name {
	case "format":
		if cmd != nil && cmd.Name == "specs" {
			return []string{"text", "json"}
		}
		return diag.Formats
	case "fail-on":
		return failOn
	case "color":
		return []string{"auto", "always", "never"}
	case "dtype", "storage-dtype":
		return compiler.DTypes
	case "linear-attention":
		return []string{"chunked", "recurrent"}
	case "logits":
		return []string{"all", "last"}
	case "extends":
		return spec.Names()
	case "variant":
		return variantsOf(before)
	case "weights":
		return []string{random + "\trandom numbers instead of a checkpoint", files}
	}
	return []string{files}
}

// variantsOf returns the variants of the first spec among some words.
func variantsOf(words []string) []string {
	out := []string{}
	for _, w := range words {
		if s, _ := spec.Load(w, nil); s != nil && !strings.HasPrefix(w, "-") {
			return append(out, s.Variants()...)
		}
	}
	return out
}

// argumentsOf returns what the arguments of a command can be.
func argumentsOf(cmd *cli.Command) []string {
	switch {
	case cmd.Name == "completion":
		return shells
	case cmd.Name == "explain":
		var all []string
		for _, k := range catalogue() {
			all = append(all, k.Name+"\t"+k.Code+": "+k.Summary, k.Code+"\t"+k.Name+": "+k.Summary)
		}
		return all
	case cmd.Name == "specs":
		return spec.Names()
	case strings.HasPrefix(cmd.ArgsUsage, "SPEC") && cmd.Name != "fmt":
		return append(spec.Names(), files)
	case cmd.ArgsUsage == "":
		return nil
	}
	return []string{files}
}
