package verdict

import (
	"time"

	"github.com/idemstorm/idemstorm/harness/latency"
)

// Window is one fault and what became of what it struck. A request belongs to a fault when it was under way at any moment of
// [FromNS, UntilNS], on a replica that the fault struck; a key when one of its requests does. What two faults struck is counted for each.
type Window struct {
	Fault    int           `json:"fault"` // history.Fault.ID
	Kind     string        `json:"kind"`
	On       string        `json:"on"`
	FromNS   int64         `json:"from_ns"`            // just before it struck
	UntilNS  int64         `json:"until_ns,omitempty"` // when it had healed; 0 where no healing was recorded
	Bit      int64         `json:"bit"`                // connections, statements or processes that it counted as affected
	Attempts int64         `json:"attempts"`
	Answers  WindowAnswers `json:"answers"`
	Keys     int64         `json:"keys"`
	Shared   int64         `json:"shared"` // of Keys, struck by another fault too

	P50 latency.Quantile `json:"p50,omitzero"` // of the service times of what was answered
	P99 latency.Quantile `json:"p99,omitzero"`
	Max time.Duration    `json:"max_ns,omitempty"`

	Unsettled int64         `json:"unsettled"`          // keys without a final answer when it had healed
	Longest   time.Duration `json:"longest_ns"`         // until the last of them that settled had its answer, from the heal
	Back      time.Duration `json:"back_ns"`            // until the error rate was back at its level from before, from the heal
	BackWhy   string        `json:"back_why,omitempty"` // why Back cannot be told; "" where it can

	Twice *int64 `json:"executed_twice"` // keys executed more often than once; nil where that was not judged
	Lost  *int64 `json:"acked_and_lost"` // keys acknowledged and not there, or not whole; nil where that was not judged
	Stuck *int64 `json:"stuck"`          // operations that never settled in time; nil where that was not judged
}

// WindowAnswers divides the attempts of a window by what came back.
type WindowAnswers struct {
	OK          int64 `json:"2xx"`
	Conflict    int64 `json:"409_425"`
	Unavailable int64 `json:"503"`
	Failed      int64 `json:"other_5xx"`
	Other       int64 `json:"other"`
	None        int64 `json:"none"` // no answer: lost, or not even sent
}
