package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// planner decides which schedule comes next.
type planner interface {
	start() chooser
	advance() bool // turns to the next schedule; false: none is left
	abandon() bool // the same, after a schedule that did not repeat its prefix
	bound() int    // the number of preemptions that is being explored, or Unbounded
}

func (e *exhaustive) start() chooser { return e }

// Search explores a system. An error means that it could not be played; what a schedule showed is in the result.
func Search(ctx context.Context, system System, o Options) (schedule.Result, error) {
	o = o.withDefaults()
	var p planner = &exhaustive{opts: o}
	if o.Preemptions != schedule.Unbounded {
		p = newBounded(o)
	}
	s := &search{system: system, opts: o, planner: p, began: time.Now()}
	s.result = schedule.Result{Preemptions: o.Preemptions, Reduced: o.Reduce || o.Symmetry}
	err := s.all(ctx)
	s.result.Took = time.Since(s.began)
	return s.result, err
}

type search struct {
	system  System
	opts    Options
	planner planner
	began   time.Time
	result  schedule.Result
	found   *Trace // the first violating schedule
}

func (s *search) all(ctx context.Context) error {
	for more := true; more; {
		if reason := s.spent(ctx); reason != "" {
			s.doubt(reason)
			return ctx.Err()
		}
		diverged, err := s.one(ctx)
		if err != nil {
			return err
		}
		if s.found != nil && !s.opts.KeepGoing {
			return s.shorten(ctx)
		}
		if diverged {
			more = s.planner.abandon()
		} else {
			more = s.planner.advance()
		}
	}
	s.result.Complete = len(s.result.Open) == 0
	if s.found != nil {
		return s.shorten(ctx)
	}
	return nil
}

// spent says which bound was reached, if any.
func (s *search) spent(ctx context.Context) string {
	switch {
	case ctx.Err() != nil:
		return "interrupted"
	case s.result.Schedules+s.result.Redundant >= s.opts.Schedules:
		return fmt.Sprintf("stopped at the limit of %d schedules", s.opts.Schedules)
	case time.Since(s.began) > s.opts.Time:
		return fmt.Sprintf("stopped at the limit of %v", s.opts.Time)
	}
	return ""
}

// one plays the planner's schedule, again if its prefix did not fit the first time.
func (s *search) one(ctx context.Context) (diverged bool, err error) {
	var trace Trace
	for range retries + 1 {
		if trace, err = play(ctx, s.system, s.planner.start()); !errors.Is(err, ErrDiverged) {
			break
		}
	}
	switch {
	case errors.Is(err, ErrDiverged):
		s.doubt(err.Error())
		return true, nil
	case errors.Is(err, errRedundant):
		s.result.Redundant++
		return false, nil
	case err != nil:
		return false, err
	}
	s.take(trace)
	return false, nil
}

func (s *search) take(trace Trace) {
	s.result.Schedules++
	s.result.Steps = max(s.result.Steps, len(trace.Steps))
	s.doubt(trace.Notes...)
	s.count(trace.Outcome)
	if len(trace.Outcome.Violated) > 0 {
		s.result.Violating++
		if s.found == nil {
			s.result.First = s.result.Schedules
			s.found = &trace
		}
	}
	if s.opts.Progress != nil {
		s.opts.Progress(Progress{s.result.Schedules, s.result.Redundant, s.result.Violating, s.planner.bound()})
	}
}

// shortenSchedules bounds the search for a shorter counterexample; past it the one at hand is shown.
const shortenSchedules = 3000

// shorten looks for the violation that was found in a schedule with the fewest preemptions, which is the easiest to read.
func (s *search) shorten(ctx context.Context) error {
	best := *s.found
	o := s.opts
	o.Preemptions = best.Preemptions() - 1
	if s.opts.Preemptions == schedule.Unbounded && o.Preemptions >= 0 {
		if shorter, ok := s.fewer(ctx, o); ok {
			best = shorter
		}
	}
	s.result.Schedule = newSchedule(best)
	return nil
}

func (s *search) fewer(ctx context.Context, o Options) (Trace, bool) {
	wanted := s.found.Outcome.Violated[0].Invariant
	p := newBounded(o)
	until := time.Now().Add(s.opts.Time)
	for range shortenSchedules {
		trace, err := play(ctx, s.system, p.start())
		if err == nil && trace.Outcome.Violates(wanted) {
			return trace, true
		}
		if ctx.Err() != nil || time.Now().After(until) || !p.advance() {
			return Trace{}, false
		}
	}
	return Trace{}, false
}

func (s *search) count(o schedule.Outcome) {
	counted := s.result.Outcomes
	at := slices.IndexFunc(counted, func(c schedule.OutcomeCount) bool { return c.Outcome.Signature() == o.Signature() })
	if at < 0 {
		s.result.Outcomes = append(counted, schedule.OutcomeCount{Outcome: o, Count: 1})
		return
	}
	counted[at].Count++
}

// doubt notes what leaves the claim open, each once.
func (s *search) doubt(why ...string) {
	for _, w := range why {
		if !slices.Contains(s.result.Open, w) {
			s.result.Open = append(s.result.Open, w)
		}
	}
}
