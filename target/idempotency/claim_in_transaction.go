package idempotency

import (
	"context"
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
	b := &pgx.Batch{}
	b.Queue(lockTimeoutSQL, strconv.FormatInt(patience(ctx).Milliseconds(), 10))
	return tx.take(ctx, b, queueClaim(b, req), req, c.Store)
}
