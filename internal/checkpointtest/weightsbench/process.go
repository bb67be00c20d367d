//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// cost is what a process took: wall time until what it wrote is on disk, processor
// time, and its peak memory in bytes. The kernel counts this program's own few megabytes as the
// other's until it executes.
type cost struct {
	wall, cpu time.Duration
	peak      int64
}

// timed runs a command line that fills the directory target, from an empty
// directory that has nothing left to write to disk.
func timed(target string, line []string) (c cost, err error) {
	if err := os.RemoveAll(target); err != nil {
		return c, err
	}
	if err := os.Mkdir(target, 0o755); err != nil {
		return c, err
	}
	syscall.Sync()
	cmd := exec.Command(line[0], line[1:]...)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return c, fmt.Errorf("%s: %w: %s", line[0], err, strings.TrimSpace(string(out)))
	}
	if err := syncFiles(target); err != nil {
		return c, err
	}
	c.wall = time.Since(start)
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	c.peak = usage.Maxrss
	if runtime.GOOS != "darwin" { // which counts bytes
		c.peak <<= 10
	}
	return c, nil
}

// syncFiles waits until the files of a directory are on disk. mobiusc has seen to
// that itself; cp has not.
func syncFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		var f *os.File
		if f, err = os.Open(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return err
}
