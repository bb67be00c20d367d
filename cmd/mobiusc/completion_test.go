package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	app := newApp(streams{})
	for _, c := range []struct {
		before, current string
		want            []string // each must be offered
		never           string   // a part that no candidate has
	}{
		{"", "", []string{"compile", "lint", "explain", "help"}, "complete\t"},
		{"", "li", []string{"lint"}, "compile"},
		{"", "--", []string{"--color", "--help"}, "--fix"},
		{"lint", "", []string{"llama", "qwen3", files}, "--"},
		{"lint", "--f", []string{"--fix", "--format", "--fail-on"}, "--diff"},
		{"lint --format", "", []string{"text", "sarif", "junit"}, files},
		{"lint --format", "s", []string{"sarif"}, "text"},
		{"lint --format =", "s", []string{"sarif"}, "text"},
		{"lint", "--format=g", []string{"--format=github", "--format=gitlab"}, "sarif"},
		{"--color never lint", "--co", []string{"--color", "--config"}, "--fix"},
		{"compile", "--dt", []string{"--dtype"}, "--storage"},
		{"compile --dtype", "", []string{"bfloat16", "float32"}, files},
		{"compile llama --weights", "", []string{"random", files}, ""},
		{"compile qwen3_5 --variant", "", []string{"text_only"}, files},
		{"compile --variant", "", nil, ""},
		{"compile -o", "", []string{files}, "llama"},
		{"explain", "MB02", []string{"MB0201"}, "MB03"},
		{"explain", "unk", []string{"unknown-key"}, "MB"},
		{"completion", "", []string{"bash", "zsh", "fish", "powershell"}, files},
		{"specs --format", "", []string{"json"}, "sarif"},
		{"help", "com", []string{"compile"}, "lint"},
		{"inspect", "", []string{files}, "llama"},
		{"schema", "", nil, ""},
		{"nothing", "", nil, ""},
	} {
		got := complete(app, strings.Fields(c.before), c.current)
		var words []string
		for _, line := range got {
			word, _, _ := strings.Cut(line, "\t")
			words = append(words, word)
			if c.never != "" && strings.Contains(word+"\t", c.never) {
				t.Errorf("mobiusc %s %s offers %s", c.before, c.current, word)
			}
		}
		for _, w := range c.want {
			if !slices.Contains(words, w) {
				t.Errorf("mobiusc %s %s does not offer %s, but %v", c.before, c.current, w, words)
			}
		}
		if c.want == nil && len(words) > 0 {
			t.Errorf("mobiusc %s %s offers %v", c.before, c.current, words)
		}
	}
}

// TestCompletionScripts runs the scripts in the shells that are installed, with
// the real program. Bash must be; each of the others is a test of its own.
func TestCompletionScripts(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "mobiusc")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"two words.yaml", "twin.yaml"} {
		if err := os.WriteFile(filepath.Join(work, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ shell, script, want string }{
		{"bash", `source <(mobiusc completion bash)
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mobiusc; printf '%s;' "${COMPREPLY[@]}"; echo; }
ask mobiusc exp
ask mobiusc lint --fa
ask mobiusc lint --format = s
ask mobiusc lint tw
complete -p mobiusc`, "explain;expand;\n--fail-on;\nsarif;\ntwin.yaml;two words.yaml;\ncomplete -F _mobiusc mobiusc\n"},
		{"zsh", `autoload -Uz compinit && compinit -u -d "$PWD/.dump"
source <(mobiusc completion zsh)
_describe() { print -l -- "${(@P)3}"; }
_files() { print files; }
ask() { words=("$@"); CURRENT=$#; _mobiusc; }
ask mobiusc exp
ask mobiusc lint --fa
ask mobiusc compile -o ''
print "$_comps[mobiusc]"`, "explain:say what a finding means, with an example\nexpand:print a spec with its parents merged, and where each line comes from\n" +
			"--fail-on:exit with 1 if there is a finding of SEVERITY or worse: error (default), warning, note or never\nfiles\n_mobiusc\n"},
		{"fish", `mobiusc completion fish | source
complete -C 'mobiusc exp'
complete -C 'mobiusc lint --format s'
complete -C 'mobiusc lint twi'`, "expand\tprint a spec with its parents merged, and where each line comes from\nexplain\tsay what a finding means, with an example\nsarif\ntwin.yaml\n"},
		{"pwsh", `mobiusc completion powershell | Out-String | Invoke-Expression
(TabExpansion2 'mobiusc exp' 11).CompletionMatches.CompletionText
(TabExpansion2 'mobiusc lint --format s' 23).CompletionMatches.CompletionText`, "explain\nexpand\nsarif\n"},
	} {
		t.Run(c.shell, func(t *testing.T) {
			shell, err := exec.LookPath(c.shell)
			if err != nil && c.shell != "bash" {
				t.Skipf("%s is not installed: its script is not tested here", c.shell)
			}
			args := map[string][]string{"bash": {"--norc", "-c"}, "zsh": {"-f", "-c"}, "fish": {"--no-config", "-c"}, "pwsh": {"-NoProfile", "-Command"}}[c.shell]
			cmd := exec.Command(shell, append(args, c.script)...)
			cmd.Dir = work
			cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir)
			out, err := cmd.CombinedOutput()
			if got := string(out); err != nil || got != c.want {
				t.Errorf("%s prints\n%s\nwant\n%s\n%v", c.shell, got, c.want, err)
			}
		})
	}
}
