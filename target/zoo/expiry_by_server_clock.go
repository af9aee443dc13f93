package zoo

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var expiryByServerClock = Variant{
	Name:  "expiry-by-server-clock",
	Class: "expiry by the wrong clock",
	Story: "The server adds the time to live to its own time and stores the sum; the database's time decides when that is over. On a " +
		"server whose clock is behind, a record ends before its time and its key runs again; on one ahead, it outlives what was promised.",
	Seen: "margince/margince#1458: deadlines are written by the application's clock and compared with the database's, which no " +
		"machine whose clocks agree can show",
	Invariant: "retention",
	Scenario:  "wrong-clock",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = ownExpiryClaimer{reference(p), p.Clock}
		return p
	},
}

// ownExpiryClaimer stores an end that the server has worked out.
type ownExpiryClaimer struct {
	*idempotency.InsertClaimer
	clock idempotency.Clock
}

const claimUntilSQL = `
INSERT INTO idempotency_keys (idem_key, scope_user_id, scope_endpoint, request_hash, expires_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
RETURNING id, locked_at`

// Claim implements idempotency.Claimer.
func (c ownExpiryClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	var claim idempotency.Claim
	until := c.clock.Now().Add(req.Route.TTL)
	err := c.Store.QueryRow(ctx, claimUntilSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint, req.Hash, until).
		Scan(&claim.ID, &claim.LockedAt)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("claim key: %w", err)
	}
	return &claim, nil
}
