package validate_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"mobiusc/validate"
)

const page = "../docs/validator.md"

// TestPage keeps the tables of docs/validator.md equal to the catalogue and to
// the list of disagreements. UPDATE=1 rewrites them.
func TestPage(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	have := string(data)
	want := have
	for group := '1'; group <= '8'; group++ {
		name := "MBV" + string(group)
		want = fill(t, want, name, checkTable(name))
	}
	want = fill(t, want, "disagreements", disagreementTable())
	switch {
	case want == have:
	case os.Getenv("UPDATE") != "":
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is out of date: run UPDATE=1 go test ./validate", page)
	}
}

// fill replaces what stands between two markers.
func fill(t *testing.T, page, name, content string) string {
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->\n"
	before, rest, ok := strings.Cut(page, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the page has no markers for %s", name)
	}
	return before + begin + content + end + after
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
