package explore

import "context"

// System is what can be explored: it plays one schedule at a time, each from the same beginning.
type System interface {
	// Begin starts all actors of a fresh schedule.
	Begin(ctx context.Context) (Run, error)
}

// Run is one schedule being played.
type Run interface {
	// Settle waits until every actor is held, blocked or done, and returns that moment. An error says that this did not come about.
	Settle(ctx context.Context) (Moment, error)
	// Release lets one held step of the last moment go to the database.
	Release(step Step) error
	// Finish lets whatever is left run freely, waits for it, and judges. It is called once, also after an error.
	Finish(ctx context.Context) (Outcome, error)
}

// Step is one step of one actor, held or released.
type Step struct {
	Actor     int       `json:"actor"`
	Conn      int       `json:"conn"` // the n-th connection that the actor has used in this schedule, from 1
	Kind      Kind      `json:"kind"`
	SQL       string    `json:"sql"` // for a Sync: the statements that it commits
	Params    []string  `json:"params,omitempty"`
	Footprint Footprint `json:"-"`
}

// Kind is what a step is in a schedule.
type Kind string

// The kinds of step. An autocommitted write takes two: its statements run, and then they commit.
const (
	Statement Kind = "statement" // runs, and commits where it is not part of a transaction
	Execute   Kind = "execute"   // runs and stays uncommitted: its Commit is a step of its own
	Commit    Kind = "commit"    // the Sync that commits an Execute
)

// Moment is when all actors stand still.
type Moment struct {
	Held    []Step    // what can be released, by actor and connection
	Blocked []Blocked // what waits inside the database
	Ended   []Ended   // what has ended since the moment before, in that order
	Answers []Answer  // what actors were answered since then
	Notes   []string  // what weakens the claim that this is every interleaving
	Over    bool      // every actor has its answer
}

// Blocked is a released step that waits for a lock.
type Blocked struct {
	Step Step  `json:"step"`
	On   []int `json:"on"` // the actors that hold it; empty if it is nobody in the schedule
}

// Ended is a step with what became of it.
type Ended struct {
	Step Step     `json:"step"`
	End  string   `json:"end"` // as the proxy names it: answered, withheld, …
	Tags []string `json:"tags,omitempty"`
	Rows int64    `json:"rows"`
	Code string   `json:"code,omitempty"` // SQLSTATE
}

// Answer is what an actor got in the end.
type Answer struct {
	Actor  int    `json:"actor"`
	Status int    `json:"status,omitempty"` // HTTP status; 0 for a lost answer or a command
	Class  string `json:"class"`            // by the contract: fresh, replay, …; "lost"; for a command "done" or "failed"
	Body   string `json:"body,omitempty"`
}

// Outcome is the judged end of a schedule. Equal outcomes are counted together.
type Outcome struct {
	Executions int         `json:"executions"`
	Answers    []string    `json:"answers"` // classes, sorted
	Record     string      `json:"record"`  // status of the key's record: "none", "completed", …
	Violated   []Violation `json:"violated,omitempty"`
	Rows       []Row       `json:"rows,omitempty"` // what was read for the key
}

// Violation is one broken invariant of contract section 8.
type Violation struct {
	Invariant string `json:"invariant"`
	Sentence  string `json:"sentence"`
}

// Row is one row as text, for people.
type Row struct {
	Table string `json:"table"`
	Text  string `json:"text"`
}
