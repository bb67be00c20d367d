package main

import "testing"

// TestKindsAreUnique checks that a code and a name each mean one kind of finding in the whole program.
func TestKindsAreUnique(t *testing.T) {
	codes, names := map[string]bool{}, map[string]bool{}
	for _, k := range catalogue() {
		if codes[k.Code] {
			t.Errorf("two kinds have the code %s", k.Code)
		}
		if names[k.Name] {
			t.Errorf("two kinds have the name %s", k.Name)
		}
		codes[k.Code], names[k.Name] = true, true
	}
	if len(codes) == 0 {
		t.Error("no kinds")
	}
}
