package explore

import (
	"context"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

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
	Release(step schedule.Step) error
	// Finish lets whatever is left run freely, waits for it, and judges. It is called once, also after an error.
	Finish(ctx context.Context) (schedule.Outcome, error)
}

// Moment is when all actors stand still.
type Moment struct {
	Held    []schedule.Step    // what can be released, by actor and connection
	Blocked []schedule.Blocked // what waits inside the database
	Ended   []schedule.Ended   // what has ended since the moment before, in that order
	Answers []schedule.Answer  // what actors were answered since then
	Notes   []string           // what weakens the claim that this is every interleaving
	Over    bool               // every actor has its answer
}
