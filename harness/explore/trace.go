package explore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// ErrDiverged says that a replayed prefix did not fit: the same choices led the server to other statements.
var ErrDiverged = errors.New("the server did not repeat itself")

// Trace is one schedule as it was played.
type Trace struct {
	Steps   []schedule.Taken `json:"steps"`
	Outcome schedule.Outcome `json:"outcome"`
	Notes   []string
}

// Preemptions counts the switches away from an actor that could have gone on.
func (t Trace) Preemptions() (n int) {
	for _, taken := range t.Steps {
		if taken.Switch {
			n++
		}
	}
	return n
}

// mark identifies a step among those of its moment, and again when the schedule is replayed. The connection is no part of it: which one a
// statement goes by is a pool's affair, and changes when the pool refills itself in the background.
func mark(s schedule.Step) string {
	return fmt.Sprintf("%d/%s/%s", s.Actor, s.Kind, normal(s.SQL))
}

// scene is a moment as a replay must find it again.
func (m Moment) scene() string {
	var b strings.Builder
	for _, step := range m.Held {
		b.WriteString(mark(step))
		b.WriteByte('\n')
	}
	for _, blocked := range m.Blocked {
		fmt.Fprintf(&b, "blocked %s on %v\n", mark(blocked.Step), blocked.On)
	}
	return b.String()
}

func diverged(n int, before, now string) error {
	return fmt.Errorf("%w: after %d steps of a replayed schedule, before:\n%snow:\n%s", ErrDiverged, n, before, now)
}

// chooser picks the step to release at the n-th moment, from 0, or ends the schedule there.
type chooser interface {
	choose(n int, m Moment, observed schedule.Footprint) (choice int, more bool, err error)
}

// play runs one schedule to its end. observed, as choosers get it, is the footprint of the step released before together with those
// of the steps that it set free.
func play(ctx context.Context, system System, c chooser) (trace Trace, err error) {
	run, err := system.Begin(ctx)
	if err != nil {
		return trace, fmt.Errorf("begin a schedule: %w", err)
	}
	stopped, err := follow(ctx, run, c, &trace)
	outcome, finishErr := run.Finish(ctx)
	trace.Outcome = outcome
	if err != nil {
		return trace, err
	}
	if finishErr != nil {
		return trace, fmt.Errorf("judge a schedule: %w", finishErr)
	}
	if stopped {
		return trace, errRedundant
	}
	return trace, nil
}

// errRedundant ends a schedule that sleep sets show to be another order of one already played.
var errRedundant = errors.New("redundant")

func follow(ctx context.Context, run Run, c chooser, trace *Trace) (stopped bool, err error) {
	var waiting []schedule.Blocked
	last := -1
	var observed schedule.Footprint
	for n := 0; ; n++ {
		m, err := run.Settle(ctx)
		if err != nil {
			return false, fmt.Errorf("after %d steps: %w", n, err)
		}
		trace.Notes = append(trace.Notes, m.Notes...)
		if n > 0 {
			observed = observed.Union(freed(waiting, m.Blocked))
			take(&trace.Steps[n-1], m)
		}
		waiting = m.Blocked
		if m.Over {
			return false, nil
		}
		choice, more, err := c.choose(n, m, observed)
		if err != nil || !more {
			return !more, err
		}
		step := m.Held[choice]
		taken := schedule.Taken{Step: step, Choices: len(m.Held), Switch: preempts(m, last, step)}
		trace.Steps = append(trace.Steps, taken)
		if !step.Footprint.Local() {
			last = step.Actor
		}
		observed = step.Footprint
		if err := run.Release(step); err != nil {
			return false, err
		}
	}
}

func take(t *schedule.Taken, m Moment) {
	t.Ended, t.Blocked, t.Answers = m.Ended, m.Blocked, m.Answers
}

// freed is what the steps touch that waited before and do not any more.
func freed(before, after []schedule.Blocked) (f schedule.Footprint) {
	for _, b := range before {
		if !waits(after, b.Step) {
			f = f.Union(b.Step.Footprint)
		}
	}
	return f
}

func waits(blocked []schedule.Blocked, step schedule.Step) bool {
	for _, b := range blocked {
		if mark(b.Step) == mark(step) {
			return true
		}
	}
	return false
}

// preempts tells whether releasing step switches away from an actor that could go on. Steps that nobody else can see
// are free: their place in a schedule means nothing.
func preempts(m Moment, last int, step schedule.Step) bool {
	if last < 0 || step.Actor == last || step.Footprint.Local() {
		return false
	}
	for _, held := range m.Held {
		if held.Actor == last {
			return true
		}
	}
	return false
}
