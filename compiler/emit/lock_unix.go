//go:build linux || darwin || freebsd || netbsd || openbsd

package emit

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockDir locks a directory until the file is closed or the process ends. It
// fails if another process has it locked.
func lockDir(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close() //nolint:errcheck // nothing was written
		return nil, &os.PathError{Op: "flock", Path: name, Err: err}
	}
	return f, nil
}
