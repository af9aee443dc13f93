package plan

import (
	"math"
	"math/rand/v2"

	"github.com/idemstorm/idemstorm/harness/history"
)

// prepared is an operation that lacks only its id, client and due time.
type prepared = history.Operation

// stream hands operations to clients in turn (closed loop) or gives them due times (open loop).
type stream struct {
	b        *builder
	arrivals arrivals
	client   int
}

func newStream(b *builder) *stream {
	s := &stream{b: b}
	if b.Loop == Open {
		n := max(1, round(b.Rate*b.For.Std().Seconds()))
		s.arrivals = arrivals{kind: b.Arrivals, span: float64(b.For), n: n}
	}
	return s
}

// send passes one operation on. One without a key is none of the arrivals: it rides along with the last of them.
func (s *stream) send(o prepared) {
	switch {
	case s.b.Loop == Closed:
		o.Client = s.client % s.b.Clients
		s.client++
	case o.Key == "":
		o.DueNS = s.arrivals.due
	default:
		o.DueNS = s.arrivals.next(s.b.rnd)
	}
	if o.Key != "" {
		s.b.behave(&o)
	}
	s.b.send(o)
}

// arrivals gives the due times of an open loop, in order.
type arrivals struct {
	kind  Arrivals
	span  float64 // nanoseconds
	n, i  int
	level float64 // poisson: last arrival as a share of the span
	due   int64   // last arrival
}

// next follows, for Poisson arrivals, the order statistics of n independent uniform times, drawn in order: a Poisson process is just that, given
// its count.
func (a *arrivals) next(r *rand.Rand) int64 {
	i := a.i
	a.i++
	if a.kind == Constant {
		a.due = int64(a.span * float64(i) / float64(a.n))
		return a.due
	}
	left := float64(max(1, a.n-i))
	a.level = 1 - (1-a.level)*math.Pow(1-r.Float64(), 1/left)
	a.due = int64(a.level * a.span)
	return a.due
}

// share decides for each of total things whether it is among some of them, so that in the end exactly those are.
type share struct{ left, total int }

func newShare(of float64, total int) *share { return shareOf(round(of*float64(total)), total) }

func shareOf(n, total int) *share { return &share{left: n, total: total} }

func (s *share) next(r *rand.Rand) bool {
	if s.total <= 0 {
		return false
	}
	hit := r.IntN(s.total) < s.left
	s.total--
	if hit {
		s.left--
	}
	return hit
}

func round(f float64) int { return int(math.Round(f)) }
