package schedule

import "strings"

// OneLine is a statement's text without its line breaks and indentation.
func OneLine(sql string) string { return strings.Join(strings.Fields(sql), " ") }

// Step is one step of one actor, held or released.
type Step struct {
	Actor     int       `json:"actor"`
	Conn      int       `json:"conn"` // the n-th connection that the actor has used in this schedule, from 1
	Kind      Kind      `json:"kind"`
	SQL       string    `json:"sql"` // for a Sync: the statements that it commits
	Params    []string  `json:"params,omitempty"`
	Footprint Footprint `json:"-"`
}

// Same tells whether two mentions in one schedule are of the same step.
func (s Step) Same(t Step) bool {
	return s.Actor == t.Actor && s.Conn == t.Conn && s.Kind == t.Kind && s.SQL == t.SQL
}

// Kind is what a step is in a schedule.
type Kind string

// The kinds of step. An autocommitted write takes two: its statements run, and then they commit.
const (
	Statement Kind = "statement" // runs, and commits where it is not part of a transaction
	Execute   Kind = "execute"   // runs and stays uncommitted: its Commit is a step of its own
	Commit    Kind = "commit"    // the Sync that commits an Execute
)

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
