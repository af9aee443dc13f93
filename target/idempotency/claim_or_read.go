package idempotency

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ReadingInsertClaimer is the reference in one round trip less for whoever loses.
type ReadingInsertClaimer struct{ *InsertClaimer }

// claimOrReadSQL inserts, or finds what was in the way. A record that was committed since the statement began is neither: then it
// returns no row, and the record is read by a statement of its own.
const (
	claimOrReadSQL = `
WITH claimed AS (
    INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at)
    VALUES ($1, $2, $3, $6, NOW() + $8::interval)
    ON CONFLICT DO NOTHING
    RETURNING id, locked_at
), found AS (` + foundSQL + ` AND NOT EXISTS (SELECT FROM claimed)` + onlyFoundSQL
	claimOrReadTailSQL = `
SELECT true, id, '', '', 0, NULL, locked_at, false, false FROM claimed
UNION ALL
SELECT false, id, request_hash, status, COALESCE(response_code, 0), response_body::text, locked_at, stale, expired FROM found`
)

// ClaimOrRead implements ReadingClaimer.
func (c *ReadingInsertClaimer) ClaimOrRead(ctx context.Context, req *Request, audit Auditor) (claim *Claim, rec *Record, err error) {
	sql := claimOrReadSQL + claimOrReadTailSQL
	if audit != nil && audit.ReplaySQL() != "" {
		sql = claimOrReadSQL + ", audited AS (" + audit.ReplaySQL() + ")" + claimOrReadTailSQL
	}
	err = again(ctx, func() error {
		claim, rec, err = c.claimOrRead(ctx, req, sql)
		return err
	})
	return claim, rec, err
}

func (c *ReadingInsertClaimer) claimOrRead(ctx context.Context, req *Request, sql string) (*Claim, *Record, error) {
	var (
		won  bool
		rec  Record
		body *string
	)
	err := c.Store.QueryRow(ctx, sql, req.Key, req.Scope.UserID, req.Scope.Endpoint, c.StaleAfter,
		!req.Route.NoReplay, req.Hash, req.OperationOrNil(), req.Route.TTL).
		Scan(&won, &rec.ID, &rec.Hash, &rec.Status, &rec.Code, &body, &rec.LockedAt, &rec.Stale, &rec.Expired)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil, nil
	case hasCode(err, "23503"):
		return nil, nil, ErrScopeGone
	case err != nil:
		return nil, nil, fmt.Errorf("claim key or read record: %w", err)
	case won:
		return &Claim{ID: rec.ID, LockedAt: rec.LockedAt}, nil, nil
	}
	if body != nil {
		rec.Body = []byte(*body)
	}
	return nil, &rec, nil
}
