package checkpointtest

import (
	"strings"
	"testing"
)

func TestParseLayout(t *testing.T) {
	tensors, err := parseLayout(strings.NewReader("# comment\n\nl.{0..4..2,7}.{a,b}.w F16 2 3\nscalar F32\n"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range tensors {
		names = append(names, x.Name)
	}
	if got := strings.Join(names, " "); got != "l.0.a.w l.0.b.w l.2.a.w l.2.b.w l.4.a.w l.4.b.w l.7.a.w l.7.b.w scalar" {
		t.Errorf("names %s", got)
	}
	if tensors[0].Size() != 12 || tensors[8].Size() != 4 {
		t.Errorf("sizes %d and %d", tensors[0].Size(), tensors[8].Size())
	}
	for _, bad := range []string{"a", "a F17 1", "a F32 x", "a{ F32", "a{1..x} F32", "a{1..4..0} F32"} {
		if _, err := parseLayout(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestPublishedLayout(t *testing.T) {
	tensors, err := ReadLayout("../../testdata/checkpoints/qwen3_8.layout")
	if err != nil {
		t.Fatal(err)
	}
	count, total := map[string]int{}, int64(0)
	for _, x := range tensors {
		part := "text"
		switch {
		case strings.HasPrefix(x.Name, "mtp."):
			part = "multi-token prediction"
		case strings.HasPrefix(x.Name, "model.visual."):
			part = "vision"
		}
		count[part]++
		total += x.Size()
	}
	if count["text"] != 851 || count["vision"] != 333 || count["multi-token prediction"] != 15 || total != 55_562_855_904 {
		t.Errorf("%v, %d bytes", count, total)
	}
	if parts, _ := split(tensors, 18); len(parts) != 18 {
		t.Errorf("%d shards", len(parts))
	}
}
