package emit

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchangeDirectories lets two directories change places, at once where the file system can.
func exchangeDirectories(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return exchangeByRename(a, b)
	}
	return err
}
