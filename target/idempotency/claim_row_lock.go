package idempotency

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// RowLockClaimer makes sure that there is a row, and then lets its lock decide. A record in flight whose row can be locked has lost its worker,
// and is taken over.
type RowLockClaimer struct {
	*InsertClaimer
	Pool *pgxpool.Pool
}

// A row of another request, or one that has ended, is none to lock; it is read as any loser reads it.
const lockRowSQL = `
SELECT id, locked_at FROM idempotency_keys
WHERE idem_key = $1 AND scope_user_id = $2 AND scope_endpoint = $3 AND request_hash = $4 AND status = 'in_flight'
FOR UPDATE NOWAIT`

// Claim implements Claimer. Service calls conflict with nobody, so there is nothing to hold for them.
func (c *RowLockClaimer) Claim(ctx context.Context, req *Request) (*Claim, error) {
	if req.Scope.UserID == nil {
		return c.InsertClaimer.Claim(ctx, req)
	}
	if _, err := c.InsertClaimer.Claim(ctx, req); err != nil { // whoever makes the row, its lock decides
		return nil, err
	}
	tx, err := openHeld(ctx, c.Pool)
	if err != nil {
		return nil, err
	}
	b := &pgx.Batch{}
	return tx.take(ctx, b, b.Queue(lockRowSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash), req, c.Store)
}

// Read implements Claimer. A row that is locked has a worker, however old it is; one that is not is claimed, not read.
func (c *RowLockClaimer) Read(ctx context.Context, req *Request, audit Auditor) (*Record, error) {
	rec, err := c.InsertClaimer.Read(ctx, req, audit)
	if rec != nil && req.Scope.UserID != nil {
		rec.Stale = false
	}
	return rec, err
}
