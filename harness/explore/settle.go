package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// standing is how the actors stand at one look.
type standing struct {
	seen    int        // of playing, when it was looked at
	running []int      // may send a statement or get an answer at any time
	waiting []*holding // with the database
	held    int
	parked  bool // an answer is kept back until its actor's turn
	over    bool
}

func (p *playing) look() (st standing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st.seen, st.over = p.seen, true
	for i, l := range p.lanes {
		st.waiting = append(st.waiting, l.sent...)
		st.held += len(l.held)
		st.parked = st.parked || l.parked != nil
		if l.play != nil {
			continue
		}
		st.over = false
		if l.runs() && !l.silent {
			st.running = append(st.running, i)
		}
	}
	return st
}

// Settle implements Run. Nobody is asked about a statement before it is late; then twice, because a lock that is just being passed
// on looks like one that is waited for.
func (p *playing) Settle(ctx context.Context) (Moment, error) {
	w := wait{p: p, since: time.Now(), timer: time.NewTimer(late)}
	defer w.timer.Stop()
	for {
		m, settled, err := w.once(ctx)
		if err != nil || settled {
			return m, err
		}
		if err := w.pause(ctx); err != nil {
			return Moment{}, err
		}
	}
}

// awaitStanding waits until one actor is held, blocked or done, or is taken for quiet: it may wait for another inside the server, without a
// statement that would show it.
func (p *playing) awaitStanding(ctx context.Context, actor int) error {
	quiet := time.NewTimer(p.stage.opts.Quiet)
	defer quiet.Stop()
	for {
		p.mu.Lock()
		l := p.lanes[actor]
		stands := l.play != nil || len(l.held) > 0
		p.mu.Unlock()
		if stands {
			return nil
		}
		select {
		case <-p.changed:
		case <-quiet.C:
			p.silence([]int{actor})
			return nil
		case <-ctx.Done():
			return fmt.Errorf("wait for the first statement of %s: %w", p.scenario.Actors[actor].Name, ctx.Err())
		}
	}
}

// wait is one Settle.
type wait struct {
	p     *playing
	since time.Time // of the last change
	seen  int
	sure  int // how often everything that waits was found blocked without a change in between
	timer *time.Timer
}

func (w *wait) pause(ctx context.Context) error {
	w.timer.Reset(late)
	select {
	case <-w.p.changed:
	case <-w.timer.C:
	case <-ctx.Done():
		return fmt.Errorf("wait for the actors to stand still: %w", ctx.Err())
	}
	return nil
}

// once looks once. A moment is when nobody runs, all that waits is blocked, and something can be released.
func (w *wait) once(ctx context.Context) (Moment, bool, error) {
	st := w.p.look()
	if st.seen != w.seen {
		w.seen, w.sure, w.since = st.seen, 0, time.Now()
	}
	still := time.Since(w.since)
	switch {
	case st.over:
		m, ok := w.p.moment(st.seen, nil)
		return m, ok, nil
	case still > stuckAfter:
		return Moment{}, false, fmt.Errorf("nothing happened for %v, and nothing can be released: %s", stuckAfter, w.p.stuck(st))
	case len(st.running) > 0:
		if still > w.p.stage.opts.Quiet && (st.held > 0 || st.parked) {
			w.p.silence(st.running)
		}
		return Moment{}, false, nil
	case st.held == 0 && !st.parked: // who was taken for quiet has to wake up, or the database to end a deadlock
		return Moment{}, false, nil
	case len(st.waiting) == 0:
		m, ok := w.p.stand(st, nil)
		return m, ok, nil
	}
	blocked, known := w.p.stillBlocked(st.waiting)
	if !known && still < late {
		return Moment{}, false, nil
	}
	if !known {
		var err error
		if blocked, err = w.ask(ctx, st); err != nil || blocked == nil {
			return Moment{}, false, err
		}
	}
	m, ok := w.p.stand(st, blocked)
	return m, ok, nil
}

// stand is the moment that everybody stands still, unless that gives somebody the turn.
func (p *playing) stand(st standing, blocked []schedule.Blocked) (Moment, bool) {
	if !st.parked {
		return p.moment(st.seen, blocked)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unpark()
	return Moment{}, false
}

// ask finds out who blocks what waits; nil until all of it was found blocked twice without a change in between.
func (w *wait) ask(ctx context.Context, st standing) ([]schedule.Blocked, error) {
	pids := make([]int32, len(st.waiting))
	for i, h := range st.waiting {
		pids[i] = h.pid
	}
	by, err := w.p.stage.watcher.blockers(ctx, pids)
	if err != nil {
		return nil, err
	}
	var blocked []schedule.Blocked
	for _, h := range st.waiting {
		if len(by[h.pid]) == 0 {
			w.sure = 0
			return nil, nil
		}
		blocked = append(blocked, schedule.Blocked{Step: h.step, On: w.p.owners(by[h.pid])})
	}
	w.sure++
	if w.sure < 2 {
		return nil, nil
	}
	w.p.foundBlocked(st, blocked)
	return blocked, nil
}

// owners are the actors whose backends these are.
func (p *playing) owners(pids []int32) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	owners := []int{}
	for actor, l := range p.lanes {
		for _, w := range l.wires {
			if s := p.sessions[w]; s.actor == actor && slices.Contains(pids, s.pid) {
				owners = append(owners, actor)
				break
			}
		}
	}
	return owners
}

// moment takes what has happened since the last one, unless something more has happened since the look that it follows from.
func (p *playing) moment(seen int, blocked []schedule.Blocked) (Moment, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen != seen {
		return Moment{}, false
	}
	m := p.events
	p.events = Moment{}
	m.Blocked = append([]schedule.Blocked(nil), blocked...)
	m.Over = true
	for _, l := range p.lanes {
		m.Over = m.Over && l.play != nil
		for _, h := range l.held {
			m.Held = append(m.Held, h.step)
		}
	}
	return m, true
}

// silence lets the others go on without the actors that do nothing that can be seen.
func (p *playing) silence(actors []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range actors {
		p.lanes[i].silent = true
		p.doubt(fmt.Sprintf("%s did nothing for %v outside the database, and the others went on: when it wakes was not chosen",
			p.scenario.Actors[i].Name, p.stage.opts.Quiet))
	}
	p.touch()
}

func (p *playing) stuck(st standing) string {
	text := ""
	for _, h := range st.waiting {
		text += "\n  waits in the database: " + mark(h.step)
	}
	for _, i := range st.running {
		text += "\n  runs: " + p.scenario.Actors[i].Name
	}
	return text
}
