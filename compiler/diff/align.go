package diff

// pair is one pairing of two sequences: for each element of one its partner in
// the other, or -1.
type pairing struct{ a, b []int }

func newPairing(a, b int) pairing {
	p := pairing{make([]int, a), make([]int, b)}
	for i := range p.a {
		p.a[i] = -1
	}
	for i := range p.b {
		p.b[i] = -1
	}
	return p
}

func (p pairing) set(i, j int) { p.a[i], p.b[j] = j, i }

func (p pairing) unset(i int) { p.b[p.a[i]], p.a[i] = -1, -1 }

// refine pairs elements of equal keys, in order, within each gap between the
// pairs that are there.
func (p pairing) refine(a, b []int32) {
	i, j := 0, 0
	for k := 0; k <= len(p.a); k++ {
		if k < len(p.a) && (p.a[k] < j) { // unpaired, or paired out of order
			continue
		}
		end := len(p.b)
		if k < len(p.a) {
			end = p.a[k]
		}
		p.gap(a, b, i, k, j, end)
		i, j = k+1, end+1
	}
}

// gap pairs elements of a[i:ie] and b[j:je] that have no partner yet.
func (p pairing) gap(a, b []int32, i, ie, j, je int) {
	inB := map[int32]bool{}
	for k := j; k < je; k++ {
		if p.b[k] < 0 {
			inB[b[k]] = true
		}
	}
	inA := map[int32]bool{}
	var x, y []int // indices of what may have a partner
	for k := i; k < ie; k++ {
		if p.a[k] < 0 && inB[a[k]] {
			inA[a[k]] = true
			x = append(x, k)
		}
	}
	for k := j; k < je; k++ {
		if p.b[k] < 0 && inA[b[k]] {
			y = append(y, k)
		}
	}
	l := &lcs{equal: func(i, j int) bool { return a[x[i]] == b[y[j]] }, match: func(i, j int) { p.set(x[i], y[j]) }}
	l.run(0, len(x), 0, len(y))
}

// lcs finds a longest common subsequence by divide and conquer (E. Myers, An
// O(ND) difference algorithm and its variations, 1986): linear memory, time
// proportional to the length times the number of differences. Beyond maxCost
// differences in one division it splits where it has come farthest, and the
// result need not be the longest.
type lcs struct {
	equal           func(i, j int) bool
	match           func(i, j int)
	forward, behind []int
}

const maxCost = 2048

func (l *lcs) run(i, ie, j, je int) {
	for i < ie && j < je && l.equal(i, j) {
		l.match(i, j)
		i, j = i+1, j+1
	}
	for i < ie && j < je && l.equal(ie-1, je-1) {
		ie, je = ie-1, je-1
		l.match(ie, je)
	}
	if i == ie || j == je {
		return
	}
	mi, mj := l.middle(i, ie, j, je)
	if (mi == i && mj == j) || (mi == ie && mj == je) {
		return // nothing in common
	}
	l.run(i, mi, j, mj)
	l.run(mi, ie, mj, je)
}

// middle returns a point on a shortest edit path: where the search from the
// front and the one from the end meet.
func (l *lcs) middle(i, ie, j, je int) (int, int) {
	n, m := ie-i, je-j
	size := 2*(n+m) + 3
	if len(l.forward) < size {
		l.forward, l.behind = make([]int, size), make([]int, size)
	}
	f, b := l.forward[:size], l.behind[:size]
	mid := size / 2
	f[mid+1], b[mid+1] = 0, 0
	delta := n - m
	for d := 0; ; d++ {
		for k := -d; k <= d; k += 2 {
			x := step(f, mid+k, d, k)
			for x < n && x-k < m && l.equal(i+x, j+x-k) {
				x++
			}
			f[mid+k] = x
			if o := delta - k; delta%2 != 0 && o >= -(d-1) && o <= d-1 && x+b[mid+o] >= n {
				return l.point(i, j, x, x-k, n, m)
			}
		}
		for k := -d; k <= d; k += 2 {
			x := step(b, mid+k, d, k)
			for x < n && x-k < m && l.equal(ie-1-x, je-1-(x-k)) {
				x++
			}
			b[mid+k] = x
			if o := delta - k; delta%2 == 0 && o >= -d && o <= d && x+f[mid+o] >= n {
				return l.point(i, j, n-x, m-(x-k), n, m)
			}
		}
		if d >= maxCost {
			return l.farthest(f, mid, d, i, j, n, m)
		}
	}
}

// step returns how far diagonal k reaches with d differences before it runs
// along equal elements.
func step(v []int, at, d, k int) int {
	if k == -d || k != d && v[at-1] < v[at+1] {
		return v[at+1]
	}
	return v[at-1] + 1
}

func (l *lcs) point(i, j, x, y, n, m int) (int, int) {
	return i + max(0, min(x, n)), j + max(0, min(y, m))
}

// farthest returns the point that the search from the front has come farthest to.
func (l *lcs) farthest(f []int, mid, d, i, j, n, m int) (int, int) {
	best, at := -1, 0
	for k := -d; k <= d; k += 2 {
		if x := f[mid+k]; x <= n && x-k >= 0 && x-k <= m && 2*x-k > best {
			best, at = 2*x-k, k
		}
	}
	x := f[mid+at]
	return l.point(i, j, x, x-at, n, m)
}
