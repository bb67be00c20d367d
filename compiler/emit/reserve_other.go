//go:build !linux

package emit

import "os"

// reserve makes a file of the given size, as a hole where that is possible.
func reserve(f *os.File, size int64) error { return f.Truncate(size) }
