package idempotency

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// RowLockClaimer makes sure that there is a row, and then lets its lock decide. A record in flight whose row can be locked has lost its worker,
// and is taken over.
type RowLockClaimer struct {
	*InsertClaimer
	Pool *pgxpool.Pool
}

const (
	makeRowSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at)
VALUES ($1, $2, $3, $4, NOW() + $5::interval)
ON CONFLICT DO NOTHING`
	// A row of another request, or one that has ended, is none to lock; it is read as any loser reads it.
	lockRowSQL = `
SELECT id, locked_at FROM idempotency_keys
WHERE idem_key = $1 AND scope_user_id = $2 AND scope_endpoint = $3 AND request_hash = $4 AND status = 'in_flight'
FOR UPDATE NOWAIT`
)

// Claim implements Claimer. Service calls conflict with nobody, so there is nothing to hold for them.
func (c *RowLockClaimer) Claim(ctx context.Context, req *Request) (*Claim, error) {
	if req.Scope.UserID == nil {
		return c.InsertClaimer.Claim(ctx, req)
	}
	if err := c.makeRow(ctx, req); err != nil {
		return nil, err
	}
	tx, err := openHeld(ctx, c.Pool)
	if err != nil {
		return nil, err
	}
	var row Claim
	b := &pgx.Batch{}
	b.Queue(lockRowSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash).
		QueryRow(func(r pgx.Row) error { return r.Scan(&row.ID, &row.LockedAt) })
	b.Queue(savepointSQL)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		tx.end()
		return nil, heldClaimError(err)
	}
	return tx.claim(row, req, c.Store), nil
}

func (c *RowLockClaimer) makeRow(ctx context.Context, req *Request) (err error) {
	for range claimTries {
		_, err = c.Store.Exec(ctx, makeRowSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash, req.Route.TTL)
		switch {
		case err == nil:
			return nil
		case hasCode(err, "23503"):
			return ErrScopeGone
		case !IsSerializationFailure(err):
			return fmt.Errorf("make the key's row: %w", err)
		}
	}
	return fmt.Errorf("make the key's row, %d times: %w", claimTries, err)
}

// Read implements Claimer. A row that is locked has a worker, however old it is; one that is not is claimed, not read.
func (c *RowLockClaimer) Read(ctx context.Context, req *Request, audit Auditor) (*Record, error) {
	rec, err := c.InsertClaimer.Read(ctx, req, audit)
	if rec != nil && req.Scope.UserID != nil {
		rec.Stale = false
	}
	return rec, err
}
