package explore

import "github.com/idemstorm/idemstorm/harness/schedule"

// exhaustive is a depth-first search over all schedules, pruned by sleep sets (Godefroid, 1996): once a step was explored at a moment, it
// sleeps in the sibling branches until a step that it does not commute with is taken; a schedule that could only go on with
// sleeping steps is another order of one that was played.
type exhaustive struct {
	opts Options
	path []*node
	lost int // the moment that the last schedule diverged at
}

// node is one moment on the current path.
type node struct {
	scene   string
	held    []schedule.Step
	begun   []bool                        // actors that have released a step before this moment
	order   []int                         // choices to try, those that switch first
	at      int                           // the one that is being tried
	sleep   map[string]schedule.Footprint // steps that need not be tried, with all that they brought about when they were
	settled bool                          // observed is known
	// observed is what the current choice touched, steps that it set free included.
	observed schedule.Footprint
}

func (n *node) choice() int { return n.order[n.at] }

// choose follows the path as far as it goes, and lengthens it.
func (e *exhaustive) choose(n int, m Moment, observed schedule.Footprint) (int, bool, error) {
	if n > 0 {
		e.path[n-1].observed, e.path[n-1].settled = observed, true
	}
	if n < len(e.path) {
		if e.path[n].scene != m.scene() {
			e.lost = n
			return 0, false, diverged(n, e.path[n].scene, m.scene())
		}
		return e.path[n].choice(), true, nil
	}
	next := e.grow(n, m)
	if len(next.order) == 0 {
		return 0, false, nil
	}
	e.path = append(e.path, next)
	return next.choice(), true, nil
}

// grow makes the node for a moment beyond the path.
func (e *exhaustive) grow(n int, m Moment) *node {
	next := &node{scene: m.scene(), held: m.Held, sleep: map[string]schedule.Footprint{}}
	last := -1
	if n == 0 {
		next.begun = make([]bool, len(e.opts.Classes))
	} else {
		parent := e.path[n-1]
		last = parent.held[parent.choice()].Actor
		next.begun = after(parent.begun, last)
		for mark, footprint := range parent.sleep {
			if e.opts.Reduce && schedule.Independent(footprint, parent.observed) {
				next.sleep[mark] = footprint
			}
		}
	}
	if choice, ok := e.opts.forced(m, next.begun); ok {
		next.order = []int{choice}
		return next
	}
	next.order = e.order(next, last)
	return next
}

// order puts the switches first, since races hide there, and leaves out what sleeps.
func (e *exhaustive) order(n *node, last int) (order []int) {
	for _, stay := range []bool{false, true} {
		for i, step := range n.held {
			_, asleep := n.sleep[mark(step)]
			if (step.Actor == last) == stay && !asleep && e.opts.canonical(step, n.begun) {
				order = append(order, i)
			}
		}
	}
	return order
}

// advance turns to the next schedule; false means that all were played. A choice falls asleep when it is left.
func (e *exhaustive) advance() bool {
	for len(e.path) > 0 {
		n := e.path[len(e.path)-1]
		if n.settled {
			n.sleep[mark(n.held[n.choice()])] = n.observed
		}
		n.at, n.settled = n.at+1, false
		if n.at < len(n.order) {
			return true
		}
		e.path = e.path[:len(e.path)-1]
	}
	return false
}

// abandon gives up the moment that a schedule did not come to again, and what lies below it; false means that nothing is left.
func (e *exhaustive) abandon() bool {
	e.path = e.path[:min(e.lost, len(e.path))]
	return e.advance()
}

func (e *exhaustive) bound() int { return schedule.Unbounded }

// after is begun with one actor more.
func after(begun []bool, actor int) []bool {
	out := append([]bool(nil), begun...)
	if actor < len(out) {
		out[actor] = true
	}
	return out
}
