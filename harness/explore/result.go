package explore

import (
	"fmt"
	"slices"
	"strings"
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
	Took        time.Duration  `json:"took_ns"`
	Schedule    *Schedule      `json:"counterexample,omitempty"` // of the first violation, shortened
}

// OutcomeCount is one way that schedules ended, and how many did.
type OutcomeCount struct {
	Outcome Outcome `json:"outcome"`
	Count   int     `json:"count"`
}

// Signature is what makes two outcomes equal.
func (o Outcome) Signature() string {
	names := make([]string, 0, len(o.Violated)+1)
	if len(o.Violated) == 0 {
		names = append(names, "nothing")
	}
	for _, v := range o.Violated {
		names = append(names, v.Invariant)
	}
	return fmt.Sprintf("executions %d; answers %s; record %s; violated %s", o.Executions, strings.Join(o.Answers, " "), o.Record, strings.Join(names, " "))
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
	how := fmt.Sprintf("%d schedules played, %d left out as other orders of those", r.Schedules, r.Redundant)
	if !r.Reduced {
		how = fmt.Sprintf("%d schedules played, none left out", r.Schedules)
	}
	return what + ": " + how
}

func (r *Result) count(o Outcome) {
	at := slices.IndexFunc(r.Outcomes, func(c OutcomeCount) bool { return c.Outcome.Signature() == o.Signature() })
	if at < 0 {
		r.Outcomes = append(r.Outcomes, OutcomeCount{o, 1})
		return
	}
	r.Outcomes[at].Count++
}

func (r *Result) doubt(why ...string) {
	for _, w := range why {
		if !slices.Contains(r.Open, w) {
			r.Open = append(r.Open, w)
		}
	}
}
