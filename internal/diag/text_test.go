package diag

import (
	"strings"
	"testing"
)

func TestPrinter(t *testing.T) {
	long := strings.Repeat("a", 300) + "WORD" + strings.Repeat("b", 300)
	for _, c := range []struct {
		name, text string
		at         Range
		want       string // from the second line on
	}{
		{"a word", "k: WORD\n", span(1, 4, 1, 8), "    1 | k: WORD\n      |    ^^^^\n"},
		{"behind a tab", "\tk: WORD\n", span(1, 5, 1, 9), "    1 | \tk: WORD\n      | \t   ^^^^\n"},
		{"behind wide characters", "日本: WORD\n", span(1, 5, 1, 9), "    1 | 日本: WORD\n      |       ^^^^\n"},
		{"wide characters", "k: 日本\n", span(1, 4, 1, 6), "    1 | k: 日本\n      |    ^^^^\n"},
		{"behind a joining mark", "e\u0301: WORD\n", span(1, 5, 1, 9), "    1 | e\u0301: WORD\n      |    ^^^^\n"},
		{"an empty range", "k: \n", span(1, 4, 1, 4), "    1 | k: \n      |    ^\n"},
		{"beyond the line", "k:\n", span(1, 9, 1, 12), "    1 | k:\n      |   ^^^\n"},
		{"several lines", "k: a\n  b\n", span(1, 4, 2, 4), "    1 | k: a\n      |    ^\n"},
		{"CR LF", "a: b\r\nk: WORD\r\n", span(2, 4, 2, 8), "    2 | k: WORD\n      |    ^^^^\n"},
		{"a byte order mark", "\ufeffk: WORD\n", span(1, 4, 1, 8), "    1 | k: WORD\n      |    ^^^^\n"},
		{"characters that steer a terminal", "k\x1b[2J\u202e: WORD\x00\n", span(1, 9, 1, 13), "    1 | k\ufffd[2J\ufffd: WORD\ufffd\n      |         ^^^^\n"},
		{"a long line", long, span(1, 301, 1, 305),
			"    1 | …" + strings.Repeat("a", 40) + "WORD" + strings.Repeat("b", 116) + "…\n      | " + strings.Repeat(" ", 41) + "^^^^\n"},
		{"a long stretch", long, span(1, 1, 1, 601), "    1 | " + strings.Repeat("a", 160) + "…\n      | " + strings.Repeat("^", 160) + "\n"},
		{"a file that is not there", "", Range{File: "other", Start: Pos{1, 1}, End: Pos{1, 2}}, ""},
	} {
		var out strings.Builder
		p := Printer{W: &out, Source: func(file string) ([]byte, error) {
			if file != "f" {
				return nil, errMissing
			}
			return []byte(c.text), nil
		}}
		d := (&Kind{Code: "MB0001", Name: "x"}).At(c.at, "a\x1b[1m message")
		if err := p.Print(List{*d}); err != nil {
			t.Fatal(err)
		}
		first, rest, _ := strings.Cut(out.String(), "\n")
		if want := c.at.String() + ": error: a\ufffd[1m message [MB0001 x]"; first != want || rest != c.want {
			t.Errorf("%s: printed\n%s\nwant\n%s\n%s", c.name, &out, want, c.want)
		}
	}
}

var errMissing = &missing{}

type missing struct{}

func (*missing) Error() string { return "missing" }
