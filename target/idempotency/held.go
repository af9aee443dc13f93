package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// What the strategies share whose claim is a transaction: action and completion run in it, and it ends with the request or with
// its worker, whichever comes first.

// ErrHeld is wrapped by the error of a claim that somebody else holds in a transaction, so that its record may not be to be seen.
var ErrHeld = errors.New("the key is held by another transaction")

const (
	savepointSQL = `SAVEPOINT action`
	undoSQL      = `ROLLBACK TO SAVEPOINT action`
)

// heldTx is a transaction that holds a claim. A rollback of the action goes back to where the action began; the claim stays, for
// Fail to end it.
type heldTx struct {
	pgx.Tx
	ended bool
}

// openHeld begins in READ COMMITTED, whatever the pool's default is: a snapshot that is older than the lock would not show what the lock's
// last holder did.
func openHeld(ctx context.Context, pool *pgxpool.Pool) (*heldTx, error) {
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	return &heldTx{Tx: tx}, nil
}

// Commit implements pgx.Tx.
func (t *heldTx) Commit(ctx context.Context) error {
	t.ended = true
	return t.Tx.Commit(ctx)
}

// Rollback implements pgx.Tx.
func (t *heldTx) Rollback(ctx context.Context) error {
	if t.ended {
		return pgx.ErrTxClosed
	}
	if _, err := t.Exec(ctx, undoSQL); err != nil {
		t.end()
		return fmt.Errorf("undo the action: %w", err)
	}
	return nil
}

// end gives the connection back, however the transaction stands; nothing to do after a commit.
func (t *heldTx) end() {
	if t.ended {
		return
	}
	t.ended = true
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTime)
	defer cancel()
	_ = t.Tx.Rollback(ctx) // on failure the pool finds the connection unfit and closes it
}

// queueClaim is the reference's insert, as a part of the transaction.
func queueClaim(b *pgx.Batch, req *Request) *pgx.QueuedQuery {
	return b.Queue(claimSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash, req.Route.TTL)
}

// take sends what is queued. decides is the statement among it that returns id and locked_at to whoever has the claim, and nothing to
// others; the action begins after it. Without a claim the transaction has ended.
func (t *heldTx) take(ctx context.Context, b *pgx.Batch, decides *pgx.QueuedQuery, req *Request, store DB) (*Claim, error) {
	claim := Claim{Tx: t, Completer: heldCompleter{&RowCompleter{store}, t, req}, Release: t.end}
	decides.QueryRow(func(r pgx.Row) error { return r.Scan(&claim.ID, &claim.LockedAt) })
	b.Queue(savepointSQL)
	if err := t.SendBatch(ctx, b).Close(); err != nil {
		t.end()
		return nil, heldClaimError(err)
	}
	return &claim, nil
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

// heldCompleter ends a claim in its own transaction, as long as that is there.
type heldCompleter struct {
	*RowCompleter
	tx  *heldTx
	req *Request
}

// failedSQL is for a claim that went with its transaction. Like an update it waits for a commit that is in doubt, and gives way to it and to
// whoever has claimed since.
const failedSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at, status, response_code)
VALUES ($1, $2, $3, $4, NOW() + $5::interval, 'failed', $6)
ON CONFLICT (idem_key, scope_user_id, scope_endpoint) DO UPDATE
SET status = 'failed', response_code = EXCLUDED.response_code
WHERE idempotency_keys.id = $7 AND idempotency_keys.status = 'in_flight'`

// Fail implements Completer.
func (c heldCompleter) Fail(ctx context.Context, claim *Claim, resp *Response) error {
	if c.tx.ended {
		r := c.req
		_, err := c.Store.Exec(ctx, failedSQL, r.Key, r.Scope.UserID, r.Scope.Endpoint, r.Hash, r.Route.TTL, resp.Status, claim.ID)
		if err != nil {
			return fmt.Errorf("store failure of key: %w", err)
		}
		return nil
	}
	if _, err := c.tx.Exec(ctx, failSQL, claim.ID, claim.LockedAt, resp.Status); err != nil {
		return fmt.Errorf("mark record %d failed: %w", claim.ID, err)
	}
	return c.tx.Commit(ctx)
}

// patience is how long a claim may wait for another's lock: a part of what is left to the request, so that the record can be read afterwards.
func patience(ctx context.Context) time.Duration {
	deadline, bounded := ctx.Deadline()
	if !bounded {
		return time.Second
	}
	return max(time.Until(deadline)/2, time.Millisecond)
}
