package idempotency

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// AdvisoryLockClaimer locks the key, not a row: whoever does not get the lock at once has lost. Two keys may share a lock by chance;
// one of them is then told that it is in flight, which is safe.
type AdvisoryLockClaimer struct {
	*InsertClaimer
	Pool *pgxpool.Pool
}

const advisoryLockSQL = `SELECT pg_try_advisory_xact_lock(hashtextextended(concat_ws(' ', $1::text, $2::integer, $3::text), 0))`

// Claim implements Claimer. Service calls conflict with nobody, so there is nothing to hold for them.
func (c *AdvisoryLockClaimer) Claim(ctx context.Context, req *Request) (*Claim, error) {
	if req.Scope.UserID == nil {
		return c.InsertClaimer.Claim(ctx, req)
	}
	tx, err := openHeld(ctx, c.Pool)
	if err != nil {
		return nil, err
	}
	var locked bool
	if err := tx.QueryRow(ctx, advisoryLockSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint).Scan(&locked); err != nil {
		tx.end()
		return nil, fmt.Errorf("lock key: %w", err)
	}
	if !locked {
		tx.end()
		return nil, ErrHeld
	}
	b := &pgx.Batch{}
	return tx.take(ctx, b, queueClaim(b, req), req, c.Store)
}
