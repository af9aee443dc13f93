package zoo

import (
	"context"
	"fmt"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var rowsAffectedIgnored = Variant{
	Name:  "rows-affected-ignored",
	Class: "conflict ignored",
	Story: "The insert does nothing on a conflict, and nobody looks whether it did something. The record is read back: in " +
		"flight, so it must be the one just written.",
	Seen:      "big-neon/bn-api#1622: an insert did nothing on conflict, its row count was not looked at, and several processes published the same event",
	Invariant: "at-most-once",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = readBackClaimer{reference(p)}
		return p
	},
}

// readBackClaimer takes every live claim of the same request for its own.
type readBackClaimer struct{ *idempotency.InsertClaimer }

const mineSQL = `
SELECT EXISTS (
    SELECT 1 FROM idempotency_keys
    WHERE idem_key = $1 AND scope_user_id IS NOT DISTINCT FROM $2 AND scope_endpoint = $3 AND request_hash = $4
      AND status = 'in_flight' AND NOW() - locked_at <= $5::interval
)`

// Claim implements idempotency.Claimer.
func (c readBackClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	if _, err := c.InsertClaimer.Claim(ctx, req); err != nil {
		return nil, err
	}
	var mine bool
	err := c.Store.QueryRow(ctx, mineSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash, c.StaleAfter).Scan(&mine)
	if err != nil {
		return nil, fmt.Errorf("read claim back: %w", err)
	}
	if !mine {
		return nil, nil
	}
	return unfenced(c.InsertClaimer, req), nil
}
