package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, last: -1}
	for _, n := range []int64{0, 1, 500, 400, 1000} { // workers report out of order
		p.show("copying", n, 1000)
	}
	p.show("hashing", 250, 1000)
	p.clear()
	want := "\rcopying  [                                        ]   0% of 1.0 kB" +
		"\rcopying  [####################                    ]  50% of 1.0 kB" +
		"\rcopying  [########################################] 100% of 1.0 kB" +
		"\rhashing  [##########                              ]  25% of 1.0 kB" +
		"\r\x1b[K"
	if out.String() != want {
		t.Errorf("drawn:\n%q\nwant:\n%q", out.String(), want)
	}
}

func TestProgressInParallel(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, last: -1}
	var wg sync.WaitGroup
	for n := range int64(200) {
		wg.Go(func() { p.show("copying", n, 199) })
	}
	wg.Wait()
	if n := strings.Count(out.String(), "\r"); n > 101 {
		t.Errorf("drawn %d times", n)
	}
	if !strings.Contains(out.String(), "100%") {
		t.Error("100% is not drawn")
	}
}

func TestNoProgress(t *testing.T) {
	var p *progress
	p.show("copying", 1, 2)
	p.clear()
	(&progress{last: -1}).clear() // nothing was drawn: nothing to remove
}

func TestByteSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 15_360: "15.4 kB", 499_016: "499.0 kB",
		999_999: "1000.0 kB", 54_713_456_488: "54.7 GB", 3_000_000_000_000: "3.0 TB", 5_000_000_000_000_000: "5000.0 TB",
	} {
		if got := byteSize(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
