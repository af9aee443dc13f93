package idempotency

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// SerializableClaimer relies on the isolation level where others rely on a constraint or a lock: look, then insert, and let the database refuse
// one of two that did so at once. The refused one looks again.
type SerializableClaimer struct {
	*InsertClaimer
	Pool *pgxpool.Pool
}

const (
	recordExistsSQL = `
SELECT EXISTS (SELECT FROM idempotency_keys WHERE idem_key = $1 AND scope_user_id = $2 AND scope_endpoint = $3)`
	insertRecordSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at)
VALUES ($1, $2, $3, $4, NOW() + $5::interval)
RETURNING id, locked_at`
)

// Claim implements Claimer. Service calls conflict with nobody, so there is nothing to look for.
func (c *SerializableClaimer) Claim(ctx context.Context, req *Request) (claim *Claim, err error) {
	if req.Scope.UserID == nil {
		return c.InsertClaimer.Claim(ctx, req)
	}
	err = again(ctx, func() error {
		return pgx.BeginTxFunc(ctx, c.Pool, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) (err error) {
			claim, err = lookAndInsert(ctx, tx, req)
			return err
		})
	})
	switch {
	case err == nil:
		return claim, nil
	case hasCode(err, "23503"):
		return nil, ErrScopeGone
	case hasCode(err, "23505"):
		return nil, nil // a rival was faster
	}
	return nil, fmt.Errorf("claim key: %w", err)
}

func lookAndInsert(ctx context.Context, tx pgx.Tx, req *Request) (*Claim, error) {
	var taken bool
	if err := tx.QueryRow(ctx, recordExistsSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint).Scan(&taken); err != nil || taken {
		return nil, err
	}
	var claim Claim
	err := tx.QueryRow(ctx, insertRecordSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash, req.Route.TTL).
		Scan(&claim.ID, &claim.LockedAt)
	if err != nil {
		return nil, err
	}
	return &claim, nil
}
