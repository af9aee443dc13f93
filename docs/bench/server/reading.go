package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
)

// answer is one request that has ended, or one transaction of pgbench. Nanoseconds; ended is since any zero.
type answer struct{ ended, took int64 }

const (
	// warm is left out at the beginning of each measurement: connections are opened and statements prepared in it.
	warm = 200 * time.Millisecond
	// whole is the share of answers after which clients may have run out of work.
	whole = 0.97
)

// reading is what one measurement came to.
type reading struct {
	all    int // warm-up and end included
	count  int
	length time.Duration
	times  []int64
	spent  spent
}

// read takes what ended between the warm-up and the moment when the first clients may have nothing left to do.
func read(answers []answer) (r reading) {
	if len(answers) == 0 {
		return r
	}
	slices.SortFunc(answers, func(a, b answer) int { return cmp.Compare(a.ended, b.ended) })
	from := answers[0].ended - answers[0].took + int64(warm)
	until := answers[int(whole*float64(len(answers)-1))].ended
	for _, a := range answers {
		if a.ended > from && a.ended <= until {
			r.times = append(r.times, a.took)
		}
	}
	r.all, r.count, r.length = len(answers), len(r.times), time.Duration(until-from)
	return r
}

// join puts two readings of the same thing together.
func (r reading) join(o reading) reading {
	return reading{r.all + o.all, r.count + o.count, r.length + o.length, slices.Concat(r.times, o.times), r.spent.plus(o.spent)}
}

func (r reading) rate() float64 { return float64(r.count) / r.length.Seconds() }

// p50 and p99 are in milliseconds; p99 is 0 where there are too few answers for it.
func (r reading) p50() float64 {
	p50, _, _ := latency.Exact(slices.Clone(r.times))
	return milliseconds(p50)
}

func (r reading) p99() float64 {
	_, p99, _ := latency.Exact(slices.Clone(r.times))
	return milliseconds(p99)
}

func milliseconds(q latency.Quantile) float64 {
	if !q.Known {
		return 0
	}
	return float64(q.Value) / float64(time.Millisecond)
}
