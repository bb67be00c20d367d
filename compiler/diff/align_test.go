package diff

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// longest returns the length of a longest common subsequence, by the book.
func longest(a, b []int32) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		prev := 0
		for j, y := range b {
			here := row[j+1]
			if x == y {
				row[j+1] = prev + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			prev = here
		}
	}
	return row[len(b)]
}

// TestLCS compares with the quadratic algorithm on random sequences, and checks
// that the pairs are equal elements in order.
func TestLCS(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		a, b := make([]int32, r.IntN(40)), make([]int32, r.IntN(40))
		symbols := int32(1 + r.IntN(8))
		for i := range a {
			a[i] = r.Int32N(symbols)
		}
		for i := range b {
			b[i] = r.Int32N(symbols)
		}
		p := newPairing(len(a), len(b))
		p.refine(a, b)
		last, count := -1, 0
		for i, j := range p.a {
			if j < 0 {
				continue
			}
			if a[i] != b[j] || j <= last || p.b[j] != i {
				t.Fatalf("round %d: %v and %v are paired as %v", round, a, b, p.a)
			}
			last, count = j, count+1
		}
		if want := longest(a, b); count != want {
			t.Fatalf("round %d: %d pairs of %v and %v, want %d", round, count, a, b, want)
		}
	}
}

// TestLCSUnlike checks that two long sequences without order in common end soon.
func TestLCSUnlike(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a := make([]int32, 20_000)
	for i := range a {
		a[i] = r.Int32N(1000)
	}
	b := slices.Clone(a)
	r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	p := newPairing(len(a), len(b))
	p.refine(a, b)
	count := 0
	for i, j := range p.a {
		if j >= 0 {
			count++
			if a[i] != b[j] {
				t.Fatal("unequal elements are paired")
			}
		}
	}
	if count < 1000 {
		t.Errorf("%d pairs", count)
	}
}

// TestRefine checks that later keys fill the gaps between the pairs of earlier ones.
func TestRefine(t *testing.T) {
	p := newPairing(5, 4)
	p.refine([]int32{1, 2, 3, 4, 5}, []int32{1, 9, 3, 8})
	p.refine([]int32{0, 7, 0, 7, 7}, []int32{7, 7, 7, 7})
	if want := []int{0, 1, 2, 3, -1}; !slices.Equal(p.a, want) {
		t.Errorf("got %v, want %v", p.a, want)
	}
}
