package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/pgwire"
	"github.com/idemstorm/idemstorm/harness/schedule"
)

// Fault is one way to fail at a step.
type Fault struct {
	Name   string
	Story  string        // what the server sees
	Action pgwire.Action // happens to the step
	// Strike hits the system itself while the step is held, and Heal repairs it; nil for faults of the wire alone. The step's
	// action follows the strike.
	Strike, Heal func(ctx context.Context) error
	// Freeze comes before a late strike, so that who is struck cannot act any more when the step is let go.
	Freeze func() error
	// Late strikes after the database has answered the step, which its Action withholds.
	Late bool
}

// WireFaults are the faults that the proxy makes, for every statement boundary.
func WireFaults() []Fault {
	faults := []Fault{
		{Name: "cut-before", Story: "the connection breaks; the database never saw the statement", Action: pgwire.Action{Verb: pgwire.CutBefore}},
		{Name: "cut-after", Story: "the database has answered, and the connection breaks before the answer arrives", Action: pgwire.Action{Verb: pgwire.CutAfter}},
		{Name: "cut-in-flight", Story: "the connection breaks right after the statement was sent; either outcome is legal", Action: pgwire.Action{Verb: pgwire.CutInFlight}},
	}
	for _, code := range pgwire.Injectable() {
		faults = append(faults, Fault{Name: code, Story: "the database answers with error " + code, Action: pgwire.Action{Verb: pgwire.Fail, Code: code}})
	}
	return faults
}

// CrashPlan says what is to fail.
type CrashPlan struct {
	Faults   []Fault
	First    bool                                                   // ends with the first point that breaks something
	Settle   func(ctx context.Context, c Case, plays []Play) []Play // retries, after the heal, what has no final answer yet
	Judge    func(ctx context.Context, c Case, plays []Play, beside Beside) (schedule.Outcome, error)
	Class    func(Attempt) string
	Progress func(done, of int)
}

// Crash lets every fault strike at every step of a scenario's first actor, each under a fresh key. The other actors, if there are any, are
// duplicates that have sent their first statement when it strikes, and go on as it does.
func (s *Stage) Crash(ctx context.Context, scenario Scenario, plan CrashPlan) (schedule.CrashResult, error) {
	c := crash{stage: s, scenario: scenario, plan: plan, began: time.Now()}
	c.result = schedule.CrashResult{Name: scenario.Name, Actors: scenario.Names()}
	err := c.all(ctx)
	slices.SortStableFunc(c.result.Points, func(a, b schedule.CrashPoint) int { return a.Step - b.Step })
	c.result.Took = time.Since(c.began)
	return c.result, err
}

type crash struct {
	stage    *Stage
	scenario Scenario
	plan     CrashPlan
	began    time.Time

	mu     sync.Mutex // guards result
	result schedule.CrashResult
}

// settling bounds how many keys are being settled at once while the next fault strikes.
const settling = 4

// all strikes one after the other. Keys settle beside the next strikes, by a server that is never struck; only a strike at the database
// itself waits for them.
func (c *crash) all(ctx context.Context) error {
	steps, err := c.agreed(ctx)
	if err != nil {
		return err
	}
	c.result.Steps = steps
	for _, fault := range c.plan.Faults {
		var group errgroup.Group
		group.SetLimit(settling)
		for n := range steps {
			err := c.point(ctx, n, fault, &group)
			if err != nil || c.plan.First {
				err = errors.Join(err, group.Wait())
			}
			if err != nil {
				return fmt.Errorf("%s at step %d: %w", fault.Name, n+1, err)
			}
			if c.plan.First && c.result.Violating > 0 {
				return nil
			}
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// agreed counts until two counts in a row are equal: a connection that was cut before may still be noticed by the first request after it.
func (c *crash) agreed(ctx context.Context) (steps []schedule.Step, err error) {
	for range pointTries {
		before := steps
		if steps, err = c.count(ctx); err != nil {
			return nil, err
		}
		if slices.EqualFunc(before, steps, func(a, b schedule.Step) bool { return mark(a) == mark(b) }) {
			return steps, nil
		}
	}
	c.open("the request did not take the same steps twice in a row when nothing failed")
	return steps, nil
}

// count plays the first actor undisturbed, to know its steps.
func (c *crash) count(ctx context.Context) (steps []schedule.Step, err error) {
	p, err := c.stage.begin(ctx, c.scenario)
	if err != nil {
		return nil, err
	}
	for {
		step, _, err := p.first(ctx)
		if err != nil || step == nil {
			return steps, errors.Join(err, p.letGo(ctx))
		}
		steps = append(steps, *step)
		if err := p.Release(*step); err != nil {
			return steps, errors.Join(err, p.letGo(ctx))
		}
	}
}

// first waits for the next moment and finds the first actor's step; nil when it is done.
func (p *playing) first(ctx context.Context) (*schedule.Step, Moment, error) {
	m, err := p.Settle(ctx)
	if err != nil {
		return nil, m, err
	}
	for i := range m.Held {
		if m.Held[i].Actor == 0 {
			return &m.Held[i], m, nil
		}
	}
	return nil, m, nil
}

// pointTries is how often a request is brought to a step before it is noted that it did not come there as it did when it was counted.
const pointTries = 4

func (c *crash) point(ctx context.Context, n int, fault Fault, group *errgroup.Group) error {
	for range pointTries {
		if struck, err := c.tryPoint(ctx, n, fault, group); err != nil || struck {
			return err
		}
	}
	c.open(fmt.Sprintf("%s: the request did not come to step %d as it did before", fault.Name, n+1))
	return nil
}

func (c *crash) tryPoint(ctx context.Context, n int, fault Fault, group *errgroup.Group) (came bool, err error) {
	p, err := c.stage.begin(ctx, c.scenario)
	if err != nil {
		return false, err
	}
	struck, faults, err := c.strike(ctx, p, n, fault)
	if err := errors.Join(err, p.letGo(ctx)); err != nil {
		return false, err
	}
	if struck == nil {
		return false, nil
	}
	healed, err := c.heal(ctx, p, fault)
	if err != nil {
		return false, err
	}
	plays := p.plays()
	finish := func() error {
		return c.judge(ctx, p.c, plays, append(faults, healed...), schedule.CrashPoint{Step: n + 1, Kind: struck.Kind, SQL: struck.SQL, Fault: fault.Name, Story: fault.Story})
	}
	if fault.Strike != nil {
		return true, finish()
	}
	group.Go(finish)
	return true, nil
}

// strike brings the first actor to its n-th step, from 0, and lets the fault happen there. A nil step says that it did not come so far, as it
// did when it was counted.
func (c *crash) strike(ctx context.Context, p *playing, n int, fault Fault) (*schedule.Step, []history.Event, error) {
	for at := 0; ; at++ {
		step, m, err := p.first(ctx)
		if err != nil {
			return nil, nil, err
		}
		c.open(m.Notes...)
		if step == nil || mark(*step) != mark(c.result.Steps[at]) {
			return nil, nil, nil
		}
		if at < n {
			switch err := p.Release(*step); {
			case errors.Is(err, ErrDiverged):
				return nil, nil, nil
			case err != nil:
				return nil, nil, err
			}
			continue
		}
		began := faultEvent(p.c, fault, history.FaultBegan)
		return step, []history.Event{began}, c.hit(ctx, p, *step, fault)
	}
}

func (c *crash) hit(ctx context.Context, p *playing, step schedule.Step, fault Fault) error {
	if fault.Strike != nil && !fault.Late {
		p.mu.Lock()
		p.gone = pgwire.CutBefore // the statement dies with the server
		p.mu.Unlock()
		return fault.Strike(ctx) // what was held is let go with everything else
	}
	if fault.Freeze != nil {
		if err := fault.Freeze(); err != nil {
			return err
		}
	}
	if err := p.releaseBy(step, fault.Action); err != nil {
		return err
	}
	if fault.Strike == nil {
		return nil
	}
	if err := p.awaitEnd(ctx, step); err != nil {
		return err
	}
	return fault.Strike(ctx)
}

func (c *crash) heal(ctx context.Context, p *playing, fault Fault) ([]history.Event, error) {
	healing := faultEvent(p.c, fault, history.FaultHealing)
	if fault.Heal != nil {
		if err := fault.Heal(ctx); err != nil {
			return nil, fmt.Errorf("heal %s: %w", fault.Name, err)
		}
	}
	return []history.Event{healing, faultEvent(p.c, fault, history.FaultHealed)}, nil
}

func faultEvent(c Case, fault Fault, phase string) history.Event {
	return history.Event{Fault: &history.Fault{ID: 1, Name: fault.Name, On: "both paths of replica 1", Phase: phase, AtNS: int64(time.Since(c.Began)), Bit: 1}}
}

func (c *crash) judge(ctx context.Context, cs Case, plays []Play, events []history.Event, point schedule.CrashPoint) error {
	plays = c.plan.Settle(ctx, cs, plays)
	outcome, err := c.plan.Judge(ctx, cs, plays, Beside{Events: events})
	if err != nil {
		return fmt.Errorf("judge %s at step %d: %w", point.Fault, point.Step, err)
	}
	sent := plays[0].Sent
	point.Outcome, point.Saw, point.Tries = outcome, plays[0].Answer.Class, len(sent)
	point.Final = c.plan.Class(sent[len(sent)-1])
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result.Points = append(c.result.Points, point)
	if len(outcome.Violated) > 0 {
		c.result.Violating++
	}
	if c.plan.Progress != nil {
		c.plan.Progress(len(c.result.Points), len(c.result.Steps)*len(c.plan.Faults))
	}
	return nil
}

func (c *crash) open(why ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range why {
		if !slices.Contains(c.result.Open, w) {
			c.result.Open = append(c.result.Open, w)
		}
	}
}

// plays are what the actors did; all must be done.
func (p *playing) plays() (out []Play) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lanes {
		out = append(out, *l.play)
	}
	return out
}

// awaitEnd waits until a released step has ended in whatever way.
func (p *playing) awaitEnd(ctx context.Context, step schedule.Step) error {
	for {
		p.mu.Lock()
		pending := slices.ContainsFunc(p.lanes[step.Actor].sent, func(h *holding) bool { return mark(h.step) == mark(step) })
		p.mu.Unlock()
		if !pending {
			return nil
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of a step: %w", ctx.Err())
		}
	}
}
