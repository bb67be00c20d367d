// Package diagnostics holds a page about every kind of finding, which mobiusc
// explain prints: what is wrong and why it matters, an example with the output
// that it gives, and the same example mended. Tests run every example.
package diagnostics

import "embed"

// FS holds a page CODE.md for each code, and the overview README.md.
//
//go:embed *.md
var FS embed.FS
