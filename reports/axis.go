package reports

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// px is a coordinate of a drawing, in CSS pixels; it prints to a tenth.
type px float64

// String is how templates write it.
func (p px) String() string { return strconv.FormatFloat(float64(p), 'f', 1, 64) }

// tick is a labelled place on an axis.
type tick struct {
	At    px
	Label string
}

// glyphWidth is the width of one character of the drawings' monospaced 12 px type.
const glyphWidth = 7.3

func textWidth(s string) float64 { return glyphWidth * float64(len([]rune(s))) }

// period is a closed stretch of time, in nanoseconds.
type period struct{ from, until int64 }

// timeAxis maps time to pixels, linear but for breaks: a stretch in which nothing begins or ends, and that would leave no room
// for the others, is drawn short and says how long it is.
type timeAxis struct {
	pieces []axisPiece
}

type axisPiece struct {
	period
	x0, x1 float64
	broken bool
	busy   bool // a request was in flight
}

const (
	// idleFactor: a stretch without any request in flight is broken when it is longer than all shorter stretches together.
	idleFactor = 1
	// busyFactor: a stretch with requests in flight carries meaning by its length, so it gives way only to vanishing ones.
	busyFactor = 40
	idleWidth  = 40
	busyWidth  = 150 // room for what the box says
	// farthest bounds times, to a hundred days, so that no sum of a damaged file's numbers overflows.
	farthest = 1 << 53
)

// newTimeAxis lays the stretches between points out from x0 to x1. busy are the times in which a request was in flight.
func newTimeAxis(points []int64, busy []period, x0, x1 float64) timeAxis {
	points = slices.Clone(points)
	for i := range points {
		points[i] = bounded(points[i])
	}
	slices.Sort(points)
	points, busy = apart(slices.Compact(points), busy)
	if len(points) < 2 {
		from := int64(0)
		if len(points) == 1 {
			from = points[0]
		}
		points = []int64{from, from + int64(time.Millisecond)}
	}
	var a timeAxis
	for i := 1; i < len(points); i++ {
		a.pieces = append(a.pieces, axisPiece{period: period{points[i-1], points[i]}})
	}
	a.place(a.breakUp(busy), x0, x1)
	return a
}

// apart drops points that are nearer to the one before than a twentieth of the shortest request, so that a gap that says nothing is not the measure by
// which all others are too long. The first and the last stay, and what is busy reaches over what was dropped.
func apart(points []int64, busy []period) (kept []int64, wider []period) {
	if len(points) < 3 || len(busy) == 0 {
		return points, busy
	}
	near := int64(farthest)
	for _, b := range busy {
		near = min(near, max(0, bounded(b.until)-bounded(b.from))/20)
	}
	last := points[len(points)-1]
	kept = points[:1]
	for _, p := range points[1:] {
		if p-kept[len(kept)-1] > near && last-p > near {
			kept = append(kept, p)
		}
	}
	for _, b := range busy {
		wider = append(wider, period{bounded(b.from) - near, bounded(b.until) + near})
	}
	return append(kept, last), wider
}

func bounded(ns int64) int64 { return min(farthest, max(-farthest, ns)) }

// breakUp decides what is drawn short, from the shortest stretch upwards, and gives the length of all that is not.
func (a timeAxis) breakUp(busy []period) (whole int64) {
	order := make([]*axisPiece, len(a.pieces))
	for i := range a.pieces {
		order[i] = &a.pieces[i]
	}
	slices.SortStableFunc(order, func(p, q *axisPiece) int { return int(min(1, max(-1, p.length()-q.length()))) })
	for _, p := range order {
		factor := int64(idleFactor)
		if p.busy = slices.ContainsFunc(busy, p.within); p.busy {
			factor = busyFactor
		}
		if whole > 0 && p.length() > factor*whole {
			p.broken = true
			continue
		}
		whole += p.length()
	}
	return whole
}

// within counts the edges: intervals are closed, as in the history.
func (p period) within(o period) bool { return o.from <= p.from && o.until >= p.until }

// short is the width of a broken piece.
func (p axisPiece) short() float64 {
	switch {
	case !p.broken:
		return 0
	case p.busy:
		return busyWidth
	}
	return idleWidth
}

// place lays the pieces out; breaks take half of the room at most.
func (a timeAxis) place(whole int64, x0, x1 float64) {
	var breaks float64
	for _, p := range a.pieces {
		breaks += p.short()
	}
	shrink := min(1, 0.5*(x1-x0)/max(1, breaks))
	scale := (x1 - x0 - shrink*breaks) / float64(whole)
	x := x0
	for i := range a.pieces {
		p := &a.pieces[i]
		p.x0 = x
		if p.broken {
			x += shrink * p.short()
		} else {
			x += float64(p.length()) * scale
		}
		p.x1 = x
	}
}

func (p period) length() int64 { return p.until - p.from }

// at is the place of a time; what lies outside is put on the edge.
func (a timeAxis) at(ns int64) float64 {
	for _, p := range a.pieces {
		if ns <= p.until {
			return p.x0 + (p.x1-p.x0)*float64(max(ns, p.from)-p.from)/float64(p.length())
		}
	}
	return a.pieces[len(a.pieces)-1].x1
}

// breaks are the middles of the short stretches, labelled with their true length where there is room for a label.
func (a timeAxis) breaks(room float64) []tick {
	var out []tick
	last := math.Inf(-1)
	for _, p := range a.pieces {
		if !p.broken {
			continue
		}
		t := tick{At: px((p.x0 + p.x1) / 2)}
		if float64(t.At)-last >= room {
			t.Label = "// " + duration(time.Duration(p.length()))
			last = float64(t.At)
		}
		out = append(out, t)
	}
	return out
}

// ticks are round times where the axis is linear, at least room pixels apart.
func (a timeAxis) ticks(room float64) []tick {
	step := a.step(room)
	var out []tick
	last := math.Inf(-1)
	for _, p := range a.pieces {
		if p.broken {
			last = p.x1 - room/2
			continue
		}
		for t := ceilTo(p.from, step); t <= p.until; t += step {
			if x := a.at(t); x-last >= room {
				out = append(out, tick{px(x), axisTime(t, step)})
				last = x
			}
		}
	}
	return out
}

// step is the smallest of 1, 2, 5 × 10ⁿ ns that is wider than room.
func (a timeAxis) step(room float64) int64 {
	var ns int64
	var wide float64
	for _, p := range a.pieces {
		if !p.broken {
			ns += p.length()
			wide += p.x1 - p.x0
		}
	}
	want := int64(room / max(wide, 1) * float64(ns))
	for base := int64(1); base < math.MaxInt64/10; base *= 10 {
		for _, m := range []int64{1, 2, 5} {
			if base*m >= want {
				return base * m
			}
		}
	}
	return math.MaxInt64 / 2
}

// ceilTo is the first multiple of step at or after v, for negative times too: an attempt may be due before the zero.
func ceilTo(v, step int64) int64 {
	c := v / step * step
	if c < v {
		c += step
	}
	return c
}

// axisTime writes a tick in the unit that suits the axis's step.
func axisTime(ns, step int64) string {
	unit, name := int64(time.Millisecond), " ms"
	switch {
	case ns == 0:
		return "0"
	case step >= int64(time.Second):
		unit, name = int64(time.Second), " s"
	case step < int64(10*time.Microsecond):
		unit, name = int64(time.Microsecond), " µs"
	}
	return strconv.FormatFloat(float64(ns)/float64(unit), 'f', -1, 64) + name
}

// logAxis maps positive durations to pixels by their logarithm, from lo at y0 to hi at y1.
type logAxis struct {
	lo, hi float64 // decimal logarithms of nanoseconds
	y0, y1 float64
}

// newLogAxis takes the range of the values that are above zero, at least a factor of two wide.
func newLogAxis(values []time.Duration, y0, y1 float64) logAxis {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v > 0 {
			lo, hi = min(lo, math.Log10(float64(v))), max(hi, math.Log10(float64(v)))
		}
	}
	if lo > hi {
		lo, hi = 6, 7
	}
	return logAxis{lo - 0.1, max(hi, lo+0.3) + 0.1, y0, y1}
}

// at puts what has no logarithm on the floor: a drawing of a damaged file is still a drawing.
func (a logAxis) at(d time.Duration) float64 {
	if d <= 0 {
		return a.y0
	}
	return a.y0 + (a.y1-a.y0)*(math.Log10(float64(d))-a.lo)/(a.hi-a.lo)
}

// ticks are the decades, with 2 and 5 between them where the range is small.
func (a logAxis) ticks() []tick {
	marks := []float64{1, 2, 5}
	if a.hi-a.lo > 2.2 {
		marks = marks[:1]
	}
	var out []tick
	for e := math.Floor(a.lo); e <= a.hi; e++ {
		for _, m := range marks {
			if l := e + math.Log10(m); l >= a.lo && l <= a.hi {
				d := time.Duration(math.Round(m * math.Pow(10, e)))
				out = append(out, tick{px(a.at(d)), shortDuration(d)})
			}
		}
	}
	return out
}

// shortDuration writes a round duration without needless digits.
func shortDuration(d time.Duration) string {
	for _, u := range []struct {
		size time.Duration
		name string
	}{{time.Second, " s"}, {time.Millisecond, " ms"}, {time.Microsecond, " µs"}} {
		if d >= u.size {
			return strconv.FormatFloat(float64(d)/float64(u.size), 'f', -1, 64) + u.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + " ns"
}
