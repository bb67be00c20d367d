package number

import "testing"

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -100: "-100", 1234567: "1,234,567"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, cases := range map[int]map[string]string{
		0: {"file": "0 files"},
		1: {"file": "1 file", "entry": "1 entry"},
		2: {"file": "2 files", "entry": "2 entries", "key": "2 keys", "fix": "2 fixes", "match": "2 matches"},
	} {
		for noun, want := range cases {
			if got := Count(n, noun); got != want {
				t.Errorf("Count(%d, %s): %s, want %s", n, noun, got, want)
			}
		}
	}
}
