package explore

import (
	"slices"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// bounded explores by the number of preemptions (Musuvathi and Qadeer, 2007): first all schedules without one, then with one, and
// so on, none twice. Most races need one or two, so that the first violation found is also a short one to read.
type bounded struct {
	opts    Options
	level   int
	buckets [][]prefix // by preemptions
	current prefix
}

// prefix is the beginning of a schedule; where it ends, the actor that runs goes on.
type prefix []pick

// pick is one choice, and the moment it was made at.
type pick struct {
	scene, mark string
}

func newBounded(o Options) *bounded {
	return &bounded{opts: o, buckets: make([][]prefix, o.Preemptions+1)}
}

func (b *bounded) bound() int { return b.level }

// start prepares the walk of one schedule.
func (b *bounded) start() chooser {
	return &boundedWalk{search: b, begun: make([]bool, len(b.opts.Classes)), last: -1}
}

// advance turns to the next prefix within the bound; false means that all were played.
func (b *bounded) advance() bool {
	for ; b.level < len(b.buckets); b.level++ {
		bucket := b.buckets[b.level]
		if len(bucket) > 0 {
			b.current = bucket[len(bucket)-1]
			b.buckets[b.level] = bucket[:len(bucket)-1]
			return true
		}
	}
	b.level = len(b.buckets) - 1
	return false
}

// abandon gives up a prefix that did not fit.
func (b *bounded) abandon() bool { return b.advance() }

// boundedWalk follows the current prefix, and notes every other way at the moments beyond it.
type boundedWalk struct {
	search *bounded
	begun  []bool
	last   int
	spent  int // preemptions
	done   prefix
}

func (w *boundedWalk) choose(n int, m Moment, _ schedule.Footprint) (int, bool, error) {
	choice, err := w.pick(n, m)
	if err != nil {
		return 0, false, err
	}
	step := m.Held[choice]
	if preempts(m, w.last, step) {
		w.spent++
	}
	w.done = append(w.done, pick{m.scene(), mark(step)})
	w.begun = after(w.begun, step.Actor)
	if !step.Footprint.Local() {
		w.last = step.Actor
	}
	return choice, true, nil
}

func (w *boundedWalk) pick(n int, m Moment) (int, error) {
	if n < len(w.search.current) {
		want := w.search.current[n]
		at := slices.IndexFunc(m.Held, func(s schedule.Step) bool { return mark(s) == want.mark })
		// The last pick of a prefix was another way at a moment that was seen, so that it too must be found as it was.
		if at < 0 || m.scene() != want.scene {
			return 0, diverged(n, want.scene, m.scene())
		}
		return at, nil
	}
	if choice, ok := w.search.opts.forced(m, w.begun); ok {
		return choice, nil
	}
	choice := w.stay(m)
	w.note(m, choice)
	return choice, nil
}

// stay goes on with the actor that runs, or with the first that can.
func (w *boundedWalk) stay(m Moment) int {
	first := -1
	for i, step := range m.Held {
		if step.Actor == w.last {
			return i
		}
		if first < 0 && w.search.opts.canonical(step, w.begun) {
			first = i
		}
	}
	return max(first, 0)
}

// note queues the other ways that the bound allows, the first held to be played first.
func (w *boundedWalk) note(m Moment, taken int) {
	for i, step := range slices.Backward(m.Held) {
		spent := w.spent
		if preempts(m, w.last, step) {
			spent++
		}
		if i == taken || spent >= len(w.search.buckets) || !w.search.opts.canonical(step, w.begun) {
			continue
		}
		way := append(slices.Clone(w.done), pick{m.scene(), mark(step)})
		w.search.buckets[spent] = append(w.search.buckets[spent], way)
	}
}
