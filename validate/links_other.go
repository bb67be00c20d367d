//go:build !unix

package validate

import "io/fs"

// hardLinks returns 1: the count of names is not known on this system.
func hardLinks(fs.FileInfo) uint64 { return 1 }
