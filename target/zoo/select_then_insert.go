package zoo

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var selectThenInsert = Variant{
	Name: "select-then-insert",
	Story: "The handler looks whether the key is there, and writes it if not. It passes every test that sends one request " +
		"after the other; the table has no unique constraint, since the look seemed to be enough.",
	Invariant: "at-most-once",
	Scenario:  "duplicate-key-race",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		if c, ok := p.Claimer.(*idempotency.InsertClaimer); ok {
			p.Claimer = &selectingClaimer{c}
		}
		return p
	},
	Prepare: func(ctx context.Context, pool *pgxpool.Pool) error {
		if _, err := pool.Exec(ctx, dropConstraintSQL); err != nil {
			return fmt.Errorf("drop the unique constraint: %w", err)
		}
		return nil
	},
}

const (
	dropConstraintSQL = `ALTER TABLE idempotency_keys DROP CONSTRAINT IF EXISTS uq_idem_key_user_endpoint`
	lookSQL           = `
SELECT EXISTS (
    SELECT 1 FROM idempotency_keys
    WHERE idem_key = $1 AND scope_user_id IS NOT DISTINCT FROM $2 AND scope_endpoint = $3
)`
)

// selectingClaimer claims in two statements with a gap between them.
type selectingClaimer struct{ *idempotency.InsertClaimer }

// Claim implements idempotency.Claimer.
func (c *selectingClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	var taken bool
	err := c.Store.QueryRow(ctx, lookSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint).Scan(&taken)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for key: %w", err)
	case taken:
		return nil, nil
	}
	return c.InsertClaimer.Claim(ctx, req)
}
