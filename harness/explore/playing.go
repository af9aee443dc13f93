package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

// playing is one schedule on a stage. It implements Run.
type playing struct {
	stage    *Stage
	scenario Scenario
	c        Case
	changed  chan struct{} // something has happened since it was last looked at; holds one token
	actors   sync.WaitGroup

	mu       sync.Mutex  // guards what follows
	open     bool        // nothing is held any more
	gone     pgwire.Verb // becomes of a held step whose client has gone: as a rule it was sent before, and counts
	lanes    []*lane
	known    map[*pgwire.Step]*holding
	sessions map[wire]*session
	turn     int    // the actor that was released last
	events   Moment // what has happened since the last moment
	seen     int    // counts changes
	behind   behind // what was found blocked, and still is
}

// lane is one actor's part of a schedule.
type lane struct {
	held    []*holding    // waiting to be released
	sent    []*holding    // with the database
	parked  chan struct{} // closed when the end of its answer may pass; nil while none is kept back
	wires   []wire        // connections used, in that order
	started bool
	play    *Play // set when the actor has its answer
	silent  bool  // given up on as quiet
}

// runs says that a started actor may do anything at any time: nothing of its is held, with the database, or kept back.
func (l *lane) runs() bool { return len(l.held) == 0 && len(l.sent) == 0 && l.parked == nil }

// holding is a step at the gate or behind it.
type holding struct {
	step    schedule.Step
	raw     *pgwire.Step
	wire    wire
	pid     int32
	split   bool // its Sync becomes a step of its own
	release chan pgwire.Action
}

func newPlaying(s *Stage, scenario Scenario, c Case) *playing {
	p := &playing{
		stage: s, scenario: scenario, c: c, changed: make(chan struct{}, 1),
		known: map[*pgwire.Step]*holding{}, sessions: map[wire]*session{},
	}
	for range scenario.Actors {
		p.lanes = append(p.lanes, &lane{})
	}
	return p
}

// start lets an actor loose; actors waits for it.
func (p *playing) start(ctx context.Context, i int) {
	p.mu.Lock()
	p.lanes[i].started, p.turn = true, i
	p.mu.Unlock()
	p.actors.Go(func() {
		play := p.scenario.Actors[i].Act(ctx, p.c)
		play.Answer.Actor, play.DoneNS = i, int64(time.Since(p.c.Began))
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lanes[i].play = &play
		p.events.Answers = append(p.events.Answers, play.Answer)
		p.touch()
	})
}

// touch says that something has happened. It is called with mu held.
func (p *playing) touch() {
	p.seen++
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// decide holds a step that belongs to the schedule. A client that goes away takes its step with it.
func (p *playing) decide(ctx context.Context, g *gate, step *pgwire.Step) pgwire.Action {
	h := p.hold(g, step)
	if h == nil {
		return pgwire.Action{}
	}
	select {
	case action := <-h.release:
		return action
	case <-ctx.Done():
		return pgwire.Action{Verb: p.withdraw(h)}
	}
}

// hold puts a step into its actor's lane, or returns nil for one that is to pass.
func (p *playing) hold(g *gate, step *pgwire.Step) *holding {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := g.wire(step)
	s := p.session(w)
	described, counts := s.describe(step, p.stage)
	if !counts || p.open {
		return nil
	}
	if p.stage.own.heard(described.SQL) {
		p.doubt("the server issues this on its own, beside requests, and it passed unheld: " + schedule.OneLine(described.SQL))
		return nil
	}
	if s.closed(step) {
		p.doubt("by the simple protocol, the race inside one statement that reads and writes is not opened: " + schedule.OneLine(described.SQL))
	}
	actor, ok := p.attribute(g, w)
	if !ok {
		p.doubt("a statement came that belongs to no actor, and passed: " + described.SQL)
		return nil
	}
	described.Actor = actor
	l := p.lanes[actor]
	described.Conn = l.ordinal(w)
	h := &holding{
		step: described, raw: step, wire: w, pid: int32(step.Conn.PID), split: described.Kind == schedule.Execute,
		release: make(chan pgwire.Action, 1),
	}
	s.actor, s.pid = actor, h.pid
	p.known[step] = h
	l.held, l.silent = append(l.held, h), false
	if len(l.held)+len(l.sent) > 1 {
		p.doubt(fmt.Sprintf("%s used two connections at once: which of its statements came first was not chosen", p.scenario.Actors[actor].Name))
	}
	p.touch()
	return h
}

// ordinal numbers an actor's connections by first use.
func (l *lane) ordinal(w wire) int {
	at := slices.Index(l.wires, w)
	if at < 0 {
		l.wires = append(l.wires, w)
		at = len(l.wires) - 1
	}
	return at + 1
}

func (p *playing) withdraw(h *holding) pgwire.Verb {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[h.step.Actor]
	l.held = without(l.held, h)
	p.behind.forget()
	p.doubt(p.scenario.Actors[h.step.Actor].Name + "'s server did not wait for its statement, and hung up")
	p.touch()
	return p.gone
}

func without(list []*holding, h *holding) []*holding {
	return slices.DeleteFunc(list, func(other *holding) bool { return other == h })
}

// passing is the turn of whoever need not wait for one.
var passing = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// ended takes in what became of a step. The end of its answer may pass to the client when the channel is closed.
func (p *playing) ended(w wire, step *pgwire.Step, outcome pgwire.Outcome) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session(w).ended(step, outcome)
	h := p.known[step]
	if h == nil {
		return passing
	}
	delete(p.known, step)
	p.behind.ended(h, outcome)
	l := p.lanes[h.step.Actor]
	l.sent = without(l.sent, h)
	p.events.Ended = append(p.events.Ended, schedule.Ended{
		Step: h.step, End: outcome.End.String(), Tags: outcome.Tags, Rows: outcome.Rows, Code: outcome.Code,
	})
	p.touch()
	if !p.stage.sharing || p.open || h.step.Actor == p.turn || outcome.End != pgwire.Answered {
		return passing
	}
	l.parked = make(chan struct{})
	return l.parked
}

// unpark lets the next of those go on whose lock came free while somebody else ran: one at a time, so that it is known whose the next
// statement is. It is called with mu held.
func (p *playing) unpark() bool {
	for i, l := range p.lanes {
		if l.parked != nil {
			close(l.parked)
			l.parked, p.turn = nil, i
			p.touch()
			return true
		}
	}
	return false
}

func (p *playing) doubt(why string) { p.events.Notes = append(p.events.Notes, why) }

// Release implements Run.
func (p *playing) Release(step schedule.Step) error { return p.releaseBy(step, pgwire.Action{}) }

// releaseBy lets a held step go, or makes the action happen to it.
func (p *playing) releaseBy(step schedule.Step, action pgwire.Action) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[step.Actor]
	at := slices.IndexFunc(l.held, func(h *holding) bool { return mark(h.step) == mark(step) })
	if at < 0 {
		return fmt.Errorf("%w: it gave up this statement before it was released: %s", ErrDiverged, mark(step))
	}
	h := l.held[at]
	l.held = slices.Delete(l.held, at, at+1)
	l.sent, p.turn = append(l.sent, h), step.Actor
	if action != (pgwire.Action{}) {
		p.behind.forget()
	}
	action.SplitSync = h.split
	p.sessions[h.wire].entered(h.raw, h.step.Footprint)
	h.release <- action
	p.seen++
	return nil
}

// Finish implements Run.
func (p *playing) Finish(ctx context.Context) (schedule.Outcome, error) {
	if err := p.letGo(ctx); err != nil {
		return schedule.Outcome{}, err
	}
	return p.scenario.Judge(ctx, p.c, p.plays())
}

// letGo releases everything, waits for the actors, and ends the schedule.
func (p *playing) letGo(ctx context.Context) error {
	p.mu.Lock()
	p.open = true
	for p.unpark() {
	}
	for _, l := range p.lanes {
		for _, h := range l.held {
			h.release <- pgwire.Action{}
		}
		l.held = nil
	}
	p.mu.Unlock()
	defer p.stage.current.CompareAndSwap(p, nil)
	done := make(chan struct{})
	go func() {
		p.actors.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		<-done // the actors heed the same context
		return ctx.Err()
	case <-time.After(stuckAfter):
		return errors.New("an actor got no answer although nothing was held any more")
	}
}
