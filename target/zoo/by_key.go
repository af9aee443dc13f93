package zoo

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// What several variants share: they look for a record by its key, and end it by its key, since whoever has no claim has
// no fence to check.

// reference is the claimer that a variant changes. Parts start from idempotency.Reference, always.
func reference(p idempotency.Parts) *idempotency.InsertClaimer {
	return p.Claimer.(*idempotency.InsertClaimer)
}

// pool is the store as a pool, for variants that need a connection or a transaction of their own.
func pool(c *idempotency.InsertClaimer) *pgxpool.Pool {
	return c.Store.(*pgxpool.Pool)
}

const lookSQL = `
SELECT EXISTS (
    SELECT 1 FROM idempotency_keys
    WHERE idem_key = $1 AND scope_user_id IS NOT DISTINCT FROM $2 AND scope_endpoint = $3
)`

// look reports whether the key has a record.
func look(ctx context.Context, db idempotency.DB, req *idempotency.Request) (found bool, err error) {
	err = db.QueryRow(ctx, lookSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint).Scan(&found)
	if err != nil {
		return false, fmt.Errorf("look for key: %w", err)
	}
	return found, nil
}

// unfenced is a claim in name only: its holder runs, and writes the record by its key when it is done.
func unfenced(c *idempotency.InsertClaimer, req *idempotency.Request) *idempotency.Claim {
	return &idempotency.Claim{Completer: byKey{store: c.Store, req: req}}
}

// byKey ends a record by its key, whoever has claimed it, and makes it if need be.
type byKey struct {
	store idempotency.DB
	req   *idempotency.Request
}

const (
	storeSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at, status, response_code, response_body)
VALUES ($1, $2, $3, $4, NOW() + $5::interval, $6, $7, $8)
ON CONFLICT (idem_key, scope_user_id, scope_endpoint) DO UPDATE
SET status = EXCLUDED.status, response_code = EXCLUDED.response_code, response_body = EXCLUDED.response_body`
	storeUnlessDoneSQL = storeSQL + ` WHERE idempotency_keys.status = 'in_flight'`
)

// Complete implements idempotency.Completer.
func (c byKey) Complete(b *pgx.Batch, _ *idempotency.Claim, req *idempotency.Request, resp *idempotency.Response) {
	b.Queue(storeSQL, c.args(idempotency.Completed, resp, idempotency.StoredBody(req, resp))...)
}

// Fail implements idempotency.Completer.
func (c byKey) Fail(ctx context.Context, _ *idempotency.Claim, resp *idempotency.Response) error {
	if _, err := c.store.Exec(ctx, storeUnlessDoneSQL, c.args(idempotency.Failed, resp, nil)...); err != nil {
		return fmt.Errorf("store failure of key: %w", err)
	}
	return nil
}

func (c byKey) args(status idempotency.Status, resp *idempotency.Response, body any) []any {
	r := c.req
	return []any{r.Key, r.Scope.UserID, r.Scope.Endpoint, r.Hash, r.Route.TTL, status, resp.Status, body}
}

const dropConstraintSQL = `ALTER TABLE idempotency_keys DROP CONSTRAINT IF EXISTS uq_idem_key_user_endpoint`

// dropConstraint is the Prepare of variants whose authors saw no need for the unique constraint.
func dropConstraint(ctx context.Context, db *pgxpool.Pool) error {
	if _, err := db.Exec(ctx, dropConstraintSQL); err != nil {
		return fmt.Errorf("drop the unique constraint: %w", err)
	}
	return nil
}
