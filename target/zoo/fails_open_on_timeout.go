package zoo

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var failsOpenOnTimeout = Variant{
	Name:  "fails-open-on-timeout",
	Class: "fails open",
	Story: "A store that refuses connections is an outage, and orders stop. A store that is slow is only slow: the claim gets a " +
		"time-out of its own, and when that passes the order goes on without it.",
	Seen:      "ikyriak/IdempotentAPI#23: time-outs of the distributed cache let one key execute more than once",
	Invariant: "nothing-unclaimed",
	Scenario:  "store-outage",
	Explore:   &Exploration{Faults: []string{"hang"}},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = timedClaimer{reference(p)}
		return p
	},
}

// timedClaimer gives the claim half of the time that is left, and then proceeds.
type timedClaimer struct{ *idempotency.InsertClaimer }

// Claim implements idempotency.Claimer.
func (c timedClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	deadline, _ := ctx.Deadline()
	short, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
	defer cancel()
	claim, err := c.InsertClaimer.Claim(short, req)
	if errors.Is(err, context.DeadlineExceeded) {
		return &idempotency.Claim{Completer: noCompleter{}}, nil
	}
	return claim, err
}

// noCompleter has no record to end.
type noCompleter struct{}

// Complete implements idempotency.Completer.
func (noCompleter) Complete(*pgx.Batch, *idempotency.Claim, *idempotency.Request, *idempotency.Response) {
}

// Fail implements idempotency.Completer.
func (noCompleter) Fail(context.Context, *idempotency.Claim, *idempotency.Response) error { return nil }
