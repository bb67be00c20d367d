//go:build unix

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// entrant is one of the things that are compared.
type entrant struct {
	name  string
	start func(ctx context.Context) (*process, error)
	piece int64 // tokens of a request that go in at a time; 0: all
}

// shape is one size at which entrants are compared.
type shape struct {
	name string
	request
}

// timing is what one entrant took at one shape: the times of the rounds, in
// order, so that round i of two entrants are a pair.
type timing struct {
	entrant string
	seconds []float64
	peak    int64 // bytes
	err     error
}

// pairing says how the rounds are spent.
type pairing struct {
	budget   time.Duration // for the rounds of one shape, all entrants together
	min, max int           // rounds of a heat, whatever the budget
	heats    int
	// wall takes the time of the clock, not that of the processors: with one
	// thread they are the same on a machine that does nothing else, and where it
	// does, the processors' time is that of the work.
	wall bool
}

// compare runs every entrant once a round, in turn, at each shape, in several
// heats with new processes: where a process's memory lies makes a difference that
// lasts as long as the process. Another one begins in every heat and round. An entrant that fails is out for the heat. The
// result is by shape, in the order of entrants; loaded holds how each was loaded
// in the last heat, or nil.
func (p pairing) compare(ctx context.Context, entrants []entrant, shapes []shape) (results [][]timing, loaded []*process) {
	results = make([][]timing, len(shapes))
	for i := range results {
		results[i] = make([]timing, len(entrants))
	}
	for heat := range p.heats {
		loaded = p.heat(ctx, heat, entrants, shapes, results)
	}
	return results, loaded
}

func (p pairing) heat(ctx context.Context, heat int, entrants []entrant, shapes []shape, results [][]timing) []*process {
	workers := make([]*process, len(entrants))
	failures := make([]error, len(entrants))
	for k := range entrants {
		i := (k + heat) % len(entrants) // whoever loads first has an advantage or the opposite
		workers[i], failures[i] = entrants[i].start(ctx)
	}
	for i, s := range shapes {
		p.rounds(entrants, workers, failures, s, results[i])
	}
	for _, w := range workers {
		if w != nil {
			w.close()
		}
	}
	return workers
}

// loadTime returns how long a worker took to load, by the clock that p reads.
func (p pairing) loadTime(w *process) float64 {
	if p.wall {
		return w.Load
	}
	return w.CPU
}

// turnTime is how long a turn lasts at least: a run that is shorter is repeated,
// and the turn's time is the mean of its runs.
const turnTime = 10 * time.Millisecond

// warmUps are the turns that are not counted: in the first run of a shape the
// runtime plans its memory, in the second it touches the pages of that plan.
const warmUps = 2

// rounds adds to row what the rounds of one shape take.
func (p pairing) rounds(entrants []entrant, workers []*process, failures []error, s shape, row []timing) {
	var begin time.Time
	runs := 1
	request := func(i int) request {
		r := s.request
		r.Piece = entrants[i].piece
		return r
	}
	for range warmUps {
		begin = time.Now()
		for i := range workers {
			row[i].entrant = entrants[i].name
			if x := p.turn(workers[i], &failures[i], request(i), 1, &row[i]); x > 0 {
				runs = max(runs, min(20, int(turnTime.Seconds()/x)))
			}
		}
	}
	rounds := int(p.budget / time.Duration(p.heats) / max(time.Since(begin), time.Millisecond) / time.Duration(runs))
	for n := range min(max(rounds, p.min), p.max) {
		for k := range workers {
			i := (k + n) % len(workers)
			if x := p.turn(workers[i], &failures[i], request(i), runs, &row[i]); x > 0 {
				row[i].seconds = append(row[i].seconds, x)
			}
		}
	}
}

// turn lets a worker run so many times and returns the mean time, or 0 if it
// fails now or has before.
func (p pairing) turn(w *process, failure *error, r request, runs int, row *timing) float64 {
	if *failure == nil {
		r.Runs = runs
		var a runAnswer
		if a, *failure = w.run(r); *failure == nil {
			row.peak = max(row.peak, a.Peak)
			times := a.CPU
			if p.wall {
				times = a.Seconds
			}
			sum := 0.0
			for _, x := range times {
				sum += x
			}
			return sum / float64(len(times))
		}
	}
	row.err = *failure
	return 0
}

// ratio is how many times as long another took as ours, pair by pair.
type ratio struct{ median, low, high float64 } // low and high are quartiles

func ratioOf(ours, other timing) ratio {
	var pairs []float64
	for i := range min(len(ours.seconds), len(other.seconds)) {
		pairs = append(pairs, other.seconds[i]/ours.seconds[i])
	}
	return ratio{quantile(pairs, 0.5), quantile(pairs, 0.25), quantile(pairs, 0.75)}
}

// quantile interpolates between the sorted values; NaN if there are none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func (t timing) median() float64 { return quantile(t.seconds, 0.5) }

func (r ratio) String() string {
	return fmt.Sprintf("%s (%s–%s)", figure(r.median), figure(r.low), figure(r.high))
}

// figure prints a positive number with three significant digits.
func figure(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
