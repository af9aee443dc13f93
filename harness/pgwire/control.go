package pgwire

import (
	"context"
	"errors"
	"time"
)

// ErrCanceled is the cause with which a held step's context ends when its client
// sends a CancelRequest. Fail with 57014 is what a database would answer.
var ErrCanceled = errors.New("pgwire: the client canceled the step")

// Controller decides what becomes of each step. Its methods are called from
// many connections at once, for one connection in order: Decide, Ended, Decide, …
type Controller interface {
	// Decide is called before a step is forwarded. To hold the step is to not
	// return. ctx ends when the client or the connection is gone, and with the cause
	// ErrCanceled when the client asks to cancel the step. What is returned then
	// still counts, for a real database would have received the statement.
	Decide(ctx context.Context, step *Step) Action
	// Ended is called once for every step that was decided, before the client can
	// see the end of its answer. Not to return keeps that end back, and nothing
	// else happens on the connection meanwhile.
	Ended(step *Step, outcome Outcome)
}

// Verb is what to do with a step.
type Verb uint8

const (
	// Forward passes the step on. It is the zero value.
	Forward Verb = iota
	// CutBefore ends the connection; the database never sees the step.
	CutBefore
	// CutAfter forwards the step, waits until the database has answered in full, and
	// ends the connection without passing the answer on. A COPY from the client
	// cannot be answered without it, and is cut in flight instead.
	CutAfter
	// CutInFlight forwards the step and ends the connection at once: whether the
	// database acts on it is open.
	CutInFlight
	// Fail answers with Action.Code and does not forward the step. An open
	// transaction is made to fail for real, so that later statements of the
	// client meet the state that the error announced.
	Fail
)

// String names the verb as schedules do.
func (v Verb) String() string {
	return [...]string{"forward", "cut-before", "cut-after", "cut-in-flight", "fail"}[v]
}

// Action is a controller's decision on one step.
type Action struct {
	Verb  Verb
	Delay time.Duration // waited before the verb
	Code  string        // for Fail: an SQLSTATE, see Injectable
	// SplitSync forwards an extended step that runs something with a Flush in the place of its
	// Sync. Its answers pass to the client, nothing is committed, and
	// the Sync becomes a step of its own. It has no effect on other steps.
	SplitSync bool
}

// End is how a step came to its end.
type End uint8

const (
	// Lost: the connection ended before the answer was complete. It is the zero value.
	Lost End = iota
	// Answered: the database's answer was complete and is on its way to the client.
	Answered
	// Withheld: the answer was complete, and the connection is cut instead.
	Withheld
	// Unsent: cut before forwarding.
	Unsent
	// InFlight: cut as soon as it was forwarded.
	InFlight
	// Injected: the proxy answered with an error.
	Injected
)

// String names the end in lower case.
func (e End) String() string {
	return [...]string{"lost", "answered", "withheld", "unsent", "in-flight", "injected"}[e]
}

// Outcome is what became of a step.
type Outcome struct {
	End      End
	Tags     []string // the command tags, such as "INSERT 0 1", in order
	Rows     int64    // the sum of the rows that the tags count
	Code     string   // SQLSTATE of the first error; empty if there was none
	Message  string   // of that error
	TxStatus byte     // after the step; 0 when no ReadyForQuery belongs to it
}
