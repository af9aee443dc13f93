package zoo

import (
	"context"
	"fmt"
	"time"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// leases hold claims outside the database, for variants that trust them more than its rows.
type leases interface {
	// take is true for one caller, until the time is over.
	take(ctx context.Context, name string, hold time.Duration) (bool, error)
	// keep sets how much longer a taken lease lasts.
	keep(ctx context.Context, name string, hold time.Duration) error
}

// leaseClaimer lets a lease decide who executes. The table is where answers are read from; whoever has the lease writes
// over what it holds. A lease lasts as long as a claim may be in flight, and after the request as long as its record.
type leaseClaimer struct {
	*idempotency.InsertClaimer
	leases leases
}

const overwriteSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at)
VALUES ($1, $2, $3, $4, NOW() + $5::interval)
ON CONFLICT (idem_key, scope_user_id, scope_endpoint) DO UPDATE
SET request_hash = EXCLUDED.request_hash, status = 'in_flight', response_code = NULL, response_body = NULL,
    created_at = NOW(), locked_at = NOW(), expires_at = EXCLUDED.expires_at
RETURNING id, locked_at`

// Claim implements idempotency.Claimer.
func (c leaseClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	name := lockName(req)
	taken, err := c.leases.take(ctx, name, c.StaleAfter)
	if err != nil || !taken {
		return nil, err
	}
	claim := idempotency.Claim{Release: func() { c.release(ctx, name, req.Route.TTL) }}
	err = c.Store.QueryRow(ctx, overwriteSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash, req.Route.TTL).
		Scan(&claim.ID, &claim.LockedAt)
	if err != nil {
		c.release(ctx, name, 0)
		return nil, fmt.Errorf("write record: %w", err)
	}
	return &claim, nil
}

func (c leaseClaimer) release(ctx context.Context, name string, hold time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTime)
	defer cancel()
	_ = c.leases.keep(ctx, name, hold) // else it ends by itself, after StaleAfter
}
