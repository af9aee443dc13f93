package schedule

import (
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// Result is what a search found, and how far it went.
type Result struct {
	Name        string         `json:"name"`
	Actors      []string       `json:"actors"`
	Complete    bool           `json:"complete"` // every schedule within the bound was played or shown to be another order of one that was
	Preemptions int            `json:"preemptions"`
	Schedules   int            `json:"schedules"` // played to the end and judged
	Redundant   int            `json:"redundant"` // given up on the way, as another order of one that was played
	Reduced     bool           `json:"reduced"`
	Steps       int            `json:"steps"` // of the longest schedule
	Violating   int            `json:"violating"`
	First       int            `json:"first,omitempty"` // number of the first violating schedule, from 1
	Outcomes    []OutcomeCount `json:"outcomes"`
	Afterwards  []Violation    `json:"afterwards,omitempty"` // of all schedules together, where no single one shows it
	Open        []string       `json:"open,omitempty"`       // what leaves the claim open, each once
	NotJudged   []string       `json:"not_judged,omitempty"` // invariants that no schedule was judged by, with why
	Took        time.Duration  `json:"took_ns"`
	Schedule    *Schedule      `json:"counterexample,omitempty"` // of the first violation, shortened
	Command     string         `json:"command,omitempty"`        // explores again
	Reproduce   string         `json:"reproduce,omitempty"`      // plays the counterexample again
}

// Unbounded as Result.Preemptions says that every order was to be explored.
const Unbounded = -1

// OutcomeCount is one way that schedules ended, and how many did.
type OutcomeCount struct {
	Outcome Outcome `json:"outcome"`
	Count   int     `json:"count"`
}

// Exit is the command's exit code: a violation outweighs doubt, and a claim that stays open is not clean.
func (r Result) Exit() int {
	switch {
	case r.Violating+len(r.Afterwards) > 0:
		return verdict.ExitViolated
	case !r.Complete || len(r.Open) > 0 || r.Schedules == 0:
		return verdict.ExitInconclusive
	}
	return verdict.ExitHeld
}

// Claim says in one sentence what was explored.
func (r Result) Claim() string {
	what := "all interleavings"
	if r.Preemptions != Unbounded {
		what = fmt.Sprintf("all interleavings with at most %d preemptions", r.Preemptions)
	}
	if !r.Complete {
		what = "not " + what
	}
	played := "schedules"
	if r.Schedules == 1 {
		played = "schedule"
	}
	how := fmt.Sprintf("%d %s played, none left out", r.Schedules, played)
	if r.Reduced {
		how = fmt.Sprintf("%d %s played, %d left out as other orders of those", r.Schedules, played, r.Redundant)
	}
	if !r.Complete && r.Violating == 1 && r.First == r.Schedules {
		how += "; the last one played broke an invariant and ended the search"
	}
	return what + ": " + how
}

// Sentence is the result in one line.
func (r Result) Sentence() string {
	switch {
	case r.Violating > 0:
		return fmt.Sprintf("VIOLATED: %d of %d schedules break an invariant; the first was schedule %d", r.Violating, r.Schedules, r.First)
	case len(r.Afterwards) > 0:
		return "VIOLATED: the schedules together left something wrong"
	case r.Exit() != 0:
		return "INCONCLUSIVE: nothing broken was seen, and not everything was looked at"
	}
	return fmt.Sprintf("HELD: no schedule of %d breaks an invariant", r.Schedules)
}
