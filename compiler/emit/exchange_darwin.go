package emit

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchangeDirectories lets two directories change places, at once where the file system can.
func exchangeDirectories(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) {
		return exchangeByRename(a, b)
	}
	return err
}
