package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"mobiusc/internal/suggest"
)

// arrange puts a command line into the order that the library reads: the
// program's own options, the command, its options, its other arguments. The
// library stops reading options at the first argument that is none, but people
// write `compile spec.yaml -o out`. What follows "--" stays as it is.
//
// It also reports what the library would report in words of its own: unknown
// options, missing and empty values and numbers that are none; and an option of
// one value that is given twice, of which the library would take the last.
func arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	a := &arrangement{app: app, given: map[cli.Flag]string{}}
	for rest := args[1:]; len(rest) > 0; {
		var err error
		if rest, err = a.take(rest); err != nil {
			return nil, err
		}
	}
	if a.name == "help" { // help COMMAND is COMMAND --help
		a.name, a.own = "", []string{"--help"}
		if len(a.rest) > 0 {
			a.name, a.rest = a.rest[0], nil
		}
	}
	out := slices.Concat(args[:1], a.global)
	if a.name != "" {
		out = append(out, a.name)
	}
	return slices.Concat(out, a.own, a.rest), nil
}

// arrangement is the state of one arrange.
type arrangement struct {
	app    *cli.App
	name   string       // of the command
	cmd    *cli.Command // nil before its name, and if there is none of the name
	global []string     // the program's options
	own    []string     // the command's
	rest   []string
	given  map[cli.Flag]string // the values of options so far
}

// take takes the next argument, with its value if it is an option that has one,
// and returns what follows.
func (a *arrangement) take(args []string) ([]string, error) {
	arg := args[0]
	switch {
	case arg == "--":
		a.rest = append(a.rest, args...)
		return nil, nil
	case strings.HasPrefix(arg, "-") && arg != "-":
		return a.option(args)
	case arg == "" && (a.cmd == nil || !a.cmd.Hidden): // a variable of a shell that is not set
		return nil, fmt.Errorf("%san argument is empty", a.prefix())
	case a.name == "":
		a.name, a.cmd = arg, a.app.Command(arg)
	default:
		a.rest = append(a.rest, arg)
	}
	return args[1:], nil
}

func (a *arrangement) option(args []string) ([]string, error) {
	name, value, joined := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	list, flag := &a.global, find(a.app.Flags, name)
	if a.cmd != nil && flag == nil {
		list, flag = &a.own, find(a.cmd.Flags, name)
	}
	switch {
	case slices.Contains([]string{"help", "h"}, name):
		if a.name != "" {
			list = &a.own
		}
		*list = append(*list, args[0])
		return args[1:], nil
	case slices.Contains([]string{"version", "v"}, name) && a.name == "":
		a.global = append(a.global, args[0])
		return args[1:], nil
	case flag == nil && a.name != "" && a.cmd == nil:
		return args[1:], nil // the command is at fault
	case flag == nil:
		return nil, a.unknown(name)
	}
	if _, isBool := flag.(*cli.BoolFlag); isBool {
		if !joined {
			value = "true"
		}
		*list = append(*list, args[0])
		return args[1:], a.give(flag, name, value)
	}
	n := 1
	if !joined {
		if len(args) < 2 || strings.HasPrefix(args[1], "--") {
			return nil, fmt.Errorf("%s%s needs a value", a.prefix(), dashed(name))
		}
		value, n = args[1], 2
	}
	if value == "" && (a.cmd == nil || !a.cmd.Hidden) { // of a word that is not begun, shells pass on nothing
		return nil, fmt.Errorf("%s%s is empty: give it a value, or leave it away", a.prefix(), dashed(name))
	}
	if err := a.give(flag, name, value); err != nil {
		return nil, err
	}
	if err := checkNumber(flag, value); err != nil {
		return nil, fmt.Errorf("%s%s takes %w, not %q", a.prefix(), dashed(name), err, value)
	}
	*list = append(*list, dashed(name)+"="+value)
	return args[n:], nil
}

// give records the value of an option, which may be a second one only where the
// option takes many, or where a switch says the same again.
func (a *arrangement) give(flag cli.Flag, name, value string) error {
	before, twice := a.given[flag]
	_, isBool := flag.(*cli.BoolFlag)
	many, ok := flag.(cli.DocGenerationSliceFlag)
	if twice && (!isBool || before != value) && (!ok || !many.IsSliceFlag()) {
		return fmt.Errorf("%s%s takes one value, and is given twice: %s, then %s", a.prefix(), dashed(name), before, value)
	}
	a.given[flag] = value
	return nil
}

// unknown reports an option that neither the command nor the program has.
func (a *arrangement) unknown(name string) error {
	flags, help := a.app.Flags, "mobiusc --help"
	if a.cmd != nil {
		flags, help = slices.Concat(flags, a.cmd.Flags), "mobiusc "+a.cmd.Name+" --help"
	}
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	hint := help + " lists the options"
	if near := suggest.Nearest(name, names); near != "" {
		hint = "did you mean " + dashed(near) + "?"
	}
	return fmt.Errorf("%sthere is no option %s; %s", a.prefix(), dashed(name), hint)
}

// prefix names the command in a message.
func (a *arrangement) prefix() string {
	if a.cmd == nil {
		return ""
	}
	return a.cmd.Name + ": "
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func find(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// checkNumber checks the value of an option that takes a number. The error says
// what the option takes.
func checkNumber(flag cli.Flag, value string) error {
	var err error
	want := "a number"
	switch flag.(type) {
	case *cli.IntFlag, *cli.Int64Flag:
		_, err = strconv.ParseInt(value, 0, 64)
	case *cli.Uint64Flag:
		_, err = strconv.ParseUint(value, 0, 64)
		want = "a number from 0 on"
	case *cli.Float64Flag:
		_, err = strconv.ParseFloat(value, 64)
	}
	if err != nil {
		return fmt.Errorf("%s", want)
	}
	return nil
}
