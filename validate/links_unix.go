//go:build unix

package validate

import (
	"io/fs"
	"syscall"
)

// hardLinks returns how many names a file has.
func hardLinks(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}
