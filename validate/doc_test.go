package validate_test

import (
	"fmt"
	"strings"
	"testing"

	"mobiusc/internal/golden"
	"mobiusc/validate"
)

const page = "../docs/validator.md"

// TestPage keeps the tables of docs/validator.md equal to the catalogue and to
// the list of disagreements. UPDATE=1 rewrites them.
func TestPage(t *testing.T) {
	sections := map[string]string{"disagreements": disagreementTable()}
	for group := '1'; group <= '8'; group++ {
		name := "MBV" + string(group)
		sections[name] = checkTable(name)
	}
	golden.Page(t, page, sections)
}

func checkTable(group string) string {
	var b strings.Builder
	b.WriteString("| code | name | severity | what is wrong |\n|---|---|---|---|\n")
	for _, c := range validate.Checks() {
		if strings.HasPrefix(c.Code, group) {
			fmt.Fprintf(&b, "| [%s](diagnostics/%s.md) | %s | %s | %s |\n", c.Code, c.Code, c.Name, c.Severity, c.Summary)
		}
	}
	return b.String()
}

func disagreementTable() string {
	var b strings.Builder
	b.WriteString("| models | ONNX's checker | this validator | why |\n|---|---|---|---|\n")
	for _, d := range disagreements {
		onnx, ours := "accepts", "error"
		if !d.stricter {
			onnx, ours = "error", "accepts, or warns"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", strings.ReplaceAll(d.models, "|", `\|`), onnx, ours, d.why)
	}
	return b.String()
}
