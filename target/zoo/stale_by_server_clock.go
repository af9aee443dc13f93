package zoo

import (
	"context"
	"fmt"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var staleByServerClock = Variant{
	Name:  "stale-by-server-clock",
	Class: "age by the wrong clock",
	Story: "How old a claim is, the server works out: its own time, less the time in the record, which is the database's. A server whose " +
		"clock is ahead takes claims for abandoned that are at work, and one whose clock is behind never frees any.",
	Seen: "borgbackup/borg#10077: a client whose clock was half an hour ahead took the live locks of others for stale and " +
		"removed them",
	Invariant: "legal-transitions",
	Scenario:  "wrong-clock",
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = ownTimeClaimer{reference(p), p.Clock}
		return p
	},
}

// ownTimeClaimer judges age by the server's clock.
type ownTimeClaimer struct {
	*idempotency.InsertClaimer
	clock idempotency.Clock
}

// Read implements idempotency.Claimer.
func (c ownTimeClaimer) Read(ctx context.Context, req *idempotency.Request, audit idempotency.Auditor) (*idempotency.Record, error) {
	rec, err := c.InsertClaimer.Read(ctx, req, audit)
	if rec != nil {
		rec.Stale = rec.Status == idempotency.InFlight && c.clock.Now().Sub(rec.LockedAt) > c.StaleAfter
	}
	return rec, err
}

const retireFoundStaleSQL = `DELETE FROM idempotency_keys WHERE id = $1 AND locked_at = $2 AND status = 'in_flight'`

// Retire implements idempotency.Claimer. Whether the record is old enough has been decided.
func (c ownTimeClaimer) Retire(ctx context.Context, rec *idempotency.Record) (bool, error) {
	tag, err := c.Store.Exec(ctx, retireFoundStaleSQL, rec.ID, rec.LockedAt)
	if err != nil {
		return false, fmt.Errorf("retire record %d: %w", rec.ID, err)
	}
	return tag.RowsAffected() == 1, nil
}
