package main

import (
	"fmt"
	"io"
	"time"

	"github.com/idemstorm/idemstorm/harness/evidence"
)

// slot is the length of one step of the series that is printed.
const slot = 5 * time.Second

// line is a straight line through the samples of a plateau.
type line struct {
	level  float64 // mean
	minute float64 // growth in a minute, by least squares
}

// flat says whether a minute adds no more than a tenth of the level, and spare.
func (l line) flat(spare float64) bool { return l.minute <= growth*l.level+spare }

// plateau is the time in which a server that forgets nothing and leaks nothing is level: requests come at one rate, and the first of the outage
// have left it, since their deadline has passed.
func (f figures) plateau(of func(evidence.Held) int64) line {
	return through(f.between(time.Duration(f.window.FromNS)+deadline+slack, time.Duration(f.window.UntilNS)), of)
}

// between are the samples of [from, until).
func (f figures) between(from, until time.Duration) (list []sample) {
	for _, s := range f.samples {
		if s.at >= from && s.at < until {
			list = append(list, s)
		}
	}
	return list
}

// through fits a line to samples; to none, or to one, a level one.
func through(samples []sample, of func(evidence.Held) int64) (l line) {
	n := max(1, float64(len(samples)))
	var at, value float64
	for _, s := range samples {
		at += s.at.Minutes() / n
		value += float64(of(s.Held)) / n
	}
	var both, square float64
	for _, s := range samples {
		away := s.at.Minutes() - at
		both += away * (float64(of(s.Held)) - value)
		square += away * away
	}
	l.level = value
	if square > 0 {
		l.minute = both / square
	}
	return l
}

// Every open connection of a client's has one goroutine, idle or not, and clients keep theirs: a load generator that is late opens more of
// them, up to its number of clients. What a request holds beyond that is what an outage may pile up.
func beyond(h evidence.Held) int64 { return h.Goroutines - h.Descriptors }

func descriptors(h evidence.Held) int64 { return h.Descriptors }

// perConnection is what net/http keeps for an idle connection: two goroutines' stacks and two buffers, in bytes of resident memory, as measured.
const perConnection = 32 << 10

// bare is the memory beyond that of connections.
func bare(h evidence.Held) int64 { return h.Memory - perConnection*h.Descriptors }

// writeSeries prints the means of each step of the outage, and the lines through the plateau.
func (f figures) writeSeries(w io.Writer) {
	fmt.Fprintf(w, "  seconds   goroutines  open files, sockets  goroutines beyond  resident MB\n")
	from, until := time.Duration(f.window.FromNS), time.Duration(f.window.UntilNS)
	for at := from; at < until; at += slot {
		end := min(at+slot, until)
		if part := f.between(at, end); len(part) > 0 {
			fmt.Fprintf(w, "  %3.0f–%-3.0f %12.0f %20.0f %18.0f %12.1f\n", (at - from).Seconds(), (end - from).Seconds(),
				through(part, goroutines).level, through(part, descriptors).level, through(part, beyond).level, through(part, memory).level/1e6)
		}
	}
	b, m := f.plateau(beyond), f.plateau(bare)
	fmt.Fprintf(w, "  goroutines  beyond one for each connection: %.0f once the first deadline has passed, %+.0f a minute by least squares; the bound is %+.0f\n",
		b.level, b.minute, growth*b.level+spareGoroutines)
	fmt.Fprintf(w, "  memory      beyond %d KiB for each connection: %.1f MB, %+.1f MB a minute; the bound is %+.1f MB\n", perConnection>>10, m.level/1e6, m.minute/1e6, (growth*m.level+spareBytes)/1e6)
}
