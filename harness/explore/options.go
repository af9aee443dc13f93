package explore

import (
	"time"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// Options bound a search and say what it may leave out. The zero value leaves nothing out and stops after ten minutes.
type Options struct {
	// Reduce leaves out orders that differ from an explored one only in steps that commute. It asks for actors that share
	// nothing but the database, under READ COMMITTED, where each statement sees only the tables that it names.
	Reduce bool
	// Symmetry leaves out orders that only swap the names of identical actors.
	Symmetry bool
	// Classes says which actors are identical: those of the same non-empty class.
	Classes []string
	// Preemptions bounds how often a schedule may switch away from an actor that could go on; negative is no bound.
	// A bounded search does not use sleep sets: what they leave out for a schedule within the bound may lie beyond it.
	Preemptions int
	// Schedules and Time bound the search; 0 takes the default.
	Schedules int
	Time      time.Duration
	// KeepGoing explores on after the first violation, to see every outcome.
	KeepGoing bool
	// Progress is called after each schedule, if it is set.
	Progress func(Progress)
}

// Progress says how far a search is.
type Progress struct {
	Schedules, Redundant, Violating int
	Preemptions                     int // the bound that is being explored; -1 without one
}

const (
	defaultSchedules = 200_000
	defaultTime      = 10 * time.Minute
	// retries is how often a schedule whose prefix does not fit is played again before that is reported.
	retries = 1
)

func (o Options) withDefaults() Options {
	if o.Schedules == 0 {
		o.Schedules = defaultSchedules
	}
	if o.Time == 0 {
		o.Time = defaultTime
	}
	return o
}

// canonical tells whether a step may be chosen under symmetry: of identical actors that have not begun, only the first may begin.
// Every schedule is one of these with names swapped. begun says which actors have released a step.
func (o Options) canonical(step schedule.Step, begun []bool) bool {
	if !o.Symmetry || step.Actor >= len(o.Classes) || begun[step.Actor] {
		return true
	}
	for earlier := range step.Actor {
		if o.Classes[earlier] == o.Classes[step.Actor] && o.Classes[earlier] != "" && !begun[earlier] {
			return false
		}
	}
	return true
}

// forced finds a step that nobody else can see: releasing it at once loses no order, since it commutes with all that others do.
func (o Options) forced(m Moment, begun []bool) (choice int, ok bool) {
	if !o.Reduce {
		return 0, false
	}
	for i, step := range m.Held {
		if step.Footprint.Local() && o.canonical(step, begun) {
			return i, true
		}
	}
	return 0, false
}
