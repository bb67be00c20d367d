// Package specs carries the architecture specs, so that one binary compiles
// every architecture that it names.
package specs

import "embed"

// FS holds the specs: NAME.yaml each
//
//go:embed *.yaml
var FS embed.FS
