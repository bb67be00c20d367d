// Package schemas carries the JSON Schemas that the project publishes. Editors
// read the files; the compiler validates with the same bytes.
package schemas

import _ "embed"

// Spec is the JSON Schema of architecture specs (draft 7), generated from the
// block declarations.
//
//go:embed spec.schema.json
var Spec []byte
