package zoo

import (
	"context"
	"fmt"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var noDeadline = Variant{
	Name:  "no-deadline",
	Class: "unbounded wait for a connection",
	Story: "Each request has a connection of its own, and the claim takes a second one, so that it commits by itself. Nothing " +
		"bounds the wait. When the store hangs for a moment, waiting requests take up the pool, and each waits for the others' second one for ever.",
	Seen:      "brettwooldridge/HikariCP#442: requests that each need a second connection use up the pool and wait for one another",
	Invariant: "recovers",
	Scenario:  "store-hang",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = unboundedClaimer{reference(p)}
		return p
	},
}

// unboundedClaimer holds one connection while it waits for another.
type unboundedClaimer struct{ *idempotency.InsertClaimer }

// Claim implements idempotency.Claimer.
func (c unboundedClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	ctx = context.WithoutCancel(ctx)
	session, err := pool(c.InsertClaimer).Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("acquire the request's connection: %w", err)
	}
	claim, err := c.InsertClaimer.Claim(ctx, req)
	if claim == nil {
		session.Release()
		return nil, err
	}
	claim.Release = session.Release
	return claim, nil
}
