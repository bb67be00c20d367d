//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd

package emit

import (
	"errors"
	"os"
)

// lockDir is not supported here: what a killed process leaves stays.
func lockDir(string) (*os.File, error) { return nil, errors.ErrUnsupported }
