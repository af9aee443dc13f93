package explore

import (
	"context"
	"time"

	"github.com/idemstorm/idemstorm/harness/schedule"
)

// Scenario is what is let loose on the system: who acts, on what, and how the end is judged.
type Scenario struct {
	Name   string
	Actors []Actor
	// Fresh makes what a schedule needs that no other has used: a key, and rows where the scenario wants some. It runs while
	// statements pass unheld.
	Fresh func(ctx context.Context) (Case, error)
	// Judge reads the rows and judges. plays has one entry an actor, in order.
	Judge func(ctx context.Context, c Case, plays []Play) (schedule.Outcome, error)
}

// Case is what one schedule acts on.
type Case struct {
	Number int       // counts schedules from 1
	Began  time.Time // zero of the schedule's times
	Key    string    // the idempotency key
	User   int64
	Token  string
}

// Actor is one of the parties of a scenario. Actors of the same non-empty class are identical: they do the same, by the same means.
type Actor struct {
	Name  string
	Class string
	Act   func(ctx context.Context, c Case) Play
}

// Play is what an actor did and got. Times are nanoseconds since the schedule began.
type Play struct {
	Answer schedule.Answer
	Sent   []Attempt // the HTTP requests behind it, in order; none for a command
	DoneNS int64     // when it had its answer; the stage sets it
}

// Attempt is one HTTP request of an actor.
type Attempt struct {
	Path, Method, Body string
	Key                string
	Request            string // equal for requests that ask for the same
	SentNS, DoneNS     int64
	Status             int // 0 for a lost answer
	Marked             bool
	Answer             []byte
	Settle             bool // sent by the patient client after everything had healed
	Replica            int  // from 1
}

// Classes are the actors' classes in order.
func (s Scenario) Classes() (out []string) {
	for _, actor := range s.Actors {
		out = append(out, actor.Class)
	}
	return out
}

// Names are the actors' names in order.
func (s Scenario) Names() (out []string) {
	for _, actor := range s.Actors {
		out = append(out, actor.Name)
	}
	return out
}
