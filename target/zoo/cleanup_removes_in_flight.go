package zoo

import (
	"context"
	"fmt"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var cleanupRemovesInFlight = Variant{
	Name:  "cleanup-removes-in-flight",
	Class: "cleanup removes live records",
	Story: "The nightly cleanup deletes what has expired, in whatever state. A request that is at work just then loses its record " +
		"under its hands, and its client's retry starts from the beginning.",
	Seen:      "cloudfoundry/uaa#223: a cleanup that lacked one condition deleted codes that were still wanted",
	Invariant: "legal-transitions",
	Scenario:  "cleanup-race",
	Explore:   &Exploration{Case: "cleanup-busy"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Sweeper = statementSweeper(sweepAllStatesSQL)
		return p
	},
}

// statementSweeper is a cleanup with a statement of its own, which takes a limit.
type statementSweeper string

const sweepAllStatesSQL = `
DELETE FROM idempotency_keys
WHERE id IN (SELECT id FROM idempotency_keys WHERE expires_at < NOW() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)`

// Sweep implements idempotency.Sweeper.
func (s statementSweeper) Sweep(ctx context.Context, db idempotency.DB, limit int) (int64, error) {
	tag, err := db.Exec(ctx, string(s), limit)
	if err != nil {
		return 0, fmt.Errorf("sweep expired records: %w", err)
	}
	return tag.RowsAffected(), nil
}
