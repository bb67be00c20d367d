package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"
)

// progress draws a bar on a terminal, at most once a percent of each kind of
// work. A nil progress draws nothing.
type progress struct {
	w io.Writer

	mu   sync.Mutex // guards what is drawn; work goes on in parallel
	what string
	last int64
}

const barWidth = 40

// newProgress returns the bar of a command: nil unless messages go to a terminal.
func newProgress(c *cli.Context) *progress {
	if f := terminal(c); f != nil && !c.Bool("quiet") {
		return &progress{w: f, last: -1}
	}
	return nil
}

// show draws the bar of one kind of work, in bytes.
func (p *progress) show(what string, done, total int64) {
	if p == nil {
		return
	}
	percent := int64(100)
	if total > 0 {
		percent = done * 100 / total
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if what == p.what && percent <= p.last { // workers report out of order
		return
	}
	p.what, p.last = what, percent
	bar := strings.Repeat("#", int(percent)*barWidth/100)
	fmt.Fprintf(p.w, "\r%-8s [%-*s] %3d%% of %s", what, barWidth, bar, percent, byteSize(total))
}

// clear removes the bar.
func (p *progress) clear() {
	if p != nil && p.last >= 0 {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// byteSize returns a number of bytes for people: 51.2 GB.
func byteSize(n int64) string {
	size, unit := float64(n), "bytes"
	for _, u := range []string{"kB", "MB", "GB", "TB"} {
		if size < 1000 {
			break
		}
		size, unit = size/1000, u
	}
	if unit == "bytes" {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}
