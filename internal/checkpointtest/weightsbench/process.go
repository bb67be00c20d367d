//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cost is what a process took: wall time until what it wrote is on disk, processor
// time, and its peak memory in bytes, as which the kernel counts this program's own
// few megabytes too.
type cost struct {
	wall, cpu time.Duration
	peak      int64
	others    float64 // part of the machine's processors that others used meanwhile
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
	start, before := time.Now(), busyTime()
	if out, err := cmd.CombinedOutput(); err != nil {
		return c, fmt.Errorf("%s: %w: %s", line[0], err, strings.TrimSpace(string(out)))
	}
	if err := syncFiles(target); err != nil {
		return c, err
	}
	c.wall = time.Since(start)
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if after := busyTime(); after > 0 {
		c.others = max(0, (after-before-c.cpu).Seconds()/c.wall.Seconds()/float64(runtime.NumCPU()))
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	c.peak = usage.Maxrss
	if runtime.GOOS != "darwin" { // which counts bytes
		c.peak <<= 10
	}
	return c, nil
}

// busyTime returns the time that all processors have worked since the machine
// started, in all modes; 0 where that is not known.
func busyTime() time.Duration {
	text, err := os.ReadFile("/proc/stat") // hundredths of a second: user nice system idle iowait irq softirq steal
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var busy time.Duration
	for i, field := range strings.Fields(line) {
		n, err := strconv.ParseInt(field, 10, 64)
		if idle := i == 4 || i == 5; err == nil && !idle && i <= 8 {
			busy += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return busy
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
