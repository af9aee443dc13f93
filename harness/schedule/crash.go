package schedule

import (
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

// CrashPoint is one fault at one step, and what came of it.
type CrashPoint struct {
	Step    int     `json:"step"` // of the first actor, from 1
	Kind    Kind    `json:"kind"`
	SQL     string  `json:"sql"`
	Fault   string  `json:"fault"`
	Story   string  `json:"story,omitempty"` // what the fault is
	Saw     string  `json:"saw"`             // the first answer of the request that was struck
	Final   string  `json:"final"`           // its last
	Tries   int     `json:"tries"`
	Outcome Outcome `json:"outcome"`
}

// CrashResult is a whole table of crash points.
type CrashResult struct {
	Name      string        `json:"name"`
	Actors    []string      `json:"actors"`
	Steps     []Step        `json:"steps"` // of the first actor, undisturbed
	Points    []CrashPoint  `json:"points"`
	Violating int           `json:"violating"`
	Open      []string      `json:"open,omitempty"`
	Notes     []string      `json:"notes,omitempty"`      // what is worth knowing, and weakens nothing
	NotJudged []string      `json:"not_judged,omitempty"` // invariants that no point was judged by, with why
	Took      time.Duration `json:"took_ns"`
	Command   string        `json:"command,omitempty"` // strikes again
}

// Exit is the command's exit code.
func (r CrashResult) Exit() int {
	switch {
	case r.Violating > 0:
		return verdict.ExitViolated
	case len(r.Open) > 0 || len(r.Points) == 0:
		return verdict.ExitInconclusive
	}
	return verdict.ExitHeld
}

// Sentence is the result in one line.
func (r CrashResult) Sentence() string {
	switch {
	case r.Violating > 0:
		return fmt.Sprintf("VIOLATED: %d of %d crash points break an invariant", r.Violating, len(r.Points))
	case r.Exit() != 0:
		return "INCONCLUSIVE: nothing broken was seen, and not every crash point was struck"
	}
	return fmt.Sprintf("HELD: no crash point of %d breaks an invariant", len(r.Points))
}
