package fault

import (
	"regexp"
	"slices"
	"testing"
)

// TestCatalogue checks that codes and names are unique, well formed and in order.
func TestCatalogue(t *testing.T) {
	var codes, names []string
	for _, k := range All() {
		codes, names = append(codes, k.Code), append(names, k.Name)
		if !regexp.MustCompile(`^MB0[1-5]\d\d$`).MatchString(k.Code) || !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(k.Name) || k.Summary == "" {
			t.Errorf("%+v is not well formed", k)
		}
	}
	if !slices.IsSorted(codes) || len(slices.Compact(codes)) != len(All()) {
		t.Error("codes are not in order, or stand twice")
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(All()) {
		t.Error("a name stands twice")
	}
}
