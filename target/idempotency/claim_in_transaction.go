package idempotency

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// TxClaimer inserts the record in the business transaction. A loser's insert waits for that transaction: after a commit it finds the
// answer, after a rollback it is the winner.
type TxClaimer struct {
	*InsertClaimer
	Pool *pgxpool.Pool
}

const lockTimeoutSQL = `SELECT set_config('lock_timeout', $1, true)`

// Claim implements Claimer. Service calls conflict with nobody, so there is nothing to hold for them.
func (c *TxClaimer) Claim(ctx context.Context, req *Request) (*Claim, error) {
	if req.Scope.UserID == nil {
		return c.InsertClaimer.Claim(ctx, req)
	}
	tx, err := openHeld(ctx, c.Pool)
	if err != nil {
		return nil, err
	}
	var row Claim
	b := &pgx.Batch{}
	b.Queue(lockTimeoutSQL, strconv.FormatInt(patience(ctx).Milliseconds(), 10))
	b.Queue(claimSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash, req.Route.TTL).
		QueryRow(func(r pgx.Row) error { return r.Scan(&row.ID, &row.LockedAt) })
	b.Queue(savepointSQL)
	err = tx.SendBatch(ctx, b).Close()
	if err == nil {
		return tx.claim(row, req, c.Store), nil
	}
	tx.end()
	return nil, heldClaimError(err)
}

// heldClaimError is nil when the claim was lost to a record that is to be seen.
func heldClaimError(err error) error {
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case hasCode(err, "23503"):
		return ErrScopeGone
	case hasCode(err, "55P03"), IsSerializationFailure(err):
		return fmt.Errorf("claim key: %w: %w", ErrHeld, err)
	}
	return fmt.Errorf("claim key: %w", err)
}
