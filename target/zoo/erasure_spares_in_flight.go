package zoo

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

var erasureSparesInFlight = Variant{
	Name:  "erasure-spares-in-flight",
	Class: "erasure leaves records",
	Story: "Erasing a user deletes the records that are final; one in flight belongs to the request that is at it. Without a foreign " +
		"key nothing else removes it, and the request then completes it for a user who is gone.",
	Seen:      "joomla/joomla-cms#22720: consents of a removed user kept personal data",
	Invariant: "erasure",
	Scenario:  "erasure-race",
	Explore:   &Exploration{Case: "erase"},
	Parts: func(p idempotency.Parts) idempotency.Parts {
		p.Eraser = sparingEraser{}
		return p
	},
	Prepare: prepare(dropUserKeySQL),
}

const dropUserKeySQL = `
ALTER TABLE idempotency_keys DROP CONSTRAINT IF EXISTS idempotency_keys_scope_user_id_fkey`

// sparingEraser leaves what is in flight to its request.
type sparingEraser struct{}

const eraseFinalSQL = `DELETE FROM idempotency_keys WHERE scope_user_id = $1 AND status <> 'in_flight'`

// Erase implements idempotency.Eraser.
func (sparingEraser) Erase(ctx context.Context, tx pgx.Tx, userID int32) (int64, error) {
	tag, err := tx.Exec(ctx, eraseFinalSQL, userID)
	if err != nil {
		return 0, fmt.Errorf("erase records of user %d: %w", userID, err)
	}
	return tag.RowsAffected(), nil
}
