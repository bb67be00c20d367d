package main

import (
	"context"
	"strings"
	"testing"

	"mobiusc/internal/golden"
)

// TestBaseline checks the sizes of every spec's model against those that are
// recorded. UPDATE=1 records them.
func TestBaseline(t *testing.T) {
	const path = "../../testdata/stats.json"
	if golden.Updating() {
		var stderr strings.Builder
		if code := run(context.Background(), []string{"mobiusc", "stats", "--baseline", path, "--update"}, streams{strings.NewReader(""), &stderr, &stderr}); code != exitClean {
			t.Fatal(stderr.String())
		}
	}
	var out strings.Builder
	if code := run(context.Background(), []string{"mobiusc", "stats", "--baseline", path, "--markdown"}, streams{strings.NewReader(""), &out, &out}); code != exitClean {
		t.Errorf("sizes changed; if that is meant, UPDATE=1 go test ./cmd/mobiusc -run Baseline records them\n%s", out.String())
	}
}
