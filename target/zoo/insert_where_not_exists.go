package zoo

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var insertWhereNotExists = Variant{
	Name:  "insert-where-not-exists",
	Class: "check-then-act inside one statement",
	Story: "The look and the insert are one statement, so they seem atomic, and the unique constraint is left out. Two such " +
		"statements do not see each other's row until it is committed.",
	Seen:      "greenbone/gvmd#471: an insert guarded by WHERE NOT EXISTS races with itself on PostgreSQL",
	Invariant: "at-most-once",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = notExistsClaimer{reference(p)}
		return p
	},
	Prepare: dropConstraint,
}

// notExistsClaimer leaves the decision to a subquery.
type notExistsClaimer struct{ *idempotency.InsertClaimer }

const insertIfAbsentSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at)
SELECT $1, $2::integer, $3, $4, NOW() + $5::interval
WHERE NOT EXISTS (
    SELECT 1 FROM idempotency_keys
    WHERE idem_key = $1 AND scope_user_id IS NOT DISTINCT FROM $2 AND scope_endpoint = $3
)
RETURNING id, locked_at`

// Claim implements idempotency.Claimer.
func (c notExistsClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	var claim idempotency.Claim
	err := c.Store.QueryRow(ctx, insertIfAbsentSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash, req.Route.TTL).
		Scan(&claim.ID, &claim.LockedAt)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("insert key if absent: %w", err)
	}
	return &claim, nil
}
