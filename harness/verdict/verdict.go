// Package verdict says what held, what was violated, and what could not be judged, with the facts that show it.
//
// It stands between the checks, which produce it, and the reports, which only show it.
package verdict

import (
	"time"

	"github.com/idemstorm/idemstorm/harness/history"
)

// Status is the result for one invariant or gate. The zero value is NotJudged, never a pass.
type Status int

// The statuses, from harmless to grave only by name: compare with ==, not by order.
const (
	NotJudged    Status = iota // the scenario does not claim to exercise it
	Held                       // looked at, and no violation found
	Violated                   // at least one counterexample
	Inconclusive               // claimed, but too little data, or a limit was hit
)

var statusNames = [...]string{"not judged", "held", "violated", "inconclusive"}

// String is the word that reports show.
func (s Status) String() string { return statusNames[s] }

// MarshalText writes the status as its word.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a status word; an unknown one is NotJudged, so that it never passes for held.
func (s *Status) UnmarshalText(b []byte) error {
	*s = NotJudged
	for i, n := range statusNames {
		if n == string(b) {
			*s = Status(i)
		}
	}
	return nil
}

// Violation is one counterexample: the smallest set of facts that contradicts an invariant.
type Violation struct {
	Sentence string        `json:"sentence"` // one plain sentence: what happened, with key and numbers
	Expected string        `json:"expected"`
	Seen     string        `json:"seen"`
	Key      string        `json:"key,omitempty"`
	User     int64         `json:"user,omitempty"`
	Endpoint string        `json:"endpoint,omitempty"`
	AtNS     int64         `json:"at_ns,omitempty"` // when the last of these facts was there to see, since the run's zero; 0 when only rows tell
	Ops      []history.Ref `json:"ops,omitempty"`   // in order of being sent
	Rows     []history.Row `json:"rows,omitempty"`  // the rows that show it
}

// Finding is the result for one invariant of contract section 8.
type Finding struct {
	Invariant  string      `json:"invariant"`
	Status     Status      `json:"status"`
	Claimed    bool        `json:"claimed"`              // the scenario names it, so too little data is inconclusive
	Looked     int64       `json:"looked"`               // how many things were examined
	Unit       string      `json:"unit"`                 // what Looked counts: keys, replays, rows …
	Why        string      `json:"why,omitempty"`        // for inconclusive and not judged
	Count      int64       `json:"count,omitempty"`      // violations found in all
	FirstNS    int64       `json:"first_ns,omitempty"`   // when the first violation was there to see; 0 when only rows tell
	FirstOps   int64       `json:"first_ops,omitempty"`  // how many operations had been begun by then
	Violations []Violation `json:"violations,omitempty"` // at most MaxViolations of them, smallest first

	Faults []FaultTally `json:"faults,omitempty"` // for each fault of the run, of the invariants that faults put to the test
}

// FaultTally is what one invariant found in what one fault struck. What two faults struck is counted for each.
type FaultTally struct {
	Fault   int    `json:"fault"` // history.Fault.ID
	Looked  int64  `json:"looked"`
	Count   int64  `json:"count,omitempty"`   // violations
	Missing int64  `json:"missing,omitempty"` // of Count: what was acknowledged and is not there; acked-durable alone
	Example string `json:"example,omitempty"` // one violation, in its sentence
}

// MaxViolations bounds the counterexamples kept for one invariant; Count has them all.
const MaxViolations = 5

// Gate is one latency limit.
type Gate struct {
	Name    string        `json:"name"` // such as "order fresh response p99"
	Status  Status        `json:"status"`
	Limit   time.Duration `json:"limit_ns"`
	Value   time.Duration `json:"value_ns"`
	Low     time.Duration `json:"low_ns"` // 95 % interval
	High    time.Duration `json:"high_ns"`
	Samples int64         `json:"samples"`
	Why     string        `json:"why,omitempty"`
}

// Verdict is the judgement of one scenario run.
type Verdict struct {
	Scenario    string    `json:"scenario"`
	Findings    []Finding `json:"findings"`
	Losses      *Losses   `json:"losses,omitempty"` // of a scenario that states a weakened durability
	Gates       []Gate    `json:"gates,omitempty"`
	Doubts      []string  `json:"doubts,omitempty"`      // what threatens the run's validity: a late generator, a limit hit; makes it inconclusive
	Interrupted bool      `json:"interrupted,omitempty"` // stopped by a signal: what was recorded is judged, and it is inconclusive
	Partial     bool      `json:"partial,omitempty"`     // a file of the run is damaged: what could be read was judged, and the doubts say what could not
}
