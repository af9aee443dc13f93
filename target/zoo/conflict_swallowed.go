package zoo

import (
	"context"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var conflictSwallowed = Variant{
	Name:  "conflict-swallowed",
	Class: "conflict ignored",
	Story: "The handler looks for the key, finds none and inserts it. That the insert may hit the constraint is known, and the " +
		"error is swallowed so that the client sees none: the record is there, which is what was wanted. Both go on.",
	Seen:      "safe-global/safe-transaction-service#1353: rows are inserted ignoring duplicates, and the ignored ones are acted on like the others",
	Invariant: "at-most-once",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = swallowingClaimer{reference(p)}
		return p
	},
}

// swallowingClaimer trusts its look more than the constraint.
type swallowingClaimer struct{ *idempotency.InsertClaimer }

// Claim implements idempotency.Claimer.
func (c swallowingClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	taken, err := look(ctx, c.Store, req)
	if err != nil || taken {
		return nil, err
	}
	if _, err := c.InsertClaimer.Claim(ctx, req); err != nil {
		return nil, err
	}
	return unfenced(c.InsertClaimer, req), nil
}
