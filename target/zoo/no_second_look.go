package zoo

import (
	"context"
	"fmt"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var noSecondLook = Variant{
	Name:  "no-second-look",
	Class: "double-checked locking without the second check",
	Story: "The lock is only taken if the record is not there yet, which spares replays the lock. What happened while the " +
		"request waited for it is not looked at again: each duplicate runs when its turn comes.",
	Seen:      "opensupplyhub/open-supply-hub#1165: two identical submissions pass the check; the cure repeats the check under the lock",
	Invariant: "at-most-once",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = singleCheckClaimer{reference(p)}
		return p
	},
}

// singleCheckClaimer looks before the lock and not under it. The lock ends with the transaction, as it should.
type singleCheckClaimer struct{ *idempotency.InsertClaimer }

const lockInTxSQL = `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`

// Claim implements idempotency.Claimer.
func (c singleCheckClaimer) Claim(ctx context.Context, req *idempotency.Request) (*idempotency.Claim, error) {
	taken, err := look(ctx, c.Store, req)
	if err != nil || taken {
		return nil, err
	}
	tx, err := pool(c.InsertClaimer).Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	if _, err := tx.Exec(ctx, lockInTxSQL, lockName(req)); err != nil {
		_ = tx.Rollback(ctx) // the connection is unfit, and closed, if this fails too
		return nil, fmt.Errorf("wait for advisory lock: %w", err)
	}
	claim := unfenced(c.InsertClaimer, req)
	claim.Tx = tx
	return claim, nil
}
