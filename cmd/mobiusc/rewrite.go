package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"mobiusc/internal/textdiff"
)

// What the commands that rewrite files share.

// printDiff prints the difference between a file and its new text, and reports
// whether there is one.
func printDiff(c *cli.Context, path string, before, after []byte) bool {
	diff := textdiff.Unified(path, path, string(before), string(after))
	fmt.Fprint(c.App.Writer, diff)
	return diff != ""
}

// replaceFile gives a file a new text: whole, or not at all. A link stays a link,
// and the file keeps its permissions.
func replaceFile(path string, text []byte) (err error) {
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // it is gone once it has been renamed
	_, err = temp.Write(text)
	for _, step := range []func() error{temp.Sync, func() error { return temp.Chmod(info.Mode().Perm()) }, temp.Close} {
		if e := step(); err == nil {
			err = e
		}
	}
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
