package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestArrange(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", ""},
		{"compile", "compile"},
		{"compile x -o out --force", "compile -o=out --force x"},
		{"compile -o out x", "compile -o=out x"},
		{"compile --out=a=b x", "compile --out=a=b x"},
		{"compile x --color never", "--color=never compile x"},
		{"--color never compile x", "--color=never compile x"},
		{"--version", "--version"},
		{"compile x --help", "compile --help x"},
		{"help compile", "compile --help"},
		{"help", "--help"},
		{"compile -- -x --force", "compile -- -x --force"},
		{"show - --full", "show --full -"},
		{"compile x -o out --opset -1", "compile -o=out --opset=-1 x"},
		{"nothing --known x", "nothing x"},
	} {
		args := append([]string{"mobiusc"}, strings.Fields(c.args)...)
		got, err := arrange(newApp(streams{}), args)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if want := strings.Fields(c.want); !slices.Equal(got[1:], want) {
			t.Errorf("%s: %q, want %q", c.args, got[1:], want)
		}
	}
}

// TestArrangeRefuses gives every option of every command twice and empty. One
// that takes many values is the exception.
func TestArrangeRefuses(t *testing.T) {
	app := newApp(streams{})
	refused := func(want string, args ...string) {
		t.Helper()
		_, err := arrange(newApp(streams{}), append([]string{"mobiusc"}, args...))
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%q: %s, want %s", args, got, want)
		}
	}
	for _, cmd := range app.Commands {
		if cmd.Hidden {
			continue // written by the scripts of completion
		}
		for _, flag := range cmd.Flags {
			for _, name := range flag.Names() {
				option := dashed(name)
				switch flag.(type) {
				case *cli.BoolFlag:
					refused("<nil>", cmd.Name, option, option)
					refused(cmd.Name+": "+option+" takes one value, and is given twice: true, then false", cmd.Name, option, option+"=false")
					continue
				case *cli.StringSliceFlag:
					refused("<nil>", cmd.Name, option, "1", option, "2")
				default:
					refused(cmd.Name+": "+option+" takes one value, and is given twice: 1, then 2", cmd.Name, option, "1", option+"=2")
					refused(cmd.Name+": "+option+" takes one value, and is given twice: 1, then 1", cmd.Name, option, "1", "x", option, "1")
				}
				refused(cmd.Name+": "+option+" is empty: give it a value, or leave it away", cmd.Name, option, "")
				refused(cmd.Name+": "+option+" is empty: give it a value, or leave it away", cmd.Name, option+"=")
			}
		}
	}
	refused("compile: --out takes one value, and is given twice: a, then b", "compile", "-o", "a", "--out", "b")
	refused("lint: --color takes one value, and is given twice: auto, then never", "--color", "auto", "lint", "--color", "never")
}
