// Package testdata carries the published files that specs pin, so that a pinned
// model compiles from the binary alone.
package testdata

import "embed"

// Pinned holds the files of pinned models, under configs/MODEL.
//
//go:embed configs/*/*.json
var Pinned embed.FS
