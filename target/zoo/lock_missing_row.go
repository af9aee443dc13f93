package zoo

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var lockMissingRow = Variant{
	Name:  "lock-missing-row",
	Class: "lock on nothing",
	Story: "The record is selected FOR UPDATE, so that duplicates queue up behind the lock. The first request of a key finds " +
		"no row, and locks none: its duplicate passes too, and no constraint stops the second insert.",
	Seen:      "freelawproject/courtlistener#2299: select_for_update before a get_or_create locks nothing when the row is missing, and duplicates were made",
	Invariant: "at-most-once",
	Scenario:  "duplicate-key-race",
	Explore:   &Exploration{Case: "duplicates"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Claimer = rowLockClaimer{reference(p)}
		return p
	},
	Prepare: dropConstraint,
}

// rowLockClaimer relies on a row lock where there may be no row.
type rowLockClaimer struct{ *idempotency.InsertClaimer }

const lockRecordSQL = `
SELECT id FROM idempotency_keys
WHERE idem_key = $1 AND scope_user_id IS NOT DISTINCT FROM $2 AND scope_endpoint = $3
FOR UPDATE`

// Claim implements idempotency.Claimer.
func (c rowLockClaimer) Claim(ctx context.Context, req *idempotency.Request) (claim *idempotency.Claim, err error) {
	err = pgx.BeginFunc(ctx, pool(c.InsertClaimer), func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, lockRecordSQL, req.Key, req.Scope.UserID, req.Scope.Endpoint).Scan(&id)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		claim, err = (&idempotency.InsertClaimer{Store: tx}).Claim(ctx, req)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("lock record: %w", err)
	}
	return claim, nil
}
