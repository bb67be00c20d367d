package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path"
	"strings"

	"mobiusc/internal/input"
)

// gitFiles reads files as they are at a revision of the git repository around the
// working directory. Their names begin with the revision: HEAD:./specs/own.yaml.
type gitFiles struct {
	revision string
	prefix   string // of the working directory in the repository: "" or sub/dir/
}

func newGitFiles(revision string) (*gitFiles, error) {
	if strings.HasPrefix(revision, "-") {
		return nil, fmt.Errorf("git: %q is no revision", revision)
	}
	prefix, err := git("rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	if _, err := git("rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}"); err != nil {
		return nil, fmt.Errorf("git: there is no revision %q", revision)
	}
	return &gitFiles{revision, strings.TrimSpace(prefix)}, nil
}

// path returns the name of a file that is named relative to the working directory.
func (g *gitFiles) path(name string) string {
	return g.revision + ":./" + path.Join(g.prefix, name)
}

// read reads a file of the revision, or, by a name without one, from disk.
func (g *gitFiles) read(name string) ([]byte, error) {
	inside, ok := strings.CutPrefix(name, g.revision+":./")
	if !ok {
		return input.ReadText(name)
	}
	text, err := git("show", g.revision+":"+inside)
	return []byte(text), err
}

// git runs git and returns what it prints. The error is what git says.
func git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("git: not found; it is needed to read a revision")
	}
	if said := strings.TrimSpace(stderr.String()); err != nil && said != "" {
		return "", fmt.Errorf("git: %s", strings.TrimPrefix(said, "fatal: "))
	}
	return string(out), err
}
