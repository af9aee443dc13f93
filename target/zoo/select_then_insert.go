package zoo

import (
	"context"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var selectThenInsert = Variant{
	Name:  "select-then-insert",
	Class: "check-then-act",
	Story: "The handler looks whether the key is there, and writes it if not. It passes every test that sends one request " +
		"after the other; the table has no unique constraint, since the look seemed to be enough.",
	Seen:      "zonelessdev/zoneless#134: two requests with one key pass the check before either has stored its record",
	Invariant: "at-most-once",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = selectingClaimer{reference(p)}
		return p
	},
	Prepare: dropConstraint,
}

// selectingClaimer claims in two statements with a gap between them.
type selectingClaimer struct{ *idempotency.InsertClaimer }

// Claim implements idempotency.Claimer.
func (c selectingClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	taken, err := look(ctx, c.Store, req)
	if err != nil || taken {
		return nil, err
	}
	return c.InsertClaimer.Claim(ctx, req)
}
