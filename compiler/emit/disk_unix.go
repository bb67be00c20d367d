//go:build linux || darwin || freebsd

package emit

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeBytes returns how many bytes can still be written in a directory; ok is
// false where that is not known. A variable for tests only.
var freeBytes = func(dir string) (n int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// onOtherDevice reports whether two files are known to lie on different devices.
func onOtherDevice(a, b os.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, also := b.Sys().(*syscall.Stat_t)
	return ok && also && x.Dev != y.Dev
}
