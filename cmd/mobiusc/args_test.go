package main

import (
	"slices"
	"strings"
	"testing"
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
