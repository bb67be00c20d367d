package diag

import "testing"

func span(fromLine, fromCol, toLine, toCol int) Range {
	return Range{File: "f", Start: Pos{fromLine, fromCol}, End: Pos{toLine, toCol}}
}

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name, text string
		fixes      []Fix
		want       string
		made       int
	}{
		{"nothing", "a: b\n", nil, "a: b\n", 0},
		{"one", "taks: a\n", []Fix{{Range: span(1, 1, 1, 5), NewText: "task"}}, "task: a\n", 1},
		{"two, the last first", "a: b\nc: d\n", []Fix{{Range: span(2, 1, 2, 2), NewText: "x"}, {Range: span(1, 4, 1, 5), NewText: "yy"}}, "a: yy\nx: d\n", 2},
		{"overlapping", "abcd", []Fix{{Range: span(1, 1, 1, 4), NewText: "x"}, {Range: span(1, 3, 1, 5), NewText: "y"}}, "xd", 1},
		{"twice the same", "ab", []Fix{{Range: span(1, 1, 1, 1), NewText: "x"}, {Range: span(1, 1, 1, 1), NewText: "x"}}, "xab", 1},
		{"after wide characters", "größe: 𝛼β\n", []Fix{{Range: span(1, 9, 1, 10), NewText: "b"}}, "größe: 𝛼b\n", 1},
		{"CR LF", "a: b\r\nc: d\r\n", []Fix{{Range: span(2, 4, 2, 5), NewText: "e"}}, "a: b\r\nc: e\r\n", 1},
		{"CR alone", "a: b\rc: d", []Fix{{Range: span(2, 1, 2, 2), NewText: "e"}}, "a: b\re: d", 1},
		{"byte order mark", "\ufeffa: b", []Fix{{Range: span(1, 1, 1, 2), NewText: "c"}}, "\ufeffc: b", 1},
		{"at the end of a line", "a:\nb: 1", []Fix{{Range: span(1, 3, 1, 3), NewText: " null"}}, "a: null\nb: 1", 1},
		{"over two lines", "a\nb\nc", []Fix{{Range: span(1, 1, 3, 1)}}, "c", 1},
		{"beyond the text", "a", []Fix{{Range: span(9, 9, 9, 9), NewText: "b"}}, "ab", 1},
	} {
		if got, made := Apply([]byte(c.text), c.fixes); string(got) != c.want || made != c.made {
			t.Errorf("%s: %q with %d changes, want %q with %d", c.name, got, made, c.want, c.made)
		}
	}
}
